# SPDX-License-Identifier: BSD-3-Clause
"""What is certified of a selection: spectral bounds, prediction bounds, risk, sample sizes."""

from ridgewise.guarantees.certificate import Certificate
from ridgewise.guarantees.risk import Risk, ridge_risk
from ridgewise.guarantees.sample_size import bss_promise, features_for_epsilon, leverage_promise

__all__ = [
    "Certificate",
    "Risk",
    "bss_promise",
    "features_for_epsilon",
    "leverage_promise",
    "ridge_risk",
]
