# SPDX-License-Identifier: BSD-3-Clause
"""Checks of parameters that several rooms share."""

import math
from numbers import Real
from typing import Any


def check_number(name: str, value: Any, *, positive: bool = False, otherwise: str = "") -> float:
    """Return value as a float; raise unless it is finite and at least (``positive``: above) 0."""
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:  # an integer beyond the largest float
        number = math.inf
    if not 0 <= number < math.inf or isinstance(value, bool) or (positive and number == 0):
        least = ">" if positive else ">="
        raise ValueError(f"{name} must be a finite number {least} 0{otherwise}; got {value!r}")
    return number
