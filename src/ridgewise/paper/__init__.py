# SPDX-License-Identifier: BSD-3-Clause
"""The paper's tables and figures: the experiments, the printed values and the measured ones.

S. Paul and P. Drineas, "Feature Selection for Ridge Regression with Provable Guarantees", Neural
Computation 28(4), 2016.
"""

from collections.abc import Callable

from ridgewise.paper import _risk, _table1, _table2, _table3, _words
from ridgewise.paper._outcome import (
    NOT_REPRODUCED,
    REPRODUCED,
    SAME_ORDERING,
    Chart,
    Outcome,
    Panel,
    Series,
    Table,
    Verdict,
)
from ridgewise.paper._study import Settings, Study

EXPERIMENTS: dict[str, Callable[[Study], Outcome]] = {
    "table1": _table1.run,
    "table2": _table2.run,
    "table3": _table3.run,
    "figures": _table3.run_figures,
    "words": _words.run,
    "risk": _risk.run,
}

__all__ = [
    "EXPERIMENTS",
    "NOT_REPRODUCED",
    "REPRODUCED",
    "SAME_ORDERING",
    "Chart",
    "Outcome",
    "Panel",
    "Series",
    "Settings",
    "Study",
    "Table",
    "Verdict",
]
