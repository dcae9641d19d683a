# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the numbers that every bound starts from: the interval, the spectrum, alpha."""

import math

import numpy as np
from numpy.typing import ArrayLike

from ridgewise._typing import FloatArray


def check_interval(lower: float, upper: float) -> tuple[float, float]:
    """Return the measured [a, b] as floats, once 0 <= a <= b holds (b may be infinite)."""
    a, b = float(lower), float(upper)
    if not (0 <= a <= b and a < math.inf):
        raise ValueError(f"expected 0 <= lower <= upper, got lower={lower}, upper={upper}")
    return a, b


def interval_around_one(lower: float, upper: float) -> tuple[float, float]:
    """Widen the measured [a, b] until it holds 1, which bounds that compare with K itself need."""
    a, b = check_interval(lower, upper)
    return min(a, 1.0), max(b, 1.0)


def squared_spectrum(singular_values: ArrayLike) -> FloatArray:
    """Return k_i = sigma_i^2, the non-zero eigenvalues of K, from X's singular values."""
    sigma = np.asarray(singular_values, dtype=np.float64)
    if sigma.ndim != 1 or sigma.size == 0 or not np.all((sigma > 0) & np.isfinite(sigma)):
        raise ValueError("expected singular_values to be a non-empty list of positive numbers")
    return sigma**2


def as_float(value: float) -> float:
    """A number as a float: an integer beyond the largest one as infinity, which checks refuse."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def check_not_negative(name: str, value: float) -> float:
    """Return value as a float, once it is finite and at least zero."""
    number = as_float(value)
    if not 0 <= number < math.inf:
        raise ValueError(f"expected {name} to be finite and at least 0, got {value}")
    return number


def check_positive(name: str, value: float) -> float:
    """Return value as a float, once it is finite and above zero."""
    number = as_float(value)
    if not 0 < number < math.inf:
        raise ValueError(f"expected {name} to be finite and above 0, got {value}")
    return number
