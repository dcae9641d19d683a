# SPDX-License-Identifier: BSD-3-Clause
"""The options of methods, as the command takes them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ridgewise.selectors import METHODS, check_method

OPTIONS = {"rescale": "no-rescale"}  # names of options that differ from the parameters'


def check_options(method: str, options: Mapping[str, Any]) -> None:
    """Raise if the method is unknown, or does not have one of the options."""
    for name, value in options.items():
        if value is not None and name not in METHODS[check_method(method)].parameters:
            raise ValueError(f"--{OPTIONS.get(name, name)} is not an option of {method}")


def parse_n_features(text: str, option: str = "-n") -> int | float:
    """Read how many: 400, or a share, 0.05 or 5%."""
    text = text.strip()
    try:
        if text.endswith("%"):
            value: int | float = float(text[:-1]) / 100
        else:
            value = float(text) if "." in text else int(text.replace("_", ""))
    except ValueError:
        value = 0
    if (isinstance(value, int) and value >= 1) or (isinstance(value, float) and 0 < value <= 1):
        return value
    raise ValueError(f"{option} takes a number (400) or a share (0.05 or 5%); got {text!r}")


def parse_numbers(name: str, text: str) -> list[float]:
    """Read comma-separated numbers, each at least 0."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [-1.0]
    if min(values) < 0 or not np.isfinite(values).all():
        raise ValueError(f"{name} takes numbers of at least 0, separated by commas; got {text!r}")
    return values
