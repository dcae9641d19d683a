# SPDX-License-Identifier: BSD-3-Clause
"""A bound on the objective of every subset that the limits allow.

phi is convex in s, 0 <= s_j <= 1, with K_s the sum of s_j x_j x_j^T, and a subset is an s of zeros
and ones. For any matrix B of the shape of F, and q_j = ||B^T x_j||^2,

    tr M (K_s + alpha)^-1 >= 2 tr F^T B - alpha ||B||^2 - s^T q,

with equality for B = (K_s + alpha)^-1 F. So the largest s^T q that the limits allow gives a bound
on all subsets, whatever B is; the best multiple of B makes it (tr F^T B)^2 / (alpha ||B||^2 +
max s^T q). It is the largest for the B of the s that minimises phi. That s is found among a pool
of features, by accelerated projected gradients (FISTA), and the bound is then computed from its B
with all features. Those that matter and are missing join the pool. Of a group of features, which
have one s, q is the sum of their q_j.
"""

import numpy as np

from ridgewise._run import advance, one_blas_thread
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.subset._problem import EPS, Limits, Problem, priced, squared_lengths

ROUNDS = 12  # of pools, at most
ITERATIONS = 200  # within a pool, at most
CHECK = 5  # iterations between two looks at the gap
SETTLED = 0.02  # stop when the bound can rise by no more than this share of the gap


def lower_bound(problem: Problem, limits: Limits, selected: IndexArray) -> float:
    """Bound the objective of all subsets within the limits from below.

    Parameters
    ----------
    problem : Problem
    limits : Limits
    selected : ndarray of int
        A good subset within the limits, to start from.

    Returns
    -------
    float
        Rounding is accounted for: see `certified`.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.spectrum import compute_spectrum
    >>> X = np.array([[3.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 4.0]])
    >>> problem = Problem.of(compute_spectrum(X), "data", 1.0)
    >>> bound = lower_bound(problem, Limits.count(4, 2), np.array([3, 0]))
    >>> round(bound, 3), round(problem.objective(np.array([3, 0])), 3)
    (2.459, 2.459)
    """
    bounded = Bounded(problem, limits)
    objective, B = problem.relaxed(problem.take(selected), selected, np.ones(len(selected)))
    bound, q = bounded.certified(B)
    pool = np.sort(selected)
    s = np.ones(len(pool))
    step = 0.0
    for _ in range(ROUNDS):
        if objective - bound <= problem.slack:
            break
        pool, s = bounded.grown(pool, s, q)
        s, B, reached, step = minimised(problem, bounded.within(pool), pool, s, objective, step)
        before, (found, q) = bound, bounded.certified(B)
        bound = max(bound, found)
        if reached - bound <= SETTLED * (objective - bound) or (
            found <= before + SETTLED**2 * (objective - before)
        ):
            break
    return min(bound, objective)


class Bounded:
    """The bound that a matrix B gives."""

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.problem, self.limits = problem, limits
        self.lengths = np.sqrt(squared_lengths(problem.columns)[1])

    def certified(self, B: FloatArray) -> tuple[float, FloatArray]:
        """The bound, and q of every feature, or group.

        Rounding: |B^T x_j| is computed with an error of at most 4 n EPS |x_j| |B|, which is added
        to it (x_j as stored: centring by implication cancels); a sum of terms with one of
        4 n EPS times the sum of their absolute values; M with that of K (`Problem.slack`).
        """
        problem = self.problem
        centred = B - B.mean(axis=0) if problem.columns.center else B  # sparse columns are not
        q = problem.columns.norms2(centred)
        unit = 4 * max(B.shape) * EPS
        size = float(np.linalg.norm(B))
        sums = problem.groups.sums
        most = largest_sum(sums((np.sqrt(q) + unit * size * self.lengths) ** 2), self.limits)
        inner = float(np.vdot(problem.factor, B))
        inner -= unit * float(np.linalg.norm(problem.factor)) * size
        below = (problem.alpha * size**2 + most) * (1 + unit)
        found = problem.alpha * max(inner, 0.0) ** 2 / below if below > 0 else 0.0
        bound = max(found + problem.constant, problem.of_all) - problem.slack
        return max(bound, 0.0), sums(q)

    def grown(
        self, pool: IndexArray, s: FloatArray, q: FloatArray
    ) -> tuple[IndexArray, FloatArray]:
        """The pool with the features of largest q for their costs, and their s, which is 0."""
        limits = self.limits
        ratios = np.where(limits.free, q / priced(limits.costs), -1)
        size = min(2 * len(pool) + 100, int(np.count_nonzero(limits.free)))
        best = np.argpartition(-ratios, size - 1)[:size] if size else pool[:0]
        new = np.union1d(pool, best)
        grown = np.zeros(len(new))
        grown[np.searchsorted(new, pool)] = s
        return new, grown

    def within(self, pool: IndexArray) -> Limits:
        """The limits for the members of a pool, which holds ``include``."""
        include = np.flatnonzero(np.isin(pool, self.limits.include))
        none = include[:0]
        return Limits(self.limits.costs[pool], self.limits.budget, include, none)


def minimised(
    problem: Problem,
    limits: Limits,
    pool: IndexArray,
    s: FloatArray,
    objective: float,
    step: float,
) -> tuple[FloatArray, FloatArray, float, float]:
    """Minimise phi over the s of a pool, by FISTA with restarts.

    Returns
    -------
    s, B : ndarray
        The best s, and its B.
    reached : float
        The largest bound that B gives with this pool for all features.
    step : float
        The length of the last step.
    """
    P = problem.take(pool)
    with one_blas_thread():
        value, B = problem.relaxed(P, pool, s)
        q = gradient(problem, P, pool, B)
        step = step or 0.1 / max(float(q.max()), 1e-300)
        at, momentum, reached = s, 1.0, 0.0
        for iteration in range(ITERATIONS):
            while True:
                new = projected(at + step * q, limits)
                move = new - at
                found, B = problem.relaxed(P, pool, new)
                allowed = value - q @ move + (move @ move) / (2 * step) + 1e-13 * value
                if not found > allowed:  # NaN too, for which no step is short enough
                    break
                step /= 2
            if iteration % CHECK == CHECK - 1:
                advance(iteration + 1, ITERATIONS, "iterations of the bound, at most")
                q = gradient(problem, P, pool, B)
                inner = found - problem.constant
                room = largest_sum(q, limits) - float(new @ q)
                reached = max(reached, inner**2 / (inner + room) + problem.constant)
                if found - reached <= SETTLED / 4 * max(objective - reached, problem.slack):
                    return new, B, reached, step
            if (at - new) @ (new - s) > 0:
                momentum = 1.0
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            at = np.clip(new + (momentum - 1) / following * (new - s), 0, 1)
            s, momentum = new, following
            value, B_at = problem.relaxed(P, pool, at)
            q = gradient(problem, P, pool, B_at)
            step *= 1.25
    return s, B, reached, step


def gradient(problem: Problem, P: FloatArray, pool: IndexArray, B: FloatArray) -> FloatArray:
    """-d phi / d s_j = alpha ||B^T x_j||^2, of the columns of P; of groups, sums."""
    products, sizes = P.T @ B, problem.groups.sizes[pool]
    q = problem.alpha * np.einsum("ij,ij->i", products, products)
    return np.add.reduceat(q, np.cumsum(sizes) - sizes)


def largest_sum(q: FloatArray, limits: Limits) -> float:
    """The largest s^T q within the limits: a fractional knapsack."""
    total, free = float(q[limits.include].sum()), limits.free
    q, costs = q[free], limits.costs[free]
    with np.errstate(all="ignore"):
        order = np.argsort(np.where(costs > 0, -q / costs, -np.inf), kind="stable")
    q, costs = q[order], costs[order]
    left = limits.room - (np.cumsum(costs) - costs)
    shares = np.clip(left / np.where(costs > 0, costs, 1), 0, 1)
    return total + float(q @ np.where(costs > 0, shares, 1))


def projected(z: FloatArray, limits: Limits) -> FloatArray:
    """The nearest s within the limits: clip(z - t costs), with the t >= 0 that the budget needs."""
    costs, room = limits.costs, limits.budget
    fixed = limits.include

    def clipped(t: float) -> FloatArray:
        s = np.clip(z - t * costs, 0, 1)
        s[fixed] = 1
        return s

    s = clipped(0.0)
    if costs @ s <= room:
        return s
    low, high = 0.0, float((z / np.where(costs > 0, costs, np.inf)).max(initial=0))
    for _ in range(60):
        t = (low + high) / 2
        if costs @ clipped(t) > room:
            low = t
        else:
            high = t
    return clipped(high)
