# SPDX-License-Identifier: BSD-3-Clause
"""The fast engine: what the plain algorithm gives, for a small part of its cost.

- Draws are made among few rows, the pool: all rows are scored a few times in a run, and whenever
  nothing in the pool is feasible.
- A is decomposed once in some tens of draws, and draws between decompositions are compiled (see
  ``_compiled``), where there was a compiler.

Where rounding defeats compiled draws, A is decomposed anew. If that does not help, or without a
compiler, a draw is made by explicit inverses, as by the plain algorithm, or an error is raised.
"""

import math
from collections import Counter
from typing import Any

import numpy as np

from ridgewise._groups import Groups, spans
from ridgewise._run import advance, one_blas_thread
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier import _compiled as compiled
from ridgewise.barrier._compiled import tridiagonalize
from ridgewise.barrier._problem import (
    LEAST_SLACK,
    MANY_DIRECTIONS,
    NONE_FEASIBLE,
    Barriers,
    NumericalBreakdownError,
    Plan,
    Shift,
    Sparsifier,
    Vectors,
    choose,
    finish,
    grouped,
    most_stale,
    penalized_norms2,
    resolvent,
    scan_order,
    shifts,
    sizes_of,
    weigh,
)

MOST_S_COMPILED = 0.99  # s above which penalized runs draw plainly
FIRST_ROWS = 10  # of a pool by norm that are looked at at first
SPARE_ROWS = 64  # before and after the last row of a pool that are scored exactly at first
ERRORS = 4.0  # times the errors of scores that were seen are allowed for; these are at least ...
LEAST_ERROR = 2e-7  # ... of the score: about the precision of float32
NEAR = 1e-8  # of the largest slack: rows nearer than this to the last are scored exactly


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
    with one_blas_thread():
        return Engine(grouped(vectors, groups), n_draws, rule, penalty, n_distinct).run()


class Engine:
    """One run of the barrier method; rows, or groups, go by their position in scan order."""

    def __init__(
        self,
        vectors: Vectors,
        n_draws: int,
        rule: str,
        penalty: FloatArray | None = None,
        n_distinct: int | None = None,
    ) -> None:
        self.vectors, self.penalty = vectors, penalty
        self.barriers = Barriers(vectors.rank, n_draws, penalty)
        self.order = scan_order(penalized_norms2(vectors, self.barriers.penalty))
        self.sizes, self.norms2 = sizes_of(vectors)[self.order], vectors.norms2[self.order]
        self.plan = Plan(rule, n_draws, n_distinct, vectors.rank, self.sizes)
        self.selected = np.zeros(len(self.order), dtype=bool)
        self.positions: list[int] = []  # drawn, and ...
        self.t: list[float] = []  # ... their weights
        self.counts: Counter[str] = Counter()

        self.refill_at, self.filled_at, self.again = 0, -1, False
        self.pool: IndexArray = np.arange(0)
        self.prefix = 0  # rows that the pool may have before all rows are scored
        if rule == "norm":
            self.prefix = min(self.plan.prefix, len(self.order))
            self.refill_at = self.plan.most
            self.set_pool(np.arange(min(n_draws, self.prefix)))

        self.A = np.zeros((vectors.rank, vectors.rank))  # as decomposed
        self.stale = np.empty((0, vectors.rank))  # rows drawn since, and ...
        self.stale_t = np.empty(0)  # ... their weights
        self.fresh_until, self.depth = 0, 0
        # where they are known; at first l / start, whatever the penalty
        self.potentials: Any = (self.barriers.s, self.barriers.s / self.barriers.delta_U)
        # a tridiagonal matrix has fewer digits of small eigenvalues, which matter at s near 1
        is_close = penalty is not None and self.barriers.s > MOST_S_COMPILED
        self.is_compiled = compiled.draw_ahead is not None and not is_close
        most = max(16, round(most_stale(vectors.rank) * float(self.sizes.mean()) ** 0.25))
        if rule != "norm":  # of single rows, where the pool is filled: it is rotated once for both
            interval = self.plan.interval
            parts, times = round(interval / most), round(most / interval)
            most = math.ceil(interval / parts) if parts > 0 else times * interval
        self.most_stale = most

    @property
    def tau(self) -> int:
        """The number of draws made."""
        return len(self.t)

    @property
    def wanted(self) -> tuple[int, int]:
        """How many draws, and how many distinct rows, are missing."""
        return self.plan.wanted(self.tau, int(np.count_nonzero(self.selected)))

    def run(self) -> Sparsifier:
        """Make all draws."""
        while max(self.wanted) > 0:
            advance(min(self.tau, self.plan.n_draws), self.plan.n_draws, "draws")
            if self.tau >= self.refill_at:
                self.fill()
            if self.draw_ahead() if self.is_compiled else self.draw_plainly():
                continue
            if len(self.pool) < self.prefix and self.vectors.rank < MANY_DIRECTIONS:
                self.set_pool(np.arange(self.prefix))
            elif self.filled_at < self.tau:
                self.fill()
            elif not self.draw_plainly():
                raise NumericalBreakdownError(NONE_FEASIBLE)
        draws, t = self.order[self.positions], np.array(self.t)
        return finish(self.vectors, self.barriers, draws, t, dict(self.counts), self.penalty)

    # the pool

    def set_pool(self, positions: IndexArray, rows: Any = None) -> None:
        """Have draws made among these positions."""
        self.pool = positions
        self.rows = self.vectors.hold(self.order[positions]) if rows is None else rows
        self.rotated: Any = None  # the same in the coordinates of both decompositions

    def fill(self) -> None:
        """Score all rows, and have those in the pool that have the most slack."""
        both = shifts(self.barriers, self.grown(), self.tau, self.potentials)
        if self.tau == 0 and self.penalty is None:  # A = 0: slack is in proportion to squared norms
            lv, uv = (shift.of(np.eye(1, self.vectors.rank))[0] for shift in both)
            scores = (lv - uv) * self.norms2
        else:
            self.counts["scans"] += 1
            lower, upper = (shift.form(self.vectors.form_type) for shift in both)
            scores = self.vectors.forms(lower - upper)[self.order].astype(np.float64)
        left = np.where(self.selected, -np.inf, scores)
        if len(self.pool) < self.prefix:
            first = left.copy()
            first[self.prefix :] = -np.inf
            if len(self.most_slack(first, both)[0]) > 0:
                self.set_pool(np.arange(self.prefix))
                return
        pool, rows = self.most_slack(left, both)
        self.again = self.plan.is_short(pool)
        if self.again:
            of_all, rows = self.most_slack(scores, both)[0], None
            pool = self.plan.widened(pool, of_all, self.selected)
        self.set_pool(pool, rows)
        self.filled_at, self.refill_at, self.prefix = self.tau, self.tau + self.plan.interval, 0

    def most_slack(self, scores: FloatArray, both: tuple[Shift, Shift]) -> tuple[IndexArray, Any]:
        """The pool by these scores: positions, and the rows.

        Scores of all rows are rounded, -inf if a row is to be left out. Exact ones of rows near the
        last of the pool decide which of these are in it, and show how wrong the others may be.
        """
        n_left, margin = int(np.count_nonzero(scores > -np.inf)), SPARE_ROWS
        tie = NEAR * max(0.0, scores.max())
        while n_left > 0:
            from_here = nth_largest(scores, min(self.plan.size + margin, n_left)) - tie
            if margin == SPARE_ROWS and from_here < 0:  # rows without slack are out, most likely
                from_here = min(0.0, nth_largest(scores, min(margin, n_left)))
            best = np.flatnonzero(scores >= from_here)
            rows, sizes, slack = self.vectors.hold(self.order[best]), self.sizes[best], scores[best]
            has_sure = margin < self.plan.size < len(best)
            sure = nth_largest(slack, self.plan.size - margin) + tie if has_sure else np.inf
            near = np.flatnonzero((slack <= sure) | (slack >= 0.999 * slack.max()))  # or the first
            u, norms2 = np.asarray(part(rows, sizes, near)), self.norms2[best[near]]
            lv, uv, _ = weigh(u, both, sizes[near])
            slack[near] = lv - uv
            chosen = self.plan.pool(slack)
            is_full, most = len(chosen) == self.plan.size, max(0.0, slack.max())
            last = slack[chosen].min() if is_full else LEAST_SLACK * most
            errors = np.abs(slack - scores[best])[near] + LEAST_ERROR * np.abs(slack[near])
            is_open = np.abs(scores - last) <= ERRORS * np.max(errors / norms2) * self.norms2 + tie
            is_open[best[near]] = False
            if not is_open.any():
                return best[chosen], part(rows, sizes, chosen)
            margin *= 4
        return np.empty(0, dtype=np.intp), None

    # draws

    def decompose(self) -> None:
        """Bring A up to date and decompose it, as either barrier sees it."""
        self.counts["decompositions"] += 1
        known = self.potentials
        self.settle()
        lower = upper = tridiagonalize(self.barriers.matrix(0, self.A))
        if self.penalty is not None:
            upper = tridiagonalize(self.barriers.matrix(1, self.A))
        self.decompositions, self.potentials = (lower, upper), known
        if known is None:
            inverses = (resolvent(self.barriers, self.A, side, self.tau) for side in (0, 1))
            self.potentials = tuple(map(np.trace, inverses))
        # the lower barrier moves by 1 a draw and must not reach the old smallest eigenvalue
        room = int(lower.least - self.barriers.places(self.tau)[0]) - 1
        self.fresh_until = self.tau + max(1, min(self.most_stale, room))
        self.width, self.depth = 2 * self.depth + FIRST_ROWS, 0
        self.Z = self.stale, self.stale  # no rows

    def grown(self) -> FloatArray:
        """A with the draws since the last decomposition in it."""
        return self.A + (self.stale.T * self.stale_t) @ self.stale

    def settle(self) -> None:
        """Bring A up to date, which makes its decomposition stale."""
        self.A, self.stale, self.stale_t = self.grown(), self.stale[:0], self.stale_t[:0]
        self.fresh_until, self.potentials, self.rotated = self.tau, None, None

    def draw_ahead(self) -> bool:
        """Make compiled draws up to the next decomposition or scan; whether there was one."""
        if self.tau >= self.fresh_until or len(self.stale) >= self.most_stale:
            self.decompose()
        if self.rotated is None:
            self.look()
        if len(self.looked_at) == 0:
            return False
        sizes = self.sizes[self.looked_at]
        until = min(self.plan.most, self.fresh_until, self.refill_at)
        room = math.ceil((self.most_stale - len(self.stale)) / sizes.min())
        ahead = compiled.draws(
            self.plan.rule,
            rows=self.rotated,
            sizes=sizes,
            selected=self.selected[self.looked_at],
            again=self.again,
            distinct=self.plan.is_distinct,
            decompositions=self.decompositions,
            places=self.barriers.places(self.tau),
            steps=(1.0, self.barriers.delta_U),
            potentials=self.potentials,
            Z=self.Z,
            t=self.stale_t,
            wanted=self.wanted,
            most=min(until - self.tau, room),
            most_stale=self.most_stale,
        )
        self.counts["compiled draws"] += len(ahead.drawn)
        self.counts["rows"] += ahead.n_looked_at
        self.potentials, self.Z = ahead.potentials, ahead.Z
        self.depth = max(self.depth, int(ahead.drawn.max(initial=0)))
        rows = np.asarray(part(self.looked, sizes, ahead.drawn))
        self.record(self.looked_at[ahead.drawn], ahead.t, rows)
        if ahead.state is compiled.State.LOST_DEFINITENESS:
            return len(ahead.drawn) > 0 or self.recover()
        if ahead.state is compiled.State.NONE_FEASIBLE:
            self.width, self.rotated = 4 * self.width, None
            return len(self.looked_at) < self.n_drawable
        return True

    def recover(self) -> bool:
        """Where rounding defeated compiled draws: decompose A anew, or draw plainly."""
        if len(self.stale) == 0:
            self.potentials = None
            return self.draw_plainly()
        self.counts["early decompositions"] += 1
        self.settle()
        return self.draw_ahead()

    def look(self) -> None:
        """Rotate the rows that draws are made among: of a pool by norm, only the first."""
        drawable = np.flatnonzero(self.again | ~self.selected[self.pool])
        self.n_drawable = len(drawable)
        if self.plan.rule == "norm" and not self.again:
            drawable = drawable[: self.width]
        self.looked_at = self.pool[drawable]
        self.looked = part(self.rows, self.sizes[self.pool], drawable)
        if len(drawable) < self.vectors.rank:
            self.looked = np.asarray(self.looked)
        lower, upper = self.decompositions
        rotated = self.looked @ lower.Q
        self.rotated = rotated, rotated if lower is upper else self.looked @ upper.Q

    def record(self, positions: IndexArray, t: FloatArray, rows: FloatArray) -> None:
        """Remember draws, of these rows."""
        self.positions.extend(positions)
        self.t.extend(t)
        self.selected[positions] = True
        self.stale = np.vstack([self.stale, rows])
        self.stale_t = np.append(self.stale_t, np.repeat(t, self.sizes[positions]))

    def draw_plainly(self) -> bool:
        """One draw as the plain algorithm makes it; whether a row of the pool was feasible."""
        known = self.potentials
        self.settle()
        both = shifts(self.barriers, self.A, self.tau, known)
        selected, sizes = self.selected[self.pool], self.sizes[self.pool]
        first, again = np.flatnonzero(~selected), np.flatnonzero(selected & self.again)
        few = (
            6 * FIRST_ROWS if self.plan.rule == "norm" else len(first)
        )  # one is found early, mostly
        for drawable in (first[:few], first[few:], again):
            rows = np.asarray(part(self.rows, sizes, drawable))
            lv, uv, feasible = weigh(rows, both, sizes[drawable])
            i = choose(self.plan.rule_for(drawable is again), lv, uv, feasible)
            if i >= 0:
                self.counts["plain draws"] += 1
                t = self.plan.weight(lv[i], uv[i], drawable is again)
                rows = part(rows, sizes[drawable], np.array([i]))
                self.record(self.pool[drawable[[i]]], np.array([t]), rows)
                self.potentials = tuple(shift.potential_with(self.stale, t) for shift in both)
                return True
        return False


def part(rows: Any, sizes: IndexArray, chosen: IndexArray) -> Any:
    """Of groups of so many consecutive rows, the rows of some."""
    return rows[spans((np.cumsum(sizes) - sizes)[chosen], sizes[chosen])]


def nth_largest(scores: FloatArray, n: int) -> float:
    """The n-th largest score."""
    return float(np.partition(scores, -n)[-n])
