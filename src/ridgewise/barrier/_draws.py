# SPDX-License-Identifier: BSD-3-Clause
"""Draws among the rows of a pool between two decompositions of A: by NumPy, for any machine.

With A = Q (T + Z^T diag(t) Z) Q^T, decomposed some draws ago and the k rows drawn since in Z
(rotated by Q), the matrix between A and a barrier is, in the coordinates of Q and for diagonal T,

    M = diag(e) + sign Z^T diag(t) Z,    e > 0 the old gaps,    sign = +1 (lower) or -1 (upper),

and its inverse is diagonal plus rank k (Woodbury):

    N = M^-1 = G - sign C^T C,    G = diag(1 / e),    C = R^-T Z G,    R^T R = 1 / t + sign Z G Z^T.

Compiled draws (``_draws.c``) do with a tridiagonal T, which takes less than half of the time.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dorghr, dpotrf, dpttrf, dstebz, dsyevd, dsytrd

from ridgewise._groups import spans, sums
from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._problem import choose, is_feasible

Pair = tuple[FloatArray, FloatArray]  # one for the lower barrier, one for the upper
Numbers = tuple[float, float]
Of = TypeVar("Of")
To = TypeVar("To")

SIGNS = (+1, -1)
BLOCK_SIZE = 32  # of LAPACK's blocked algorithms
TOLERANCE = 1e-3  # of the least eigenvalue: barriers move by 1
FIRST_ROWS = 64  # of a prefix, that are looked at together


def for_both(function: Callable[[Of], To], pair: tuple[Of, Of]) -> tuple[To, To]:
    """Function values for both barriers, computed once where these are of one argument."""
    lower, upper = pair
    found = function(lower)
    return found, found if lower is upper else function(upper)


@dataclass(frozen=True)
class Decomposition:
    """A = Q T Q^T, T given by its diagonal and what is beside it, with a zero at the end.

    If T is diagonal, that is the eigenvalues of A in ascending order.
    """

    Q: FloatArray
    diagonal: FloatArray
    off: FloatArray
    is_diagonal: bool

    @cached_property
    def least(self) -> float:
        """The least eigenvalue, or a little less."""
        if self.is_diagonal:
            return float(self.diagonal[0])
        by_index, first = 2, 1
        _, found, _, _, _ = dstebz(
            self.diagonal, self.off[:-1], by_index, 0.0, 0.0, first, first, TOLERANCE, "E"
        )
        return float(found[0]) - 2 * TOLERANCE

    def potential(self, sign: int, place: float) -> float:
        """The trace of the resolvent at a place below (+1) or above (-1) all eigenvalues."""
        gaps, off = sign * (self.diagonal - place), self.off[:-1]
        if self.is_diagonal:
            return float(np.sum(1 / gaps))
        pivots, _, failed = dpttrf(gaps, off)
        from_below, _, failed_too = dpttrf(gaps[::-1], off[::-1])
        if failed or failed_too:
            return math.nan
        pivots[:-1] -= off**2 / from_below[-2::-1]
        return float(np.sum(1 / pivots))


def eigendecomposition(A: FloatArray) -> Decomposition:
    """A symmetric matrix by its eigenvalues and eigenvectors."""
    zero = np.zeros(len(A))
    if not A.any():
        return Decomposition(np.eye(len(A)), zero, zero, is_diagonal=True)
    eigenvalues, Q, _ = dsyevd(A.T, lower=1)
    return Decomposition(Q, eigenvalues, zero, is_diagonal=True)


def tridiagonalization(A: FloatArray) -> Decomposition:
    """A symmetric matrix as a tridiagonal one."""
    if len(A) < 3 or not A.any():
        return eigendecomposition(A)
    reflectors, diagonal, off, tau, _ = dsytrd(A.T, lower=1, lwork=BLOCK_SIZE * len(A))
    # the reflectors of LAPACK's Hessenberg form, so that one routine makes Q of both
    Q, _ = dorghr(reflectors, tau, lwork=BLOCK_SIZE * len(A), overwrite_a=1)
    return Decomposition(Q, diagonal, np.append(off, 0.0), is_diagonal=False)


@dataclass(frozen=True)
class Task:
    """Draws to make among groups of rows, most of them of one row."""

    rule: str
    rows: Pair  # in the coordinates of either decomposition
    starts: IndexArray  # where the rows of each group start, and where the last one's end
    selected: BoolArray  # groups to draw only where no other is feasible, and ...
    again: bool  # ... only if that is allowed
    decompositions: tuple[Decomposition, Decomposition]
    places: Numbers  # of the barriers, before the first of these draws
    steps: Numbers  # by which they move before each draw
    potentials: Numbers
    Z: Pair  # rows drawn since the decomposition, in its coordinates, and ...
    t: FloatArray  # ... their weights
    most: int  # draws to make, or fewer: ...
    enough: int  # ... so many, with ...
    wanted: int  # ... so many groups that were not selected before
    most_stale: int  # rows of Z: no draw is made where there are so many or more


class State(IntEnum):
    """Why no more draws were made."""

    DONE = 0
    NONE_FEASIBLE = 1
    LOST_DEFINITENESS = 2
    NO_MEMORY = 3


class Ahead(NamedTuple):
    """Draws made, and what is known after them."""

    state: State
    drawn: IndexArray  # groups
    t: FloatArray
    potentials: Numbers
    n_looked_at: int


class LostDefinitenessError(ArithmeticError):
    """The old decomposition no longer carries the barrier: decompose again."""


class Resolvent:
    """N = (A - L I)^-1 for the lower barrier (sign +1), (U I - A)^-1 for the upper one (-1).

    The barrier's last move changed the potential, the trace of N, by ``change``.
    """

    sign: int
    change: float

    def times(self, z: FloatArray) -> FloatArray:
        """The rows of z times N."""
        raise NotImplementedError

    def shift(self, z: FloatArray, sizes: IndexArray) -> Pair:
        """L = z^T N^2 z / change - z^T N z of each group, or U, with a plus; and its first term."""
        Nz = self.times(z)
        term = sums(np.einsum("ij,ij->i", Nz, Nz), sizes) / self.change
        return term - self.sign * sums(np.einsum("ij,ij->i", Nz, z), sizes), term


class ExplicitResolvent(Resolvent):
    """The same with N itself."""

    def __init__(self, sign: int, N: FloatArray, change: float) -> None:
        self.sign, self.N, self.change = sign, N, change

    def times(self, z: FloatArray) -> FloatArray:
        return z @ self.N

    def form(self) -> FloatArray:
        """W with L(u), or U(u), = u^T W u."""
        return self.N @ self.N.T / self.change - self.sign * self.N  # symmetric: half of the work


class LowRankResolvent(Resolvent):
    """The same as a diagonal G and low rank: see the head of this file."""

    def __init__(
        self, sign: int, gaps: FloatArray, Z: FloatArray, t: FloatArray, potential: float
    ) -> None:
        if min(gaps[0], gaps[-1]) <= 0:  # eigenvalues are sorted, so these are extreme
            raise LostDefinitenessError
        self.sign, self.g = sign, 1 / gaps
        self.C = low_rank_factor(sign, self.g, Z, t)
        self.trace = float(np.sum(self.g)) - sign * float(np.vdot(self.C, self.C))
        self.change = sign * (self.trace - potential)
        if not self.change > 0:
            raise LostDefinitenessError

    def times(self, z: FloatArray) -> FloatArray:
        return z * self.g - self.sign * ((z @ self.C.T) @ self.C)

    def potential_with(self, z: FloatArray, t: float) -> float:
        """The trace for A + t z^T z, z being rows (Woodbury)."""
        Nz = self.times(z)
        inner = np.eye(len(z)) / t + self.sign * Nz @ z.T
        return self.trace - self.sign * float(np.trace(np.linalg.solve(inner, Nz @ Nz.T)))


def low_rank_factor(sign: int, g: FloatArray, Z: FloatArray, t: FloatArray) -> FloatArray:
    """C = R^-T Z G, with R^T R = 1 / t + sign Z G Z^T."""
    ZG = Z * g
    if len(Z) == 0:
        return ZG
    R, failed = dpotrf(np.diag(1 / t) + sign * (Z @ ZG.T), lower=0, clean=0)
    if failed:
        raise LostDefinitenessError
    C: FloatArray = dtrsm(1.0, R, ZG.T, side=1, lower=0, overwrite_b=1).T
    return C


def draws(task: Task) -> Ahead:
    """Make draws until there are as many as wanted, or something else has to be done first."""
    selected, potentials, Z, t = task.selected.copy(), task.potentials, task.Z, task.t
    drawn: list[int] = []
    weights: list[float] = []
    state, n_looked_at = State.DONE, 0
    while len(drawn) < task.most and len(t) < task.most_stale:
        n_new = np.count_nonzero(selected) - np.count_nonzero(task.selected)
        if len(drawn) >= task.enough and n_new >= task.wanted:
            break
        resolvents = []
        try:
            for i, sign in enumerate(SIGNS):
                place = task.places[i] + (len(drawn) + 1) * task.steps[i]
                gaps = sign * (task.decompositions[i].diagonal - place)
                resolvents.append(LowRankResolvent(sign, gaps, Z[i], t, potentials[i]))
        except LostDefinitenessError:
            state = State.LOST_DEFINITENESS
            break
        group, weight, n_groups = first_or_best(task, resolvents, selected)
        n_looked_at += n_groups
        if group < 0:
            state = State.NONE_FEASIBLE
            break
        z = [rows[task.starts[group] : task.starts[group + 1]] for rows in task.rows]
        lower, upper = (N.potential_with(z[i], weight) for i, N in enumerate(resolvents))
        potentials, Z = (lower, upper), (np.vstack([Z[0], z[0]]), np.vstack([Z[1], z[1]]))
        t = np.append(t, np.full(len(z[0]), weight))
        drawn.append(group)
        weights.append(weight)
        selected[group] = True
    return Ahead(state, np.array(drawn, dtype=np.intp), np.array(weights), potentials, n_looked_at)


def first_or_best(
    task: Task, resolvents: list[LowRankResolvent], selected: BoolArray
) -> tuple[int, float, int]:
    """The group that the rule prefers, or -1; its weight, and how many were looked at."""
    n_looked_at = 0
    for is_again in (False, True)[: 1 + task.again]:
        left = np.flatnonzero(selected == is_again)
        # the first feasible row is likely to be among the first ones
        size = FIRST_ROWS if task.rule == "norm" else max(len(left), 1)
        for start in range(0, len(left), size):
            groups = left[start : start + size]
            n_looked_at += len(groups)
            sizes = np.diff(task.starts)[groups]
            z = [rows[spans(task.starts[groups], sizes)] for rows in task.rows]
            (lv, term), (uv, _) = (N.shift(z[i], sizes) for i, N in enumerate(resolvents))
            i = choose(task.rule, lv, uv, is_feasible(lv, uv, term))
            if i >= 0:
                return int(groups[i]), float(2 / (lv[i] + uv[i])), n_looked_at
    return -1, 0.0, n_looked_at
