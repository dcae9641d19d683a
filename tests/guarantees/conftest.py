# SPDX-License-Identifier: BSD-3-Clause
"""Small instances of the theory, and an attacker that climbs towards the worst of them."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import pytest
from scipy.linalg import eigh

from ridgewise._typing import FloatArray


class Instance:
    """A spectrum, a weighted selection, alpha and vectors, from one list of numbers.

    Everything is in the basis of V: K = S^2 and K~ = Delta = S G S. Numbers are squeezed, so that
    no climb leaves the range in which double precision can judge a bound to 1e-9.
    """

    d, ell, n_selected = 6, 2, 4
    sizes = (d * ell, n_selected, ell, 1, ell, ell, d)
    n_numbers = sum(sizes)

    def __init__(self, numbers: FloatArray) -> None:
        U, w, sigma, alpha, self.x, self.y, self.q = np.split(numbers, np.cumsum(self.sizes)[:-1])
        self.U = np.linalg.qr(U.reshape(self.d, self.ell))[0]
        self.U_S, self.w = self.U[: self.n_selected], np.exp(2 * np.tanh(w))
        self.sigma = np.exp(3 * np.tanh(sigma))
        self.alpha = float(np.exp(6 * np.tanh(alpha[0])))

    @cached_property
    def G(self) -> FloatArray:
        return self.U_S.T @ (self.w[:, None] * self.U_S)

    @cached_property
    def interval(self) -> tuple[float, float]:
        eigenvalues = np.linalg.eigvalsh(self.G)
        return float(eigenvalues[0]), float(eigenvalues[-1])

    @cached_property
    def W(self) -> FloatArray:
        return np.concatenate([self.w, np.zeros(self.d - self.n_selected)])

    @cached_property
    def z(self) -> FloatArray:
        """The part of q that U does not span."""
        return self.q - self.U @ (self.U.T @ self.q)

    @cached_property
    def resolvent(self) -> FloatArray:
        """(Delta + alpha)^-1, by way of a matrix that no spread of S makes ill-conditioned."""
        D = np.sqrt(self.sigma**2 + self.alpha)
        scale = self.sigma / D
        M = scale[:, None] * self.G * scale + np.diag(self.alpha / D**2)
        return np.linalg.inv(M) / np.outer(D, D)

    def regularized_interval(self, mu: float) -> tuple[float, float]:
        """The spectrum of K~ + mu against K + mu."""
        root, D = np.sqrt(self.sigma**2 + mu), self.sigma[:, None] * self.G * self.sigma
        eigenvalues = np.linalg.eigvalsh((D + mu * np.eye(self.ell)) / np.outer(root, root))
        return float(eigenvalues[0]), float(eigenvalues[-1])

    @cached_property
    def hat_difference(self) -> FloatArray:
        """H~ - H = alpha (K + alpha)^-1 (K~ - K) (K~ + alpha)^-1, which keeps digits near G = I."""
        change = self.sigma[:, None] * (self.G - np.eye(self.ell)) * self.sigma
        shrunk = self.alpha / (self.sigma**2 + self.alpha)
        return shrunk[:, None] * (change @ self.resolvent)


Ratio = Callable[[Instance], float]
Attack = Callable[..., float]


@pytest.fixture
def attack() -> Attack:
    """The largest truth / bound that random search and hill climbing find."""

    def find_worst(
        ratio: Ratio, *, n_random: int = 1500, n_climbs: int = 4, n_steps: int = 800, seed: int = 0
    ) -> float:
        rng = np.random.default_rng(seed)
        starts = rng.normal(size=(n_random, Instance.n_numbers))
        values = np.array([ratio(Instance(start)) for start in starts])
        best = np.argsort(values)[-n_climbs:]
        climbed = [climb(ratio, starts[i], values[i], n_steps, rng) for i in best]
        return float(max(climbed))

    return find_worst


def climb(
    ratio: Ratio, numbers: FloatArray, value: float, n_steps: int, rng: np.random.Generator
) -> float:
    """Take every random step that is not worse; longer ones after luck, shorter after none."""
    step = 0.3
    for _ in range(n_steps):
        moved = rng.random(len(numbers)) < rng.choice([0.1, 0.3, 1.0])
        candidate = numbers + step * moved * rng.normal(size=len(numbers))
        candidate_value = ratio(Instance(candidate))
        if candidate_value >= value:
            numbers, value, step = candidate, candidate_value, min(2 * step, 1.0)
        else:
            step = max(0.9 * step, 1e-4)
    return value


class Problem:
    """Training data, a weighted selection and test points, with both models fitted."""

    def __init__(self, seed: int, n_samples: int, n_selected: int) -> None:
        rng = np.random.default_rng(seed)
        d, ell, self.n_samples = 8, 3, n_samples
        self.X = rng.normal(size=(n_samples, ell)) * 3.0 ** rng.normal(size=ell)
        self.X = self.X @ rng.normal(size=(ell, d))
        V, sigma, Ut = np.linalg.svd(self.X, full_matrices=False)
        self.V, self.sigma, self.U = V[:, :ell], sigma[:ell], Ut[:ell].T
        self.S = rng.permutation(d)[:n_selected]
        self.w, self.U_S = np.exp(rng.normal(size=n_selected)), self.U[self.S]
        self.y, self.Q = rng.normal(size=n_samples), rng.normal(size=(6, d))

    @property
    def interval(self) -> tuple[float, float]:
        singular = np.linalg.svd(np.sqrt(self.w)[:, None] * self.U_S, compute_uv=False)
        return float(singular[-1] ** 2), float(singular[0] ** 2)

    @property
    def K_selected(self) -> FloatArray:
        return (self.X[:, self.S] * self.w) @ self.X[:, self.S].T

    def regularized_interval(self, alpha: float) -> tuple[float, float]:
        identity = alpha * np.eye(self.n_samples)
        eigenvalues = eigh(
            self.K_selected + identity, self.X @ self.X.T + identity, eigvals_only=True
        )
        return float(eigenvalues[0]), float(eigenvalues[-1])

    @property
    def coefficient_norms(self) -> FloatArray:
        return np.linalg.norm(self.Q @ self.U / self.sigma, axis=1)

    @property
    def residual_norms(self) -> FloatArray:
        return np.linalg.norm(self.Q - self.Q @ self.U @ self.U.T, axis=1)

    def primal_vectors(self, alpha: float) -> tuple[FloatArray, FloatArray]:
        """p = X^T (K + alpha)^-1 y and p~ = W X^T (K~ + alpha)^-1 y, on all the features."""
        p_selected = np.zeros(self.X.shape[1])
        dual = solve_ridge(self.K_selected, self.y, alpha)
        p_selected[self.S] = self.w * (self.X[:, self.S].T @ dual)
        return self.X.T @ solve_ridge(self.X @ self.X.T, self.y, alpha), p_selected

    def change(self, alpha: float) -> FloatArray:
        """f~(q) - f(q), by the textbook: dual ridge regression, twice."""
        full = self.Q @ self.X.T @ solve_ridge(self.X @ self.X.T, self.y, alpha)
        weighted = self.Q[:, self.S] * self.w @ self.X[:, self.S].T
        return weighted @ solve_ridge(self.K_selected, self.y, alpha) - full


def solve_ridge(K: FloatArray, y: FloatArray, alpha: float) -> FloatArray:
    return np.linalg.pinv(K + alpha * np.eye(len(K)), rcond=1e-11, hermitian=True) @ y


@pytest.fixture
def random_problem() -> Callable[..., Problem]:
    """Draw a problem by its seed: rank 3, 8 features."""

    def draw(seed: int, *, n_samples: int = 3, n_selected: int = 5) -> Problem:
        return Problem(seed, n_samples, n_selected)

    return draw
