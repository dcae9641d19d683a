# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn selectors, one file a method."""

from ridgewise.selectors._bss import BSSSelector
from ridgewise.selectors._information_gain import InformationGainSelector
from ridgewise.selectors._leverage import LeverageSelector
from ridgewise.selectors._random import RandomSelector
from ridgewise.selectors._rrqr import RRQRSelector

__all__ = [
    "BSSSelector",
    "InformationGainSelector",
    "LeverageSelector",
    "RRQRSelector",
    "RandomSelector",
]
