# SPDX-License-Identifier: BSD-3-Clause
"""Each table and figure of the paper: what it runs, what was printed, what came out.

S. Paul and P. Drineas, "Feature Selection for Ridge Regression with Provable Guarantees", Neural
Computation 28(4), 2016.
"""

from collections.abc import Callable

from ridgewise.paper import figures, risk, table1, table2, table3, words
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
    "table1": table1.run,
    "table2": table2.run,
    "table3": table3.run,
    "figures": figures.run,
    "words": words.run,
    "risk": risk.run,
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
