# SPDX-License-Identifier: BSD-3-Clause
"""Best subsets for ridge regression: the greedy path, and a bound on every subset."""

from ridgewise.subset._bound import lower_bound
from ridgewise.subset._greedy import Path, greedy_path
from ridgewise.subset._optimality import Optimality
from ridgewise.subset._plain import plain_greedy, plain_objective, target_matrix
from ridgewise.subset._problem import TARGETS, Limits, Problem, squared_lengths

__all__ = [
    "TARGETS",
    "Limits",
    "Optimality",
    "Path",
    "Problem",
    "greedy_path",
    "lower_bound",
    "plain_greedy",
    "plain_objective",
    "squared_lengths",
    "target_matrix",
]
