# SPDX-License-Identifier: BSD-3-Clause
"""What is certified of a selection: spectral bounds, prediction bounds, risk, sample sizes."""

from ridgewise.guarantees.certificate import Certificate
from ridgewise.guarantees.certify import certify
from ridgewise.guarantees.measure import measured_certificate
from ridgewise.guarantees.prediction import PredictionBound
from ridgewise.guarantees.prediction_report import PredictionReport
from ridgewise.guarantees.risk import Risk, ridge_risk
from ridgewise.guarantees.risk_report import RiskInflation
from ridgewise.guarantees.sample_size import bss_promise, features_for_epsilon, leverage_promise
from ridgewise.guarantees.selection import Selection

__all__ = [
    "Certificate",
    "PredictionBound",
    "PredictionReport",
    "Risk",
    "RiskInflation",
    "Selection",
    "bss_promise",
    "certify",
    "features_for_epsilon",
    "leverage_promise",
    "measured_certificate",
    "ridge_risk",
]
