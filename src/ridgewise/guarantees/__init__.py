# SPDX-License-Identifier: BSD-3-Clause
"""What is certified of a selection: spectral bounds, prediction bounds, risk, sample sizes."""

from ridgewise.guarantees._random_features import RandomFeatures, random_features
from ridgewise.guarantees.certificate import Certificate
from ridgewise.guarantees.certify import certify
from ridgewise.guarantees.effective_dimension import alpha_for_dimension, effective_dimension
from ridgewise.guarantees.measure import measured_certificate
from ridgewise.guarantees.prediction import PredictionBound
from ridgewise.guarantees.prediction_report import PredictionReport
from ridgewise.guarantees.risk import Risk, ridge_risk
from ridgewise.guarantees.risk_report import RiskInflation
from ridgewise.guarantees.sample_size import (
    bss_promise,
    features_for_epsilon,
    leverage_promise,
    unweighted_promise,
)
from ridgewise.guarantees.selection import Selection

__all__ = [
    "Certificate",
    "PredictionBound",
    "PredictionReport",
    "RandomFeatures",
    "Risk",
    "RiskInflation",
    "Selection",
    "alpha_for_dimension",
    "bss_promise",
    "certify",
    "effective_dimension",
    "features_for_epsilon",
    "leverage_promise",
    "measured_certificate",
    "random_features",
    "ridge_risk",
    "unweighted_promise",
]
