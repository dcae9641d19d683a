# SPDX-License-Identifier: BSD-3-Clause
"""How well a model does with the features that each selector keeps."""

from ridgewise.evaluation._compare import compare, is_classification
from ridgewise.evaluation._comparison import (
    ALL_FEATURES,
    Comparison,
    ComparisonRow,
    Entry,
    FeatureCount,
)
from ridgewise.evaluation._demo import ALL_WORDS, Demo, run_demo
from ridgewise.evaluation._prepare import SCALES, make_preparation, unit_warning
from ridgewise.evaluation._select import LARGEST, ModelAlpha, SelectionRun, run_selection
from ridgewise.evaluation._statistics import wilcoxon_test
from ridgewise.evaluation._summary import (
    MethodSummary,
    agreed_features,
    contest,
    recommended,
    summarize,
)

__all__ = [
    "ALL_FEATURES",
    "ALL_WORDS",
    "LARGEST",
    "SCALES",
    "Comparison",
    "ComparisonRow",
    "Demo",
    "Entry",
    "FeatureCount",
    "MethodSummary",
    "ModelAlpha",
    "SelectionRun",
    "agreed_features",
    "compare",
    "contest",
    "is_classification",
    "make_preparation",
    "recommended",
    "run_demo",
    "run_selection",
    "summarize",
    "unit_warning",
    "wilcoxon_test",
]
