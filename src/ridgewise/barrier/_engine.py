# SPDX-License-Identifier: BSD-3-Clause
"""The fast engine: what the plain algorithm gives, for a small part of its cost.

- Few rows are looked at: the rule "norm" wants the first feasible row in descending norm.
- A is decomposed once in some tens of draws (see ``_resolvent``), not at each.
- Feasible means u^T W u >= 0 for a symmetric W that is diagonal plus low rank: one small matrix
  product tells for a block of rows at once.
- Rows are asked for when they are needed, and those looked at often are kept, already rotated.

Whatever goes wrong numerically is noticed: the engine decomposes A anew and tries again; if that
fails too, the draw is made by the plain algorithm's arithmetic, which raises an error if it can't.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dsyevd
from sklearn.utils import gen_batches

from ridgewise._threads import one_blas_thread
from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier import _plain as plain
from ridgewise.barrier._problem import (
    NEAR_TIE,
    Barriers,
    Sparsifier,
    Vectors,
    check_rule,
    finish,
    first_best,
    is_feasible,
    penalized_norms2,
    preference,
    scan_order,
)
from ridgewise.barrier._resolvent import LostDefinitenessError, Resolvent
from ridgewise.barrier._shortlist import Pair, Screen, Shortlist, rotate

FIRST_ROWS = 64  # rows asked for at the start
MOST_ROWS = 3072  # rows in descending norm kept at hand; past them the screen is asked
FEW_TRIES = 12  # candidates looked at one by one, before the others are all at once
MOST_DRIFT = 1e-8  # of the potentials carried from draw to draw, against fresh ones
MOST_CONTENDERS = 512  # rows that survive the screen, before it is set anew


class Draw(NamedTuple):
    """A row, by its position in scan order, and its weight."""

    position: int
    row: FloatArray
    t: float


def sparsify(
    vectors: Vectors, n_draws: int, rule: str = "norm", penalty: FloatArray | None = None
) -> Sparsifier:
    """Single-set spectral sparsification: the result of ``sparsify_plain``, fast.

    Parameters
    ----------
    vectors : Vectors
        Rows of a matrix with orthonormal columns, of rank l.
    n_draws : int
        The number of draws r, more than l.
    rule : {"norm", "slack", "ratio"}
        Which feasible row is drawn, as in :func:`sparsify_plain`.
    penalty : ndarray of shape (l,), optional
        For ridge models, alpha / sigma^2 of each direction, as in :func:`sparsify_plain`.

    Returns
    -------
    Sparsifier
        Weighted rows whose spectrum, recomputed from the weights, keeps Lemma 1's promise.
    """
    check_rule(rule)
    with one_blas_thread():
        return Engine(vectors, n_draws, rule, penalty).run()


class Engine:
    """One run of the barrier method; rows are named by their position in scan order."""

    def __init__(
        self, vectors: Vectors, n_draws: int, rule: str, penalty: FloatArray | None = None
    ) -> None:
        self.vectors, self.rule, self.penalty = vectors, rule, penalty
        self.barriers = Barriers(vectors.rank, n_draws, penalty)
        row_sizes = penalized_norms2(vectors, self.barriers.penalty)
        self.order = scan_order(row_sizes)
        self.selected = np.zeros(len(self.order), dtype=bool)
        self.positions = np.empty(n_draws, dtype=np.intp)
        self.rows = np.empty((n_draws, vectors.rank))
        self.t = np.empty(n_draws)

        self.A = np.zeros((vectors.rank, vectors.rank))
        self.lower, self.upper = Resolvent(+1), Resolvent(-1)
        # decompositions cost l^3, what is carried between them l k^2: k = l^(2/3) balances them
        self.most_stale = max(16, round(vectors.rank ** (2 / 3)))
        self.nearest = Shortlist(vectors, self.order)  # the first unselected rows in scan order
        self.depth = 0.0  # how far into them the scan went lately
        self.contenders = Shortlist(vectors, self.order)  # survivors of the screen
        self.screen = Screen(vectors, self.order, row_sizes, self.barriers.penalty)
        self.screen_set_at = -1
        self.fresh_at = 0
        self.counts: Counter[str] = Counter()

    def run(self) -> Sparsifier:
        """Make all draws."""
        self.decompose(0)
        for tau in range(self.barriers.n_draws):
            if tau - self.fresh_at >= self.patience:
                self.decompose(tau)
            self.record(tau, self.draw(tau))
        draws, counts = self.order[self.positions], dict(self.counts)
        return finish(self.vectors, self.barriers, draws, self.t, counts, self.penalty)

    def record(self, tau: int, draw: Draw) -> None:
        """Remember what was drawn."""
        self.positions[tau], self.rows[tau], self.t[tau] = draw.position, draw.row, draw.t
        self.selected[draw.position] = True

    # A and its decomposition

    def decompose(self, tau: int) -> None:
        """Bring A up to date and decompose it; the draws made until now are in it."""
        self.counts["decompositions"] += 1
        A = self.grown(tau)
        A_lower, A_upper = self.barriers.lift(A)
        self.lower_eigenvalues, Q_lower, _ = dsyevd(A_lower, lower=1)
        self.upper_eigenvalues, Q_upper = self.lower_eigenvalues, Q_lower
        if A_upper is not A_lower:
            self.upper_eigenvalues, Q_upper, _ = dsyevd(A_upper, lower=1)
        self.Q = Q_lower, Q_upper
        L, U = self.barriers.lower(tau), self.barriers.upper(tau)
        drift = max(
            self.lower.start(self.lower_eigenvalues - L),
            self.upper.start(U - self.upper_eigenvalues),
        )
        if drift > MOST_DRIFT and tau > self.fresh_at:
            self.counts["drifts"] += 1
            self.draw_again_plainly(tau)
            self.decompose(tau)
            return
        self.A, self.fresh_at = A, tau
        # the lower barrier moves by 1 a draw and must not reach the old smallest eigenvalue
        self.patience = max(1, min(self.most_stale, int(self.lower_eigenvalues[0] - L) - 1))
        # rows drawn since, in each barrier's coordinates
        self.Z_lower = np.empty((self.patience, self.vectors.rank))
        self.Z_upper = self.Z_lower if Q_upper is Q_lower else np.empty_like(self.Z_lower)
        self.nearest.refresh(self.Q, self.selected, most=2 * (FIRST_ROWS + int(self.depth)))
        self.contenders.refresh(self.Q, self.selected, most=2 * MOST_CONTENDERS)
        if self.screen.is_set:
            self.screen.rotate(self.Q)

    def grown(self, tau: int) -> FloatArray:
        """A with the draws since the last decomposition in it."""
        since = slice(self.fresh_at, tau)
        return self.A + (self.rows[since].T * self.t[since]) @ self.rows[since]

    def move(self, tau: int) -> None:
        """Move both barriers to where draw ``tau`` looks at them."""
        drawn, t_inverse = slice(tau - self.fresh_at), 1 / self.t[self.fresh_at : tau]
        L, U = self.barriers.lower(tau + 1), self.barriers.upper(tau + 1)
        self.lower.move(self.lower_eigenvalues - L, self.Z_lower[drawn], t_inverse)
        self.upper.move(U - self.upper_eigenvalues, self.Z_upper[drawn], t_inverse)

    # a draw

    def draw(self, tau: int) -> Draw:
        """One draw: with a new decomposition if it fails, plainly if it fails again."""
        found = self.try_draw(tau)
        if found is None and tau > self.fresh_at:
            self.counts["early decompositions"] += 1
            self.decompose(tau)
            found = self.try_draw(tau)
        if found is None:
            self.counts["plain draws"] += 1
            found = self.draw_plainly(tau)
            self.patience = 0
        return found

    def try_draw(self, tau: int) -> Draw | None:
        """One draw by the fast arithmetic, or None where rounding defeats it."""
        try:
            self.move(tau)
            search = self.first_feasible if self.rule == "norm" else self.best_contender
            found = search(tau) or self.repeat(tau)
        except LostDefinitenessError:
            return None
        return found

    def accept(self, tau: int, position: int, row: FloatArray, rotated: Pair) -> Draw | None:
        """The draw of this row (also given in both barriers' coordinates) if it is feasible."""
        lower_square, lower_plain = self.lower.forms_of(rotated[0])
        upper_square, upper_plain = self.upper.forms_of(rotated[1])
        term = lower_square / self.lower.change
        lv, uv = term - lower_plain, upper_square / self.upper.change + upper_plain
        if not is_feasible(lv, uv, term):
            return None
        t = 2 / (lv + uv)
        self.lower.add(t, lower_square, lower_plain)
        self.upper.add(t, upper_square, upper_plain)
        self.Z_lower[tau - self.fresh_at], self.Z_upper[tau - self.fresh_at] = rotated
        return Draw(position, row, t)

    def accept_first(self, tau: int, rows: Shortlist, candidates: IndexArray) -> Draw | None:
        """The draw of the first feasible unselected one of the ``candidates`` among ``rows``."""
        for i in candidates[:FEW_TRIES]:
            if self.selected[rows.positions[i]]:
                continue
            rotated = rows.lower[i], rows.upper[i]
            draw = self.accept(tau, int(rows.positions[i]), rows.raw[i], rotated)
            if draw is not None:
                self.reached = int(i)
                return draw
        rest = candidates[FEW_TRIES:]
        if len(rest) == 0:
            return None
        # one by one was cheaper as long as one of the first would do
        usable = self.feasible(rows, rest) & ~self.selected[rows.positions[rest]]
        return self.accept_first(tau, rows, rest[usable]) if usable.any() else None

    def feasible(self, rows: Shortlist, which: IndexArray) -> BoolArray:
        """Whether each is feasible."""
        lv, term = self.lower.shift(rows.lower[which])
        uv, _ = self.upper.shift(rows.upper[which])
        return np.asarray(is_feasible(lv, uv, term))

    def repeat(self, tau: int) -> Draw | None:
        """Draw a selected row again, since no other is feasible."""
        self.counts["repeats"] += 1
        drawn, first = np.unique(self.positions[:tau], return_index=True)
        z_lower, z_upper = rotate(self.rows[first], self.Q)
        lv, term = self.lower.shift(z_lower)
        uv, _ = self.upper.shift(z_upper)
        candidates = np.flatnonzero(is_feasible(lv, uv, term))
        if len(candidates) == 0:
            return None
        best = 0 if self.rule == "norm" else first_best(preference(self.rule, lv, uv)[candidates])
        i = candidates[best]
        return self.accept(tau, int(drawn[i]), self.rows[first[i]], (z_lower[i], z_upper[i]))

    # the rule "norm": the first feasible row in scan order

    def first_feasible(self, tau: int) -> Draw | None:
        """The first unselected feasible row in descending norm."""
        first = start = self.first_unselected()
        size = 2 if self.depth < 1 else 8 + int(self.depth)
        while start < len(self.nearest) or self.hold_more():
            stop = min(start + size, len(self.nearest))
            draw = self.accept_first(tau, self.nearest, self.may_be_feasible(start, stop))
            self.counts["rows"] += stop - start
            if draw is not None:
                self.depth += 0.2 * (self.reached - first - self.depth)
                return draw
            start, size = stop, size + size // 2
        return self.first_feasible_far(tau)

    def first_unselected(self) -> int:
        """Where among the nearest rows the first unselected one is."""
        first, positions = 0, self.nearest.positions
        while first < len(positions) and self.selected[positions[first]]:
            first += 1
        return first

    def may_be_feasible(self, start: int, stop: int) -> IndexArray:
        """Of some nearest rows, those that a cheap test does not rule out.

        L(u) is computed, U(u) bounded: since A has only grown, N >= G for the upper barrier, so
        u^T N u >= q = u^T G u and u^T N^2 u >= q^2 / ||u||^2.
        """
        if stop - start <= 2:
            return np.arange(start, stop)  # testing them would cost as much as knowing
        block = slice(start, stop)
        lv = self.nearest.squares[0][block] @ self.lower.w
        factors = self.lower.low_rank_part()
        if factors is not None:
            half = len(factors) // 2
            products = factors @ self.nearest.lower[block].T
            lv += 2 * np.einsum("ij,ij->j", products[:half], products[half:])
        q = self.nearest.squares[1][block] @ self.upper.g
        uv = q + q * q / (self.nearest.norms2[block] * self.upper.change)
        # rounding errors of lv are some EPS ||u||^2: far below the millionth of uv left out here
        return start + np.flatnonzero(lv >= (1 - 1e-6) * uv)

    def hold_more(self) -> bool:
        """Hold more of the nearest rows, if there are any and there is room."""
        held = self.nearest.positions
        end = int(held[-1]) + 1 if len(held) else 0
        room = min(max(FIRST_ROWS, len(held) // 2), MOST_ROWS - len(held))
        within = end + room + len(self.positions)  # at most so many of them are selected
        more = end + np.flatnonzero(~self.selected[end:within])[:room]
        if len(more) == 0:
            return False
        self.nearest.extend(more)
        return True

    def first_feasible_far(self, tau: int) -> Draw | None:
        """The same among the rows past the nearest, of which the screen leaves few."""
        end = int(self.nearest.positions[-1]) + 1 if len(self.nearest) else 0
        if self.selected[end:].all():
            return None
        lv, uv = self.screen_bounds(tau)
        survivors = end + np.flatnonzero((lv >= uv)[end:] & ~self.selected[end:])
        if len(survivors) > MOST_CONTENDERS:
            survivors = survivors[self.slack_bounds()[survivors] >= 0]
        # setting the screen anew costs what looking at all rows does
        if len(survivors) > len(self.order) // 8 and self.renew_screen(tau):
            return self.first_feasible_far(tau)
        for start in range(0, len(survivors), MOST_CONTENDERS):
            self.contenders.replace(survivors[start : start + MOST_CONTENDERS])
            usable = np.flatnonzero(self.rate_contenders() > -np.inf)
            draw = self.accept_first(tau, self.contenders, usable)
            if draw is not None:
                self.depth += 0.2 * (len(self.nearest) - self.depth)
                return draw
        return None

    # the rules "slack" and "ratio": the best of all feasible rows

    def best_contender(self, tau: int) -> Draw | None:
        """The best unselected feasible row: best among those held, and no other may be better."""
        ratings = self.rate_contenders()
        best = ratings.max(initial=-np.inf)
        missing = self.may_be_better(tau, best)
        if len(missing) > MOST_CONTENDERS // 2 and self.rule == "slack":
            missing = missing[self.slack_bounds()[missing] >= (1 - 10 * NEAR_TIE) * max(best, 0)]
        if len(self.contenders) + len(missing) > MOST_CONTENDERS and self.renew_screen(tau):
            return self.best_contender(tau)
        if len(missing):
            self.contenders.replace(np.union1d(self.contenders.positions, missing))
            ratings = self.rate_contenders()
        if not np.any(ratings > -np.inf):
            return None
        return self.accept_first(tau, self.contenders, np.array([first_best(ratings)]))

    def rate_contenders(self) -> FloatArray:
        """What the rule makes of each contender; -inf where it is selected or infeasible."""
        held = self.contenders
        self.counts["rows"] += len(held)
        lv, term = self.lower.shift(held.lower)
        uv, _ = self.upper.shift(held.upper)
        usable = is_feasible(lv, uv, term) & ~self.selected[held.positions]
        return np.where(usable, preference(self.rule, lv, uv), -np.inf)

    def may_be_better(self, tau: int, best: float) -> IndexArray:
        """Unselected rows not held that may be as good as ``best``, as far as the screen sees."""
        lv, uv = self.screen_bounds(tau)
        if best == -np.inf:
            able = lv >= uv
        elif self.rule == "slack":
            able = lv - uv >= (1 - 10 * NEAR_TIE) * best
        else:
            able = (lv > 0) & (lv >= (1 - 10 * NEAR_TIE) * best * uv)
        able &= ~self.selected
        able[self.contenders.positions] = False
        return np.flatnonzero(able)

    # the screen

    def screen_bounds(self, tau: int) -> tuple[FloatArray, FloatArray]:
        """At most L(u), at least U(u), of every row in scan order."""
        if not self.screen.is_set:
            self.renew_screen(tau)
        return self.screen.bounds(self.lower.form(), self.upper.form())

    def slack_bounds(self) -> FloatArray:
        """At most L(u) - U(u) of every row in scan order: tighter, and dearer."""
        self.counts["leading passes"] += 1
        return self.screen.slack_bounds(self.lower.form(), self.upper.form(), self.Q)

    def renew_screen(self, tau: int) -> bool:
        """Set the screen to the present draw; False if it is already."""
        if self.screen_set_at == tau:
            return False
        if tau > self.fresh_at:
            self.decompose(tau)
            self.move(tau)
        self.counts["screens"] += 1
        self.screen.set(self.Q, (self.lower.w, self.upper.w))
        self.screen_set_at = tau
        if self.rule != "norm":
            ratings = preference(self.rule, self.screen.lv, self.screen.uv)
            ratings = np.where(self.selected, -np.inf, ratings)
            few = min(len(ratings), MOST_CONTENDERS // 4)
            self.contenders.replace(np.sort(np.argpartition(-ratings, few - 1)[:few]))
        return True

    # where the fast arithmetic fails

    def draw_plainly(self, tau: int) -> Draw:
        """One draw as the plain algorithm makes it: every row, by explicit inverses."""
        self.lower.potential = self.upper.potential = np.nan  # not carried over this draw
        A_lower, A_upper = self.barriers.lift(self.grown(tau))
        L, U = self.barriers.lower(tau), self.barriers.upper(tau)
        lv, uv, term = np.empty((3, len(self.order)))
        for block in gen_batches(len(self.order), MOST_ROWS):
            rows = self.vectors.take(self.order[block])
            lv[block], term[block] = plain.lower_shift(rows, 1.0, A_lower, L)
            uv[block] = plain.upper_shift(rows, self.barriers.delta_U, A_upper, U)
        i = plain.choose_row(self.rule, lv, uv, is_feasible(lv, uv, term), self.selected)
        return Draw(i, self.vectors.take(self.order[[i]])[0], float(2 / (lv[i] + uv[i])))

    def draw_again_plainly(self, tau: int) -> None:
        """Make the draws since the last decomposition again, since their potentials drifted."""
        self.selected[:] = False
        self.selected[self.positions[: self.fresh_at]] = True
        for again in range(self.fresh_at, tau):
            self.counts["plain draws"] += 1
            self.record(again, self.draw_plainly(again))
