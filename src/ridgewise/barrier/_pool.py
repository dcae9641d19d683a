# SPDX-License-Identifier: BSD-3-Clause
"""The rows that draws are made among: few, dense, and in the coordinates of the decomposition."""

from typing import Any, NamedTuple

import numpy as np

from ridgewise._typing import BoolArray, FloatArray, IndexArray, is_sparse
from ridgewise.barrier._draws import Pair
from ridgewise.barrier._problem import (
    Barriers,
    Vectors,
    ends,
    is_feasible,
    penalized_norms2,
    pool_of,
    pool_size,
    scan_order,
    sizes_of,
    spans,
    sums,
)

FIRST_ROWS = 64  # of a prefix, held and looked at at first
SPARE_ROWS = 64  # before and after the last row of the pool that are scored exactly at first
ERRORS = 4.0  # times the errors that were seen are allowed for
DENSE = 20  # rows with more than one non-zero in so many are multiplied faster if dense
NEAR = 1e-8  # of the largest slack: nearer than this, rows count as equal


class Held(NamedTuple):
    """Rows X B, as the vectors have them: X may be sparse, and B None in the place of I."""

    X: Any
    B: FloatArray | None

    @classmethod
    def of(cls, vectors: Vectors, indices: IndexArray) -> "Held":
        """Some rows of the vectors."""
        hold = getattr(vectors, "hold", None)
        if hold is None:
            return cls(vectors.take(indices), None)
        X, B = hold(indices)
        return cls(
            X.toarray() if is_sparse(X) and DENSE * X.nnz > X.shape[0] * X.shape[1] else X, B
        )

    def part(self, rows: IndexArray) -> "Held":
        """Some of the rows."""
        return Held(self.X[rows], self.B)

    def explicit(self) -> FloatArray:
        """The rows as they are."""
        found: FloatArray = self.X if self.B is None else self.X @ self.B
        return found


class Pool:
    """Rows by their positions in scan order, as they are and in both barriers' coordinates.

    A position is that of a group of rows, of one row mostly. For the rule "norm" the pool is a
    prefix in scan order, of which no more is held and looked at than needed; for the other rules
    the rows that `fill` finds.

    Parameters
    ----------
    vectors : Vectors
        All rows.
    barriers : Barriers
        Of the run.
    rule : {"norm", "slack", "ratio"}

    Attributes
    ----------
    positions : ndarray
        What is held, in scan order.
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
        self.bases: tuple[FloatArray | None, Pair] | None = None

    def part(self, positions: IndexArray) -> Held:
        """Rows of the pool, by their positions."""
        if positions is self.positions:
            return self.held
        return self.held.part(self.within(self.positions, positions))

    def within(self, positions: IndexArray, some: IndexArray) -> IndexArray:
        """Row numbers of some of the positions, which are ascending, in the rows of all."""
        return spans(ends(self.sizes[positions]), np.searchsorted(positions, some))

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

    def in_coordinates(self, positions: IndexArray) -> Pair:
        """The same of other positions."""
        X, B = self.part(positions)
        if self.bases is None or self.bases[0] is not B:  # B Q, once for each decomposition
            lower, upper = self.Q
            BQ = lower if B is None else B @ lower
            self.bases = B, (BQ, BQ if lower is upper else upper if B is None else B @ upper)
        lower, upper = self.bases[1]
        rows = X @ lower
        return rows, rows if lower is upper else X @ upper

    def rotate(self, Q: Pair, selected: BoolArray) -> None:
        """Have other coordinates."""
        self.Q, self.bases = Q, None
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
        self.depth = len(self.looked_at)
        after = int(self.looked_at[-1]) + 1 if self.depth > 0 else 0
        further = after + np.flatnonzero(~selected[after : len(self.positions)])
        if self.may_repeat:
            return False
        if len(further) > 0:
            further = further[: 3 * self.depth + FIRST_ROWS]
            lower, upper = self.rows
            lower_too, upper_too = self.in_coordinates(further)
            self.looked_at = np.concatenate([self.looked_at, further])
            rows = np.vstack([lower, lower_too])
            is_same = lower is upper
            self.rotated = rows, rows if is_same else np.vstack([upper, upper_too])
        elif len(self.positions) < self.size:
            self.positions = np.arange(min(2 * len(self.positions) + FIRST_ROWS, self.size))
            self.held = Held.of(self.vectors, self.order[self.positions])
            self.again = len(self.positions) == self.size
            return self.look_further(selected)
        else:
            self.look_at(self.positions, may_repeat=True)
        return True

    # the rules "slack" and "ratio": the rows with the most slack

    def fill(self, lower: "Shift", upper: "Shift", selected: BoolArray, is_first: bool) -> None:
        """Score all rows, and hold those that `pool_of` defines.

        Scores of all rows are rounded. Exact ones of rows near the last of the pool decide which of
        those are in it, and show how wrong the others may be: the rest must be farther from the
        last than that.
        """
        if is_first:  # A = 0: slack is in proportion to the squared norm
            scores = (lower.W[0, 0] - upper.W[0, 0]) * self.norms2
        else:
            self.n_scans += 1
            scores = self.vectors.forms(lower.W - upper.W)[self.order]
        scores[selected] = -np.inf
        n_left, margin = len(scores) - int(np.count_nonzero(selected)), SPARE_ROWS
        while True:
            best = largest(scores, min(self.size + margin, n_left))
            n_sure = max(0, min(self.size, n_left) - margin)
            sure, border, best = best[:n_sure], np.sort(best[n_sure:]), np.sort(best)
            rows = Held.of(self.vectors, self.order[best])
            slack, feasible = self.weigh(rows, best, border, lower, upper)
            if n_sure == 0 and len(best) == n_left:
                break
            low, high = self.limits(scores, border, slack, feasible, self.size - n_sure)
            open_ones = scores >= low  # whether they are in the pool is open
            open_ones[sure] = scores[sure] <= high[sure]
            n_open = int(np.count_nonzero(open_ones))
            open_ones[border] = False
            if not open_ones.any():
                break
            margin = max(2 * margin, n_open)
        if n_sure == 0 and not feasible.any():
            best = border = np.flatnonzero(selected)
            rows = Held.of(self.vectors, self.order[best])
            slack, feasible = self.weigh(rows, best, border, lower, upper)
        pool, again = pool_of(slack, feasible, selected[border], self.size - n_sure)
        positions = np.sort(np.concatenate([sure, border[pool]]))
        self.held = rows.part(self.within(best, positions))
        self.positions, self.again = positions, again
        self.look_at(positions, again)

    def limits(
        self,
        scores: FloatArray,
        border: IndexArray,
        slack: FloatArray,
        feasible: BoolArray,
        count: int,
    ) -> Pair:
        """Rounded scores below which each row is outside of the pool, and above which in it.

        Rows on the border have exact ``slack``, and ``count`` of them are in it.
        """
        is_full = np.count_nonzero(feasible) >= count
        last = max(0.0, np.sort(slack[feasible])[-count]) if is_full else 0.0
        error = ERRORS * np.max(np.abs(slack - scores[border]) / self.norms2[border])
        errors = error * self.norms2 + NEAR * np.abs(slack).max()
        return last - errors, last + errors

    def weigh(
        self, rows: Held, best: IndexArray, some: IndexArray, lower: "Shift", upper: "Shift"
    ) -> tuple[FloatArray, BoolArray]:
        """Slack L(u) - U(u) of some of the best, whose rows these are; whether it is feasible."""
        explicit, sizes = rows.part(self.within(best, some)).explicit(), self.sizes[some]
        (lv, term), (uv, _) = lower.of(explicit), upper.of(explicit)
        lv, uv, term = sums(lv, sizes), sums(uv, sizes), sums(term, sizes)
        return lv - uv, is_feasible(lv, uv, term)


def largest(scores: FloatArray, count: int) -> IndexArray:
    """Positions of the largest scores, in descending order."""
    found = np.argpartition(scores, -count)[-count:] if count < len(scores) else np.arange(count)
    return found[np.argsort(-scores[found], kind="stable")]


class Shift:
    """L (sign +1) or U (sign -1) as a quadratic form, u^T (N^2 / change - sign N) u.

    N is the resolvent at the barrier's next place, made explicitly; ``change`` is by how much the
    barrier's move changes the potential.
    """

    def __init__(self, N: FloatArray, sign: int, change: float) -> None:
        self.N, self.sign, self.change = N, sign, change
        self.W = N @ N.T / change - sign * N  # N is symmetric: half of the work

    def of(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """L or U of each row, and the positive term in it."""
        Nu = rows @ self.N
        term = np.einsum("ij,ij->i", Nu, Nu) / self.change
        return term - self.sign * np.einsum("ij,ij->i", Nu, rows), term
