# SPDX-License-Identifier: BSD-3-Clause
"""Feature selection for ridge regression, with guarantees that are stated and checked."""

from ridgewise.datasets import load_stdlib_text, make_ridge_synthetic
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
    "InformationGainSelector",
    "LeverageSelector",
    "RLSClassifier",
    "RRQRSelector",
    "RandomSelector",
    "certify",
    "features_for_epsilon",
    "load_stdlib_text",
    "make_ridge_synthetic",
    "ridge_risk",
]
