# SPDX-License-Identifier: BSD-3-Clause
"""Regularized least squares classification and ridge regression in the dual, and their paths."""

from ridgewise.models._leave_one_out import (
    RELATIVE_ALPHAS,
    AlphaChoice,
    choose_alpha,
    class_targets,
    leave_one_out_alpha,
    leave_one_out_errors,
)
from ridgewise.models._path import DualPath, dual_path
from ridgewise.models._rls_classifier import RLSClassifier

__all__ = [
    "RELATIVE_ALPHAS",
    "AlphaChoice",
    "DualPath",
    "RLSClassifier",
    "choose_alpha",
    "class_targets",
    "dual_path",
    "leave_one_out_alpha",
    "leave_one_out_errors",
]
