# SPDX-License-Identifier: BSD-3-Clause
"""The greedy path: at each step the feature that lowers the objective the most for its cost.

With R = (K_S + alpha)^-1, M = F F^T of trace 1 and N = alpha R M R, feature j has g_j = x_j^T R x_j
and h_j = x_j^T N x_j, and adding it lowers the objective by h_j / (1 + g_j). Let c = 1 + g_j,
a = R x_j / sqrt(c) and w = (N x_j - h_j / (2 c) R x_j) / sqrt(c). Then adding j gives

    R - a a^T,  N - a w^T - w a^T,  g_i - (a^T x_i)^2,  h_i - 2 (a^T x_i) (w^T x_i).

All features are updated every `STEPS` steps, by one product X^T [a_1 ... w_1 ...], in single
precision where X is large. In between, steps choose from a pool P of the features with the largest
gains, in double precision, which needs only the small matrices P^T R P and P^T N P. A pool is left
early where its best gain falls below the largest outside of it. Gains may also rise, so that
product is used to check each step against all features; steps at which another feature would have
been better are undone. The path is that of the plain algorithm, up to ties.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dtrsm

from ridgewise._run import advance, one_blas_thread
from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.subset._grouped import GroupState
from ridgewise.subset._problem import ROUNDED_UP, Limits, Problem
from ridgewise.subset._state import TIE, State, largest

STEPS = 48  # between two products with all features
POOL = 2 * STEPS  # features, at least; up to twice as many for large d
EARLY = 16  # steps; the first ones change h of sparse features the most: in double precision
LEAVE = 0.95  # of the largest gain outside: those fall too, and steps are checked afterwards
DRIFT = 1e-4  # relative error of g or h from which on they are computed anew


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
    is_single = len(problem.groups) == problem.columns.shape[1]
    state = (FeatureState if is_single else GroupState)(problem, limits)
    whole = limits.room
    while state.objectives[-1] > goal and state.choose(goal):
        advance(round(100 * (1 - state.room / whole)) if whole else 100, 100, "percent")
    return Path(np.array(state.selected, dtype=np.intp), np.array(state.objectives))


class FeatureState(State):
    """R and N of the features selected so far, and of every feature g and h."""

    def __init__(self, problem: Problem, limits: Limits) -> None:
        super().__init__(problem, limits)
        self.steps = STEPS
        if len(limits.include) > 0:
            self.compute_anew()
        else:
            self.g, self.h = self.lengths2 / problem.alpha, self.heights()

    def compute_anew(self) -> None:
        """R, N, g and h from K_S."""
        self.refresh()
        self.g = self.columns.norms2(self.root)
        self.h = self.columns.norms2(self.B)

    def choose(self, goal: float) -> bool:
        """Add some features, each the best for its cost that fits; False if none does."""
        affordable = self.affordable
        if not affordable.any():
            return False
        if self.may_round and len(self.selected) >= EARLY:
            self.dtype = np.float32
        with one_blas_thread():
            pool, outside = self.pool(affordable)
            if self.has_drifted(pool):
                self.dtype, self.may_round = np.float64, False
                self.compute_anew()
                pool, outside = self.pool(affordable)
            rooms = self.steps_in(pool, outside, goal)
        affordable[pool.features] = False
        self.catch_up(pool, affordable, rooms)
        return True

    def steps_in(self, pool: "Pool", outside: float, goal: float) -> list[float]:
        """Make steps in a pool, and tell what room was left before each."""
        prices, objective = self.prices[pool.features], self.objectives[-1]
        room, dearest = self.room, float(prices.max())
        rooms: list[float] = []
        while len(rooms) < min(self.steps, len(prices)) and objective > goal:
            gains = pool.h / (prices * pool.c)
            if dearest > room:
                gains[prices > room * ROUNDED_UP] = -np.inf
            best = float(gains.max())
            if best == -np.inf or (rooms and best < LEAVE * outside):
                break
            j = int((gains >= best - TIE[np.float64] * abs(best)).argmax())
            objective -= self.trace * pool.step(j)
            rooms.append(room)
            room -= float(prices[j])
        return rooms

    def pool(self, affordable: BoolArray) -> tuple["Pool", float]:
        """The features with the largest gains for their costs, and the largest gain outside."""
        gains = np.where(affordable, np.maximum(self.h, 0) / (self.prices * (1 + self.g)), -1)
        size = min(max(POOL, len(gains) // 128), 2 * POOL, int(np.count_nonzero(affordable)))
        features, outside = largest(gains, size, TIE[self.dtype])
        return Pool(features, self.columns.take(features), self.R, self.N), outside

    def has_drifted(self, pool: "Pool") -> bool:
        """Whether g and h of all features differ from those that R and N give."""
        g_error = np.abs(pool.c - 1 - self.g[pool.features]).max()
        h_error = np.abs(pool.h - self.h[pool.features]).max()
        return bool(g_error > DRIFT * pool.c.max() or h_error > DRIFT * np.abs(pool.h).max())

    def catch_up(self, pool: "Pool", outside: BoolArray, rooms: list[float]) -> None:
        """Update all features by the pool's steps, and check each step against those outside.

        Steps are kept up to the first at which a feature outside of the pool would have been
        better.
        """
        with one_blas_thread():
            A, W = pool.directions()
        g, h, prices = self.g.copy(), self.h.copy(), self.prices
        taken = np.array(pool.gains) * (1 + TIE[self.dtype]) / prices[pool.features[pool.picks]]
        kept = len(rooms)
        for place, a, w in self.products(A, W):
            c, a2 = 1 + g[place], np.einsum("ij,ij->i", a, a)
            # over the steps h rises to at most reach, by Cauchy-Schwarz, and c falls to c - a2
            reach = h[place] + 2 * np.sqrt(a2 * np.einsum("ij,ij->i", w, w))
            least = taken[1:kept].min(initial=np.inf) * prices[place] * (c - a2)
            rows = np.flatnonzero(outside[place] & (reach > least))
            if len(rows) > 0:
                state = c[rows], h[place][rows], prices[place][rows]
                steps = a[rows, :kept].T, w[rows, :kept].T
                kept = first_worse(*state, *steps, taken[:kept], rooms)
            g[place] = c - a2 - 1
            h[place] -= 2 * np.einsum("ij,ij->i", a, w)
        self.steps = min(STEPS, 2 * (kept if kept < len(rooms) else self.steps))
        if kept < len(rooms):
            pool.forget(kept)
            A, W = A[:, :kept], W[:, :kept]
            g, h = self.g, self.h
            for place, a, w in self.products(A, W):
                g[place] -= np.einsum("ij,ij->i", a, a)
                h[place] -= 2 * np.einsum("ij,ij->i", a, w)
        self.g, self.h = g, h
        with one_blas_thread():
            both = A @ W.T
            self.R -= A @ A.T
            self.N -= both + both.T
        self.record(pool.features[pool.picks].tolist(), pool.gains)

    def products(
        self, A: FloatArray, W: FloatArray
    ) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """X^T A and X^T W, block by block."""
        both = self.centred(np.hstack([A, W])).astype(self.dtype)
        for place, products in self.columns.products(both):
            yield place, products[:, : A.shape[1]], products[:, A.shape[1] :]


class Pool:
    """Some features P, and what the steps so far did to their g and h.

    Attributes
    ----------
    RP, NP : ndarray of shape (n, m)
        R P and N P, before the first step.
    G, H : ndarray of shape (m, m)
        P^T R P and P^T N P, before the first step.
    c, h : ndarray of shape (m,)
        1 + g and h, after the last.
    moves : ndarray of shape (STEPS, 2, m)
        a^T P and w^T P of each step.
    picks : list of int
        The member chosen in each step.
    roots, heights, gains : list of float
        Its sqrt(c), h and h / c.
    """

    def __init__(self, features: IndexArray, P: FloatArray, R: FloatArray, N: FloatArray) -> None:
        self.features = features
        self.RP, self.NP = R @ P, N @ P
        self.G, self.H = P.T @ self.RP, P.T @ self.NP
        self.c, self.h = 1 + self.G.diagonal(), self.H.diagonal().copy()
        self.moves = np.empty((STEPS, 2, len(features)))
        self.picks: list[int] = []
        self.roots: list[float] = []
        self.heights: list[float] = []
        self.gains: list[float] = []

    def step(self, j: int) -> float:
        """Add member j; returns h_j / (1 + g_j)."""
        t, m = len(self.picks), len(self.c)
        moves = self.moves[:t]
        Rx = self.G[j] - moves[:, 0, j] @ moves[:, 0]
        Nx = self.H[j] - moves[:, ::-1, j].ravel() @ moves.reshape(2 * t, m)
        root, height = math.sqrt(1 + max(Rx[j], 0.0)), max(float(Nx[j]), 0.0)
        Rx /= root
        Nx -= height / (2 * root) * Rx
        Nx /= root
        self.moves[t, 0], self.moves[t, 1] = Rx, Nx
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

    def directions(self) -> tuple[FloatArray, FloatArray]:
        """A and w of every step, in columns.

        sqrt(c_t) a_t = R x_t - sum over s < t of a_s (a_s^T x_t), and so A C = R P_picks with C
        triangular; likewise for w.
        """
        picks, roots = self.picks, np.array(self.roots)
        a, w = self.moves[: len(picks), :, picks].transpose(1, 0, 2)
        C = np.triu(a, 1) + np.diag(roots)
        E = np.triu(w, 1) + np.diag(np.array(self.heights) / (2 * roots))
        A: FloatArray = dtrsm(1.0, C, self.RP[:, picks], side=1)
        W: FloatArray = dtrsm(1.0, C, self.NP[:, picks] - A @ E, side=1)
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
    a2, aw = a**2, a * w
    c = c - (np.cumsum(a2, axis=0) - a2)  # before each step
    h = h - 2 * (np.cumsum(aw, axis=0) - aw)
    fits = prices <= np.array(rooms)[: len(taken), None] * ROUNDED_UP
    steps = np.flatnonzero(((h > taken[:, None] * prices * c) & fits)[1:].any(axis=1))
    return int(steps[0]) + 1 if len(steps) > 0 else len(taken)
