# SPDX-License-Identifier: BSD-3-Clause
"""Prediction bounds where the selection was certified with alpha on the diagonal.

Here a (K + alpha) <= K~ + alpha <= b (K + alpha), which fewer features than the rank can give. The
same a and b then also hold for every larger alpha, once a <= 1 <= b.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from ridgewise.guarantees._checks import (
    check_interval,
    check_positive,
    interval_around_one,
    squared_spectrum,
)


def regularized_eta(lower: float, upper: float) -> float:
    """Bound ||H~ - H||, H = K (K + alpha)^-1, from a regularized interval: max(1 - a, 1 - 1/b).

    H - H~ <= (1/a - 1)(I - H) and H - H~ <= H; the first with weight a and the second with 1 - a
    give 1 - a. H~ - H <= (1 - 1/b)(I - H) gives the other.

    Examples
    --------
    >>> round(regularized_eta(0.8, 2.0), 3)
    0.5
    """
    a, b = interval_around_one(lower, upper)
    return max(1 - a, 1 - 1 / b)


def regularized_tau(lower: float, upper: float, singular_values: ArrayLike, alpha: float) -> float:
    """Bound ||S (Delta + alpha)^-1|| from a regularized interval; it multiplies c_q ||y||.

    S^2 <= T / a - alpha with T = Delta + alpha, so the square is at most the largest
    1 / (a t) - alpha / t^2 over the eigenvalues t of T: at t = 2 a alpha, or as near as they come.

    Parameters
    ----------
    lower, upper : float
        lower (K + alpha) <= K~ + alpha <= upper (K + alpha).
    singular_values : array-like of shape (rank,)
        The non-zero singular values of X.
    alpha : float
        What is added to the kernel's diagonal, above 0.

    Returns
    -------
    float
        The factor; never more than smax / alpha.

    Examples
    --------
    >>> regularized_tau(0.5, 1.5, [2.0, 1.0], alpha=1.0)
    1.0
    """
    a, b = check_interval(lower, upper)
    alpha = check_positive("alpha", alpha)
    k = squared_spectrum(singular_values)
    t_min = max(alpha, a * (k.min() + alpha))
    by_norms = math.sqrt(k.max()) / t_min
    if a == 0:
        return by_norms
    t = float(np.clip(2 * a * alpha, t_min, max(b * (k.max() + alpha), t_min)))
    return min(math.sqrt(max(1 / (a * t) - alpha / t**2, 0.0)), by_norms)
