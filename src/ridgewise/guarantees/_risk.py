# SPDX-License-Identifier: BSD-3-Clause
"""The risk of ridge regression in the fixed design setting, and how much a selection inflates it.

The paper's risk theorems hold for the variance and on average; for a fixed mean z they fail, since
the bias does not shrink as the kernel grows (see "The paper, corrected" in the documentation). The
bounds here hold for every z. alpha is what is added to K's diagonal, n times the paper's lambda,
and a (K + mu) <= K~ + mu <= b (K + mu), mu being the certificate's alpha.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from ridgewise._run import check_number
from ridgewise._typing import FloatArray
from ridgewise.guarantees._interval import UNIT, Interval
from ridgewise.guarantees._prediction_bounds import tau
from ridgewise.guarantees._selected_data import (
    SelectedData,
    check_vector,
    data_error,
    smallest_value,
)


@dataclass(frozen=True)
class Risk:
    """The risk of ridge regression, in its two parts: see `ridge_risk`.

    >>> Risk(0.5, 0.25).total
    0.75
    """

    bias: float  # the squared error of the mean prediction
    variance: float  # the share of the noise

    @property
    def total(self) -> float:
        """The risk itself: bias plus variance."""
        return self.bias + self.variance


def ridge_risk(K: ArrayLike, z: ArrayLike, noise_variance: float, alpha: float) -> Risk:
    """Compute the risk of ridge regression with kernel K at the training points.

    The targets are y = z + noise, with independent noise of one variance, and the risk is the
    expected ||K (K + alpha)^-1 y - z||^2 / n. For the risk after feature selection give the kernel
    of the selected, weighted features and the same z.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples)
        The kernel: symmetric and positive semi-definite, up to rounding.
    z : array-like of shape (n_samples,)
        The mean of the targets.
    noise_variance : float
        The variance of the noise, at least 0.
    alpha : float
        What is added to the kernel's diagonal, at least 0: n times the paper's lambda. At 0 the
        inverse is the pseudo-inverse.

    Returns
    -------
    Risk
        Its `bias`, `variance` and `total`.

    Notes
    -----
    With the eigenvalues k_i of K and zeta_i the components of z along its eigenvectors,

        bias = 1/n sum (alpha / (k_i + alpha))^2 zeta_i^2,
        variance = noise_variance/n sum (k_i / (k_i + alpha))^2,

    which is the paper's R(K) with alpha = n lambda. Products such as K K (K + alpha)^-2 lose so
    many digits that they can break true inequalities; the eigenvalues do not.

    Examples
    --------
    >>> import numpy as np
    >>> risk = ridge_risk(np.diag([3.0, 1.0]), [2.0, 2.0], noise_variance=1.0, alpha=1.0)
    >>> risk.bias, risk.variance, risk.total
    (0.625, 0.40625, 1.03125)
    """
    alpha = check_number("alpha", alpha)
    noise_variance = check_number("noise_variance", noise_variance)
    kernel, precision = _check_kernel(K)
    k, V = np.linalg.eigh(kernel)
    if k[0] < -precision * max(k[-1], -k[0]):
        raise ValueError(f"expected a positive semi-definite K, got the eigenvalue {k[0]:.3g}")
    zeta = V.T @ check_vector("z", z, len(k))
    # Without regularization an eigenvalue that is zero but for rounding must count as zero.
    k = np.where(k > (precision * k[-1] if alpha == 0 else 0.0), k, 0.0)
    kept = np.divide(k, k + alpha, out=np.zeros_like(k), where=k > 0)
    shrunk = np.divide(alpha, k + alpha, out=np.ones_like(k), where=k + alpha > 0)
    bias = float(np.sum((shrunk * zeta) ** 2)) / len(k)
    return Risk(bias, noise_variance * float(np.sum(kept**2)) / len(k))


@dataclass(frozen=True)
class RiskInflation:
    """Factors by which bias and variance grow, at most, when K~ takes the place of K.

    Those that end in ``_bound`` follow from the certificate's interval and the singular values;
    the others are exact for this selection. They need neither labels nor the noise. Infinite where
    a direction of X is lost and alpha = 0.

    Attributes
    ----------
    variance, bias, average_bias : float
        V(K~) / V(K); phi_B, the largest B(K~) / B(K) over all means z = X beta; and
        E B(K~) / E B(K) over isotropic random beta.
    variance_bound, bias_bound, average_bias_bound : float or None
        The first and the last are None for a certificate with alpha > 0.
    alpha, n_samples : float and int
        The model's alpha, and the number of samples.
    interval, regularized : tuple of float and bool
        The certificate's interval, and whether it is that of K~ + alpha against K + alpha.

    Examples
    --------
    >>> from ridgewise import BSSSelector, make_ridge_synthetic
    >>> X, _ = make_ridge_synthetic(random_state=0)
    >>> found = BSSSelector(90).fit(X).certificate_.risk_inflation(X, alpha=10.0)
    >>> bool(found.variance <= found.variance_bound and found.bias <= found.bias_bound)
    True
    """

    variance: float
    variance_bound: float | None
    bias: float
    bias_bound: float
    average_bias: float
    average_bias_bound: float | None
    alpha: float
    n_samples: int
    interval: tuple[float, float]
    regularized: bool

    @property
    def risk(self) -> float:
        """R(K~) <= risk R(K), whatever the mean of the targets, and their noise."""
        return max(self.variance, self.bias, 1.0)

    def fixed_beta_bound(self, risk: Risk, coefficient_norm: float) -> float:
        """Bound R(K~) for z = X beta, whatever the condition number: the risk theorems, corrected.

        Parameters
        ----------
        risk : Risk
            The risk on all features, see `ridge_risk`.
        coefficient_norm : float
            ||U^T beta||, or any number above it, such as ||beta||.

        Returns
        -------
        float
            An upper bound on the risk on the selected features.
        """
        norm, lam = check_number("norm", coefficient_norm), self.alpha / self.n_samples
        bias = fixed_beta_bias(risk.bias, *self.interval, lam, norm, regularized=self.regularized)
        by_factor = self.bias * risk.bias if risk.bias > 0 else math.inf
        return self.variance * risk.variance + min(bias, by_factor)


def report_risk(data: SelectedData) -> RiskInflation:
    """Compute the factors: see `Certificate.risk_inflation`."""
    S, alpha, (a, b), up = data.S, data.alpha, data.interval, rounding_factor(data)
    bias, average_bias = bias_inflation(data.weighted_rows, S, alpha)
    plain = not data.regularized
    return RiskInflation(
        variance=variance_ratio(data),
        variance_bound=variance_inflation(b, S, alpha) * up if plain else None,
        bias=bias * up,
        bias_bound=bias_inflation_bound(a, b, S, alpha, data.mu) * up,
        average_bias=average_bias * up,
        average_bias_bound=average_bias_inflation(a, b) * up if plain else None,
        alpha=alpha / data.scale / data.scale,
        n_samples=data.X.shape[0],
        interval=data.interval,
        regularized=data.regularized,
    )


def rounding_factor(data: SelectedData) -> float:
    """A factor that covers rounding errors: infinite where they are too large.

    A change of X by delta moves (K~ + alpha)^-1 (K + alpha) by 2 delta ||X|| / (a s^2), in units of
    itself, with s^2 the smallest eigenvalue of K + alpha; and as much again through K~.
    """
    s, (a, b) = smallest_value(data.spectrum, data.S, data.alpha), data.interval
    if s == 0:
        return math.inf
    a = a or 1.0  # a lost direction: alpha keeps it
    grown = 1 + math.sqrt(min(b, data.selection.max_weight + 1))
    share = 8 * grown * data_error(data.spectrum, data.S) * float(data.S[0]) / (a * s**2)
    return 1 + share + 64 * (1 + len(data.S)) * UNIT if share < 0.5 else math.inf


def variance_inflation(b: float, S: ArrayLike, alpha: float) -> float:
    """Bound V(K~) / V(K): phi_V = [b (kmin + alpha) / (b kmin + alpha)]^2, never above b^2."""
    b, kmin = max(b, 1.0), float(np.square(S).min())
    return ((kmin + alpha) / (kmin + alpha / b)) ** 2


def bias_inflation(rows: FloatArray, S: FloatArray, alpha: float) -> tuple[float, float]:
    """Compute the largest B(K~) / B(K) over all z, and E B(K~) / E B(K) for isotropic beta.

    phi_B = ||(K~ + alpha)^-1 (K + alpha)||^2, exact, and without labels: R(K~) <=
    max(phi_V, phi_B) R(K) for every z and noise. On average, over z = X beta, it is
    ||(K~ + alpha)^-1 S||_F^2 / ||(K + alpha)^-1 S||_F^2. ``rows``: W^1/2 U_S.
    """
    D = np.hypot(S, math.sqrt(alpha))
    # (K~ + alpha)^-1 = D^-1 M^-1 D^-1, D^2 = S^2 + alpha. M = D^-1 (S G S + alpha) D^-1 = B^T B is
    # as well conditioned as G, however badly X is.
    B = np.vstack([rows * (S / D), np.diag(math.sqrt(alpha) / D)])
    m, Qt = np.linalg.svd(B, full_matrices=False)[1:]
    if m[-1] ** 2 <= 2 * len(S) * UNIT * m[0] ** 2:
        return math.inf, math.inf
    inverse = (Qt.T / m**2) @ Qt
    largest = float(np.linalg.norm(inverse * (D / D[:, None]), 2)) ** 2
    on_average = np.sum((inverse * (S / D) / D[:, None]) ** 2) / np.sum((S / D**2) ** 2)
    return largest, float(on_average)


def bias_inflation_bound(a: float, b: float, S: ArrayLike, alpha: float, mu: float = 0.0) -> float:
    """Bound phi_B from [a, b] and the spectrum alone.

    a_N N <= K~ + alpha <= b_N N, N = K + alpha, a_N = (a (kmax + mu) + alpha - mu)/(kmax + alpha)
    and b_N likewise. (K~ + alpha)^-1 N = N^-1/2 T N^1/2 for some 1/b_N <= T <= 1/a_N, so phi_B is
    at most (p + h sqrt(kappa))^2, kappa = (kmax + alpha)/(kmin + alpha), p and h the middle and the
    half-width of [1/b_N, 1/a_N]. At mu = 0, also (1 + max(1 - a, b - 1) smax tau)^2.
    """
    k = np.square(S)
    kmin, kmax = float(k.min()), float(k.max())
    ends = Interval(a, b).around_one
    a_N, b_N = ((end * (kmax + mu) + (alpha - mu)) / (kmax + alpha) for end in ends)
    by_interval = math.inf
    if a_N > 0:
        p, h = (1 / a_N + 1 / b_N) / 2, (1 / a_N - 1 / b_N) / 2
        by_interval = (p + h * math.sqrt((kmax + alpha) / (kmin + alpha))) ** 2
    factor = max(1 - a, b - 1) * math.sqrt(kmax)
    by_norms = 1 + factor * tau(a, b, S, alpha) if factor > 0 else 1.0
    return by_interval if mu > 0 else min(by_interval, by_norms**2)


def fixed_beta_bias(
    bias: float, a: float, b: float, lam: float, norm: float, *, regularized: bool = False
) -> float:
    """Bound B(K~) for z = X beta, whatever the condition number: the risk theorems, corrected.

    min{sqrt(B(K)) + max(1 - a, b - 1) w, w}^2, lam = alpha / n and norm >= ||U^T beta||. w^2 is the
    largest B(K~) that such beta have: lam norm^2 / (4 a), as ||(K~ + alpha)^-1 S|| is at most
    1 / (2 sqrt(a alpha)); from a regularized interval lam norm^2 / a, as with N = K + alpha
    ||(K~ + alpha)^-1 N^1/2|| <= 1 / sqrt(a alpha). The variance is at most b^2 V(K).
    """
    if a == 0:
        return math.inf
    worst = math.sqrt(lam / a) * norm / (1 if regularized else 2)
    return min(math.sqrt(bias) + max(1 - a, b - 1) * worst, worst) ** 2


def average_bias_inflation(a: float, b: float) -> float:
    """Bound E B(K~) / E B(K) over z = X beta with isotropic random beta: max(1/a^2, b/a)."""
    return math.inf if a == 0 else max(1 / a, b) / a


def variance_ratio(data: SelectedData) -> float:
    """Compute V(K~) / V(K), V = sum (k_i / (k_i + alpha))^2; the rounding is added."""
    S, alpha, error = data.S, data.alpha, data_error(data.spectrum, data.S)
    singular = np.linalg.svd(data.weighted_rows * S, compute_uv=False)
    singular = singular[singular > len(S) * np.finfo(np.float64).eps * singular.max(initial=0.0)]
    above, moved = variance_sum(singular, alpha, error * math.sqrt(data.selection.max_weight))
    below, moved_below = variance_sum(S, alpha, error)
    return (above + moved) / (below - moved_below) if moved_below < below / 2 else math.inf


def variance_sum(singular_values: FloatArray, alpha: float, error: float) -> tuple[float, float]:
    """Sum (k / (k + alpha))^2, k = sigma^2, and how far an error of every sigma can move it."""
    k = singular_values**2
    slopes = 4 * alpha * k * singular_values / (k + alpha) ** 3
    total = float(np.sum((k / (k + alpha)) ** 2))
    return total, 2 * error * float(slopes.sum()) + 16 * len(k) * UNIT * total


def _check_kernel(K: ArrayLike) -> tuple[FloatArray, float]:
    """Return K as exactly symmetric floats, and how precise its eigenvalues are, relatively."""
    given = np.asarray(K)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.size == 0:
        raise ValueError(f"expected a square kernel K (n x n), got shape {given.shape}")
    # A kernel in single precision is symmetric and semi-definite to single precision only.
    single = given.dtype in (np.float16, np.float32)
    precision = 10 * len(given) * float(np.finfo(given.dtype if single else np.float64).eps)
    kernel = check_array(given, dtype=np.float64, input_name="the kernel K")
    if np.abs(kernel - kernel.T).max() > precision * np.abs(kernel).max():
        raise ValueError("expected a symmetric kernel K = X X^T")
    return (kernel + kernel.T) / 2, precision
