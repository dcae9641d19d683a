# SPDX-License-Identifier: BSD-3-Clause
"""Checks of parameters and targets that several rooms share."""

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from ridgewise._typing import AnyArray

MOST_CLASSES = 20


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


def check_one_of(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Raise if value is not one of those allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")


def check_bool(name: str, value: Any) -> bool:
    """Return value as a bool; raise if it is not one."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def are_classes(y: AnyArray) -> bool:
    """Whether targets are classes: no numbers, or whole ones with at most 20 different values."""
    if y.dtype.kind not in "iuf":
        return True
    return bool((y == np.round(y)).all()) and len(np.unique(y)) <= MOST_CLASSES
