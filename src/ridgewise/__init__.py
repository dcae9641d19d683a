# SPDX-License-Identifier: BSD-3-Clause
"""Feature selection for ridge regression, with guarantees that are stated and checked.

Names are imported when they are first used, so that the command starts fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ridgewise._version import __version__ as __version__

if TYPE_CHECKING:
    from ridgewise.datasets import (
        fetch_techtc300,
        load_stdlib_text,
        load_techtc,
        make_ridge_synthetic,
    )
    from ridgewise.evaluation import Comparison, compare
    from ridgewise.guarantees import Certificate, features_for_epsilon, ridge_risk
    from ridgewise.guarantees._certify import certify
    from ridgewise.models import RLSClassifier
    from ridgewise.selectors import (
        BSSSelector,
        InformationGainSelector,
        LeverageSelector,
        RandomSelector,
        RRQRSelector,
        SubsetSelector,
    )

__all__ = [
    "BSSSelector",
    "Certificate",
    "Comparison",
    "InformationGainSelector",
    "LeverageSelector",
    "RLSClassifier",
    "RRQRSelector",
    "RandomSelector",
    "SubsetSelector",
    "certify",
    "compare",
    "features_for_epsilon",
    "fetch_techtc300",
    "load_stdlib_text",
    "load_techtc",
    "make_ridge_synthetic",
    "ridge_risk",
]

# Rooms, in the order in which a public name is looked for: the lightest first.
_ROOMS = (
    "spectrum",
    "barrier",
    "subset",
    "guarantees",
    "selectors",
    "models",
    "datasets",
    "evaluation",
)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return import_module(f"ridgewise.{name}")
        if name in __all__:
            for room in map(import_module, (f"ridgewise.{room}" for room in _ROOMS)):
                if name in room.__all__:
                    globals()[name] = getattr(room, name)
                    return globals()[name]
        raise AttributeError(f"module 'ridgewise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__, *_ROOMS]
