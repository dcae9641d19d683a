# SPDX-License-Identifier: BSD-3-Clause
"""What is certified of a selection: spectral bounds, prediction bounds, risk, sample sizes."""

from ridgewise.guarantees._certificate import Certificate
from ridgewise.guarantees._certify import (
    RandomFeatures,
    certify,
    measured_certificate,
    random_features,
)
from ridgewise.guarantees._interval import Selection, ridge_penalty
from ridgewise.guarantees._polish import polish
from ridgewise.guarantees._prediction import PredictionReport
from ridgewise.guarantees._prediction_bounds import PredictionBound
from ridgewise.guarantees._risk import Risk, RiskInflation, ridge_risk
from ridgewise.guarantees._sample_size import (
    alpha_for_dimension,
    effective_dimension,
    features_for_epsilon,
    leverage_promise,
    unweighted_promise,
)

__all__ = [
    "Certificate",
    "PredictionBound",
    "PredictionReport",
    "RandomFeatures",
    "Risk",
    "RiskInflation",
    "Selection",
    "alpha_for_dimension",
    "certify",
    "effective_dimension",
    "features_for_epsilon",
    "leverage_promise",
    "measured_certificate",
    "polish",
    "random_features",
    "ridge_penalty",
    "ridge_risk",
    "unweighted_promise",
]
