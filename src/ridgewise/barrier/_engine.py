# SPDX-License-Identifier: BSD-3-Clause
"""The fast engine: what the plain algorithm gives, for a small part of its cost.

- Draws are made among few rows, the pool: for the rule "norm" a prefix in descending norm, for the
  others the rows with the most slack, found by scoring all rows a few times in a run.
- A is decomposed once in some tens of draws (see ``_resolvent``), not at each.
- Draws between decompositions are compiled (see ``_compiled``), where there was a compiler.

Whatever goes wrong numerically is noticed: the engine decomposes A anew and tries again; if that
fails too, the draw is made by the plain algorithm's arithmetic, which raises an error if it can't.
"""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from ridgewise._groups import Groups
from ridgewise._progress import advance
from ridgewise._threads import one_blas_thread
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier import _compiled as compiled
from ridgewise.barrier import _plain as plain
from ridgewise.barrier._grouped import grouped
from ridgewise.barrier._pool import Pair, Pool, Shift
from ridgewise.barrier._problem import (
    NONE_FEASIBLE,
    Barriers,
    Goal,
    NumericalBreakdownError,
    Sparsifier,
    Vectors,
    check_rule,
    choose,
    finish,
    is_feasible,
    refill_interval,
    spans,
    sums,
)
from ridgewise.barrier._resolvent import (
    LostDefinitenessError,
    Resolvent,
    eigendecomposition,
    tridiagonalization,
)

MOST_S_COMPILED = 0.99  # with a penalty
BATCH = 1536  # rows looked at together


def sparsify(
    vectors: Vectors,
    n_draws: int,
    rule: str = "norm",
    penalty: FloatArray | None = None,
    n_distinct: int | None = None,
    groups: Groups | None = None,
) -> Sparsifier:
    """Single-set spectral sparsification: the result of :func:`sparsify_plain`, fast.

    Parameters
    ----------
    vectors : Vectors
        Rows of a matrix with orthonormal columns, of which some can be asked for.
    n_draws, rule, penalty, n_distinct, groups
        As in :func:`sparsify_plain`.

    Returns
    -------
    Sparsifier

    Examples
    --------
    >>> from ridgewise.barrier import ArrayVectors, sparsify
    >>> U = np.vstack([np.eye(3)] * 5) / 5**0.5
    >>> found = sparsify(ArrayVectors(U), 12)
    >>> found.promised_lower <= found.lower <= found.upper <= found.promised_upper
    True
    """
    check_rule(rule)
    vectors = grouped(vectors, groups)
    with one_blas_thread():
        return Engine(vectors, n_draws, rule, penalty, n_distinct).run()


class Engine:
    """One run of the barrier method; rows are named by their position in scan order."""

    def __init__(
        self,
        vectors: Vectors,
        n_draws: int,
        rule: str,
        penalty: FloatArray | None = None,
        n_distinct: int | None = None,
    ) -> None:
        self.vectors, self.rule, self.penalty = vectors, rule, penalty
        self.goal = Goal(n_draws, n_distinct)
        self.barriers = Barriers(vectors.rank, n_draws, penalty)
        self.pool = Pool(vectors, self.barriers, rule)
        self.selected = np.zeros(len(self.pool.order), dtype=bool)
        self.tau, self.n_selected = 0, 0  # draws made, distinct rows among them
        self.positions = np.empty(self.goal.most, dtype=np.intp)
        self.t = np.empty(self.goal.most)
        self.refill_at = 0

        self.A = np.zeros((vectors.rank, vectors.rank))  # without the draws since `fresh_at`
        self.fresh_at, self.patience = 0, 0
        self.raw = np.empty((0, vectors.rank))  # the rows drawn since ...
        self.raw_t = np.empty(0)  # ... and their weights
        self.n_stale = 0  # ... and how many they are
        self.lower, self.upper = Resolvent(+1), Resolvent(-1)
        # a tridiagonal matrix has fewer digits of small eigenvalues, which matter at s near 1
        is_close = penalty is not None and self.barriers.s > MOST_S_COMPILED
        self.is_compiled = compiled.draw_ahead is not None and not is_close
        # decompositions cost l^3, what is carried between them l k^2: k = l^(2/3) balances them
        self.most_stale = max(16, round(1.25 * vectors.rank ** (2 / 3)))
        if rule != "norm":  # where the pool is filled, so that it is rotated once for both
            interval = refill_interval(rule, n_draws)
            if self.most_stale < interval:
                self.most_stale = math.ceil(interval / round(interval / self.most_stale))
            else:
                self.most_stale -= self.most_stale % interval
        self.largest = int(self.pool.sizes.max(initial=1))
        self.depth = 16  # how far into the pool draws went since the last decomposition
        self.counts: Counter[str] = Counter()

    def run(self) -> Sparsifier:
        """Make all draws."""
        while not self.goal.is_reached(self.tau, self.n_selected):
            advance(min(self.tau, self.goal.n_draws), self.goal.n_draws, "draws")
            if self.tau - self.fresh_at >= self.patience or self.n_stale >= self.most_stale:
                self.decompose()
            if self.rule != "norm" and self.tau >= self.refill_at:
                self.fill()
            try:
                made = self.draw_compiled() if self.is_compiled else self.draw()
            except LostDefinitenessError:
                self.start_again()
            else:
                if made == 0:
                    self.widen()
        self.counts["scans"] = self.pool.n_scans
        draws, t = self.pool.order[self.positions[: self.tau]], self.t[: self.tau]
        return finish(self.vectors, self.barriers, draws, t, dict(self.counts), self.penalty)

    def record(self, positions: IndexArray, rows: FloatArray, t: FloatArray) -> None:
        """Remember draws."""
        new = slice(self.tau, self.tau + len(t))
        self.positions[new], self.t[new] = positions, t
        stale = slice(self.n_stale, self.n_stale + len(rows))
        self.raw[stale], self.raw_t[stale] = rows, np.repeat(t, self.pool.sizes[positions])
        self.n_stale = stale.stop
        for position in positions:
            self.n_selected += not self.selected[position]
            self.selected[position] = True
        self.tau = new.stop

    # A and its decomposition

    def decompose(self) -> None:
        """Bring A up to date and decompose it: tridiagonal for compiled draws, else diagonal."""
        self.counts["decompositions"] += 1
        A = self.grown()
        A_lower, A_upper = self.barriers.lift(A)
        decomposed = tridiagonalization if self.is_compiled else eigendecomposition
        lower = decomposed(A_lower)
        upper = lower if A_upper is A_lower else decomposed(A_upper)
        L, U = self.barriers.lower(self.tau), self.barriers.upper(self.tau)
        self.lower.potential = lower.potential(+1, L)
        self.upper.potential = upper.potential(-1, U)
        self.decomposition = lower, upper
        self.Q: Pair = (lower.Q, upper.Q)
        # the lower barrier moves by 1 a draw and must not reach the old smallest eigenvalue
        self.patience = max(1, min(self.most_stale, int(lower.least - L) - 1))
        self.become_fresh(A)

    def become_fresh(self, A: FloatArray) -> None:
        """Have the draws made until now in A."""
        self.prefix, self.depth = 2 * self.depth + 32, 0
        self.pool.rotated = None
        self.A, self.fresh_at = A, self.tau
        # rows drawn since: as they are, and in each barrier's coordinates
        self.n_stale = 0
        self.raw = np.empty((self.most_stale + self.largest, self.vectors.rank))
        self.raw_t = np.empty(len(self.raw))
        Z = np.empty_like(self.raw)
        self.Z = Z, Z if self.Q[0] is self.Q[1] else np.empty_like(Z)

    def grown(self) -> FloatArray:
        """A with the draws since the last decomposition in it."""
        rows, t = self.raw[: self.n_stale], self.raw_t[: self.n_stale]
        return self.A + (rows.T * t) @ rows

    # the pool

    def fill(self) -> None:
        """Score all rows by explicit resolvents, and fill the pool."""
        A_lower, A_upper = self.barriers.lift(self.grown())
        L, U = self.barriers.lower(self.tau + 1), self.barriers.upper(self.tau + 1)
        identity = np.eye(self.vectors.rank)
        N_lower, N_upper = (
            plain.inverse(A_lower - L * identity),
            plain.inverse(U * identity - A_upper),
        )
        lower = Shift(N_lower, +1, float(np.trace(N_lower)) - self.lower.potential)
        upper = Shift(N_upper, -1, self.upper.potential - float(np.trace(N_upper)))
        self.pool.fill(lower, upper, self.selected, self.tau == 0 and self.penalty is None)
        self.refill_at = self.tau + refill_interval(self.rule, self.barriers.n_draws)
        self.filled_at = self.tau

    def widen(self) -> None:
        """No row of the pool is feasible: have others in it, or look at all rows plainly."""
        if self.rule != "norm" and self.filled_at < self.tau:
            self.fill()
        elif self.rule == "norm" and len(self.pool.places) >= self.prefix:
            self.depth = len(self.pool.places)
            self.prefix, self.pool.rotated = 4 * self.prefix, None
        elif self.rule != "norm" or not self.pool.extend():
            self.draw_plainly()

    @property
    def rows(self) -> Pair:
        """What is looked at of the pool, in each barrier's coordinates."""
        if self.pool.rotated is None:
            self.pool.rotate(self.Q, self.places())
        assert self.pool.rotated is not None
        return self.pool.rotated

    def places(self) -> IndexArray:
        """What to look at of the pool: of a prefix, the first unselected rows, if they will do."""
        everything = np.arange(len(self.pool))
        if self.rule != "norm":
            return everything
        left = everything[~self.selected[: len(self.pool)]]
        if self.pool.again and len(left) <= self.prefix:
            return everything
        return left[: self.prefix]

    # draws

    def draw_compiled(self) -> int:
        """Make draws up to the next decomposition or scan, and tell how many."""
        stop = self.stop()
        rows, fresh = self.rows, self.fresh_at
        pool = self.pool.positions[self.pool.places]
        if len(pool) == 0:
            return 0
        is_whole = len(pool) == len(self.pool)
        fit = math.ceil((self.most_stale - self.n_stale) / self.pool.sizes[pool].min())
        ahead = compiled.draws(
            self.rule,
            rows,
            self.pool.offsets,
            self.selected[pool],
            again=self.pool.again and is_whole,
            decomposition=self.decomposition,
            places=(self.barriers.lower(fresh), self.barriers.upper(fresh)),
            steps=(1.0, self.barriers.delta_U),
            potentials=(self.lower.potential, self.upper.potential),
            Z=self.Z,
            t=self.raw_t[: self.n_stale],
            n_drawn=self.tau - fresh,
            most=min(stop - fresh, self.tau - fresh + fit),
            most_stale=self.most_stale,
        )
        n_made = len(ahead.drawn)
        self.depth = max(self.depth, int(ahead.drawn.max(initial=0)))
        raw = self.pool.rows(self.pool.places[ahead.drawn])
        self.record(pool[ahead.drawn], raw, ahead.t)
        self.counts["compiled draws"] += n_made
        self.counts["rows"] += ahead.n_looked_at
        self.lower.potential, self.upper.potential = ahead.potentials
        if n_made == 0 and ahead.state is compiled.State.LOST_DEFINITENESS:
            raise LostDefinitenessError
        return n_made

    def stop(self) -> int:
        """The draw before which A is decomposed or scored anew, or the goal may be reached."""
        left = self.goal.n_draws - self.tau
        if self.goal.n_distinct is not None:
            left = max(left, self.goal.n_distinct - self.n_selected)
        stop = min(self.tau + left, self.goal.most, self.fresh_at + self.patience)
        return stop if self.rule == "norm" else min(stop, self.refill_at)

    def draw(self) -> int:
        """One draw by NumPy: 1, or 0 if no row of the pool is feasible."""
        k = self.n_stale
        t_inverse = 1 / self.raw_t[:k]
        L, U = self.barriers.lower(self.tau + 1), self.barriers.upper(self.tau + 1)
        lower, upper = (side.diagonal for side in self.decomposition)
        self.lower.move(lower - L, self.Z[0][:k], t_inverse)
        self.upper.move(U - upper, self.Z[1][:k], t_inverse)
        found = self.choose()
        if found is None:
            return 0
        i, t = found
        self.depth = max(self.depth, i)
        drawn = slice(*self.pool.offsets[i : i + 2])
        for resolvent, Z, rows in zip((self.lower, self.upper), self.Z, self.rows, strict=True):
            resolvent.add(t, rows[drawn])
            Z[k : k + drawn.stop - drawn.start] = rows[drawn]
        place = self.pool.places[[i]]
        self.record(self.pool.positions[place], self.pool.rows(place), np.array([t]))
        return 1

    def choose(self) -> tuple[int, float] | None:
        """Which row of the pool is drawn, and its weight; None if none is feasible."""
        lower, upper = self.rows
        positions = self.pool.positions[self.pool.places]
        selected = self.selected[positions]
        again = self.pool.again and len(positions) == len(self.pool)
        for is_again in (False, True)[: 1 + again]:
            left = np.flatnonzero(selected == is_again)
            # the first feasible row is likely to be among the first ones
            size = 64 if self.rule == "norm" else max(len(left), 1)
            for start in range(0, len(left), size):
                places = left[start : start + size]
                self.counts["rows"] += len(places)
                rows, sizes = spans(self.pool.offsets, places), self.pool.sizes[positions[places]]
                lv, term = (sums(part, sizes) for part in self.lower.shift(lower[rows]))
                uv = sums(self.upper.shift(upper[rows])[0], sizes)
                i = choose(self.rule, lv, uv, is_feasible(lv, uv, term))
                if i >= 0:
                    return int(places[i]), float(2 / (lv[i] + uv[i]))
        return None

    # where the fast arithmetic fails

    def start_again(self) -> None:
        """Rounding defeated a draw: decompose A, or draw plainly if it was fresh."""
        if self.tau > self.fresh_at:
            self.counts["early decompositions"] += 1
            self.decompose()
        else:
            self.draw_plainly()

    def draw_plainly(self) -> None:
        """One draw as the plain algorithm makes it, by explicit inverses."""
        self.counts["plain draws"] += 1
        self.lower.potential = self.upper.potential = np.nan  # not carried over this draw
        A_lower, A_upper = self.barriers.lift(self.grown())
        L, U = self.barriers.lower(self.tau), self.barriers.upper(self.tau)
        for block in self.all_drawable():
            rows, sizes = self.vectors.take(self.pool.order[block]), self.pool.sizes[block]
            lv, term = (sums(part, sizes) for part in plain.lower_shift(rows, 1.0, A_lower, L))
            uv = sums(plain.upper_shift(rows, self.barriers.delta_U, A_upper, U), sizes)
            i = choose(self.rule, lv, uv, is_feasible(lv, uv, term))
            if i >= 0:
                span = slice(sizes[:i].sum(), sizes[: i + 1].sum())
                self.record_plainly(block[[i]], rows[span], np.array([2 / (lv[i] + uv[i])]))
                return
        raise NumericalBreakdownError(NONE_FEASIBLE)

    def all_drawable(self) -> Iterator[IndexArray]:
        """Positions that may be drawn, block by block: the first that has a feasible row counts."""
        pool = self.pool
        if self.rule != "norm":
            yield pool.positions[self.selected[pool.positions] == pool.again]
            return
        prefix, rest = np.split(np.arange(len(pool.order)), [pool.size])
        for positions in (prefix[~self.selected[prefix]], prefix, rest[~self.selected[rest]]):
            for start in range(0, len(positions), BATCH):
                yield positions[start : start + BATCH]

    def record_plainly(self, positions: IndexArray, rows: FloatArray, t: FloatArray) -> None:
        """Remember a draw made plainly, and decompose before the next one."""
        if self.n_stale + len(rows) > len(self.raw):
            self.raw = np.concatenate([self.raw, np.empty_like(self.raw)])
            self.raw_t = np.concatenate([self.raw_t, np.empty_like(self.raw_t)])
        self.record(positions, rows, t)
        self.patience = 0
