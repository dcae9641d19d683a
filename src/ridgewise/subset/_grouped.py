# SPDX-License-Identifier: BSD-3-Clause
"""The greedy path of groups of features, which are selected whole (see ``_state``).

The gain of group g, tr (I + G)^-1 H, is at most tr H, the sum of its h_j, and would be the sum of
h_j / (1 + g_j) if no feature of it were correlated with another, given those selected. One product
with all features gives the first of these for all groups; where X is sparse, another one gives the
second, which is much closer. Gains are computed only where that, times the share of it that the
gain was before, is large. Steps choose from a pool of the groups with the largest gains. There each
step changes G to G - a^T a and H to H - a^T w - w^T a, with a = A^T X_g and w = W^T X_g.

Gains outside of the pool change in the meantime. They are assumed to rise no more, or fall no less,
than those of the pool do, with a margin, and the pool is left when a group outside may be better.
Then the gains of those outside that may have been better, judging by their gains before and after,
are computed for each step, and steps are undone from the first at which one was. The path is that
of the plain algorithm unless gains outside change in ways that gains in the pool do not.

Pools of large data are in single precision. The objective is computed anew after the steps of each.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ridgewise._run import one_blas_thread
from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.spectrum import as_dense
from ridgewise.subset._problem import ROUNDED_UP, Limits, Problem
from ridgewise.subset._state import TIE, State, directions, largest

POOL = 32  # groups at least ...
POOL_FEATURES = 360, 480, 2048  # ... and features: sparse ones; of dense ones a 12th, from, to
REBASE = 16  # steps after which the bounds on gains in a pool are computed anew
MARGIN = 0.35  # by which gains outside may rise more than in the pool, of the spread there ...
DEVIATIONS = 3.75  # ... but by no more than so many standard deviations
FALL = 0.1  # share of a pool's least sqrt(gain): those outside are not assumed to fall by more
SMALL = 12  # features of a group up to which products of its matrices are not worth a BLAS call
DRIFT = 1e-4  # relative error of gains in single precision from which on they are not used
LONG = 1e3  # squared length, of alpha, from which on single precision would lose I in I + G


class GroupState(State):
    """R and N of the groups selected so far, and of every group its gain for its cost.

    Attributes
    ----------
    gains : ndarray of shape (n_groups,)
        -1 for groups that cannot be added; estimates for those not among the best.
    shares : ndarray of shape (n_groups,)
        Gains as shares of what `guesses` gave when they were last computed.
    pool : Pool
        Groups with the largest gains.
    outside : float
        The largest gain outside of it.
    knows_g : bool
        Whether `guesses` takes g_j into account.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        super().__init__(problem, limits)
        self.may_round &= float(self.lengths2.max()) < LONG * problem.alpha
        of_sparse, fewest, most = POOL_FEATURES
        is_sparse = self.columns.is_sparse_enough  # then a look at all groups costs little
        features = of_sparse if is_sparse else min(max(self.columns.shape[1] // 12, fewest), most)
        self.size = max(POOL, round(features / problem.groups.sizes.mean()))
        self.most = self.size  # steps before the next look at all groups
        self.knows_g = is_sparse and not self.is_few
        # at first as if features of a group were uncorrelated, and M the identity
        sums, g = problem.groups.sums, self.lengths2 / problem.alpha
        shares = (sums(g / (1 + g)) + 1e-300) / (sums(g) + 1e-300)
        self.shares = np.ones(len(shares)) if self.knows_g else shares
        self.measure()

    def measure(self) -> None:
        """R, N, gains and the pool from K_S."""
        self.refresh()
        guesses = self.guesses()
        if self.may_round:
            self.R, self.N = self.R.astype(np.float32), self.N.astype(np.float32)
        unknown = self.affordable
        size = min(self.size, int(np.count_nonzero(unknown)))
        self.gains = np.where(unknown | (size == 0), guesses * self.shares, -1)
        is_settled = size == 0
        while not is_settled:
            ids, _ = largest(self.gains, size, TIE[self.dtype])
            is_settled = not unknown[ids].any()
            self.pool = Pool([*self.stacks(ids)], self.prices)
            ids, found = self.pool.ids, self.pool.high
            # the other shares are assumed to have risen as much as any in the pool, up to 1
            rise = max(1.0, float((found / (guesses[ids] * self.shares[ids])).max()))
            self.shares = np.maximum(np.minimum(rise * self.shares, 1), self.shares)
            unknown[ids] = False
            self.gains[unknown] = (guesses * self.shares)[unknown]
            enough, median = np.partition(found, [size // 4, size // 2])[[size // 4, size // 2]]
            others = np.flatnonzero(unknown & (self.gains > enough))
            self.gains[others] = self.exact(others)
            unknown[others] = False
            self.gains[ids] = -1
            self.outside = float(self.gains.max())
            self.gains[ids] = found
            for some in (ids, others):
                self.shares[some] = np.maximum(self.gains[some] / guesses[some], 1e-10)
            is_settled = is_settled or self.outside <= median

    def guesses(self) -> FloatArray:
        """Gains for costs if features of a group were uncorrelated, or bounds on them."""
        scores = np.maximum(self.heights(), 0)
        if self.knows_g:
            scores /= 1 + np.maximum(self.columns.forms(self.R), 0)
        return self.problem.groups.sums(scores) / self.prices + 1e-300

    def exact(self, ids: IndexArray) -> FloatArray:
        """The gains of some groups for their costs."""
        found = np.empty(len(ids))
        for some, rows, moved in self.stacks(ids, self.columns.block_width):
            found[np.searchsorted(ids, some)] = traces(forms(rows, moved))
        return found / self.prices[ids]

    def stacks(
        self, ids: IndexArray, width: int | None = None, others: tuple[FloatArray, ...] = ()
    ) -> Iterator[tuple[IndexArray, FloatArray, list[FloatArray]]]:
        """Features of some groups, stacked with those of groups of similar sizes.

        Parameters
        ----------
        ids : ndarray of int
        width : int, optional
            How many features a stack may have.
        others : tuple of ndarray of shape (n, p), optional
            What features are multiplied by besides R and N.

        Yields
        ------
        some : ndarray of shape (m,)
            The groups of a stack.
        rows : ndarray of shape (m, k, n)
            Their features, or as many as there are samples; zeros fill up smaller groups.
        moved : list of ndarray of shape (m, k, n) or (m, k, p)
            (R X_g)^T, (N X_g)^T, and X_g^T times the others.
        """
        groups = self.problem.groups
        powers = np.frexp(groups.sizes[ids])[1]
        for power in np.unique(powers):
            alike = ids[powers == power]
            k = int(groups.sizes[alike].max())
            count = len(alike) if width is None else max(1, width // k)
            for start in range(0, len(alike), count):
                some = alike[start : start + count]
                missing = np.arange(k) >= groups.sizes[some, None]
                places = groups.starts[some, None] + np.where(missing, 0, np.arange(k))
                taken = self.rows(groups.order[places.ravel()]).astype(self.R.dtype, copy=False)
                rows = as_dense(taken).reshape(*places.shape, -1)
                rows[missing] = 0
                if k > rows.shape[2]:  # only X_g X_g^T matters: n features do as well
                    rows = np.asarray(np.linalg.qr(rows, mode="r"))
                if missing.any() or k > rows.shape[2]:
                    taken = rows.reshape(-1, rows.shape[2])
                products = (taken @ M for M in (self.R, self.N, *others))
                yield some, rows, [found.reshape(*rows.shape[:2], -1) for found in products]

    def rows(self, features: IndexArray) -> Any:
        """Features as rows; sparse where that is faster, and they need not be centred."""
        if self.columns.center:
            return self.columns.take(features).T
        return self.columns.take_rows(features)

    def choose(self, goal: float) -> bool:
        """Add some groups, each the best for its cost that fits; False if none does."""
        if not self.affordable.any():
            return False
        others = self.gains >= 0
        others[self.pool.ids] = False
        pool, before = self.pool, np.where(others, self.gains, -1)
        with one_blas_thread():
            gains = self.steps(goal, self.outside if others.any() else -1)
        pool.stacks.clear()  # the memory is for the next pool
        chosen = pool.ids[pool.picks]
        self.record(chosen.tolist(), gains)
        if not self.is_confirmed(len(chosen)):
            return True
        taken = np.array(gains) / self.prices[chosen] * (1 + TIE[self.dtype])
        with one_blas_thread():
            kept = self.first_worse(pool, self.likely_better(pool, before, taken), taken)
        self.most = min(self.size, 4 * (kept if kept < len(chosen) else self.most))
        if kept < len(chosen):
            self.forget(len(chosen) - kept)
            self.measure()
        return True

    def is_confirmed(self, steps: int) -> bool:
        """Measure, and correct the gains of the last steps; undo them if these have drifted."""
        found = np.array(self.objectives[-1 - steps :])
        self.measure()
        drop, error = found[0] - self.objectives[-1], found[-1] - self.objectives[-1]
        if self.may_round and abs(error) > DRIFT * drop + self.problem.slack:
            self.dtype, self.may_round = np.float64, False
            self.forget(steps)
            self.measure()
            return False
        found[1:] -= error * (found[0] - found[1:]) / max(found[0] - found[-1], 1e-300)
        self.objectives[-1 - steps : -1] = found[:-1].tolist()
        return True

    def steps(self, goal: float, outside: float) -> list[float]:
        """Add the best groups of the pool until one outside may be better; returns the gains.

        ``outside`` is the largest gain outside of the pool, or -1 if there are no groups.
        """
        pool, costs = self.pool, self.limits.costs[self.pool.ids]
        room, objective = self.room, self.objectives[-1]
        most, root = len(costs), -math.inf  # gains outside are compared by their square roots
        if outside >= 0:
            most, root = min(self.most, (3 * most + 1) // 4), math.sqrt(outside)
        gains: list[float] = []
        while len(gains) < most and objective > goal:
            j, best = pool.best(costs <= room * ROUNDED_UP)
            if best < 0 or (gains and math.sqrt(best) < root + pool.rises[-1]):
                break
            gain = pool.step(j)
            gains.append(max(gain, 0.0))
            room -= float(costs[j])
            objective -= self.trace * gain
        return gains

    def likely_better(self, pool: "Pool", before: FloatArray, taken: FloatArray) -> IndexArray:
        """Groups outside of a pool that may have been better than one that was taken.

        As if they had risen with the pool, from their gains before its first step (-1 for groups
        not to be looked at) or towards those after its last; at most as many as a pool holds.
        """
        rises = np.array(pool.rises)
        roots = np.sqrt(np.maximum([before, self.gains], 0))
        reach = np.maximum(roots[0], roots[1] - rises[-1]) * pool.hump() ** 2
        reach[before < 0] = -math.inf
        nearest, _ = largest(reach, min(len(reach), self.size), 0)
        least = (np.sqrt(taken[1:]) - rises[1:-1]).min(initial=math.inf)
        return nearest[reach[nearest] > least]

    def first_worse(self, pool: "Pool", others: IndexArray, taken: FloatArray) -> int:
        """The first step after step 0 at which one of these groups would have been better.

        The number of steps, if none would have been. With C = (I + G)^-1 after all steps, tr C H
        of an earlier step is at least the gain then, since G falls.
        """
        first, starts, stop = len(taken), np.array(pool.ends[:-1]), pool.ends[-1]
        moves = pool.moves[:stop].transpose(2, 1, 0).reshape(-1, 2 * stop)
        for some, rows, (RX, NX, both) in self.stacks(others, self.columns.block_width, (moves,)):
            G, H = forms(rows, [RX, NX])
            a, w = np.split(both, 2, axis=2)
            C = np.linalg.inv(G)
            fallen = np.einsum("gih,gih->gh", C @ w, a)[:, ::-1].cumsum(axis=1)[:, ::-1]
            bounds = np.einsum("gij,gij->g", C, H)[:, None] + fallen[:, starts]
            limits = taken * self.prices[some, None]
            for step in np.flatnonzero((bounds > limits)[:, 1:first].any(axis=0)) + 1:
                them = np.flatnonzero(bounds[:, step] > limits[:, step])
                later, w_later = a[them, :, starts[step] :], w[them, :, starts[step] :]
                G_then = G[them] + later @ later.transpose(0, 2, 1)
                H_then = H[them] + w_later @ later.transpose(0, 2, 1)
                if (traces(np.array([G_then, H_then])) > limits[them, step]).any():
                    first = int(step)
                    break
        return first


class Pool:
    """Groups from which steps choose.

    Parameters
    ----------
    stacks : list of tuple
        See `GroupState.stacks`.
    prices : ndarray
        Of all groups.

    Attributes
    ----------
    ids : ndarray of shape (m,)
        The groups, stack by stack.
    picks : list of int
        The places in ``ids`` of those that were added.
    low, high : ndarray of shape (m,)
        Bounds on their gains for their costs.
    roots, first, peaks : ndarray of shape (m,)
        Square roots of these gains, about: now, before the first step, and the largest so far.
    rises : list of float
        See `rise`: before the first step, and after each.
    moves : ndarray of shape (sum of all k, 2, n)
        Columns of A and 2 W of the steps, in pairs.
    ends : list of int
        How many pairs there were before the first step, and after each.
    """

    def __init__(
        self, stacks: list[tuple[IndexArray, FloatArray, list[FloatArray]]], prices: FloatArray
    ) -> None:
        self.ids = np.concatenate([some for some, _, _ in stacks])
        self.stacks = [Stack(rows, moved) for _, rows, moved in stacks]
        lengths = [len(some) for some, _, _ in stacks]
        self.starts = np.cumsum([0, *lengths])
        self.numbers = np.repeat(np.arange(len(stacks)), lengths)
        self.k = np.array([len(stack.forms[0]) for stack in self.stacks])[self.numbers]
        self.prices = prices[self.ids]
        self.picks: list[int] = []
        self.rises, self.ends = [0.0], [0]
        n, dtype = stacks[0][1].shape[2], stacks[0][1].dtype
        self.moves = np.empty((int(self.k.sum()), 2, n), dtype=dtype)
        self.left = np.ones(len(self.ids), dtype=bool)
        self.peaks = np.zeros(len(self.ids))
        self.bound()
        self.first, self.least = self.roots, float(self.roots.min())

    def bound(self) -> None:
        """Bound all gains, and estimate their square roots.

        With C = (I + G)^-1 of some steps ago, C^-1 >= I + G >= (1 - fall) C^-1, where fall is
        k - tr C (I + G).
        """
        if len(self.picks) % REBASE == 0:
            for stack in self.stacks:
                stack.rebase()
        found = [stack.traces() for stack in self.stacks]
        rest, low = np.hstack(found) if len(found) > 1 else found[0]
        rest = np.minimum(np.maximum(rest, 1e-10), self.k)
        self.low = np.maximum(low, 0) / self.prices
        self.high = self.low / np.maximum(rest - self.k + 1, 1e-10)
        self.roots = np.sqrt(self.low * self.k / rest)
        self.peaks = np.maximum(self.peaks, self.roots)

    def best(self, affordable: BoolArray) -> tuple[int, float]:
        """The place of the group with the largest gain for its cost, and the gain.

        Of those that tie, the first group; -1 if there is none.
        """
        there = affordable & self.left
        top = float(self.low.max(where=there, initial=-1))
        likely = np.flatnonzero(there & (self.high >= top * (1 - TIE[np.float64])))
        if len(likely) <= 1:
            return (int(likely[0]), top) if len(likely) == 1 else (-1, -1.0)
        found = np.empty(len(likely))
        for stack, start, stop in zip(self.stacks, self.starts, self.starts[1:], strict=False):
            here = slice(*np.searchsorted(likely, (start, stop)))
            found[here] = stack.gains(likely[here] - start)
        found /= self.prices[likely]
        best = float(found.max())
        ties = likely[found >= best * (1 - TIE[np.float64])]
        return int(ties[self.ids[ties].argmin()]), best

    def rise(self) -> float:
        """By how much sqrt(gain) rises at most since the first step, with a margin for others."""
        rises = (self.roots - self.first)[self.left]
        if len(rises) == 0:
            return 0.0
        mean, square = float(rises.sum()) / len(rises), float(rises @ rises) / len(rises)
        spread = (1 + MARGIN) * (float(rises.max()) - mean)
        rise = mean + min(spread, DEVIATIONS * math.sqrt(max(0.0, square - mean**2)))
        return max(rise, -FALL * self.least)

    def hump(self) -> float:
        """By what factor sqrt(gain) was at most larger between the first and the last step."""
        ends = np.maximum(self.first, self.roots)
        return float((self.peaks / (ends + 1e-300))[self.left].max(initial=1.0))

    def step(self, j: int) -> float:
        """Add the group at place j; returns its gain."""
        number = self.numbers[j]
        stack, place = self.stacks[number], j - self.starts[number]
        # R x and N x, from those before the first step: less A (A^T x), A (W^T x) + W (A^T x)
        x = np.ascontiguousarray(stack.P[:, place :: stack.forms.shape[3]])
        stop = self.ends[-1]
        before = self.moves[:stop]
        flat = before.reshape(-1, len(x))
        found = (flat @ x).reshape(stop, 2, x.shape[1])
        swapped = found[:, ::-1].reshape(-1, x.shape[1])
        Rx = stack.moved[0][place] - found[:, 0].T @ before[:, 0]
        Nx = stack.moved[1][place] - swapped.T @ flat / 2
        gain, A, W = directions(Rx, Nx, *stack.forms[..., place])
        self.ends.append(stop + len(A))
        moves = self.moves[stop : self.ends[-1]]
        moves[:, 0], moves[:, 1] = A, 2 * W
        for stack in self.stacks:
            stack.move(moves.reshape(-1, moves.shape[2]))
        self.picks.append(j)
        self.left[j] = False
        self.bound()
        self.rises.append(self.rise())
        return gain


class Stack:
    """Groups of a pool that have similar sizes, filled up with zeros to k features.

    Parameters
    ----------
    rows : ndarray of shape (m, k, n)
        Their features.
    moved : list of ndarray of shape (m, k, n)
        (R X_g)^T and (N X_g)^T before the first step.

    Attributes
    ----------
    P : ndarray of shape (n, k m)
        Their features: the first of each group, then the second of each, ...
    forms : ndarray of shape (2, k, k, m)
        I + X_g^T R X_g and X_g^T N X_g after the last; of the second the symmetric part counts.
    C : ndarray of shape (k, k, m)
        The inverse of the first, some steps ago.
    """

    def __init__(self, rows: FloatArray, moved: list[FloatArray]) -> None:
        m, k, n = rows.shape
        self.P = np.ascontiguousarray(rows.transpose(2, 1, 0)).reshape(n, k * m)
        self.moved = moved
        self.forms = np.ascontiguousarray(forms(rows, moved).transpose(0, 2, 3, 1))

    def rebase(self) -> None:
        """Take C from the present forms."""
        C = np.linalg.inv(self.forms[0].transpose(2, 0, 1))
        self.C = np.ascontiguousarray(C.transpose(1, 2, 0))

    def traces(self) -> FloatArray:
        """Tr C (I + G) and tr C H: shape (2, m)."""
        found: FloatArray = np.einsum("ijg,sijg->sg", self.C, self.forms)
        return found

    def gains(self, places: IndexArray) -> FloatArray:
        """Of some groups."""
        return traces(self.forms[..., places].transpose(0, 3, 1, 2))

    def move(self, moves: FloatArray) -> None:
        """G - a^T a and H - 2 a^T w, which has the symmetric part of H - a^T w - w^T a."""
        k, m = self.C.shape[1:]
        found = (moves @ self.P).reshape(-1, 2, k, m)
        if k <= SMALL:
            self.forms -= np.einsum("tig,tsjg->sijg", found[:, 0], found)
        else:
            products = found[:, 0].transpose(2, 1, 0) @ found.transpose(1, 3, 0, 2)
            self.forms -= products.transpose(0, 2, 3, 1)


def forms(rows: FloatArray, moved: list[FloatArray]) -> FloatArray:
    """I + X_g^T R X_g and X_g^T N X_g of groups: shape (2, m, k, k). See `GroupState.stacks`."""
    found = np.stack([products @ rows.transpose(0, 2, 1) for products in moved])
    found[0] += np.eye(rows.shape[1], dtype=found.dtype)
    return found


def traces(forms: FloatArray) -> FloatArray:
    """Tr G^-1 H of stacked matrices, at least 0."""
    return np.maximum(np.einsum("gii->g", np.linalg.solve(*forms)), 0)
