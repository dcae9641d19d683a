# SPDX-License-Identifier: BSD-3-Clause
"""Feature selection for ridge regression, with guarantees that are stated and checked."""

from ridgewise.datasets import (
    fetch_techtc300,
    load_stdlib_text,
    load_techtc,
    make_ridge_synthetic,
)
from ridgewise.evaluation import Comparison, compare
from ridgewise.guarantees import Certificate, certify, features_for_epsilon, ridge_risk
from ridgewise.models import RLSClassifier
from ridgewise.selectors import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "BSSSelector",
    "Certificate",
    "Comparison",
    "InformationGainSelector",
    "LeverageSelector",
    "RLSClassifier",
    "RRQRSelector",
    "RandomSelector",
    "certify",
    "compare",
    "features_for_epsilon",
    "fetch_techtc300",
    "load_stdlib_text",
    "load_techtc",
    "make_ridge_synthetic",
    "ridge_risk",
]
