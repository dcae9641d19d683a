# SPDX-License-Identifier: BSD-3-Clause
"""The effective-dimension version: fewer rows than the rank, for ridge models."""

import numpy as np
import pytest
from mpmath import mp
from scipy.linalg import eigh
from tests.barrier.helpers import gaussian_rows, same_as_plain

from ridgewise.barrier import RULES, ArrayVectors, sparsify
from ridgewise.barrier._problem import MOST_PENALTY, Barriers, add_up_repeats


def instance(rng):
    """Data of singular values over orders of magnitude, an alpha, and a number of draws."""
    n = int(rng.integers(3, 25))
    X = rng.standard_normal((n, int(rng.integers(n + 5, 150))))
    X *= 10 ** rng.uniform(-2, 1, size=(n, 1))
    s, Ut = np.linalg.svd(X, full_matrices=False)[1:]
    alpha = s[rng.integers(0, n)] ** 2 * 10 ** rng.uniform(-2, 2)
    dimension = np.sum(s**2 / (s**2 + alpha))
    n_draws = int(np.ceil(dimension * rng.uniform(1.05, 8))) + 1
    return X, Ut.T, alpha / s**2, alpha, dimension, n_draws


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(20))
def test_theorem(seed, rule):
    """(1-s)^2 (K + alpha) <= K~ + alpha <= (1+s)^2 (K + alpha), from K and K~ themselves."""
    X, U, penalty, alpha, dimension, n_draws = instance(np.random.default_rng(seed))
    found = same_as_plain(U, n_draws, rule, penalty)
    selected = X[:, found.selected]
    ridge = alpha * np.eye(len(X))
    eigenvalues = eigh(
        (selected * found.weights) @ selected.T + ridge, X @ X.T + ridge, eigvals_only=True
    )
    s = np.sqrt(dimension / n_draws)
    rounding = 1e-3 / MOST_PENALTY * len(X)
    assert eigenvalues[0] >= (1 - s) ** 2 - rounding
    assert eigenvalues[-1] <= (1 + s) ** 2 + rounding
    assert eigenvalues[[0, -1]] == pytest.approx((found.lower, found.upper), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("rule", RULES)
def test_no_penalty_is_the_plain_method(rule):
    vectors = ArrayVectors(gaussian_rows(100, 8))
    without, with_zeros = (sparsify(vectors, 30, rule, penalty) for penalty in (None, np.zeros(8)))
    np.testing.assert_array_equal(with_zeros.draws, without.draws)
    np.testing.assert_allclose(with_zeros.weights, without.weights, rtol=1e-9)
    assert with_zeros.lower == pytest.approx(without.lower)


def test_identity_shifts_would_fail():
    """Algorithm 1 as it is, on vectors with sum v v^T < I, runs out of feasible rows."""
    U, penalty = gaussian_rows(300, 40), np.geomspace(0.3, 300, 40)
    with pytest.raises(ArithmeticError):
        sparsify(ArrayVectors(U / np.sqrt(1 + penalty)), 60)
    assert sparsify(ArrayVectors(U), 60, "norm", penalty).lower > 0


def test_huge_penalties_are_taken_for_large_ones():
    barriers = Barriers(3, 10, np.array([0.0, 1.0, 1e12]))
    assert barriers.penalty[-1] == MOST_PENALTY
    assert barriers.dimension == pytest.approx(1.5 + 1 / MOST_PENALTY)


# effective dimensions just below the number of draws


def close_instance(seed):
    """Barriers that start close to each other, and directions of very different penalty."""
    rng = np.random.default_rng(seed)
    ell = int(rng.integers(3, 12))
    d = int(rng.integers(2 * ell, 100))
    U = np.linalg.qr(rng.standard_normal((d, ell)) * 10.0 ** rng.uniform(-2, 0, size=(d, 1)))[0]
    n_draws = int(rng.integers(1, ell))
    penalty = np.full(ell, 1e5)
    penalty[:n_draws] = 10.0 ** rng.uniform(-4, -2) * rng.uniform(0.3, 3, size=n_draws)
    return U, n_draws, penalty


def exact_weights(U, n_draws, penalty, draws):
    """The weights of these draws by the formulas of THEORY's section 2, with 60 digits."""
    with mp.workdps(60):
        ell = U.shape[1]
        e, identity, A = mp.diag([mp.mpf(float(p)) for p in penalty]), mp.eye(ell), mp.zeros(ell)
        k = sum(1 / (1 + e[i, i]) for i in range(ell))
        start, s = mp.sqrt(n_draws * k), mp.sqrt(k / n_draws)
        delta, found = (1 + s) / (1 - s), []
        for tau, j in enumerate(draws):
            L, upper = tau - start, delta * (tau + start)
            lower_at = A + start * e - L * identity
            upper_at = upper * identity - A + delta * start * e
            N, M = (lower_at - identity) ** -1, (upper_at + delta * identity) ** -1
            u = mp.matrix(U[j].tolist())
            increase = sum((N - lower_at**-1)[i, i] for i in range(ell))
            decrease = sum((upper_at**-1 - M)[i, i] for i in range(ell))
            lv = mp.norm(N * u) ** 2 / increase - (u.T * N * u)[0]
            uv = mp.norm(M * u) ** 2 / decrease + (u.T * M * u)[0]
            found.append(2 / (lv + uv))
            A += found[-1] * u * u.T
        return add_up_repeats(draws, np.array([float(t * (1 - s) / n_draws) for t in found]))[1]


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("seed", [*range(6), 934, 3459, 4175, 5724, 5777, 6823])
def test_where_the_barriers_are_close(seed):
    U, n_draws, penalty = close_instance(seed)
    found = same_as_plain(U, n_draws, "norm", penalty, rtol=1e-6)
    if n_draws <= 4:  # quick enough
        exact = exact_weights(U, n_draws, penalty, found.draws)
        np.testing.assert_allclose(found.weights, exact, rtol=1e-6)
