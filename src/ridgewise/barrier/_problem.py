# SPDX-License-Identifier: BSD-3-Clause
"""What the plain algorithm and the engine share: vectors, barriers, rules, the result."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from sklearn.utils import gen_batches

from ridgewise._typing import AnyArray, FloatArray, IndexArray

RULES = ("norm", "slack", "ratio")

# Two ways of computing L(u) and U(u) differ in the last digits. Comparisons that decide which row
# is taken are therefore made with this tolerance, relative to the terms compared, and only here.
NEAR_TIE = 1e-10

# A row below this squared norm is zero: its reciprocal, a weight, could not be stored.
ZERO_NORM2 = 1e-290


class NumericalBreakdownError(ArithmeticError):
    """Rounding broke what the barrier method needs, and the plain arithmetic broke too."""


class Vectors(Protocol):
    """Vectors u_1, ..., u_d with sum u_j u_j^T = I, of which any may be asked for."""

    @property
    def norms2(self) -> FloatArray:
        """Squared norm of each vector, shape (d,)."""

    @property
    def rank(self) -> int:
        """The length l of a vector."""

    def take(self, indices: IndexArray) -> FloatArray:
        """Vectors ``indices`` as rows, shape (len(indices), l)."""

    def projections(self, directions: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """All vectors, block by block in their own order, as rows times ``directions``."""


class ArrayVectors:
    """The rows of an array U with orthonormal columns."""

    def __init__(self, U: FloatArray) -> None:
        self.U = U
        self.norms2: FloatArray = np.einsum("ij,ij->i", U, U)
        self.rank = U.shape[1]

    def take(self, indices: IndexArray) -> FloatArray:
        """Rows ``indices`` of U."""
        return self.U[indices]

    def projections(self, directions: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Rows of U in the coordinates of ``directions``, block by block."""
        for block in gen_batches(len(self.U), 4096):
            yield block, self.U[block] @ directions


class Barriers:
    """The barriers of Algorithm 1 for r draws of vectors of length l.

    L_tau = tau - sqrt(r l) and U_tau = delta_U (tau + sqrt(r l)), delta_U = (1 + s) / (1 - s),
    s = sqrt(l / r). The lower barrier moves by 1 a draw, the upper one by delta_U.
    """

    def __init__(self, rank: int, n_draws: int) -> None:
        self.rank, self.n_draws = rank, n_draws
        self.start = math.sqrt(n_draws * rank)
        s = math.sqrt(rank / n_draws)
        self.delta_U = (1 + s) / (1 - s)
        # Lemma 1: the eigenvalues of sum w_j u_j u_j^T lie between these
        self.promised = (1 - s) ** 2, (1 + s) ** 2
        # step 5 of Algorithm 1: what the sums of t are multiplied with
        self.weight_scale = (1 - s) / n_draws

    def lower(self, tau: int) -> float:
        """L_tau."""
        return tau - self.start

    def upper(self, tau: int) -> float:
        """U_tau."""
        return self.delta_U * (tau + self.start)


@dataclass(frozen=True)
class Sparsifier:
    """What a run of the barrier method gives.

    ``draws`` are the indices drawn, one a draw, repeats included; ``selected`` the distinct ones in
    the order of their first draw, and ``weights`` theirs, added up over repeats. ``lower`` and
    ``upper`` are the extreme eigenvalues of sum w_j u_j u_j^T, computed anew from the weights.
    """

    draws: IndexArray
    selected: IndexArray
    weights: FloatArray
    lower: float
    upper: float
    promised_lower: float
    promised_upper: float
    counts: dict[str, int] = field(default_factory=dict)
    """What the run took: decompositions, rows looked at, repeats, fall-backs."""


def check_draws(rank: int, n_draws: int, rule: str) -> None:
    """Refuse what the barrier method cannot do."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}; got {rule!r}")
    if rank < 1:
        raise ValueError("the vectors span nothing: their rank is 0")
    if n_draws <= rank:
        raise ValueError(
            f"the barrier method needs more draws than the rank: got {n_draws} draws for "
            f"vectors of rank {rank}"
        )


def scan_order(norms2: FloatArray) -> IndexArray:
    """Non-zero rows by descending norm; rows whose norms nearly tie by ascending index.

    Norms are compared after rounding to about ten significant digits, so that rows which are equal
    in exact arithmetic stay in the order of their indices.
    """
    mantissa, exponent = np.frexp(norms2)
    rounded = np.ldexp(np.round(mantissa, 10), exponent)
    order = np.argsort(-rounded, kind="stable")
    return order[: int(np.count_nonzero(norms2 > ZERO_NORM2))]


def is_feasible(lv: Any, uv: Any, term: Any) -> Any:
    """Where U(u) <= L(u), up to a near-tie; of a row or of many.

    ``term`` is L's positive term, of which L and U are what is left: their rounding errors are in
    proportion to it.
    """
    return (lv > 0) & (lv >= uv - NEAR_TIE * term)


def preference(rule: str, lv: FloatArray, uv: FloatArray) -> FloatArray:
    """What the rules "slack" and "ratio" make large."""
    return lv - uv if rule == "slack" else lv / uv


def first_best(preferences: FloatArray) -> int:
    """Position of the largest preference; of those that nearly tie, the first."""
    best = preferences.max()
    return int(np.argmax(preferences >= best - NEAR_TIE * abs(best)))


def finish(
    vectors: Vectors, barriers: Barriers, draws: IndexArray, t: FloatArray, counts: dict[str, int]
) -> Sparsifier:
    """Add up the weights of repeats, recompute the spectrum and hold it against Lemma 1."""
    selected, weights = add_up_repeats(draws, t * barriers.weight_scale)
    lower, upper = weighted_spectrum(vectors.take(selected), weights)
    promised_lower, promised_upper = barriers.promised
    # the promise holds in exact arithmetic; sums of l terms of size `upper` round
    rounding = 1e-12 * vectors.rank * max(upper, 1.0)
    if lower < promised_lower - rounding or upper > promised_upper + rounding:
        raise NumericalBreakdownError(
            f"the weights found have a spectrum of [{lower:.6g}, {upper:.6g}], outside of "
            f"[{promised_lower:.6g}, {promised_upper:.6g}], which {barriers.n_draws} draws at rank "
            f"{barriers.rank} promise: the vectors are not orthonormal enough for this. "
            'Try solver="qr", or a smaller rank=.'
        )
    return Sparsifier(
        draws, selected, weights, lower, upper, promised_lower, promised_upper, counts
    )


def add_up_repeats(draws: IndexArray, t: AnyArray) -> tuple[IndexArray, AnyArray]:
    """Distinct indices in the order of their first draw, and their summed weights."""
    distinct, first, inverse = np.unique(draws, return_index=True, return_inverse=True)
    weights = np.bincount(inverse, weights=t)
    order = np.argsort(first)
    return distinct[order], weights[order]


def weighted_spectrum(U: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Smallest and largest eigenvalue of U^T diag(w) U.

    They are the squared singular values of diag(sqrt(w)) U: not forming the product keeps small
    ones accurate. With fewer rows than columns the smallest is 0.
    """
    if len(U) < U.shape[1]:
        return 0.0, float(np.linalg.svd(np.sqrt(weights)[:, None] * U, compute_uv=False)[0] ** 2)
    singular = np.linalg.svd(np.sqrt(weights)[:, None] * U, compute_uv=False)
    return float(singular[-1] ** 2), float(singular[0] ** 2)
