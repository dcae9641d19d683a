# SPDX-License-Identifier: BSD-3-Clause
"""Algorithm 1 of the paper, corrected and written plainly: every row at every draw.

It is the oracle that the engine is held against, and what the engine falls back to. Read it beside
the paper: the names are the paper's. Three things differ from the print: the weights are t and not
1/t (so D = sqrt(t)); where no unselected row is feasible a selected one is drawn again, and its
weights add up; rows of zero norm are left out.
"""

import numpy as np

from ridgewise._typing import AnyArray, BoolArray, FloatArray
from ridgewise.barrier._problem import (
    ArrayVectors,
    Barriers,
    NumericalBreakdownError,
    Sparsifier,
    check_rule,
    finish,
    first_best,
    is_feasible,
    penalized_norms2,
    preference,
    scan_order,
)


def sparsify_plain(
    U: FloatArray, n_draws: int, rule: str = "norm", penalty: FloatArray | None = None
) -> Sparsifier:
    """Single-set spectral sparsification of the rows of U, in O(r d l^2).

    Parameters
    ----------
    U : ndarray of shape (d, l)
        Orthonormal columns, U^T U = I.
    n_draws : int
        The number of draws r, more than l.
    rule : {"norm", "slack", "ratio"}
        Which feasible row is drawn: of the largest norm (the paper's rule), the largest
        L(u) - U(u), or the largest L(u) / U(u); unselected rows first.
    penalty : ndarray of shape (l,), optional
        For ridge models, alpha / sigma^2 of each direction: see `Barriers`. The number of draws
        must then exceed the effective dimension only.

    Returns
    -------
    Sparsifier
    """
    ell = U.shape[1]
    check_rule(rule)
    vectors = ArrayVectors(U)
    barriers = Barriers(ell, n_draws, penalty)
    order = scan_order(penalized_norms2(vectors, barriers.penalty))
    rows = U[order]

    A = np.zeros((ell, ell))
    selected = np.zeros(len(order), dtype=bool)
    draws, weights = np.empty(n_draws, dtype=np.intp), np.empty(n_draws)
    for tau in range(n_draws):
        A_lower, A_upper = barriers.lift(A)
        lv, term = lower_shift(rows, 1.0, A_lower, barriers.lower(tau))
        uv = upper_shift(rows, barriers.delta_U, A_upper, barriers.upper(tau))
        i = choose_row(rule, lv, uv, is_feasible(lv, uv, term), selected)
        t = 2 / (lv[i] + uv[i])
        A += t * np.outer(rows[i], rows[i])
        selected[i] = True
        draws[tau], weights[tau] = order[i], t
    return finish(vectors, barriers, draws, weights, {"rows": n_draws * len(order)}, penalty)


def lower_potential(L: float, A: FloatArray) -> float:
    """Phi(L, A) = sum 1 / (lambda_i - L)."""
    gaps = np.linalg.eigvalsh(A) - L
    check_positive(gaps, "the lower barrier has passed the smallest eigenvalue")
    return float(np.sum(1 / gaps))


def upper_potential(U: float, A: FloatArray) -> float:
    """Phi^(U, A) = sum 1 / (U - lambda_i)."""
    gaps = U - np.linalg.eigvalsh(A)
    check_positive(gaps, "the largest eigenvalue has passed the upper barrier")
    return float(np.sum(1 / gaps))


def lower_shift(
    u: FloatArray, delta: float, A: FloatArray, L: float
) -> tuple[FloatArray, FloatArray]:
    """L(u, delta, A, L) of every row, and the positive term in it."""
    shifted = np.linalg.inv(A - (L + delta) * np.eye(len(A)))
    increase = lower_potential(L + delta, A) - lower_potential(L, A)
    u_shifted = u @ shifted
    term = np.einsum("ij,ij->i", u_shifted, u_shifted) / increase
    return term - np.einsum("ij,ij->i", u_shifted, u), term


def upper_shift(u: FloatArray, delta: float, A: FloatArray, U: float) -> FloatArray:
    """U(u, delta, A, U) of every row."""
    shifted = np.linalg.inv((U + delta) * np.eye(len(A)) - A)
    decrease = upper_potential(U, A) - upper_potential(U + delta, A)
    u_shifted = u @ shifted
    term = np.einsum("ij,ij->i", u_shifted, u_shifted) / decrease
    return term + np.einsum("ij,ij->i", u_shifted, u)


def choose_row(
    rule: str, lv: FloatArray, uv: FloatArray, feasible: BoolArray, selected: BoolArray
) -> int:
    """Position of the row to draw, of rows in scan order; a selected one if there is no other."""
    candidates = np.flatnonzero(feasible & ~selected)
    if len(candidates) == 0:
        candidates = np.flatnonzero(feasible)
    if len(candidates) == 0:
        raise NumericalBreakdownError(
            "no row is feasible, which cannot happen in exact arithmetic: the vectors are not "
            'orthonormal enough. Try solver="qr", or a smaller rank=.'
        )
    if rule == "norm":
        return int(candidates[0])
    return int(candidates[first_best(preference(rule, lv[candidates], uv[candidates]))])


def check_positive(gaps: AnyArray, what: str) -> None:
    """A barrier must stay on its side of the spectrum."""
    if gaps.min() <= 0:
        raise NumericalBreakdownError(f"{what}, which cannot happen in exact arithmetic")
