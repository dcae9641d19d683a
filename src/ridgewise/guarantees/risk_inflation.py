# SPDX-License-Identifier: BSD-3-Clause
"""How much the risk of ridge regression can grow by selecting features.

The paper's risk theorems hold for the variance and on average; for a fixed mean z they fail, since
the bias does not shrink as the kernel grows (see "The paper, corrected" in the documentation).
These hold for every z. alpha is what is added to K's diagonal, n times the paper's lambda, and
a K <= K~ <= b K.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from ridgewise._typing import FloatArray
from ridgewise.guarantees._checks import (
    check_interval,
    check_not_negative,
    check_positive,
    interval_around_one,
    squared_spectrum,
)
from ridgewise.guarantees.prediction import tau
from ridgewise.guarantees.risk import Risk


def variance_inflation(upper: float, singular_values: ArrayLike, alpha: float) -> float:
    """Bound V(K~) / V(K): phi_V = [b (kmin + alpha) / (b kmin + alpha)]^2, never above b^2.

    Examples
    --------
    >>> variance_inflation(2.0, [2.0, 1.0], alpha=1.0)
    1.777...
    """
    _, b = interval_around_one(0.0, upper)
    alpha = check_not_negative("alpha", alpha)
    kmin = float(squared_spectrum(singular_values).min())
    return ((kmin + alpha) / (kmin + alpha / b)) ** 2


def bias_inflation(gram: ArrayLike, singular_values: ArrayLike, alpha: float) -> float:
    """Compute the largest B(K~) / B(K) over all z: phi_B = ||(K~ + alpha)^-1 (K + alpha)||^2.

    R(K~) <= max(phi_V, phi_B) R(K) follows, for every z and noise. Exact, and without labels.

    Parameters
    ----------
    gram : array-like of shape (rank, rank)
        G = U^T W U, its rows in the order of the singular values.
    singular_values : array-like of shape (rank,)
        The non-zero singular values of X.
    alpha : float
        What is added to the kernel's diagonal. At 0 both biases are 0, and this is the limit.

    Returns
    -------
    float
        phi_B, over z in the range of K, as every X beta is. Elsewhere B(K~) = B(K): for a z of any
        kind take the larger of phi_B and 1. Infinite where K~ lost rank and alpha = 0.

    Examples
    --------
    >>> round(bias_inflation([[1.0, 0.5], [0.5, 1.0]], [100.0, 1.0], alpha=1.0), 1)
    818.9
    """
    k = squared_spectrum(singular_values)
    D = np.sqrt(k + check_not_negative("alpha", alpha))
    # (SGS + alpha)^-1 (S^2 + alpha) = D^-1 M^-1 D, D^2 = S^2 + alpha. M = D^-1 (SGS + alpha) D^-1
    # is as well conditioned as G, however badly X is.
    scale = np.sqrt(k) / D
    M = scale[:, None] * np.asarray(gram, np.float64) * scale + np.diag(alpha / D**2)
    m, Q = np.linalg.eigh(M)
    if m[0] <= len(m) * np.finfo(np.float64).eps * m[-1]:
        return math.inf
    inverse: FloatArray = (Q / m) @ Q.T
    return float(np.linalg.norm(inverse * (D / D[:, None]), 2)) ** 2


def bias_inflation_bound(
    lower: float, upper: float, singular_values: ArrayLike, alpha: float
) -> float:
    """Bound phi_B from [a, b] and the spectrum alone.

    min{p + h sqrt(kappa), 1 + max(1 - a, b - 1) smax tau}^2, kappa = (kmax + alpha)/(kmin + alpha),
    with p and h the middle and the half-width of [1/b', 1/a'], a' = (a kmax + alpha)/(kmax + alpha)
    and b' likewise.

    Examples
    --------
    >>> round(bias_inflation_bound(0.5, 1.5, [100.0, 1.0], alpha=1.0), 1)
    1321.7
    """
    a, b = interval_around_one(lower, upper)
    alpha = check_not_negative("alpha", alpha)
    kmax = float(squared_spectrum(singular_values).max())
    a_prime, b_prime = (a * kmax + alpha) / (kmax + alpha), (b * kmax + alpha) / (kmax + alpha)
    by_interval = regularized_bias_inflation_bound(a_prime, b_prime, singular_values, alpha)
    factor = max(1 - lower, upper - 1) * math.sqrt(kmax)
    by_norms = 1 + factor * tau(lower, upper, singular_values, alpha) if factor > 0 else 1.0
    return min(by_interval, by_norms**2)


def regularized_bias_inflation_bound(
    lower: float, upper: float, singular_values: ArrayLike, alpha: float
) -> float:
    """Bound phi_B from a regularized interval, a (K + alpha) <= K~ + alpha <= b (K + alpha).

    (p + h sqrt(kappa))^2, p and h the middle and the half-width of [1/b, 1/a], because
    (K~ + alpha)^-1 (K + alpha) = N^-1/2 T N^1/2 with N = K + alpha and 1/b <= T <= 1/a.

    Examples
    --------
    >>> round(regularized_bias_inflation_bound(0.5, 2.0, [2.0, 1.0], alpha=1.0), 3)
    5.933
    """
    a, b = check_interval(lower, upper)
    if a == 0:
        return math.inf
    k = squared_spectrum(singular_values)
    kappa = float((k.max() + alpha) / (k.min() + alpha))
    p, h = (1 / a + 1 / b) / 2, (1 / a - 1 / b) / 2
    return (p + h * math.sqrt(kappa)) ** 2


def fixed_beta_risk_bound(
    risk: Risk,
    lower: float,
    upper: float,
    *,
    alpha: float,
    n_samples: int,
    coefficient_norm: float,
) -> float:
    """Bound R(K~) for z = X beta, whatever the condition number: the risk theorems, corrected.

    b^2 V(K) + (sqrt(B(K)) + max(1 - a, b - 1) sqrt(lambda) / (2 sqrt a) ||U^T beta||)^2, with
    lambda = alpha / n.

    Parameters
    ----------
    risk : Risk
        The risk of all the features, see `ridge_risk`.
    lower, upper : float
        The measured interval: lower K <= K~ <= upper K.
    alpha : float
        What is added to the kernel's diagonal.
    n_samples : int
        The number n of training points.
    coefficient_norm : float
        ||U^T beta||, or any number above it, such as ||beta||.

    Returns
    -------
    float
        An upper bound on the risk of the selected features.

    Examples
    --------
    >>> risk = Risk(bias=0.01, variance=0.5)
    >>> bound = fixed_beta_risk_bound(
    ...     risk, 0.64, 1.2, alpha=1.0, n_samples=4, coefficient_norm=1.0
    ... )
    >>> round(bound, 3)
    0.765
    """
    a, b = check_interval(lower, upper)
    if a == 0:
        return math.inf
    lam = check_not_negative("alpha", alpha) / check_positive("n_samples", n_samples)
    growth = max(1 - a, b - 1) * math.sqrt(lam / a) / 2
    beta = check_not_negative("coefficient_norm", coefficient_norm)
    return max(b, 1.0) ** 2 * risk.variance + (math.sqrt(risk.bias) + growth * beta) ** 2


def average_bias_inflation(lower: float, upper: float) -> float:
    """Bound E B(K~) / E B(K) over z = X beta with isotropic random beta: max(1/a^2, b/a).

    Examples
    --------
    >>> average_bias_inflation(0.5, 1.5)
    4.0
    """
    a, b = check_interval(lower, upper)
    return math.inf if a == 0 else max(1 / a, b) / a


def worst_case_bias(
    lower: float, *, alpha: float, n_samples: int, coefficient_norm: float
) -> float:
    """Bound B(K~) over all z = X beta with ||U^T beta|| <= B: lambda B^2 / (4 a).

    lambda = alpha / n.

    Examples
    --------
    >>> worst_case_bias(0.5, alpha=2.0, n_samples=4, coefficient_norm=2.0)
    1.0
    """
    a, _ = check_interval(lower, math.inf)
    lam = check_not_negative("alpha", alpha) / check_positive("n_samples", n_samples)
    beta = check_not_negative("coefficient_norm", coefficient_norm)
    return math.inf if a == 0 else lam * beta**2 / (4 * a)
