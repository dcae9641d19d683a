# SPDX-License-Identifier: BSD-3-Clause
"""Which rows the engine has at hand: few as vectors, many as sparse rows where they are sparse."""

import numpy as np

from ridgewise._typing import BoolArray, IndexArray
from ridgewise.barrier._decomposition import Decomposition
from ridgewise.barrier._problem import Vectors
from ridgewise.barrier._screen import MOST_HELD, Screen
from ridgewise.barrier._shortlist import Shortlist
from ridgewise.barrier._sparse_rows import SparseRows, pay_off

FIRST_ROWS = 64  # rows asked for at the start
# Rows in descending norm looked at, before all rows are, by the screen; and where the screen is
# set already, which is what costs. Compiled code takes more, if it need not rotate them twice.
MOST_ROWS, MOST_ROWS_SCREENED = 1536, 256
MOST_ROWS_COMPILED = 4096, 1024


class AtHand:
    """Rows at hand, in scan order, and how many it takes.

    Parameters
    ----------
    vectors : Vectors
        All of them.
    order : ndarray
        Scan order.
    selected : ndarray of shape (d,)
        Those drawn, kept up by the engine.
    rule : {"norm", "slack", "ratio"}
        Which feasible row is drawn.
    screen : Screen
        What looks at all rows.
    is_compiled, is_penalized : bool
        Whether there are compiled draws; whether there is a penalty.
    """

    def __init__(
        self,
        vectors: Vectors,
        order: IndexArray,
        selected: BoolArray,
        rule: str,
        screen: Screen,
        is_compiled: bool,
        is_penalized: bool,
    ) -> None:
        self.vectors, self.order, self.selected = vectors, order, selected
        self.rule, self.screen = rule, screen
        self.is_compiled, self.is_penalized = is_compiled, is_penalized
        self.nearest = Shortlist(vectors, order)  # the first unselected rows in scan order
        self.sparse: SparseRows | None = None
        if is_compiled and pay_off(vectors):
            self.sparse = SparseRows(vectors, order)
        self.depth = 0.0  # how far into them the scan went lately
        self.needed = np.inf  # "slack": rows of less squared norm could not have been the best one

    def note_depth(self, passed: float) -> None:
        """Remember how many unselected rows were passed over in a draw."""
        self.depth += 0.2 * (passed - self.depth)

    @property
    def most_rows(self) -> int:
        """How many rows are looked at before all are."""
        if self.rule == "slack":
            return MOST_HELD // self.vectors.rank
        if self.is_compiled and not self.is_penalized:
            return MOST_ROWS_COMPILED[self.screen.is_set]
        return MOST_ROWS_SCREENED if self.screen.is_set else MOST_ROWS

    @property
    def is_near(self) -> bool:
        """Whether draws need few enough rows for these to be at hand."""
        return self.depth <= self.most_rows

    @property
    def wanted(self) -> int:
        """How many rows are likely to be looked at before the next decomposition, 0 if too many."""
        if self.rule == "slack":
            needed = int(np.count_nonzero(self.vectors.norms2 >= self.needed / 2))
            return FIRST_ROWS + needed if needed <= self.most_rows else 0
        return 2 * (FIRST_ROWS + int(self.depth)) if self.is_near else 0

    @property
    def goes_deep(self) -> bool:
        """Whether so many rows are looked at that sparse ones pay off."""
        if self.sparse is None or self.rule != "norm":
            return self.sparse is not None
        rows = max(len(self.nearest), 2 * (FIRST_ROWS + self.depth))
        return rows > self.sparse.pays_off_at

    def for_compiled_code(
        self, decomposition: tuple[Decomposition, Decomposition]
    ) -> Shortlist | SparseRows:
        """The rows that compiled draws are made among."""
        if self.sparse is None or not self.goes_deep:
            return self.nearest
        self.sparse.rotate(*decomposition)
        return self.sparse

    def decomposed(self, lower: Decomposition, upper: Decomposition) -> None:
        """Go over to the coordinates of another decomposition of A."""
        by_vectors = not (self.goes_deep and not lower.is_diagonal)
        self.nearest.refresh((lower.Q, upper.Q), self.selected, self.wanted if by_vectors else 0)

    def hold_more(self, rows: Shortlist | SparseRows) -> bool:
        """Hold more of the rows, if there are any and there is room."""
        if isinstance(rows, SparseRows):
            return rows.extend()
        held, wanted, most = rows.positions, self.wanted, self.most_rows
        end = int(held[-1]) + 1 if len(held) else 0
        room = min(max(FIRST_ROWS, len(held) // 2, wanted - len(held)), most - len(held))
        within = end + room + np.count_nonzero(self.selected)
        more = end + np.flatnonzero(~self.selected[self.order[end:within]])[: max(room, 0)]
        if len(more) == 0 or (wanted == 0 and len(held) > 0):
            return False
        rows.extend(more)
        return True

    def first_unselected(self) -> int:
        """Where among the nearest rows the first unselected one is."""
        first, positions = 0, self.nearest.positions
        while first < len(positions) and self.selected[self.order[positions[first]]]:
            first += 1
        return first

    def drop(self) -> None:
        """Have none at hand, and start anew."""
        self.nearest = Shortlist(self.vectors, self.order)
