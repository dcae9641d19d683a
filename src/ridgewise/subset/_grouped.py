# SPDX-License-Identifier: BSD-3-Clause
"""The greedy path of groups of features, which are selected whole.

With R = (K_S + alpha)^-1 and N = R M R, group g has G = X_g^T R X_g and H = X_g^T N X_g, and adding
it lowers the objective by alpha tr (I + G)^-1 H. With I + G = L L^T, D = L^-1 H L^-T,
A = R X_g L^-T and W = N X_g L^-T - A D / 2, adding it gives

    R - A A^T,  N - A W^T - W A^T,

and of every other group G - a^T a and H - a^T w - w^T a, with a = A^T X and w = W^T X there. As for
single features (see ``_greedy``), steps are made in a pool, and looked at again with all groups.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ridgewise._groups import Groups
from ridgewise._progress import advance
from ridgewise._threads import one_blas_thread
from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse
from ridgewise.spectrum import Columns
from ridgewise.subset._problem import ROUNDED_UP, Limits, Problem, inverse_root, priced

STEPS = 32  # between two products with all features
POOL = 64  # groups at least ...
POOL_FEATURES = 1024  # ... and more of small ones: about so many features
TIE = 1e-10  # gains that differ by less, relatively, tie: the group that comes first is taken
DRIFT = 1e-6  # relative rounding error of H from which on all groups are computed anew


def grouped_path(problem: Problem, limits: Limits, goal: float) -> tuple[list[int], list[float]]:
    """Groups in the order of selection; the objective before the first and after each."""
    state = GroupState(problem, limits)
    state.include(limits.include)
    whole = state.room
    while state.objectives[-1] > goal and state.choose(goal):
        advance(round(100 * (1 - state.room / whole)) if whole else 100, 100, "percent")
    return state.selected, state.objectives


class Step(NamedTuple):
    """A group x that was added: its gain, what it does to R and N, and the room before it."""

    group: int
    x: FloatArray
    gain: float
    A: FloatArray
    W: FloatArray
    room: float


class GroupState:
    """R and N of the groups selected so far, and of every group G and H."""

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.problem, self.columns, self.limits = problem, problem.columns, limits
        self.groups, self.prices = problem.groups, priced(limits.costs)
        self.selected: list[int] = []
        self.objectives = [problem.of_none]
        self.kernel = np.zeros((self.columns.shape[0],) * 2)
        self.free, self.room, self.steps = limits.free, limits.budget, STEPS
        self.compute_anew()

    def compute_anew(self) -> None:
        """R, N, G and H from K_S."""
        self.refresh()
        self.blocks = Blocks(self.groups, np.arange(len(self.groups)))
        for batch in self.batches():
            P = dense_columns(self.columns, self.groups.members(batch))
            self.blocks.put(batch, P, self.R, self.N)

    def refresh(self) -> None:
        """R and N from K_S."""
        root = inverse_root(self.kernel, self.problem.alpha)
        B = root @ (root.T @ self.problem.factor)
        self.R, self.N = root @ root.T, B @ B.T

    def batches(self) -> Iterator[IndexArray]:
        """All groups, as many at a time as fit in a block of columns."""
        ends = np.cumsum(self.groups.sizes)
        number = (ends - 1) // max(self.columns.block_width, int(self.groups.sizes.max()))
        yield from np.split(np.arange(len(ends)), np.flatnonzero(np.diff(number)) + 1)

    def include(self, chosen: IndexArray) -> None:
        """Add these groups, in this order."""
        for start in range(0, len(chosen), STEPS):
            some = chosen[start : start + STEPS]
            pool = np.sort(some)
            self.add(pool, np.inf, np.searchsorted(pool, some).tolist(), -np.inf)

    def choose(self, goal: float) -> bool:
        """Add some groups, each the best for its cost that fits; False if none does."""
        affordable = self.free & (self.limits.costs <= self.room * ROUNDED_UP)
        n_left = int(np.count_nonzero(affordable))
        if n_left == 0:
            return False
        gains = np.where(affordable, self.blocks.gains() / self.prices, -1)
        size = max(POOL, int(POOL_FEATURES / self.groups.sizes.mean()))
        order = np.argsort(-gains, kind="stable")
        pool = np.sort(order[: min(size, n_left)])
        outside = float(gains[order[size]]) if size < n_left else -1.0
        self.add(pool, outside, None, goal)
        return True

    def add(self, pool: IndexArray, outside: float, places: list[int] | None, goal: float) -> None:
        """Make steps among a pool, the given ones or the best, and bring all groups up to date."""
        P = dense_columns(self.columns, self.groups.members(pool))
        self.refresh()
        local = Blocks(self.groups, pool)
        local.put(pool, P, self.R, self.N)
        if local.differs(self.blocks):
            self.compute_anew()
        with one_blas_thread():
            steps = self.make_steps(local, P, outside, places, goal)
        kept, blocks = self.verified(steps, pool, checked=places is None)
        if kept < len(steps):
            steps = steps[:kept]
            _, blocks = self.verified(steps, pool, checked=False)
        self.blocks, self.steps = blocks, min(STEPS, 2 * max(kept, 1))
        for step in steps:
            self.selected.append(step.group)
            self.objectives.append(self.objectives[-1] - self.problem.alpha * step.gain)
            self.free[step.group] = False
            self.room = step.room - float(self.limits.costs[step.group])
            self.kernel += step.x @ step.x.T

    def make_steps(
        self,
        local: "Blocks",
        P: FloatArray,
        outside: float,
        places: list[int] | None,
        goal: float,
    ) -> list[Step]:
        """Add groups of a pool; the best of them until one outside may be better."""
        steps: list[Step] = []
        prices, ends = self.prices[local.ids], np.cumsum(self.groups.sizes[local.ids])
        room, objective = self.room, self.objectives[-1]
        done = np.zeros(len(prices), dtype=bool)
        most = self.steps if places is None else len(places)
        while len(steps) < min(most, len(prices)) and objective > goal:
            gains = local.gains() / prices
            gains[done | (self.limits.costs[local.ids] > room * ROUNDED_UP)] = -1
            best = gains.max()
            if places is None and (best < 0 or (steps and best < outside)):
                break
            j = int(
                places[len(steps)]
                if places is not None
                else (gains >= best - TIE * abs(best)).argmax()
            )
            x = P[:, ends[j] - self.groups.sizes[local.ids[j]] : ends[j]]
            gain, A, W = directions(self.R, self.N, x)
            self.R -= A @ A.T
            self.N -= A @ W.T + W @ A.T
            local.move(np.arange(len(prices)), A.T @ P, W.T @ P)
            steps.append(Step(int(local.ids[j]), x, gain, A, W, room))
            done[j] = True
            room -= float(self.limits.costs[local.ids[j]])
            objective -= self.problem.alpha * gain
        return steps

    def verified(
        self, steps: list[Step], pool: IndexArray, *, checked: bool
    ) -> tuple[int, "Blocks"]:
        """All groups after the steps; how many were right: no group outside was better."""
        before, after, kept = self.blocks, self.blocks.copy(), len(steps)
        outside = self.free.copy()
        outside[pool] = False
        edges = np.cumsum([0, *(step.A.shape[1] for step in steps)])
        taken = np.array([step.gain / self.prices[step.group] * (1 + TIE) for step in steps])
        for groups, a, w in self.products(steps):
            after.move(groups, a, w)
            if not checked:
                continue
            most = before.most_gains(after, groups, a, w, edges) / self.prices[groups][:, None]
            most[~outside[groups]] = -1
            for g in np.flatnonzero((most[:, 1:kept] > taken[1:kept]).any(axis=1)):
                kept = min(kept, self.first_better(groups, int(g), a, w, steps[:kept], taken))
        return kept, after

    def first_better(
        self,
        groups: IndexArray,
        place: int,
        a: FloatArray,
        w: FloatArray,
        steps: list[Step],
        taken: FloatArray,
    ) -> int:
        """The first step after the first at which this group is better, or their number."""
        stop = int(np.cumsum(self.groups.sizes[groups])[place])
        group = groups[[place]]
        one = Blocks(self.groups, group)
        one.take(self.blocks, group)
        features = slice(stop - int(self.groups.sizes[group[0]]), stop)
        start = 0
        for t, step in enumerate(steps):
            fits = self.limits.costs[group[0]] <= step.room * ROUNDED_UP
            if t > 0 and fits and one.gains()[0] > taken[t] * self.prices[group[0]]:
                return t
            rows = slice(start, start + step.A.shape[1])
            one.move(np.zeros(1, dtype=np.intp), a[rows, features], w[rows, features])
            start = rows.stop
        return len(steps)

    def products(self, steps: list[Step]) -> Iterator[tuple[IndexArray, FloatArray, FloatArray]]:
        """A^T X and W^T X of all steps for some groups at a time, their features in a row."""
        both = np.hstack([*(step.A for step in steps), *(step.W for step in steps)])
        if self.columns.center:  # implicit, where columns are sparse
            both = both - both.mean(axis=0)
        half = both.shape[1] // 2
        starts, order = self.groups.starts, self.groups.order
        first = np.minimum.reduceat(order, starts)
        last = np.maximum.reduceat(order, starts)
        rest: list[FloatArray] = []
        missed = np.zeros(len(order), dtype=bool)
        for place, found in self.columns.products(both):
            groups = np.flatnonzero((first >= place.start) & (last < place.stop))
            inside = self.groups.members(groups)
            missed[place] = True
            missed[inside] = False
            rest.append(found[missed[place]])
            rows = found[inside - place.start].T
            yield groups, rows[:half], rows[half:]
        features = np.flatnonzero(missed)
        if len(features) > 0:  # of groups that blocks of columns cut
            groups = np.unique(self.groups.index[features])
            at = np.searchsorted(features, self.groups.members(groups))
            rows = np.concatenate(rest)[at].T
            yield groups, rows[:half], rows[half:]


class Blocks:
    """G and H of some groups, those of one size stacked.

    Parameters
    ----------
    groups : Groups
        All of them.
    ids : ndarray
        Those that are held, ascending.
    """

    def __init__(self, groups: Groups, ids: IndexArray) -> None:
        self.ids, self.sizes = ids, groups.sizes[ids]
        self.position = np.empty(len(ids), dtype=np.intp)  # among those of its size
        self.G: dict[int, FloatArray] = {}
        self.H: dict[int, FloatArray] = {}
        for size in np.unique(self.sizes).tolist():
            members = np.flatnonzero(self.sizes == size)
            self.position[members] = np.arange(len(members))
            self.G[size], self.H[size] = np.zeros((2, len(members), size, size))

    def copy(self) -> "Blocks":
        """The same, to be changed."""
        other = object.__new__(Blocks)
        other.ids, other.sizes, other.position = self.ids, self.sizes, self.position
        other.G = {size: part.copy() for size, part in self.G.items()}
        other.H = {size: part.copy() for size, part in self.H.items()}
        return other

    def by_size(self, held: IndexArray) -> Iterator[tuple[int, IndexArray, IndexArray, AnyArray]]:
        """Of some that are held: a size, which have it, their positions, and their features.

        Features are numbered as they are when those of the groups ``held`` are in a row.
        """
        sizes = self.sizes[held]
        ends = np.cumsum(sizes)
        for size in np.unique(sizes).tolist():
            which = np.flatnonzero(sizes == size)
            features = (ends[which] - size)[:, None] + np.arange(size)
            yield size, which, self.position[held[which]], features

    def put(self, ids: IndexArray, P: FloatArray, R: FloatArray, N: FloatArray) -> None:
        """Compute G and H of some groups from their features P, which are in a row."""
        RP, NP = R @ P, N @ P
        for size, _, at, features in self.by_size(np.searchsorted(self.ids, ids)):
            x = P.T[features]
            self.G[size][at] = x @ RP.T[features].transpose(0, 2, 1)
            self.H[size][at] = x @ NP.T[features].transpose(0, 2, 1)

    def move(self, held: IndexArray, a: FloatArray, w: FloatArray) -> None:
        """G - a^T a and H - a^T w - w^T a, of the groups ``held``."""
        for size, _, at, features in self.by_size(held):
            a_g, w_g = a.T[features], w.T[features]
            cross = a_g @ w_g.transpose(0, 2, 1)
            self.G[size][at] -= a_g @ a_g.transpose(0, 2, 1)
            self.H[size][at] -= cross + cross.transpose(0, 2, 1)

    def gains(self, held: IndexArray | None = None) -> FloatArray:
        """Tr (I + G)^-1 H, at least 0."""
        held = np.arange(len(self.ids)) if held is None else held
        found = np.empty(len(held))
        for size, which, at, _ in self.by_size(held):
            G, H = self.G[size][at], self.H[size][at]
            solved = np.linalg.solve(np.eye(size) + G, H)
            found[which] = np.einsum("gii->g", solved)
        return np.maximum(found, 0)

    def most_gains(
        self,
        after: "Blocks",
        held: IndexArray,
        a: FloatArray,
        w: FloatArray,
        edges: IndexArray,
    ) -> FloatArray:
        """Bounds on the gains of the groups ``held`` before each of some steps, shape (k, steps).

        G only falls, so (I + G)^-1 is at most C = (I + G)^-1 after the steps, and tr C H is linear
        in H.
        """
        most = np.empty((len(held), len(edges) - 1))
        for size, which, at, features in self.by_size(held):
            C = np.linalg.inv(np.eye(size) + after.G[size][at])
            start = np.einsum("gij,gji->g", C, self.H[size][at])
            a_g, w_g = a.T[features], w.T[features]
            falls = 2 * np.einsum("gst,gst->gt", C @ a_g, w_g)
            falls = np.add.reduceat(falls, edges[:-1], axis=1)
            most[which] = start[:, None] - (np.cumsum(falls, axis=1) - falls)
        return most

    def take(self, others: "Blocks", ids: IndexArray) -> None:
        """Have G and H of some groups from others."""
        for size, which, at, _ in others.by_size(np.searchsorted(others.ids, ids)):
            mine = self.position[np.searchsorted(self.ids, ids[which])]
            self.G[size][mine], self.H[size][mine] = others.G[size][at], others.H[size][at]

    def differs(self, others: "Blocks") -> bool:
        """Whether another has other H of these groups, by more than rounding should make."""
        held = np.searchsorted(others.ids, self.ids)
        for size, which, at, _ in others.by_size(held):
            mine = self.H[size][self.position[which]]
            if np.abs(mine - others.H[size][at]).max() > DRIFT * np.abs(mine).max():
                return True
        return False


def directions(R: FloatArray, N: FloatArray, x: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """What adding features x gains, and the A and W that it subtracts from R and N."""
    Rx, Nx = R @ x, N @ x
    L = cholesky(np.eye(x.shape[1]) + x.T @ Rx, lower=True)
    A: FloatArray = solve_triangular(L, Rx.T, lower=True).T
    V: FloatArray = solve_triangular(L, Nx.T, lower=True).T
    D = solve_triangular(L, x.T @ V, lower=True)
    return float(np.trace(D)), A, V - A @ (D + D.T) / 4


def dense_columns(columns: Columns, features: IndexArray) -> FloatArray:
    """Features as columns of an array; read as they are, since they are read once."""
    distinct, inverse = np.unique(features, return_inverse=True)
    stored = columns.stored(distinct)
    return columns.finish(stored.toarray() if is_sparse(stored) else stored)[:, inverse]
