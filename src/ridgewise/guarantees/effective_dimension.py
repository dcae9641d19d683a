# SPDX-License-Identifier: BSD-3-Clause
"""The effective dimension of a kernel: what takes the rank's place once alpha is above 0."""

import math

import numpy as np
from numpy.typing import ArrayLike

from ridgewise._typing import FloatArray
from ridgewise.guarantees._checks import check_not_negative, check_positive


def effective_dimension(eigenvalues: ArrayLike, alpha: float) -> float:
    """Compute d_eff = tr K (K + alpha)^-1 = sum k_i / (k_i + alpha): the rank at alpha = 0.

    Parameters
    ----------
    eigenvalues : array-like of shape (n,)
        The eigenvalues of K; those that are not above 0 count for nothing.
    alpha : float
        What is added to the kernel's diagonal.

    Returns
    -------
    float
        d_eff, at most the rank.

    Examples
    --------
    >>> effective_dimension([3.0, 1.0, 0.0], alpha=1.0)
    1.25
    >>> effective_dimension([3.0, 1.0, 0.0], alpha=0.0)
    2.0
    """
    k = _positive_eigenvalues(eigenvalues)
    # 1 / (1 + alpha / k) rather than k / (k + alpha): no sum that could overflow.
    with np.errstate(over="ignore"):
        return float(np.sum(1 / (1 + check_not_negative("alpha", alpha) / k)))


def alpha_for_dimension(eigenvalues: ArrayLike, target: float) -> float:
    """Find the smallest alpha at which the effective dimension is at most target.

    Parameters
    ----------
    eigenvalues : array-like of shape (n,)
        The eigenvalues of K; those that are not above 0 count for nothing.
    target : float
        The effective dimension wanted, above 0.

    Returns
    -------
    float
        alpha, with d_eff(alpha) <= target, and within a relative 1e-12 of the smallest such; 0
        where the rank is no more than the target.

    Examples
    --------
    >>> round(alpha_for_dimension([3.0, 1.0], target=1.25), 9)
    1.0
    >>> alpha_for_dimension([3.0, 1.0], target=2)
    0.0
    """
    k = _positive_eigenvalues(eigenvalues)
    target = check_positive("target", target)
    if k.size <= target:
        return 0.0
    # d_eff <= sum k / alpha, and d_eff >= l kmin / (kmin + alpha), enclose the root. It is halved
    # for on a logarithmic scale, so that no range of eigenvalues is too wide.
    scale, rounding = float(k.max()), 8 * float(np.finfo(np.float64).eps)
    low = math.log(k.min() / scale) + math.log(k.size / target - 1)
    high = math.log(np.sum(k / scale)) - math.log(target) + rounding
    while high - low > rounding * max(1.0, abs(high)):
        middle = (low + high) / 2
        if effective_dimension(k, math.exp(middle) * scale) <= target:
            high = middle
        else:
            low = middle
    return math.exp(high) * scale


def _positive_eigenvalues(eigenvalues: ArrayLike) -> FloatArray:
    k = np.asarray(eigenvalues, dtype=np.float64)
    if k.ndim != 1 or not np.all(np.isfinite(k)):
        raise ValueError("expected eigenvalues to be a list of finite numbers")
    return k[k > 0]
