# SPDX-License-Identifier: BSD-3-Clause
"""The greedy path: at each step the feature that lowers the objective the most for its cost.

With R = (K_S + alpha)^-1 and N = R M R, feature j has g_j = x_j^T R x_j and h_j = x_j^T N x_j, and
adding it lowers the objective by alpha h_j / (1 + g_j). Let c = 1 + g_j, a = R x_j / sqrt(c) and
w = (N x_j - h_j / (2 c) R x_j) / sqrt(c). Then adding j gives

    R - a a^T,  N - a w^T - w a^T,  g_i - (a^T x_i)^2,  h_i - 2 (a^T x_i) (w^T x_i).

All features are brought up to date every `STEPS` steps, by one product X^T [a_1 ... w_1 ...]. In
between, steps choose from a pool P of the features with the largest gains, and need only the small
matrices P^T R P and P^T N P. A pool is left early where its best gain has fallen below the largest
outside of it. Gains may also rise. So that product is also used to look at each step again with all
features; steps at which another feature would have been better are undone. The path is that of the
plain algorithm, but for ties.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from ridgewise._progress import advance
from ridgewise._threads import one_blas_thread
from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.subset._grouped import grouped_path
from ridgewise.subset._problem import Limits, Problem, priced, squared_lengths, squared_norms

STEPS = 48  # between two products with all features
POOL = 2 * STEPS
TIE = 1e-10  # gains that differ by less, relatively, tie: the lower index is taken
DRIFT = 1e-6  # relative rounding error of g or h from which on everything is computed anew
ROUNDED_UP = 1 + 1e-12  # costs are sums: what fits but for rounding fits


class Path(NamedTuple):
    """Features, or groups, in the order of selection; the objective before them and after each."""

    selected: IndexArray
    objectives: FloatArray


def greedy_path(problem: Problem, limits: Limits, *, enough: float | None = None) -> Path:
    """Select features one by one, or groups, until the budget is used up.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    enough : float, optional
        Stop at this share of what all features give, if it comes first.

    Returns
    -------
    Path
        ``limits.include`` comes first.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.spectrum import compute_spectrum
    >>> X = np.array([[3.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 4.0]])
    >>> problem = Problem.of(compute_spectrum(X), "data", 1.0)
    >>> greedy_path(problem, Limits.count(4, 2)).selected
    array([3, 0])
    """
    goal = -np.inf
    if enough is not None:
        goal = problem.of_none - enough * (problem.of_none - problem.of_all)
    if len(problem.groups) < problem.columns.shape[1]:
        selected, objectives = grouped_path(problem, limits, goal)
        return Path(np.array(selected, dtype=np.intp), np.array(objectives))
    state = State(problem)
    for start in range(0, len(limits.include), STEPS):
        state.include(limits.include[start : start + STEPS])
    free, room = limits.free, limits.room
    whole = room
    while state.objectives[-1] > goal:
        affordable = free & (limits.costs <= room * ROUNDED_UP)
        if not affordable.any():
            break
        chosen = state.choose(affordable, limits.costs, room, goal)
        free[chosen] = False
        room -= float(limits.costs[chosen].sum())
        advance(round(100 * (1 - room / whole)) if whole else 100, 100, "percent")
    return Path(np.array(state.selected, dtype=np.intp), np.array(state.objectives))


class State:
    """R, N and K_S of the features selected so far, and of every feature g and h."""

    def __init__(self, problem: Problem) -> None:
        n = problem.columns.shape[0]
        self.problem, self.columns = problem, problem.columns
        self.selected: list[int] = []
        self.objectives = [problem.of_none]
        self.steps = STEPS
        self.kernel = np.zeros((n, n))
        alpha, F = problem.alpha, problem.factor
        self.R, self.N = np.eye(n) / alpha, F @ F.T / alpha**2
        self.g = squared_lengths(self.columns)[0] / alpha
        self.h = squared_norms(self.columns, F) / alpha**2

    def include(self, features: IndexArray) -> None:
        """Add these features, at most `STEPS`, in this order."""
        with one_blas_thread():
            pool = self.pool(features)
            for j in range(len(features)):
                pool.step(j)
        self.keep(pool, *pool.directions(self.R, self.N))

    def choose(
        self, affordable: BoolArray, costs: FloatArray, room: float, goal: float
    ) -> IndexArray:
        """Add some features, each the best for its cost that fits."""
        gains = np.where(affordable, np.maximum(self.h, 0) / (priced(costs) * (1 + self.g)), -1)
        features, outside = largest(gains, min(POOL, int(np.count_nonzero(affordable))))
        prices, objective = priced(costs)[features], self.objectives[-1]
        rooms: list[float] = []  # what is left before each step
        with one_blas_thread():
            pool = self.pool(features)
            while len(rooms) < min(self.steps, len(features)) and objective > goal:
                gains = pool.h / (prices * pool.c)
                gains[prices > room * ROUNDED_UP] = -1
                best = gains.max()
                if best < 0 or (rooms and best < outside):
                    break
                j = int((gains >= best * (1 - TIE)).argmax())
                objective -= self.problem.alpha * pool.step(j)
                rooms.append(room)
                room -= float(prices[j])
        affordable[features] = False
        self.catch_up(pool, affordable, costs, rooms)
        return features[pool.picks]

    def pool(self, features: IndexArray) -> "Pool":
        """These features as a pool; if rounding errors have grown, all is computed anew first."""
        P = self.columns.take(features)
        pool = Pool(features, P, self.R, self.N)
        if self.has_drifted(pool):
            self.compute_anew()
            pool = Pool(features, P, self.R, self.N)
        return pool

    def has_drifted(self, pool: "Pool") -> bool:
        """Whether g and h as kept for all features differ from those that R and N give."""
        g, h = self.g[pool.features], self.h[pool.features]
        g_error, h_error = np.abs(pool.c - 1 - g).max(), np.abs(pool.h - h).max()
        return bool(g_error > DRIFT * pool.c.max() or h_error > DRIFT * np.abs(pool.h).max())

    def compute_anew(self) -> None:
        """R, N, g and h from K_S."""
        problem = self.problem
        H = self.kernel + problem.alpha * np.eye(len(self.kernel))
        L, _ = cho_factor(H, lower=True)
        root = solve_triangular(L, np.eye(len(H)), lower=True).T  # R = root root^T
        B = cho_solve((L, True), problem.factor)
        self.R, self.N = root @ root.T, B @ B.T
        self.g, self.h = squared_norms(self.columns, root), squared_norms(self.columns, B)

    def catch_up(
        self, pool: "Pool", outside: BoolArray, costs: FloatArray, rooms: list[float]
    ) -> None:
        """Bring all features up to date with the pool's steps, and look at each step again.

        Steps are kept up to the first at which a feature outside of the pool would have been
        better.
        """
        A, W = pool.directions(self.R, self.N)
        g, h = self.g.copy(), self.h.copy()
        prices = priced(costs)
        taken = np.array(pool.gains) * (1 + TIE) / prices[pool.features[pool.picks]]
        kept = len(rooms)
        for place, a, w in self.products(A, W):
            c, a2 = 1 + g[place], np.einsum("ij,ij->i", a, a)
            # over the steps h rises to at most reach, by Cauchy-Schwarz, and c falls to c - a2
            reach = h[place] + 2 * np.sqrt(a2 * np.einsum("ij,ij->i", w, w))
            least = taken[1:kept].min(initial=np.inf) * prices[place] * (c - a2)
            rows = np.flatnonzero(outside[place] & (reach > least))
            state = c[rows], h[place][rows], prices[place][rows]
            kept = first_worse(*state, a[rows].T, w[rows].T, taken[:kept], rooms)
            g[place] = c - a2 - 1
            h[place] -= 2 * np.einsum("ij,ij->i", a, w)
        self.steps = min(STEPS, 2 * (kept if kept < len(rooms) else self.steps))
        scores = (g, h) if kept == len(rooms) else None
        pool.forget(kept)
        self.keep(pool, A[:, :kept], W[:, :kept], scores)

    def keep(
        self,
        pool: "Pool",
        A: FloatArray,
        W: FloatArray,
        scores: tuple[FloatArray, FloatArray] | None = None,
    ) -> None:
        """Take over the pool's steps; scores: g and h after them, if they are known."""
        if scores is None:
            for place, a, w in self.products(A, W):
                self.g[place] -= np.einsum("ij,ij->i", a, a)
                self.h[place] -= 2 * np.einsum("ij,ij->i", a, w)
        else:
            self.g, self.h = scores
        self.selected += pool.features[pool.picks].tolist()
        falls = self.problem.alpha * np.cumsum(pool.gains)
        self.objectives += (self.objectives[-1] - falls).tolist()
        new = pool.P[:, pool.picks]
        self.kernel += new @ new.T
        self.R -= A @ A.T
        self.N -= A @ W.T + W @ A.T

    def products(
        self, A: FloatArray, W: FloatArray
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """X^T A and X^T W, block by block."""
        both = np.hstack([A, W])
        if self.columns.center:  # implicit, where columns are sparse
            both -= both.mean(axis=0)
        for place, products in self.columns.products(both):
            yield place, products[:, : A.shape[1]], products[:, A.shape[1] :]


class Pool:
    """Some features P, and what the steps so far did to their g and h.

    Attributes
    ----------
    G, H : ndarray of shape (m, m)
        P^T R P and P^T N P, before the first step.
    c, h : ndarray of shape (m,)
        1 + g and h, after the last.
    a, w : ndarray of shape (STEPS, m)
        a^T P and w^T P of each step.
    picks : list of int
        The member chosen in each step.
    roots, heights, gains : list of float
        Its sqrt(c), h and h / c.
    """

    def __init__(self, features: IndexArray, P: FloatArray, R: FloatArray, N: FloatArray) -> None:
        self.features, self.P = features, P
        self.G, self.H = P.T @ (R @ P), P.T @ (N @ P)
        self.c, self.h = 1 + self.G.diagonal(), self.H.diagonal().copy()
        self.a, self.w = np.empty((2, STEPS, len(features)))
        self.picks: list[int] = []
        self.roots: list[float] = []
        self.heights: list[float] = []
        self.gains: list[float] = []

    def step(self, j: int) -> float:
        """Add member j; returns h_j / (1 + g_j)."""
        t = len(self.picks)
        a, w = self.a[:t], self.w[:t]
        a_j, w_j = a[:, j], w[:, j]
        Rx = self.G[j] - a_j @ a
        Nx = self.H[j] - w_j @ a - a_j @ w
        root, height = math.sqrt(1 + max(Rx[j], 0.0)), max(float(Nx[j]), 0.0)
        Rx /= root
        Nx -= height / (2 * root) * Rx
        Nx /= root
        self.a[t], self.w[t] = Rx, Nx
        self.c -= Rx * Rx
        Nx *= Rx
        self.h -= 2 * Nx
        self.h[j] = -np.inf  # chosen
        self.picks.append(j)
        self.roots.append(root)
        self.heights.append(height)
        self.gains.append(height / root**2)
        return self.gains[-1]

    def forget(self, kept: int) -> None:
        """Undo the steps after the first so many, but for g and h."""
        for steps in (self.picks, self.roots, self.heights, self.gains):
            del steps[kept:]

    def directions(self, R: FloatArray, N: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A and w of every step, in columns, from R and N before the first.

        sqrt(c_t) a_t = R x_t - sum over s < t of a_s (a_s^T x_t), and so A C = R P_picks with C
        triangular; likewise for w.
        """
        t, chosen = len(self.picks), self.P[:, self.picks]
        roots, heights = np.array(self.roots), np.array(self.heights)
        C = np.triu(self.a[:t, self.picks], 1) + np.diag(roots)
        E = np.triu(self.w[:t, self.picks], 1) + np.diag(heights / (2 * roots))
        A = solve_triangular(C, (R @ chosen).T, trans="T").T
        W = solve_triangular(C, (N @ chosen - A @ E).T, trans="T").T
        return A, W


def first_worse(
    c: FloatArray,
    h: FloatArray,
    prices: FloatArray,
    a: FloatArray,
    w: FloatArray,
    taken: FloatArray,
    rooms: list[float],
) -> int:
    """The first step after step 0 at which one of these features would have been better.

    ``a`` and ``w`` have one row a step. The number of steps, if none would have been.
    """
    for t in range(len(taken)):
        if t > 0:
            better = h > taken[t] * prices * c
            if better.any() and (better & (prices <= rooms[t] * ROUNDED_UP)).any():
                return t
        c, h = c - a[t] ** 2, h - 2 * a[t] * w[t]
    return len(taken)


def largest(gains: FloatArray, size: int) -> tuple[IndexArray, float]:
    """The features with the largest gains, in ascending order, and the largest gain of the others.

    Of those that tie, the lower indices.
    """
    if size == len(gains):
        return np.arange(size), -1.0
    last = np.partition(gains, len(gains) - size)[len(gains) - size]
    above = np.flatnonzero(gains > last * (1 + TIE))
    ties = np.flatnonzero((gains >= last * (1 - TIE)) & (gains <= last * (1 + TIE)))
    features = np.union1d(above, ties[: size - len(above)])
    others = np.ones(len(gains), dtype=bool)
    others[features] = False
    return features, float(gains[others].max(initial=-1))
