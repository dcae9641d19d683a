# SPDX-License-Identifier: BSD-3-Clause
"""The rows that draws are made among: few, dense, and in the coordinates of the decomposition."""

import numpy as np

from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._grouped import ends, spans, sums
from ridgewise.barrier._problem import (
    Barriers,
    Vectors,
    is_feasible,
    penalized_norms2,
    pool_of,
    pool_size,
    scan_order,
    sizes_of,
)

Pair = tuple[FloatArray, FloatArray]  # one for the lower barrier, one for the upper

FIRST_ROWS = 64  # of a prefix
MOST_NUMBERS = 2**22  # in a prefix, unless `FIRST_ROWS` have more
SPARE_ROWS = 64  # taken beyond the size of the pool, since scores of all rows are rounded


class Pool:
    """Rows by their positions in scan order, as they are and in both barriers' coordinates.

    A position is that of a group of rows, of one row mostly: its rows are those from starts[i] to
    starts[i + 1].

    A prefix in scan order for the rule "norm", `extend` makes it longer; for the other rules the
    rows that `fill` finds.

    Parameters
    ----------
    vectors : Vectors
        All rows.
    barriers : Barriers
        Of the run.
    """

    def __init__(self, vectors: Vectors, barriers: Barriers) -> None:
        self.vectors = vectors
        self.order = scan_order(penalized_norms2(vectors, barriers.penalty))
        self.norms2 = vectors.norms2[self.order]
        self.sizes = sizes_of(vectors)[self.order]
        self.size = pool_size(barriers.n_draws, self.sizes)
        self.hold(np.empty(0, dtype=np.intp), np.empty((0, vectors.rank)))
        self.n_scans = 0

    def __len__(self) -> int:
        return len(self.positions)

    def hold(self, positions: IndexArray, raw: FloatArray, again: bool = False) -> None:
        """Hold these rows and no others; ``again``: selected rows may be drawn."""
        self.positions, self.raw, self.again = positions, raw, again
        self.starts = ends(self.sizes[positions])
        self.rotated: Pair | None = None

    def rotate(self, Q: Pair, places: IndexArray) -> None:
        """Have the rows of some of the pool in the coordinates Q of both barriers."""
        self.places, self.offsets = places, ends(self.sizes[self.positions[places]])
        raw = self.raw if len(places) == len(self) else self.raw[spans(self.starts, places)]
        lower = raw @ Q[0]
        self.rotated = lower, lower if Q[0] is Q[1] else raw @ Q[1]

    # the rule "norm": a prefix in scan order

    def extend(self) -> bool:
        """Make the prefix longer, if there are more rows and there is room."""
        start = len(self)
        stop = min(2 * start + FIRST_ROWS, len(self.order))
        room = np.searchsorted(np.cumsum(self.sizes), MOST_NUMBERS // self.vectors.rank, "right")
        stop = min(stop, max(FIRST_ROWS, int(room)))
        if stop <= start:
            return False
        more = self.vectors.take(self.order[start:stop])
        raw = np.concatenate([self.raw, more])
        self.hold(np.arange(stop), raw, again=stop == len(self.order))
        return True

    # the rules "slack" and "ratio": the rows with the most slack

    def fill(self, lower: "Shift", upper: "Shift", selected: BoolArray) -> None:
        """Score all rows, and hold those that `pool_of` defines.

        Scores of all rows choose candidates, whose exact scores decide: there are enough of them if
        the rest scores less than the last row of the pool by more than scores were wrong.
        """
        self.n_scans += 1
        scores = self.vectors.forms(lower.W - upper.W)[self.order]
        scores[selected] = -np.inf
        n_left = len(scores) - int(np.count_nonzero(selected))
        n_candidates = self.size + SPARE_ROWS
        while True:
            n_candidates = min(n_candidates, n_left)
            candidates = largest(scores, n_candidates)
            raw, slack, feasible = self.weigh(candidates, lower, upper)
            if n_candidates == n_left:
                break
            error = 2 * np.abs(slack - scores[candidates]).max()
            is_full = np.count_nonzero(feasible) >= self.size
            last = np.sort(slack[feasible])[-self.size] if is_full else 0.0
            if np.partition(scores, -n_candidates - 1)[-n_candidates - 1] + error < last:
                break
            n_candidates *= 2
        if not feasible.any():
            candidates = np.flatnonzero(selected)
            raw, slack, feasible = self.weigh(candidates, lower, upper)
        pool, again = pool_of(slack, feasible, selected[candidates], self.size)
        rows = spans(ends(self.sizes[candidates]), pool)
        self.hold(candidates[pool], raw[rows], again)

    def weigh(
        self, positions: IndexArray, lower: "Shift", upper: "Shift"
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Rows, their slack L(u) - U(u), and whether they are feasible."""
        raw, sizes = self.vectors.take(self.order[positions]), self.sizes[positions]
        (lv, term), (uv, _) = lower.of(raw), upper.of(raw)
        lv, uv, term = sums(lv, sizes), sums(uv, sizes), sums(term, sizes)
        return raw, lv - uv, is_feasible(lv, uv, term)


def largest(scores: FloatArray, count: int) -> IndexArray:
    """Positions of the largest scores, ascending."""
    if count >= len(scores):
        return np.flatnonzero(scores > -np.inf)
    return np.sort(np.argpartition(scores, -count)[-count:])


class Shift:
    """L (sign +1) or U (sign -1) as a quadratic form, u^T (N^2 / change - sign N) u.

    N is the resolvent at the barrier's next place, made explicitly; ``change`` is by how much the
    barrier's move changes the potential.
    """

    def __init__(self, N: FloatArray, sign: int, change: float) -> None:
        self.N, self.sign, self.change = N, sign, change
        self.W = N @ N / change - sign * N

    def of(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """L or U of each row, and the positive term in it."""
        Nu = rows @ self.N
        term = np.einsum("ij,ij->i", Nu, Nu) / self.change
        return term - self.sign * np.einsum("ij,ij->i", Nu, rows), term
