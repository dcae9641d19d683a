# SPDX-License-Identifier: BSD-3-Clause
"""Algorithm 1 of the paper, corrected and written plainly: every row at every draw.

It is the oracle that the engine is held against. Read it beside the paper: the names are the
paper's. Three things differ from the print: the weights are t and not 1/t (so D = sqrt(t)); where
no unselected row is feasible a selected one is drawn again, and its weights add up; rows of zero
norm are left out. Rules draw from a pool, see `PlainChoice`.
"""

import numpy as np

from ridgewise._groups import Groups
from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._problem import (
    NONE_FEASIBLE,
    Barriers,
    GroupedVectors,
    NumericalBreakdownError,
    Plan,
    Sparsifier,
    choose,
    finish,
    grouped,
    penalized_norms2,
    scan_order,
    shifts,
    sizes_of,
    weigh,
)


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
        Which feasible row of a pool is drawn: that of the largest norm (the paper's rule), of the
        largest L(u) - U(u), or of the largest L(u) / U(u). Unselected rows first.
    penalty : ndarray of shape (l,), optional
        For ridge models, alpha / sigma^2 of each direction: see `Barriers`. The number of draws
        must then exceed the effective dimension only.
    n_distinct : int, optional
        Go on drawing until so many distinct rows are selected: see `Plan`.
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
    vectors, barriers = grouped(ArrayVectors(U), groups), Barriers(ell, n_draws, penalty)
    order = scan_order(penalized_norms2(vectors, barriers.penalty))
    plan = Plan(rule, n_draws, n_distinct, ell, sizes_of(vectors)[order])
    rows = U[order]
    if isinstance(vectors, GroupedVectors):  # B_g, shape (n_groups, l, l)
        parts = [vectors.take(np.array([g])) for g in order]
        rows = np.array([part.T @ part for part in parts])

    A = np.zeros((ell, ell))
    selected = np.zeros(len(order), dtype=bool)
    choice = PlainChoice(plan, selected)
    draws: list[int] = []
    weights: list[float] = []
    while max(plan.wanted(len(draws), int(np.count_nonzero(selected)))) > 0:
        lv, uv, feasible = weigh(rows, shifts(barriers, A, len(draws)))
        i = choice.row(len(draws), lv, uv, feasible)
        t = plan.weight(lv[i], uv[i], selected[i])
        A += t * (rows[i] if rows.ndim == 3 else np.outer(rows[i], rows[i]))
        selected[i] = True
        draws.append(order[i])
        weights.append(t)
    counts = {"rows": len(draws) * len(order)}
    return finish(vectors, barriers, np.array(draws), np.array(weights), counts, penalty)


class PlainChoice:
    """Which row is drawn, of all of them in scan order: of the pool, the best by the rule.

    The pool is filled by `Plan.pool` where nothing in it is feasible, and after so many draws.
    """

    def __init__(self, plan: Plan, selected: BoolArray) -> None:
        self.plan, self.selected, self.again = plan, selected, False
        self.in_pool = np.arange(len(selected)) < plan.prefix
        self.refill_at = np.inf if plan.rule == "norm" else 0

    def row(self, tau: int, lv: FloatArray, uv: FloatArray, feasible: BoolArray) -> int:
        """Position of the row to draw."""
        i = -1 if tau >= self.refill_at else self.best(lv, uv, feasible)
        if i >= 0:
            return i
        among = np.flatnonzero(~self.selected)
        pool = among[self.plan.pool((lv - uv)[among])]
        self.again = self.plan.is_short(pool)
        if self.again:
            pool = self.plan.widened(pool, self.plan.pool(lv - uv), self.selected)
        self.in_pool[:] = False
        self.in_pool[pool] = True
        self.refill_at = tau + self.plan.interval
        i = self.best(lv, uv, feasible)
        if i < 0:
            raise NumericalBreakdownError(NONE_FEASIBLE)
        return i

    def best(self, lv: FloatArray, uv: FloatArray, feasible: BoolArray) -> int:
        """The best unselected row of the pool; else, if ``again``, the best one; else -1."""
        drawable = self.in_pool & feasible
        i = choose(self.plan.rule, lv, uv, drawable & ~self.selected)
        rule = self.plan.rule_for(again=True)
        return choose(rule, lv, uv, drawable) if i < 0 and self.again else i


class ArrayVectors:
    """The rows of an array U with orthonormal columns, for `sparsify`.

    Examples
    --------
    >>> ArrayVectors(np.eye(3)).norms2
    array([1., 1., 1.])
    """

    def __init__(self, U: FloatArray) -> None:
        self.U = U
        self.norms2: FloatArray = np.einsum("ij,ij->i", U, U)
        self.rank = U.shape[1]

    def take(self, indices: IndexArray) -> FloatArray:
        """Rows ``indices`` of U."""
        return self.U[indices]

    hold = take
    form_type = np.float64

    def forms(self, W: FloatArray) -> FloatArray:
        """u_j^T W u_j of all rows."""
        return np.einsum("ij,ij->i", self.U @ W, self.U)

    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        """Squared norms of U diag(scale)."""
        return (self.U * scale) ** 2 @ np.ones(self.rank)
