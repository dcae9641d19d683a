# SPDX-License-Identifier: BSD-3-Clause
"""The state of a greedy path, of single features or of groups of them.

With R = (K_S + alpha)^-1, M = F F^T of trace 1 and N = alpha R M R, features x have G = x^T R x and
H = x^T N x, and adding them lowers the objective by tr (I + G)^-1 H. With I + G = L L^T,
D = L^-1 H L^-T, A = R x L^-T and W = N x L^-T - A D / 2, adding them gives

    R - A A^T,  N - A W^T - W A^T.
"""

import math
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from ridgewise._typing import BoolArray, FloatArray, IndexArray, is_sparse
from ridgewise.subset._problem import (
    ROUNDED_UP,
    Limits,
    Problem,
    inverse_root,
    priced,
    squared_lengths,
)

LARGE = 2**19  # values of X from which on products are in single precision
TIE = {np.float64: 1e-10, np.float32: 1e-6}  # relative difference below which gains are equal


class State:
    """What is selected so far, features or groups, and its R and N.

    Attributes
    ----------
    selected : list of int
    objectives : list of float
        Before the first of them, and after each.
    is_few : bool
        Whether F has so few columns that products with B cost less than those with N.
    trace : float
        Of the problem's M: gains times the trace are what is subtracted from the objective.
    dtype : type
        Of products with all features: float32 where X is large and dense.
    may_round : bool
        Whether it may be float32.
    lengths2 : ndarray of shape (d,)
        Squared lengths of the features.
    """

    def __init__(self, problem: Problem, limits: Limits) -> None:
        self.problem, self.limits, self.columns = problem, limits, problem.columns
        self.prices = priced(limits.costs)
        self.trace = float(np.sum(problem.factor**2)) or 1.0
        self.F = problem.factor * math.sqrt(problem.alpha / self.trace)
        self.is_few = 2 * self.F.shape[1] < len(self.F)
        self.selected: list[int] = []
        self.objectives = [problem.of_none]
        self.lengths2 = squared_lengths(self.columns)[0]
        sizes = problem.alpha, float(self.lengths2.max())
        is_large = math.prod(self.columns.shape) > LARGE
        self.may_round = is_large and min(sizes) > 1e-20 and max(sizes) < 1e20
        is_single = self.may_round and not is_sparse(self.columns.X)
        self.dtype: Any = np.float32 if is_single else np.float64
        self.kernel: FloatArray = np.zeros((len(self.F), len(self.F)))  # of the first so many
        self.n_in_kernel = 0
        self.refresh()
        for one in limits.include.tolist():
            self.record([one], [add(self.R, self.N, problem.take(np.array([one])))])

    @property
    def room(self) -> float:
        """What is left of the budget."""
        return self.limits.budget - float(self.limits.costs[self.selected].sum())

    @property
    def affordable(self) -> BoolArray:
        """Of every feature or group whether it may be added."""
        fits: BoolArray = self.limits.free & (self.limits.costs <= self.room * ROUNDED_UP)
        fits[self.selected] = False
        return fits

    def record(self, chosen: list[int], gains: list[float]) -> None:
        """Note what was added, and by how much that lowered the objective."""
        self.selected += chosen
        self.objectives += (self.objectives[-1] - self.trace * np.cumsum(gains)).tolist()

    def forget(self, steps: int = 0) -> None:
        """Undo the last steps; R and N need `refresh`."""
        kept = len(self.selected) - steps
        del self.selected[kept:], self.objectives[kept + 1 :]
        self.kernel, self.n_in_kernel = self.before

    def refresh(self) -> None:
        """R = root root^T, N = B B^T and the objective from K_S."""
        self.before = self.kernel, self.n_in_kernel
        alpha, n = self.problem.alpha, len(self.F)
        if len(self.selected) == 0:
            root, R, B = np.eye(n) / math.sqrt(alpha), np.eye(n) / alpha, self.F / alpha
        else:
            P = self.problem.take(np.array(self.selected[self.n_in_kernel :], dtype=np.intp))
            self.kernel = self.kernel + P @ P.T
            self.n_in_kernel = len(self.selected)
            root = inverse_root(self.kernel, alpha)
            R = root @ root.T
            B = R @ self.F
            # the sum of the gains has lost digits
            inner = float(np.vdot(self.F, B))
            self.objectives[-1] = self.trace * inner + self.problem.constant
        self.root, self.B = self.centred(root), self.centred(B)
        self.R = self.centred(self.centred(R.T).T)
        self.N = self.B @ self.B.T

    def heights(self) -> FloatArray:
        """x_j^T N x_j of all features."""
        if self.is_few:
            return self.columns.norms2(self.B)
        return self.columns.forms(self.N.astype(self.dtype))

    def centred(self, B: FloatArray) -> FloatArray:
        """B for products with columns; sparse ones are not centred themselves."""
        return B - B.mean(axis=0) if self.columns.center else B


def add(R: FloatArray, N: FloatArray, x: FloatArray) -> float:
    """Add features x: update R and N in place; returns the gain."""
    Rx, Nx = R @ x, N @ x
    gain, A, W = directions(Rx.T, Nx.T, np.eye(x.shape[1]) + x.T @ Rx, x.T @ Nx)
    cross = A.T @ W
    R -= A.T @ A
    N -= cross + cross.T
    return gain


def directions(
    Rx: FloatArray, Nx: FloatArray, G: FloatArray, H: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """The gain of features x, A^T and W^T, from (R x)^T, (N x)^T, I + G and H."""
    L, failed = dpotrf(G, lower=1, clean=1)
    if failed:  # rounding errors of R have made I + G indefinite
        values, vectors = np.linalg.eigh(G)
        L = np.linalg.cholesky(vectors * np.maximum(values, 1) @ vectors.T)
    inverse = dtrtri(L, lower=1)[0]
    D = inverse @ H @ inverse.T
    inverse = inverse.astype(Rx.dtype, copy=False)
    A = inverse @ Rx
    W = inverse @ Nx - ((D + D.T) / 4).astype(Rx.dtype, copy=False) @ A
    return float(D.trace()), A, W


def largest(gains: FloatArray, size: int, tie: float) -> tuple[IndexArray, float]:
    """Those with the largest gains, in ascending order, and the largest gain of the others.

    Of those that tie, the lower indices.
    """
    last = np.partition(gains, len(gains) - size)[len(gains) - size]
    among = gains > last * (1 + tie)
    ties = np.flatnonzero(gains >= last * (1 - tie))
    among[ties[~among[ties]][: size - np.count_nonzero(among)]] = True
    return np.flatnonzero(among), float(np.where(among, -1, gains).max())
