# SPDX-License-Identifier: BSD-3-Clause
"""Algorithm 1 of the paper, corrected and written plainly: every row at every draw.

It is the oracle that the engine is held against. Read it beside the paper: the names are the
paper's. Three things differ from the print: the weights are t and not 1/t (so D = sqrt(t)); where
no unselected row is feasible a selected one is drawn again, and its weights add up; rows of zero
norm are left out. The rules "slack" and "ratio" draw from a pool, see `pool_of`.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from ridgewise._checks import check_one_of
from ridgewise._groups import Groups
from ridgewise._typing import AnyArray, BoolArray, FloatArray
from ridgewise.barrier._problem import (
    NONE_FEASIBLE,
    RULES,
    Barriers,
    Goal,
    NumericalBreakdownError,
    Sparsifier,
    choose,
    finish,
    is_feasible,
    penalized_norms2,
    pool_of,
    pool_size,
    refill_interval,
    scan_order,
)
from ridgewise.barrier._vectors import ArrayVectors, GroupedVectors, grouped, sizes_of


def sparsify_plain(
    U: FloatArray,
    n_draws: int,
    rule: str = "norm",
    penalty: FloatArray | None = None,
    n_distinct: int | None = None,
    groups: Groups | None = None,
) -> Sparsifier:
    """Single-set spectral sparsification of the rows of U, in O(r d l^2).

    Parameters
    ----------
    U : ndarray of shape (d, l)
        Orthonormal columns, U^T U = I.
    n_draws : int
        The number of draws r, more than l.
    rule : {"norm", "slack", "ratio"}
        Which feasible row is drawn: of the largest norm (the paper's rule); or, of a pool of rows,
        that with the largest L(u) - U(u), or the largest L(u) / U(u). Unselected rows first.
    penalty : ndarray of shape (l,), optional
        For ridge models, alpha / sigma^2 of each direction: see `Barriers`. The number of draws
        must then exceed the effective dimension only.
    n_distinct : int, optional
        Go on drawing until so many distinct rows are selected: see `Goal`.
    groups : Groups, optional
        Of rows that are drawn whole: B = sum of u u^T over a group stands in the place of u u^T,
        and the trace of B in that of the squared norm. Draws are counted in groups.

    Returns
    -------
    Sparsifier

    Examples
    --------
    >>> from ridgewise.barrier import sparsify_plain
    >>> U = np.vstack([np.eye(3)] * 5) / 5**0.5
    >>> found = sparsify_plain(U, 12)
    >>> found.promised_lower <= found.lower <= found.upper <= found.promised_upper
    True
    """
    ell = U.shape[1]
    check_one_of("rule", rule, RULES)
    vectors = grouped(ArrayVectors(U), groups)
    goal, barriers = Goal(n_draws, n_distinct), Barriers(ell, n_draws, penalty)
    order = scan_order(penalized_norms2(vectors, barriers.penalty))
    rows = U[order]
    if isinstance(vectors, GroupedVectors):  # B_g, shape (n_groups, l, l)
        parts = [vectors.take(np.array([g])) for g in order]
        rows = np.array([part.T @ part for part in parts])

    A = np.zeros((ell, ell))
    selected = np.zeros(len(order), dtype=bool)
    size = pool_size(rule, ell, n_draws, sizes_of(vectors)[order])
    choice = PlainChoice(rule, n_draws, selected, size)
    draws: list[int] = []
    weights: list[float] = []
    while not goal.is_reached(len(draws), int(np.count_nonzero(selected))):
        tau = len(draws)
        (A_lower, A_upper), (L, U_tau) = barriers.lift(A), barriers.places(tau)
        lv, term = lower_shift(rows, 1.0, A_lower, L)
        uv = upper_shift(rows, barriers.delta_U, A_upper, U_tau)
        i = choice.row(tau, lv, uv, is_feasible(lv, uv, term))
        t = 2 / (lv[i] + uv[i])
        A += t * (rows[i] if rows.ndim == 3 else np.outer(rows[i], rows[i]))
        selected[i] = True
        draws.append(order[i])
        weights.append(t)
    counts = {"rows": len(draws) * len(order)}
    return finish(vectors, barriers, np.array(draws), np.array(weights), counts, penalty)


class PlainChoice:
    """Which row is drawn, of all of them in scan order."""

    def __init__(self, rule: str, n_draws: int, selected: BoolArray, size: int) -> None:
        self.rule, self.n_draws, self.selected, self.size = rule, n_draws, selected, size
        self.refill_at, self.again = 0, False
        self.in_pool = np.zeros(len(selected), dtype=bool)

    def row(self, tau: int, lv: FloatArray, uv: FloatArray, feasible: BoolArray) -> int:
        """Position of the row to draw."""
        if self.rule == "norm":
            prefix = np.arange(len(lv)) < self.size
            for drawable in (prefix & ~self.selected, prefix, ~self.selected):
                i = choose(self.rule, lv, uv, feasible & drawable)
                if i >= 0:
                    return i
            raise NumericalBreakdownError(NONE_FEASIBLE)
        i = choose(self.rule, lv, uv, self.drawable(feasible))
        if i < 0 or tau >= self.refill_at:
            pool, self.again = pool_of(lv - uv, feasible, self.selected, self.size)
            self.in_pool[:] = False
            self.in_pool[pool] = True
            self.refill_at = tau + refill_interval(self.rule, self.n_draws)
            i = choose(self.rule, lv, uv, self.drawable(feasible))
        return i

    def drawable(self, feasible: BoolArray) -> BoolArray:
        """Of the pool, the feasible rows; selected ones if it consists of them."""
        return self.in_pool & feasible & (self.selected == self.again)


def lower_shift(
    u: FloatArray, delta: float, A: FloatArray, L: float
) -> tuple[FloatArray, FloatArray]:
    """L(u, delta, A, L) of every row, and the positive term in it.

    Phi(L + delta) - Phi(L) = delta tr N M, with the resolvents N at L + delta and M at L: the
    difference itself would cancel where the barrier is near.
    """
    identity = np.eye(len(A))
    shifted, before = inverse(A - (L + delta) * identity), inverse(A - L * identity)
    increase = delta * float(np.vdot(shifted, before))
    square, plain = forms(u, shifted)
    return square / increase - plain, square / increase


def upper_shift(u: FloatArray, delta: float, A: FloatArray, U: float) -> FloatArray:
    """U(u, delta, A, U) of every row; Phi^(U) - Phi^(U + delta) = delta tr N M as above."""
    identity = np.eye(len(A))
    shifted, before = inverse((U + delta) * identity - A), inverse(U * identity - A)
    decrease = delta * float(np.vdot(shifted, before))
    square, plain = forms(u, shifted)
    return square / decrease + plain


def forms(u: FloatArray, N: AnyArray) -> tuple[FloatArray, FloatArray]:
    """u^T N^2 u and u^T N u of every row; of matrices B, the traces of B N^2 and of B N."""
    if u.ndim == 3:
        return np.einsum("gij,ij->g", u, N @ N), np.einsum("gij,ij->g", u, N)
    Nu = u @ N
    return np.einsum("ij,ij->i", Nu, Nu), np.einsum("ij,ij->i", Nu, u)


def inverse(M: FloatArray) -> FloatArray:
    """The inverse of a positive definite matrix, by Cholesky: however its rows are scaled."""
    factor, failed = dpotrf(M, lower=1)
    if failed:
        raise NumericalBreakdownError(
            "a barrier has passed an eigenvalue, which cannot happen in exact arithmetic"
        )
    found: FloatArray = dpotri(factor, lower=1, overwrite_c=1)[0]
    return np.tril(found) + np.tril(found, -1).T
