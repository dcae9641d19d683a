# SPDX-License-Identifier: BSD-3-Clause
"""The rows that draws are made among: few, dense, and in the coordinates of the decomposition."""

from typing import Any

import numpy as np

from ridgewise._groups import spans
from ridgewise._typing import BoolArray, FloatArray, IndexArray, is_sparse
from ridgewise.barrier._draws import ExplicitResolvent, Pair, for_both
from ridgewise.barrier._problem import (
    Barriers,
    is_feasible,
    penalized_norms2,
    pool_of,
    pool_size,
    scan_order,
)
from ridgewise.barrier._vectors import Vectors, sizes_of

FIRST_ROWS = 64  # of a prefix, held and looked at at first
SPARE_ROWS = 64  # before and after the last row of the pool that are scored exactly at first
ERRORS = 4.0  # times the errors that were seen are allowed for
DENSE = 13  # rows with more than one non-zero in so many are multiplied faster if dense
NEAR = 1e-8  # of the largest slack: nearer than this, rows count as equal


class Pool:
    """Rows by their positions in scan order, as they are and in both barriers' coordinates.

    A position is that of a group of rows, of one row mostly. For the rule "norm" the pool is a
    prefix in scan order, of which no more is held and looked at than needed; for the other rules
    the rows that `fill` finds.

    Attributes
    ----------
    positions : ndarray
        What is held, ascending. The rows are X B, or X where B is None: see `Vectors.hold`.
    looked_at : ndarray
        Those of them whose rows are in `rows`, in the coordinates of either barrier.
    again, may_repeat : bool
        Whether selected rows may be drawn: of the pool, and now.
    depth : int
        How far into `looked_at` draws went since the last decomposition.
    """

    def __init__(self, vectors: Vectors, barriers: Barriers, rule: str) -> None:
        self.vectors, self.is_prefix = vectors, rule == "norm"
        self.order = scan_order(penalized_norms2(vectors, barriers.penalty))
        self.norms2 = vectors.norms2[self.order]
        self.sizes = sizes_of(vectors)[self.order]
        self.size = pool_size(rule, vectors.rank, barriers.n_draws, self.sizes)
        self.positions = self.looked_at = np.empty(0, dtype=np.intp)
        self.depth, self.n_scans = FIRST_ROWS // 4, 0
        self.again = self.may_repeat = False
        self.basis_of: FloatArray | None = None

    def hold(self, positions: IndexArray) -> None:
        """Ask the vectors for these rows."""
        X, B = self.vectors.hold(self.order[positions])
        is_dense = not is_sparse(X) or DENSE * X.nnz > X.shape[0] * X.shape[1]
        self.X, self.B = (X, B) if B is None or not is_dense else (X @ B, None)
        self.positions = positions

    def part(self, some: IndexArray) -> Any:
        """X of some of the positions held."""
        if some is self.positions:
            return self.X
        sizes, chosen = self.sizes[self.positions], np.searchsorted(self.positions, some)
        return self.X[spans((np.cumsum(sizes) - sizes)[chosen], sizes[chosen])]

    def explicit(self, some: IndexArray) -> FloatArray:
        """The rows of some of the positions held."""
        rows: FloatArray = self.part(some)
        return rows if self.B is None else rows @ self.B

    def look_at(self, positions: IndexArray, may_repeat: bool) -> None:
        """Have draws made among these positions of the pool."""
        self.looked_at, self.may_repeat = positions, may_repeat
        self.rotated: Pair | None = None

    @property
    def rows(self) -> Pair:
        """The rows of `looked_at`, in the coordinates of either barrier."""
        if self.rotated is None:
            self.rotated = self.in_coordinates(self.looked_at)
        return self.rotated

    def in_coordinates(self, some: IndexArray) -> Pair:
        """The same of some of the positions held."""
        X, B = self.part(some), self.B
        if self.basis_of is not B:  # B Q, once for each decomposition
            self.basis_of = B
            self.bases = for_both(lambda Q: Q if B is None else B @ Q, self.Q)
        return for_both(lambda basis: X @ basis, self.bases)

    def rotate(self, Q: Pair, selected: BoolArray) -> None:
        """Have other coordinates."""
        self.Q, self.basis_of, self.bases = Q, None, Q
        if not self.is_prefix:
            self.look_at(self.positions, self.again)
            return
        expected, self.depth = 2 * self.depth + FIRST_ROWS // 2, 0
        left = np.flatnonzero(~selected[: len(self.positions)])
        is_all = self.again and len(left) <= expected
        self.look_at(self.positions if is_all else left[:expected], is_all)

    # the rule "norm": a prefix in scan order

    def look_further(self, selected: BoolArray) -> bool:
        """Look at more of the prefix, at last also at selected rows; False if there is no more."""
        if self.may_repeat:
            return False
        self.depth = len(self.looked_at)
        after = int(self.looked_at[-1]) + 1 if self.depth > 0 else 0
        further = after + np.flatnonzero(~selected[after : len(self.positions)])
        if len(further) > 0:
            further = further[: 3 * self.depth + FIRST_ROWS]
            known, more = self.rows, self.in_coordinates(further)
            self.looked_at = np.concatenate([self.looked_at, further])
            lower = np.vstack([known[0], more[0]])
            self.rotated = lower, lower if known[0] is known[1] else np.vstack([known[1], more[1]])
        elif len(self.positions) < self.size:
            self.hold(np.arange(min(2 * len(self.positions) + FIRST_ROWS, self.size)))
            self.again = len(self.positions) == self.size
            return self.look_further(selected)
        else:
            self.look_at(self.positions, may_repeat=True)
        return True

    # the rules "slack" and "ratio": the rows with the most slack

    def fill(
        self,
        lower: ExplicitResolvent,
        upper: ExplicitResolvent,
        selected: BoolArray,
        is_first: bool,
    ) -> None:
        """Score all rows, and hold those that `pool_of` defines.

        Scores of all rows are rounded. Exact ones of rows on the border, near the last of the pool,
        decide which of those are in it, and show how wrong the others may be: the rest must be
        farther from the last than that.
        """
        W = lower.form() - upper.form()
        if is_first:  # A = 0: slack is in proportion to the squared norm
            scores = W[0, 0] * self.norms2
        else:
            self.n_scans += 1
            scores = self.vectors.forms(W)[self.order]
        scores[selected] = -np.inf
        n_left, margin = len(scores) - int(np.count_nonzero(selected)), SPARE_ROWS
        while True:
            best = largest(scores, min(self.size + margin, n_left))
            n_sure = max(0, min(self.size, n_left) - margin)
            sure, border = best[:n_sure], np.sort(best[n_sure:])
            self.hold(np.sort(best))
            slack, feasible = self.weigh(border, lower, upper)
            if n_sure == 0 and len(best) == n_left:
                break
            in_pool = np.sort(slack[feasible])[-(self.size - n_sure) :]
            is_full = len(in_pool) == self.size - n_sure
            last = max(0.0, in_pool[0]) if is_full else 0.0
            error = ERRORS * np.max(np.abs(slack - scores[border]) / self.norms2[border])
            errors = error * self.norms2 + NEAR * np.abs(slack).max()
            is_open = scores >= last - errors  # whether they are in the pool
            is_open[sure] = scores[sure] <= last + errors[sure]
            n_open = int(np.count_nonzero(is_open))
            is_open[border] = False
            if not is_open.any():
                break
            margin = max(2 * margin, n_open)
        if n_sure == 0 and not feasible.any():
            border = np.flatnonzero(selected)
            self.hold(border)
            slack, feasible = self.weigh(border, lower, upper)
        chosen, self.again = pool_of(slack, feasible, selected[border], self.size - n_sure)
        positions = np.sort(np.concatenate([sure, border[chosen]]))
        self.X, self.positions = self.part(positions), positions
        self.look_at(positions, self.again)

    def weigh(
        self, some: IndexArray, lower: ExplicitResolvent, upper: ExplicitResolvent
    ) -> tuple[FloatArray, BoolArray]:
        """Slack L(u) - U(u) of some positions, and whether they are feasible."""
        rows, sizes = self.explicit(some), self.sizes[some]
        (lv, term), (uv, _) = lower.shift(rows, sizes), upper.shift(rows, sizes)
        return lv - uv, is_feasible(lv, uv, term)


def largest(scores: FloatArray, count: int) -> IndexArray:
    """Positions of the largest scores, in descending order."""
    found = np.argpartition(scores, -count)[-count:] if count < len(scores) else np.arange(count)
    return found[np.argsort(-scores[found], kind="stable")]
