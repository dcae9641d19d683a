# SPDX-License-Identifier: BSD-3-Clause
"""The methods by their names in the command, and the options that each has."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ridgewise._typing import is_sparse
from ridgewise.selectors import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
)

METHODS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "bss": (BSSSelector, {}),
    "leverage": (LeverageSelector, {}),
    "leverage-top": (LeverageSelector, {"sampling": "top"}),
    "rrqr": (RRQRSelector, {}),
    "information-gain": (InformationGainSelector, {}),
    "random": (RandomSelector, {}),
}
SUPERVISED = "information-gain"
OPTIONS = {"rescale": "no-rescale"}  # where they are called otherwise than the parameters
MOSTLY = 0.5  # zeros, so that being there or not says something


def make_selector(
    method: str, options: Mapping[str, Any], *, n_features: int | float | None, seed: int, X: Any
) -> Any:
    """Make a selector of the options that were given.

    Parameters
    ----------
    method : str
        One of `METHODS`.
    options : mapping
        By the names of the selectors' parameters; None where an option was not given.
    n_features : int, float or None
        How many, or which share.
    seed : int
        For a method that draws.
    X : array or sparse array
        The data, which decides when a feature counts as present for information gain.

    Returns
    -------
    selector
    """
    kind, settings = METHODS[method]
    given = {name: value for name, value in options.items() if value is not None}
    if "random_state" in accepted(method):
        given["random_state"] = seed
    if method == SUPERVISED:
        given["threshold"] = presence(X)
    return kind(n_features, **settings, **given)


def check_options(method: str, options: Mapping[str, Any]) -> None:
    """Refuse a method that there is not, and options that it does not have."""
    check_method(method)
    for name, value in options.items():
        if value is not None and name not in accepted(method):
            raise ValueError(f"--{OPTIONS.get(name, name)} is not an option of {method}")


def accepted(method: str) -> set[str]:
    """Name the parameters of a method."""
    return set(METHODS[method][0]._get_param_names())


def check_method(method: str) -> str:
    """Refuse a name that is no method's."""
    if method not in METHODS:
        raise ValueError(f"there is no method {method!r}: it must be one of {', '.join(METHODS)}")
    return method


def presence(X: Any) -> float | str:
    """When a feature is present in a sample: where it is not 0, or above its median.

    Parameters
    ----------
    X : array or sparse array
        The data.

    Returns
    -------
    float or str
        Information gain's threshold: 0 for counts and the like, "median" for measurements.
    """
    if is_sparse(X):
        return 0.0
    return 0.0 if np.count_nonzero(X) <= (1 - MOSTLY) * X.size else "median"


def parse_n_features(text: str) -> int | float:
    """Read how many: 400, or a share, 0.05 or 5%.

    Parameters
    ----------
    text : str
        What the user wrote.

    Returns
    -------
    int or float
    """
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
    raise ValueError(f"-n takes a number of features (400) or a share (0.05 or 5%); got {text!r}")


def parse_numbers(name: str, text: str) -> list[float]:
    """Read numbers parted by commas, each at least 0."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [-1.0]
    if min(values) < 0 or not np.isfinite(values).all():
        raise ValueError(f"{name} takes numbers of at least 0, parted by commas; got {text!r}")
    return values
