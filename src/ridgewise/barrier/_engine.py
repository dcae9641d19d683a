# SPDX-License-Identifier: BSD-3-Clause
"""The fast engine: what the plain algorithm gives, for a small part of its cost.

- Few rows are looked at: the rule "norm" wants the first feasible row in descending norm.
- A is decomposed once in some tens of draws (see ``_resolvent``), not at each.
- Feasible means u^T W u >= 0 for a symmetric W that is diagonal plus low rank: one small matrix
  product tells for a block of rows at once.
- Rows are asked for when they are needed, and those looked at often are kept, already rotated.
- Where all rows have to be looked at, each is a dozen numbers (see ``_screen``), not a vector.
- Draws between decompositions are compiled (see ``_compiled``), where there was a compiler.

Whatever goes wrong numerically is noticed: the engine decomposes A anew and tries again; if that
fails too, the draw is made by the plain algorithm's arithmetic, which raises an error if it can't.
"""

from collections import Counter

import numpy as np
from sklearn.utils import gen_batches

from ridgewise._threads import one_blas_thread
from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier import _compiled as compiled
from ridgewise.barrier import _plain as plain
from ridgewise.barrier._at_hand import AtHand
from ridgewise.barrier._decomposition import eigendecomposition, tridiagonalization
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
from ridgewise.barrier._screen import Screen
from ridgewise.barrier._shortlist import Candidate, Draw, Pair, Shortlist
from ridgewise.barrier._sparse_rows import SparseRows, pay_off

BATCH = 1536  # rows looked at together
PAUSE = 4  # draws made one by one where compiled code could not, and twice as many the next time
FEW_TRIES = 12  # candidates looked at one by one, before the others are all at once
SPARE = 4  # rows whose slack may be that part of the best one's are kept in sight
MOST_DRIFT = 1e-8  # of the potentials carried from draw to draw, against fresh ones


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
        self.position = np.empty(len(row_sizes), dtype=np.intp)  # in that order
        self.position[self.order] = np.arange(len(self.order))
        self.selected = np.zeros(len(row_sizes), dtype=bool)
        self.unselected = np.zeros(len(row_sizes), dtype=bool)  # rows of zeros do not count
        self.unselected[self.order] = True
        self.positions = np.empty(n_draws, dtype=np.intp)
        self.rows = np.empty((n_draws, vectors.rank))
        self.t = np.empty(n_draws)

        self.A = np.zeros((vectors.rank, vectors.rank))
        self.lower, self.upper = Resolvent(+1), Resolvent(-1)
        self.is_compiled = compiled.serves(
            rule, vectors.rank, is_penalized=penalty is not None, is_sparse=pay_off(vectors)
        )
        # decompositions cost l^3, what is carried between them l k^2: k = l^(2/3) balances them
        balance = 1.25 if self.is_compiled else 1.0
        self.most_stale = max(16, round(balance * vectors.rank ** (2 / 3)))
        self.screen = Screen(vectors)
        self.at_hand = AtHand(
            vectors,
            self.order,
            self.selected,
            rule,
            self.screen,
            is_compiled=self.is_compiled,
            is_penalized=penalty is not None,
        )
        self.whole_until = 0  # the draw from which on it may leave out shorter rows
        self.ahead_from, self.pause = 0, PAUSE  # the draw from which on they are tried again
        self.fresh_at = 0
        self.counts: Counter[str] = Counter()

    def run(self) -> Sparsifier:
        """Make all draws."""
        self.decompose(0)
        tau = 0
        while tau < self.barriers.n_draws:
            if tau - self.fresh_at >= self.patience:
                self.decompose(tau)
            made = self.draw_ahead(tau)
            if made == 0:
                self.record(tau, self.draw(tau))
            tau += max(made, 1)
        draws, counts = self.order[self.positions], dict(self.counts)
        return finish(self.vectors, self.barriers, draws, self.t, counts, self.penalty)

    def record(self, tau: int, draw: Draw) -> None:
        """Remember what was drawn."""
        self.positions[tau], self.rows[tau], self.t[tau] = draw.position, draw.row, draw.t
        self.selected[self.order[draw.position]] = True
        self.unselected[self.order[draw.position]] = False

    # A and its decomposition

    def decompose(self, tau: int, fully: bool = False) -> None:
        """Bring A up to date and decompose it; the draws made until now are in it.

        A tridiagonal matrix will do for compiled draws, unless eigenvalues are needed ``fully``.
        """
        self.counts["decompositions"] += 1
        if self.screen.is_set and self.screen.pays_off(tau - self.fresh_at):
            self.screen.follow(*self.drawn_since(tau))
        else:
            self.screen.is_set = False
        A = self.grown(tau)
        go_ahead = self.goes_ahead(tau) and not self.screen.is_set and not fully
        decomposed = tridiagonalization if go_ahead else eigendecomposition
        A_lower, A_upper = self.barriers.lift(A)
        lower = decomposed(A_lower)
        upper = lower if A_upper is A_lower else decomposed(A_upper)
        self.decomposition, self.Q = (lower, upper), (lower.Q, upper.Q)
        L, U = self.barriers.lower(tau), self.barriers.upper(tau)
        drift = max(
            self.lower.start(lower.potential(+1, L)), self.upper.start(upper.potential(-1, U))
        )
        if drift > MOST_DRIFT and tau > self.fresh_at:
            self.counts["drifts"] += 1
            self.draw_again_plainly(tau)
            self.decompose(tau, fully)
            return
        self.A, self.fresh_at = A, tau
        # the lower barrier moves by 1 a draw and must not reach the old smallest eigenvalue
        self.patience = max(1, min(self.most_stale, int(lower.least - L) - 1))
        # rows drawn since, in each barrier's coordinates
        Z = np.empty((self.patience, self.vectors.rank))
        self.Z = Z, Z if self.Q[0] is self.Q[1] else np.empty_like(Z)
        self.at_hand.decomposed(lower, upper)
        if self.screen.is_set:
            self.screen.decomposed(self.Q, self.eigenvalues, self.patience)

    @property
    def eigenvalues(self) -> Pair:
        """Of A as either barrier sees it, if it was decomposed fully."""
        return self.decomposition[0].diagonal, self.decomposition[1].diagonal

    def grown(self, tau: int) -> FloatArray:
        """A with the draws since the last decomposition in it."""
        since = slice(self.fresh_at, tau)
        return self.A + (self.rows[since].T * self.t[since]) @ self.rows[since]

    def move(self, tau: int) -> None:
        """Move both barriers to where draw ``tau`` looks at them."""
        (Z_lower, Z_upper), t_inverse = self.drawn_since(tau)
        L, U = self.barriers.lower(tau + 1), self.barriers.upper(tau + 1)
        self.lower.move(self.eigenvalues[0] - L, Z_lower, t_inverse)
        self.upper.move(U - self.eigenvalues[1], Z_upper, t_inverse)

    def drawn_since(self, tau: int) -> tuple[Pair, FloatArray]:
        """The rows drawn since the decomposition, rotated, and 1 / their weights."""
        count = tau - self.fresh_at
        return (self.Z[0][:count], self.Z[1][:count]), 1 / self.t[self.fresh_at : tau]

    # a draw

    def draw(self, tau: int) -> Draw:
        """One draw: with a new decomposition if it fails, plainly if it fails again."""
        if not self.decomposition[0].is_diagonal:
            self.decompose(tau, fully=True)
        found = self.try_draw(tau)
        if found is None and tau > self.fresh_at:
            self.counts["early decompositions"] += 1
            self.decompose(tau, fully=True)
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
            found = self.first_nearest(tau) or self.best_of_all(tau)
        except LostDefinitenessError:
            return None
        return found

    def weigh(self, rows: Shortlist, i: int) -> Candidate:
        """L and U of one row."""
        rotated = rows.lower[i], rows.upper[i]
        lower, upper = self.lower.forms_of(rotated[0]), self.upper.forms_of(rotated[1])
        term = lower[0] / self.lower.change
        lv, uv = term - lower[1], upper[0] / self.upper.change + upper[1]
        return Candidate(int(rows.positions[i]), rows.raw[i], rotated, lower, upper, lv, uv, term)

    def accept(self, tau: int, row: Candidate) -> Draw:
        """The draw of this row, which is feasible."""
        t = 2 / (row.lv + row.uv)
        self.lower.add(t, *row.lower)
        self.upper.add(t, *row.upper)
        for Z, z in zip(self.Z, row.rotated, strict=True):
            Z[tau - self.fresh_at] = z
        return Draw(row.position, row.raw, t)

    def accept_first(self, tau: int, rows: Shortlist, candidates: IndexArray) -> Draw | None:
        """The draw of the first feasible one of the ``candidates`` among ``rows``."""
        for i in candidates[:FEW_TRIES]:
            row = self.weigh(rows, i)
            if row.is_feasible:
                return self.accept(tau, row)
        rest = candidates[FEW_TRIES:]
        if len(rest) == 0:
            return None
        # one by one was cheaper as long as one of the first would do
        lv, term = self.lower.shift(rows.lower[rest])
        uv, _ = self.upper.shift(rows.upper[rest])
        feasible = is_feasible(lv, uv, term)
        return self.accept_first(tau, rows, rest[feasible]) if feasible.any() else None

    # many draws, by compiled code

    def goes_ahead(self, tau: int) -> bool:
        """Whether compiled code is to be tried for the next draws."""
        is_near = self.at_hand.is_near or self.at_hand.goes_deep
        return self.is_compiled and is_near and tau >= self.ahead_from

    def draw_ahead(self, tau: int) -> int:
        """Make draws up to the next decomposition, and tell how many; none where it can't."""
        if not self.goes_ahead(tau):
            return 0
        done, stop = tau, min(self.fresh_at + self.patience, self.barriers.n_draws)
        while done < stop:
            rows = self.at_hand.for_compiled_code(self.decomposition)
            if len(rows) == 0 and not self.at_hand.hold_more(rows):
                break
            end = rows.positions[-1] + 1
            ahead = compiled.draws(
                self.rule,
                rows=rows,
                selected=self.selected[self.order[rows.positions]],
                outside=self.most_outside(end),
                decomposition=self.decomposition,
                places=(self.barriers.lower(self.fresh_at), self.barriers.upper(self.fresh_at)),
                steps=(1.0, self.barriers.delta_U),
                potentials=(self.lower.potential, self.upper.potential),
                Z=(self.Z[0][: stop - self.fresh_at], self.Z[1][: stop - self.fresh_at]),
                t=self.t[self.fresh_at : done],
                n_repeats=self.counts["repeats"],
            )
            self.record_all(done, rows, ahead)
            done += len(ahead.t)
            if ahead.state is not compiled.State.NEEDS_ROWS or not self.at_hand.hold_more(rows):
                break
        if done < stop:
            self.pause = PAUSE if done > tau else 2 * self.pause
            self.ahead_from = done + self.pause
        return done - tau

    def most_outside(self, end: int) -> float:
        """The largest squared norm from that place in scan order on, 0 if there is none.

        For the rule "norm" any of them will do, and without a penalty the first is the largest.
        """
        is_sorted = self.penalty is None or self.rule == "norm"
        rest = self.order[end : end + 1] if is_sorted else self.order[end:]
        return float(self.vectors.norms2[rest].max(initial=0.0))

    def record_all(self, tau: int, rows: Shortlist | SparseRows, ahead: compiled.Ahead) -> None:
        """Remember what was drawn ahead."""
        new = slice(tau, tau + len(ahead.t))
        self.positions[new], self.t[new] = rows.positions[ahead.drawn], ahead.t
        self.rows[new] = rows.take(ahead.drawn)
        drawn = self.order[self.positions[new]]
        self.selected[drawn], self.unselected[drawn] = True, False
        self.counts["compiled draws"] += len(ahead.t)
        self.counts["rows"] += ahead.n_looked_at
        if ahead.n_repeats:
            self.counts["repeats"] = ahead.n_repeats
        if self.rule == "norm":
            for passed in ahead.passed:
                self.at_hand.note_depth(float(passed))
        self.lower.potential, self.upper.potential = ahead.potentials
        self.at_hand.needed = ahead.needed

    # the rule "norm": the first feasible row in scan order

    def first_nearest(self, tau: int) -> Draw | None:
        """The first unselected feasible row in descending norm, if it is near enough."""
        if self.rule != "norm" or not self.at_hand.is_near:
            return None
        rows, depth = self.at_hand.nearest, self.at_hand.depth
        start, size = self.at_hand.first_unselected(), 2 if depth < 1 else 8 + int(depth)
        while start < len(rows) or self.at_hand.hold_more(rows):
            stop = min(start + size, len(rows))
            draw = self.accept_first(tau, rows, self.may_be_feasible(start, stop))
            self.counts["rows"] += stop - start
            if draw is not None:
                self.note_depth(draw)
                return draw
            start, size = stop, size + size // 2
        return None

    def note_depth(self, draw: Draw) -> None:
        """Remember how many unselected rows were passed over for this one."""
        passed = np.count_nonzero(~self.selected[self.order[: draw.position]])
        self.at_hand.note_depth(float(passed))

    def may_be_feasible(self, start: int, stop: int) -> IndexArray:
        """Of some nearest rows, the unselected ones that a cheap test does not rule out.

        L(u) is computed, U(u) bounded: since A has only grown, N >= G for the upper barrier, so
        u^T N u >= q = u^T G u and u^T N^2 u >= q^2 / ||u||^2.
        """
        rows, block = self.at_hand.nearest, slice(start, stop)
        unselected = ~self.selected[self.order[rows.positions[block]]]
        if stop - start <= 2:
            return start + np.flatnonzero(unselected)  # testing would cost as much as knowing
        lv = rows.squares[0][block] @ self.lower.w
        factors = self.lower.low_rank_part()
        if factors is not None:
            half = len(factors) // 2
            products = factors @ rows.lower[block].T
            lv += 2 * np.einsum("ij,ij->j", products[:half], products[half:])
        q = rows.squares[1][block] @ self.upper.g
        uv = q + q * (q / (rows.norms2[block] * self.upper.change))  # q * q may be 0
        # rounding errors of lv are some EPS ||u||^2: far below the millionth of uv left out here
        return start + np.flatnonzero(unselected & (lv >= (1 - 1e-6) * uv))

    # all rows, by way of the screen

    def best_of_all(self, tau: int) -> Draw | None:
        """The unselected feasible row that the rule wants; where there is none, a selected one."""
        lv, uv = self.screen_bounds(tau)
        search = self.first_of if self.rule == "norm" else self.best_of
        draw = search(tau, self.unselected[self.screen.members], lv, uv)
        if draw is None and not self.screen.is_whole:
            return self.with_shorter_rows(tau, 0.0)
        if draw is None:
            self.counts["repeats"] += 1
            draw = search(tau, self.selected[self.screen.members], lv, uv)
        return draw

    def first_of(self, tau: int, among: BoolArray, lv: FloatArray, uv: FloatArray) -> Draw | None:
        """The first feasible one among these rows, given bounds on their L and U."""
        positions = np.sort(self.position[self.screen.members[among & (lv >= uv)]])
        start, size = 0, 2  # the screen is seldom wrong
        while start < len(positions):
            rows = self.look_at(positions[start : start + size])
            draw = self.accept_first(tau, rows, np.arange(len(rows)))
            if draw is not None:
                self.note_depth(draw)
                return draw
            start, size = start + size, min(2 * size, BATCH)
        self.at_hand.note_depth(float(len(self.order)))
        return None

    def best_of(self, tau: int, among: BoolArray, lv: FloatArray, uv: FloatArray) -> Draw | None:
        """The best feasible one among these rows, none of which is better than by its bounds."""
        hopes = np.where(among & (lv >= uv), preference(self.rule, lv, uv), -np.inf)
        most_hopeful = int(np.argmax(hopes))
        if hopes[most_hopeful] == -np.inf:
            return None
        position = self.position[self.screen.members[most_hopeful]]
        row = self.weigh(self.look_at(np.array([position])), 0)
        best = preference(self.rule, row.lv, row.uv) if row.is_feasible else -np.inf
        if not self.screen.is_whole and best <= self.most_slack * self.screen.most_outside:
            return self.with_shorter_rows(tau, best / (SPARE * self.most_slack))
        as_good = hopes >= best - 10 * NEAR_TIE * abs(best) if row.is_feasible else hopes > best
        left = self.screen.members[as_good]
        if self.rule == "slack" and best > 0 and tau >= self.whole_until:
            self.screen.leave_out(best / (SPARE * self.most_slack))
        if len(left) > 1:
            return self.best_rated(tau, np.sort(self.position[left]))
        return self.accept(tau, row) if row.is_feasible else None

    def best_rated(self, tau: int, positions: IndexArray) -> Draw | None:
        """The best feasible one of these rows, all of which are looked at."""
        batches = [positions[i : i + BATCH] for i in range(0, len(positions), BATCH)]
        ratings = np.concatenate([self.rate(self.look_at(batch)) for batch in batches])
        rows = self.look_at(positions[[first_best(ratings)]])
        return self.accept_first(tau, rows, np.arange(1))

    @property
    def most_slack(self) -> float:
        """L(u) - U(u) of a row is at most this times its squared norm.

        It is at most L(u), and u^T (N^2 / change - N) u <= (g^2 / change - g) ||u||^2 with any g
        above the largest eigenvalue of N. Such a g is that of some draws ago, as A only grows.
        """
        g = float(self.lower.g[0])
        return (1 + 1e-6) * g * max(0.0, g / self.lower.change - 1)

    def with_shorter_rows(self, tau: int, norm2: float) -> Draw | None:
        """The draw again, with all rows of at least this squared norm in sight."""
        self.counts["wider screens"] += 1
        self.screen.include(max(0.0, norm2))
        self.whole_until = tau + self.most_stale
        return self.best_of_all(tau)

    def rate(self, rows: Shortlist) -> FloatArray:
        """What the rule makes of each row; -inf where it is infeasible."""
        lv, term = self.lower.shift(rows.lower)
        uv, _ = self.upper.shift(rows.upper)
        return np.where(is_feasible(lv, uv, term), preference(self.rule, lv, uv), -np.inf)

    def look_at(self, positions: IndexArray) -> Shortlist:
        """These rows, in the present coordinates."""
        self.counts["rows"] += len(positions)
        rows = Shortlist(self.vectors, self.order, self.Q)
        rows.hold(positions, self.vectors.take(self.order[positions]))
        return rows

    def screen_bounds(self, tau: int) -> tuple[FloatArray, FloatArray]:
        """L(u) or more, U(u) or less, of every row that the screen is about."""
        places = self.barriers.lower(tau + 1), self.barriers.upper(tau + 1)
        if self.screen.reaches(*places):
            self.screen.follow(*self.drawn_since(tau))
        if not self.screen.reaches(*places):
            self.set_screen(tau)
        lv, uv = self.screen.bounds(places, (self.lower.change, self.upper.change)).T
        return lv, np.maximum(uv, np.finfo(float).tiny)

    def set_screen(self, tau: int) -> None:
        """Set the screen to the present draw."""
        self.counts["screens"] += 1
        if tau > self.fresh_at:
            self.decompose(tau, fully=True)
            self.move(tau)
        L, U = self.barriers.lower(tau + 1), self.barriers.upper(tau + 1)
        self.screen.set(self.Q, self.eigenvalues, L, U, self.patience)

    # where the fast arithmetic fails

    def draw_plainly(self, tau: int) -> Draw:
        """One draw as the plain algorithm makes it: every row, by explicit inverses."""
        self.lower.potential = self.upper.potential = np.nan  # not carried over this draw
        self.screen.is_set = False
        A_lower, A_upper = self.barriers.lift(self.grown(tau))
        L, U = self.barriers.lower(tau), self.barriers.upper(tau)
        lv, uv, term = np.empty((3, len(self.order)))
        for block in gen_batches(len(self.order), BATCH):
            rows = self.vectors.take(self.order[block])
            lv[block], term[block] = plain.lower_shift(rows, 1.0, A_lower, L)
            uv[block] = plain.upper_shift(rows, self.barriers.delta_U, A_upper, U)
        feasible = is_feasible(lv, uv, term)
        i = plain.choose_row(self.rule, lv, uv, feasible, self.selected[self.order])
        return Draw(i, self.vectors.take(self.order[[i]])[0], float(2 / (lv[i] + uv[i])))

    def draw_again_plainly(self, tau: int) -> None:
        """Make the draws since the last decomposition again, since their potentials drifted."""
        self.at_hand.drop()
        self.selected[:] = False
        self.selected[self.order[self.positions[: self.fresh_at]]] = True
        self.unselected[self.order] = ~self.selected[self.order]
        for again in range(self.fresh_at, tau):
            self.counts["plain draws"] += 1
            self.record(again, self.draw_plainly(again))
