# SPDX-License-Identifier: BSD-3-Clause
"""The greedy path of groups of features, which are selected whole (see ``_state``).

The gain of group g, tr (I + G)^-1 H, is at most tr H, the sum of its h_j: one product with all
features bounds all gains. Gains are computed only where the bound, times the share of it that the
gain was before, is large. Steps choose from a pool of the groups with the largest gains. There each
step changes G to G - a^T a and H to H - a^T w - w^T a, with a = A^T X_g and w = W^T X_g.

Gains outside of the pool change in the meantime. They are assumed to rise no more, or fall no less,
than those of the pool do, with a margin, and the pool is left when a group outside may be better.
Their gains after the steps are a check; with few targets, so are the bounds at every step. Steps at
which a group outside may have been better are undone. The path is that of the plain algorithm
unless gains outside change in ways that gains in the pool do not.

Pools of large data are in single precision. The objective is computed anew after the steps of each.
"""

import math
from collections.abc import Iterator

import numpy as np

from ridgewise._run import one_blas_thread
from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.subset._problem import ROUNDED_UP, Limits, Problem
from ridgewise.subset._state import TIE, State, directions, largest

POOL = 32  # groups at least ...
POOL_FEATURES = 480, 2048  # ... and features, about; between these, a 12th of all dense ones
REBASE = 32  # steps after which the bounds on gains in a pool are computed anew
MARGIN = 0.5  # by which gains outside may rise more than in the pool, of the spread there ...
DEVIATIONS = 3.75  # ... but by no more than so many standard deviations
SMALL = 12  # features of a group up to which products of its matrices are not worth a BLAS call
DRIFT = 1e-4  # relative error of gains in single precision from which on they are not used
LONG = 1e3  # squared length, of alpha, from which on single precision would lose I in I + G
AT_ONCE = 64  # steps that are checked by one product with all features


class GroupState(State):
    """R and N of the groups selected so far, and of every group its gain for its cost.

    Attributes
    ----------
    gains : ndarray of shape (n_groups,)
        -1 for groups that cannot be added; estimates for those not among the best.
    shares : ndarray of shape (n_groups,)
        Gains as shares of their bounds tr H when they were last computed; 1 before.
    pool : Pool
        Groups with the largest gains.
    outside : float
        The largest gain outside of it.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        super().__init__(problem, limits)
        self.may_round &= float(self.lengths2.max()) < LONG * problem.alpha
        fewest, most = POOL_FEATURES
        is_sparse = self.columns.is_sparse_enough  # then a look at all groups costs little
        features = fewest if is_sparse else min(max(self.columns.shape[1] // 12, fewest), most)
        self.size = max(POOL, round(features / problem.groups.sizes.mean()))
        self.most = self.size  # steps before the next look at all groups
        # at first as if features of a group were orthogonal, and M the identity
        sums, g = problem.groups.sums, self.lengths2 / problem.alpha
        self.shares = (sums(g / (1 + g)) + 1e-300) / (sums(g) + 1e-300)
        self.measure()

    def measure(self) -> None:
        """R, N, gains and the pool from K_S."""
        self.refresh()
        unknown = self.affordable
        size = min(self.size, int(np.count_nonzero(unknown)))
        bounds = self.problem.groups.sums(np.maximum(self.heights(), 0)) / self.prices + 1e-300
        if self.may_round:
            self.R, self.N = self.R.astype(np.float32), self.N.astype(np.float32)
        self.gains = np.where(unknown | (size == 0), bounds * self.shares, -1)
        is_settled = size == 0
        while not is_settled:
            ids, _ = largest(self.gains, size, TIE[self.dtype])
            is_settled = not unknown[ids].any()
            self.pool = Pool([*self.stacks(ids)], self.R, self.N, self.prices)
            ids, found = self.pool.ids, self.pool.high
            # the other shares are assumed to have risen as much as any in the pool
            rise = max(1.0, float((found / (bounds[ids] * self.shares[ids])).max()))
            self.shares = np.minimum(rise * self.shares, 1)
            unknown[ids] = False
            self.gains[unknown] = (bounds * self.shares)[unknown]
            enough, median = np.partition(found, [size // 4, size // 2])[[size // 4, size // 2]]
            others = np.flatnonzero(unknown & (self.gains > enough))
            self.gains[others] = self.exact(others)
            unknown[others] = False
            self.gains[ids] = -1
            self.outside = float(self.gains.max())
            self.gains[ids] = found
            for some in (ids, others):
                self.shares[some] = np.clip(self.gains[some] / bounds[some], 1e-10, 1)
            is_settled = is_settled or self.outside <= median

    def exact(self, ids: IndexArray) -> FloatArray:
        """The gains of some groups for their costs."""
        found = np.empty(len(ids))
        for some, rows in self.stacks(ids, self.columns.block_width):
            found[np.searchsorted(ids, some)] = traces(*forms(rows, self.R, self.N)[1])
        return found / self.prices[ids]

    def stacks(
        self, ids: IndexArray, width: int | None = None
    ) -> Iterator[tuple[IndexArray, FloatArray]]:
        """Features of some groups, stacked with those of groups of similar sizes.

        Parameters
        ----------
        ids : ndarray of int
        width : int, optional
            How many features a stack may have.

        Yields
        ------
        some : ndarray of shape (m,)
            The groups of a stack.
        rows : ndarray of shape (m, k, n)
            Their features, or as many as there are samples; zeros fill up smaller groups.
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
                features, back = np.unique(groups.order[places], return_inverse=True)
                taken = self.columns.take(features).T.astype(self.R.dtype, copy=False)
                rows: FloatArray = taken[back.reshape(places.shape)]
                rows[missing] = 0
                if k > rows.shape[2]:  # only X_g X_g^T matters: n features do as well
                    rows = np.asarray(np.linalg.qr(rows, mode="r"))
                yield some, rows

    def choose(self, goal: float) -> bool:
        """Add some groups, each the best for its cost that fits; False if none does."""
        if not self.affordable.any():
            return False
        others = self.gains >= 0
        others[self.pool.ids] = False
        # gains outside are compared by their square roots
        outside = math.sqrt(self.outside) if others.any() else -math.inf
        shares = self.shares
        with one_blas_thread():
            gains, rises, bases = self.steps(goal, outside)
        chosen = self.pool.ids[self.pool.picks]
        taken = np.sqrt(np.array(gains) / self.prices[chosen]) * (1 + TIE[self.dtype])
        self.record(chosen.tolist(), gains)
        if not self.is_confirmed(len(chosen)):
            return True
        if len(bases) > 0:
            highest = self.roots_outside(
                bases[:-1], np.where(others, np.maximum(shares, self.shares), 0), taken.min()
            )
        else:
            after = np.sqrt(np.maximum(self.gains[others], 0)).max(initial=-math.inf) - rises[-1]
            highest = max(outside, after) + rises[1:-1]
        worse = np.flatnonzero(taken[1:] < highest)
        self.most = min(self.size, 4 * self.most)
        if len(worse) > 0:
            kept = int(worse[0]) + 1
            self.most = 4 * kept
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

    def steps(
        self, goal: float, outside: float
    ) -> tuple[list[float], FloatArray, list[FloatArray]]:
        """Add the best groups of the pool until one outside may be better.

        Returns
        -------
        gains : list of float
        rises : ndarray
            See `Pool.rise`: before each step, and after the last.
        bases : list of ndarray of shape (n, t)
            B after each step, if it has few columns and there are groups outside.
        """
        pool, costs = self.pool, self.limits.costs[self.pool.ids]
        room, objective = self.room, self.objectives[-1]
        most = len(costs) if outside < 0 else min(self.most, (3 * len(costs) + 1) // 4)
        is_few = 2 * self.F.shape[1] < len(self.F) and outside >= 0
        gains: list[float] = []
        rises, bases = [0.0], [self.B]
        while len(gains) < most and objective > goal:
            j, best = pool.best(costs <= room * ROUNDED_UP)
            if best < 0 or (gains and math.sqrt(best) < outside + rises[-1]):
                break
            gain, A = pool.step(j)
            gains.append(max(gain, 0.0))
            rises.append(pool.rise())
            room -= float(costs[j])
            objective -= self.trace * gain
            if is_few:
                bases.append(bases[-1] - A.T @ (A @ self.F))
        return gains, np.array(rises), bases[1:]

    def roots_outside(
        self, bases: list[FloatArray], shares: FloatArray, least: float
    ) -> FloatArray:
        """The largest sqrt(gain) for each of some B, or ``least``, for gains of these shares."""
        found, groups = [np.empty(0)], self.problem.groups
        for start in range(0, len(bases), AT_ONCE):
            some = bases[start : start + AT_ONCE]
            h = np.empty((len(some), self.columns.shape[1]))
            B = self.centred(np.hstack(some)).astype(self.dtype)
            for place, products in self.columns.products(B):
                squares = np.square(products.T).reshape(len(some), -1, len(products))
                squares.sum(axis=1, out=h[:, place])
            near = np.flatnonzero(groups.sums(h.max(axis=0)) * shares / self.prices > least**2)
            starts = np.cumsum(groups.sizes[near]) - groups.sizes[near]
            heights = np.add.reduceat(h[:, groups.members(near)], starts, axis=1)
            gains = heights * (shares / self.prices)[near]
            found.append(np.sqrt(gains.max(axis=1, initial=least**2)))
        return np.concatenate(found)


class Pool:
    """Groups from which steps choose.

    Parameters
    ----------
    stacks : list of tuple
        See `GroupState.stacks`.
    R, N : ndarray of shape (n, n)
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
    """

    def __init__(
        self,
        stacks: list[tuple[IndexArray, FloatArray]],
        R: FloatArray,
        N: FloatArray,
        prices: FloatArray,
    ) -> None:
        self.ids = np.concatenate([some for some, _ in stacks])
        self.stacks = [Stack(rows, R, N) for _, rows in stacks]
        lengths = [len(some) for some, _ in stacks]
        self.starts = np.cumsum([0, *lengths])
        self.k = np.repeat([rows.shape[1] for _, rows in stacks], lengths)
        self.prices = prices[self.ids]
        self.picks: list[int] = []
        self.moves = np.empty((2, int(self.k.sum()), len(R)), dtype=R.dtype)
        self.n_moves = 0
        self.left = np.ones(len(self.ids), dtype=bool)
        self.bound()
        self.first = self.roots

    def bound(self) -> None:
        """Bound all gains, and estimate their square roots.

        With C = (I + G)^-1 of some steps ago, C^-1 >= I + G >= (1 - fall) C^-1, where fall is the
        trace of the fall of G times C.
        """
        if len(self.picks) % REBASE == 0:
            for stack in self.stacks:
                stack.rebase()
        found = [stack.traces() for stack in self.stacks]
        low, fall = np.hstack(found) if len(found) > 1 else found[0]
        self.low = np.maximum(low, 0) / self.prices
        self.high = self.low / np.maximum(1 - fall, 1e-10)
        self.roots = np.sqrt(self.low / np.maximum(1 - fall / self.k, 1e-10))

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
        return mean + min(spread, DEVIATIONS * math.sqrt(max(0.0, square - mean**2)))

    def step(self, j: int) -> tuple[float, FloatArray]:
        """Add the group at place j; returns its gain and A^T."""
        number = int(np.searchsorted(self.starts, j, side="right")) - 1
        stack, place = self.stacks[number], j - self.starts[number]
        # R x and N x, from those before the first step
        before = self.moves[:, : self.n_moves]
        a, w = before @ np.ascontiguousarray(stack.P[:, place :: len(stack.moved[0])])
        Rx, Nx = stack.moved[:, place] - a.T @ before
        Nx -= w.T @ before[0]
        gain, A, W = directions(Rx, Nx, *stack.forms[..., place])
        stop = self.n_moves + len(A)
        self.moves[:, self.n_moves : stop] = A, W
        self.n_moves = stop
        for stack in self.stacks:
            stack.move(A, W)
        self.picks.append(j)
        self.left[j] = False
        self.bound()
        return gain, A


class Stack:
    """Groups of a pool that have similar sizes, filled up with zeros to k features.

    Parameters
    ----------
    rows : ndarray of shape (m, k, n)
        Their features.
    R, N : ndarray of shape (n, n)

    Attributes
    ----------
    P : ndarray of shape (n, k m)
        Their features: the first of each group, then the second of each, ...
    moved : ndarray of shape (2, m, k, n)
        (R X_g)^T and (N X_g)^T before the first step.
    forms : ndarray of shape (2, k, k, m)
        I + X_g^T R X_g and X_g^T N X_g after the last; of the second the symmetric part counts.
    C : ndarray of shape (k, k, m)
        The inverse of the first, some steps ago.
    """

    def __init__(self, rows: FloatArray, R: FloatArray, N: FloatArray) -> None:
        m, k, n = rows.shape
        self.P = np.ascontiguousarray(rows.transpose(2, 1, 0)).reshape(n, k * m)
        self.moved, found = forms(rows, R, N)
        self.forms = np.ascontiguousarray(found.transpose(0, 2, 3, 1))

    def rebase(self) -> None:
        """Take C from the present forms."""
        C = np.linalg.inv(self.forms[0].transpose(2, 0, 1))
        self.C = np.ascontiguousarray(C.transpose(1, 2, 0))

    def traces(self) -> FloatArray:
        """Tr C H, and the trace of C times the fall of G: shape (2, m)."""
        rest, low = np.einsum("ijg,sijg->sg", self.C, self.forms)
        return np.array([low, np.maximum(len(self.C) - rest, 0)])

    def gains(self, places: IndexArray) -> FloatArray:
        """Of some groups."""
        return traces(*self.forms[..., places].transpose(0, 3, 1, 2))

    def move(self, A: FloatArray, W: FloatArray) -> None:
        """G - a^T a and H - 2 a^T w, which has the symmetric part of H - a^T w - w^T a."""
        k, m = self.C.shape[1:]
        both = (np.concatenate([A, 2 * W]) @ self.P).reshape(2, len(A), k, m)
        if k <= SMALL:
            self.forms -= np.einsum("tig,stjg->sijg", both[0], both)
        else:
            found = both[0].transpose(2, 1, 0) @ both.transpose(0, 3, 1, 2)
            self.forms -= found.transpose(0, 2, 3, 1)


def forms(rows: FloatArray, R: FloatArray, N: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(R X_g)^T and (N X_g)^T of groups, whose features are rows, (2, m, k, n); I + G and H."""
    m, k, n = rows.shape
    moved = (rows.reshape(m * k, n) @ np.stack([R, N])).reshape(2, m, k, n)
    found = moved @ rows.transpose(0, 2, 1)
    found[0] += np.eye(k, dtype=found.dtype)
    return moved, found


def traces(G: FloatArray, H: FloatArray) -> FloatArray:
    """Tr G^-1 H of stacked matrices, at least 0."""
    return np.maximum(np.einsum("gii->g", np.linalg.solve(G, H)), 0)
