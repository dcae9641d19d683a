# SPDX-License-Identifier: BSD-3-Clause
"""Regularized least squares classification and ridge regression in the dual, and their paths."""

from ridgewise.models._path import DualPath
from ridgewise.models._rls_classifier import RLSClassifier
from ridgewise.models._selected import selected_path, weighted_columns

__all__ = ["DualPath", "RLSClassifier", "selected_path", "weighted_columns"]
