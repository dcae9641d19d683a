# SPDX-License-Identifier: BSD-3-Clause
"""The fast engine: what the plain algorithm gives, for a small part of its cost.

- Draws are made among few rows, the pool: for the rule "norm" a prefix in descending norm, for the
  others the rows with the most slack, found by scoring all rows a few times in a run.
- A is decomposed once in some tens of draws (see ``_draws``), not at each.
- Draws between decompositions are compiled (see ``_compiled``), where there was a compiler.

Whatever goes wrong numerically is noticed: the engine decomposes A anew and tries again; if that
fails too, the draw is made by the plain algorithm's arithmetic, which raises an error if it can't.
"""

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from ridgewise._checks import check_one_of
from ridgewise._groups import Groups, sums
from ridgewise._progress import advance
from ridgewise._threads import one_blas_thread
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier import _compiled as compiled
from ridgewise.barrier import _draws as numpy_draws
from ridgewise.barrier import _plain as plain
from ridgewise.barrier._draws import SIGNS, Ahead, ExplicitResolvent, Numbers, State, Task, for_both
from ridgewise.barrier._pool import Pool
from ridgewise.barrier._problem import (
    NONE_FEASIBLE,
    RULES,
    Barriers,
    Goal,
    NumericalBreakdownError,
    Sparsifier,
    choose,
    finish,
    is_feasible,
    refill_interval,
)
from ridgewise.barrier._vectors import Vectors, grouped

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
    check_one_of("rule", rule, RULES)
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
        self.positions: list[int] = []  # drawn, and ...
        self.t: list[float] = []  # ... their weights
        # no scan for the rule "norm"
        self.interval = self.goal.most if rule == "norm" else refill_interval(rule, n_draws)
        self.filled_at = 0 if rule == "norm" else -self.interval

        self.A = np.zeros((vectors.rank, vectors.rank))  # as decomposed
        self.stale = np.empty((0, vectors.rank))  # rows drawn since, and ...
        self.stale_t = np.empty(0)  # ... their weights
        self.fresh_until = 0
        self.potentials: Numbers = (math.nan, math.nan)
        # a tridiagonal matrix has fewer digits of small eigenvalues, which matter at s near 1
        is_close = penalty is not None and self.barriers.s > MOST_S_COMPILED
        self.is_compiled = compiled.draw_ahead is not None and not is_close
        # decompositions cost l^3, what is carried between them l k^2: k = l^(2/3) balances them
        self.most_stale = max(16, round(1.25 * vectors.rank ** (2 / 3)))
        if rule != "norm":  # where the pool is filled, so that it is rotated once for both
            if self.most_stale < self.interval:
                n_parts = round(self.interval / self.most_stale)
                self.most_stale = math.ceil(self.interval / n_parts)
            else:
                self.most_stale -= self.most_stale % self.interval
        self.counts: Counter[str] = Counter()

    @property
    def tau(self) -> int:
        """The number of draws made."""
        return len(self.t)

    @property
    def n_selected(self) -> int:
        """The number of distinct rows, or groups, among them."""
        return int(np.count_nonzero(self.selected))

    def run(self) -> Sparsifier:
        """Make all draws."""
        while not self.goal.is_reached(self.tau, self.n_selected):
            advance(min(self.tau, self.goal.n_draws), self.goal.n_draws, "draws")
            if self.tau >= self.fresh_until or len(self.stale) >= self.most_stale:
                self.decompose()
            if self.tau >= self.filled_at + self.interval:
                self.fill()
            ahead = self.draw()
            if len(ahead.drawn) > 0:
                continue
            if ahead.state is not State.LOST_DEFINITENESS:
                self.widen()
            elif len(self.stale) > 0:
                self.counts["early decompositions"] += 1
                self.decompose()
            else:
                self.draw_plainly()
        self.counts["scans"] = self.pool.n_scans
        draws, t = self.pool.order[self.positions], np.array(self.t)
        return finish(self.vectors, self.barriers, draws, t, dict(self.counts), self.penalty)

    def decompose(self) -> None:
        """Bring A up to date and decompose it: tridiagonal for compiled draws, else diagonal."""
        self.counts["decompositions"] += 1
        self.A = self.grown()
        self.stale, self.stale_t = self.stale[:0], self.stale_t[:0]
        decomposed = (
            numpy_draws.tridiagonalization if self.is_compiled else numpy_draws.eigendecomposition
        )
        lower, upper = self.decompositions = for_both(decomposed, self.barriers.lift(self.A))
        L, U = self.barriers.places(self.tau)
        self.potentials = lower.potential(+1, L), upper.potential(-1, U)
        # the lower barrier moves by 1 a draw and must not reach the old smallest eigenvalue
        self.fresh_until = self.tau + max(1, min(self.most_stale, int(lower.least - L) - 1))
        self.pool.rotate((lower.Q, upper.Q), self.selected)

    def grown(self) -> FloatArray:
        """A with the draws since the last decomposition in it."""
        return self.A + (self.stale.T * self.stale_t) @ self.stale

    def fill(self) -> None:
        """Score all rows by explicit resolvents, and fill the pool."""
        resolvents = []
        for i, A in enumerate(self.barriers.lift(self.grown())):
            before, place = (self.barriers.places(tau)[i] for tau in (self.tau, self.tau + 1))
            identity, sign = np.eye(len(A)), SIGNS[i]
            N = plain.inverse(sign * (A - place * identity))
            change = sign * (float(np.trace(N)) - self.potentials[i])
            if not change > 0:  # digits were lost: as the plain algorithm computes it
                M = plain.inverse(sign * (A - before * identity))
                change = (place - before) * float(np.vdot(N, M))
            resolvents.append(ExplicitResolvent(sign, N, change))
        lower, upper = resolvents
        is_first = self.tau == 0 and self.penalty is None
        self.pool.fill(lower, upper, self.selected, is_first)
        self.filled_at = self.tau

    def widen(self) -> None:
        """No row of the pool is feasible: have others in it, or look at all rows plainly."""
        if self.rule != "norm" and self.filled_at < self.tau:
            self.fill()
        elif self.rule != "norm" or not self.pool.look_further(self.selected):
            self.draw_plainly()

    def draw(self) -> Ahead:
        """Make draws up to the next decomposition or scan, if rows of the pool are feasible."""
        pool = self.pool.looked_at
        if len(pool) == 0:
            return Ahead(State.NONE_FEASIBLE, np.empty(0, np.intp), np.empty(0), self.potentials, 0)
        sizes = self.pool.sizes[pool]
        until = min(self.goal.most, self.fresh_until, self.filled_at + self.interval)
        room = math.ceil((self.most_stale - len(self.stale)) / sizes.min())
        ahead = (compiled.draws if self.is_compiled else numpy_draws.draws)(
            Task(
                rule=self.rule,
                rows=self.pool.rows,
                starts=np.append(0, np.cumsum(sizes)),
                selected=self.selected[pool],
                again=self.pool.may_repeat,
                decompositions=self.decompositions,
                places=self.barriers.places(self.tau),
                steps=(1.0, self.barriers.delta_U),
                potentials=self.potentials,
                Z=for_both(lambda Q: self.stale @ Q, self.pool.Q),
                t=self.stale_t,
                most=min(until - self.tau, room),
                enough=self.goal.n_draws - self.tau,
                wanted=(self.goal.n_distinct or 0) - self.n_selected,
                most_stale=self.most_stale,
            )
        )
        self.counts["compiled draws"] += self.is_compiled * len(ahead.drawn)
        self.counts["rows"] += ahead.n_looked_at
        self.potentials = ahead.potentials
        drawn = pool[ahead.drawn]
        depth = len(pool) if self.selected[drawn].any() else int(ahead.drawn.max(initial=0))
        self.pool.depth = max(self.pool.depth, depth)
        self.record(drawn, self.pool.explicit(drawn), ahead.t)
        return ahead

    def record(self, positions: IndexArray, rows: FloatArray, t: FloatArray) -> None:
        """Remember draws."""
        self.positions.extend(positions)
        self.t.extend(t)
        self.selected[positions] = True
        self.stale = np.vstack([self.stale, rows])
        self.stale_t = np.append(self.stale_t, np.repeat(t, self.pool.sizes[positions]))

    def draw_plainly(self) -> None:
        """One draw as the plain algorithm makes it, by explicit inverses; decompose after it."""
        self.counts["plain draws"] += 1
        A_lower, A_upper = self.barriers.lift(self.grown())
        L, U = self.barriers.places(self.tau)
        for block in self.all_drawable():
            rows, sizes = self.vectors.take(self.pool.order[block]), self.pool.sizes[block]
            lv, term = (sums(part, sizes) for part in plain.lower_shift(rows, 1.0, A_lower, L))
            uv = sums(plain.upper_shift(rows, self.barriers.delta_U, A_upper, U), sizes)
            i = choose(self.rule, lv, uv, is_feasible(lv, uv, term))
            if i >= 0:
                span = slice(sizes[:i].sum(), sizes[: i + 1].sum())
                self.record(block[[i]], rows[span], np.array([2 / (lv[i] + uv[i])]))
                self.fresh_until = self.tau
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
