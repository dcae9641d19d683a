# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn selectors, one file a method, and the registry of methods."""

from ridgewise.selectors._base import FewerFeaturesWarning
from ridgewise.selectors._bss import BSSSelector
from ridgewise.selectors._given import GivenSelector
from ridgewise.selectors._information_gain import InformationGainSelector
from ridgewise.selectors._leverage import LeverageSelector
from ridgewise.selectors._methods import (
    METHODS,
    Method,
    check_method,
    explain_defaults,
    label_of,
    make_selector,
    method_for,
    method_of,
)
from ridgewise.selectors._random import RandomSelector
from ridgewise.selectors._rrqr import RRQRSelector
from ridgewise.selectors._sklearn import SklearnSelector
from ridgewise.selectors._subset import SubsetSelector

__all__ = [
    "METHODS",
    "BSSSelector",
    "FewerFeaturesWarning",
    "GivenSelector",
    "InformationGainSelector",
    "LeverageSelector",
    "Method",
    "RRQRSelector",
    "RandomSelector",
    "SklearnSelector",
    "SubsetSelector",
    "check_method",
    "explain_defaults",
    "label_of",
    "make_selector",
    "method_for",
    "method_of",
]
