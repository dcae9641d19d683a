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

# Smallest by largest eigenvalue from which on the smallest is accurate to some 1e-13 of itself.
WELL_CONDITIONED = 1e-2

# Penalties above this are taken for it: the promise stays true, since lower barriers rise for it
# and upper ones fall, and matrices stay well enough conditioned for their small eigenvalues.
MOST_PENALTY = 1e5


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

    def forms(
        self, directions: FloatArray, values: FloatArray | None = None
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Of all vectors, block by block in their own order, (u^T directions)^2 @ values.

        One row a vector. For eigenvectors and functions of eigenvalues these are quadratic forms.
        Without ``values``, the squares.
        """

    def subset(self, indices: IndexArray) -> "Vectors":
        """These vectors alone, in memory."""

    @property
    def basis(self) -> FloatArray | None:
        """A matrix with l columns of which vectors are sparse combinations, if there is one."""

    def sparse_rows(self, indices: IndexArray) -> Any:
        """Vectors ``indices`` as a sparse array that is to be multiplied by the ``basis``."""


class ArrayVectors:
    """The rows of an array U with orthonormal columns."""

    def __init__(self, U: FloatArray) -> None:
        self.U = U
        self.norms2: FloatArray = np.einsum("ij,ij->i", U, U)
        self.rank = U.shape[1]
        self.basis: FloatArray | None = None

    def take(self, indices: IndexArray) -> FloatArray:
        """Rows ``indices`` of U."""
        return self.U[indices]

    def forms(
        self, directions: FloatArray, values: FloatArray | None = None
    ) -> Iterator[tuple[slice, FloatArray]]:
        """(U directions)^2 @ values, block by block."""
        for block in gen_batches(len(self.U), 4096):
            squares = (self.U[block] @ directions) ** 2
            yield block, squares if values is None else squares @ values

    def subset(self, indices: IndexArray) -> "ArrayVectors":
        """Rows ``indices`` of U as vectors of their own."""
        return ArrayVectors(self.U[indices])

    def sparse_rows(self, indices: IndexArray) -> Any:
        """There is no basis."""
        raise NotImplementedError


class Barriers:
    """The barriers of Algorithm 1 for r draws of vectors of length l.

    L_tau = tau - sqrt(r l) and U_tau = delta_U (tau + sqrt(r l)), delta_U = (1 + s) / (1 - s),
    s = sqrt(l / r). The lower barrier moves by 1 a draw, the upper one by delta_U.

    With a penalty e >= 0, one number a direction, the barriers are matrices that start farther away
    where e is large: L_tau I - sqrt(r l) diag(e) and U_tau I + delta_U sqrt(r l) diag(e), and l is
    the effective dimension sum 1 / (1 + e_i). That is the same as adding to A, or taking from it,
    what is called lift here. With e = alpha / sigma^2 it is the version for ridge models, which
    may draw fewer rows than there are directions.
    """

    def __init__(self, rank: int, n_draws: int, penalty: FloatArray | None = None) -> None:
        self.n_draws = n_draws
        self.penalty = None if penalty is None else np.minimum(penalty, MOST_PENALTY)
        dimension = float(rank if self.penalty is None else np.sum(1 / (1 + self.penalty)))
        if n_draws <= dimension:
            what = "rank" if penalty is None else "effective dimension"
            raise ValueError(
                f"the barrier method needs more draws than the {what}: got {n_draws} draws for "
                f"vectors of {what} {dimension:.6g}"
            )
        self.dimension = dimension
        self.start = math.sqrt(n_draws * dimension)
        s = math.sqrt(dimension / n_draws)
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

    def lift(self, A: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A as the lower and as the upper barrier see it; the same where there is no penalty."""
        if self.penalty is None:
            return A, A
        lift = np.diag(self.start * self.penalty)
        return A + lift, A - self.delta_U * lift


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


def check_rule(rule: str) -> None:
    """Refuse a rule that there is not."""
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}; got {rule!r}")


def penalized_norms2(vectors: Vectors, penalty: FloatArray | None) -> FloatArray:
    """Squared norms with each direction weighed by 1 / (1 + penalty): one pass over the vectors.

    The rule "norm" goes by them. Of a data set's rows of U they are the ridge leverage scores.
    """
    if penalty is None:
        return vectors.norms2
    left = np.empty(len(vectors.norms2))
    for block, forms in vectors.forms(np.eye(len(penalty)), 1 / (1 + penalty[:, None])):
        left[block] = forms[:, 0]
    return left


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


def preference(rule: str, lv: Any, uv: Any) -> Any:
    """What the rules "slack" and "ratio" make large; of a row or of many."""
    return lv - uv if rule == "slack" else lv / uv


def first_best(preferences: FloatArray) -> int:
    """Position of the largest preference; of those that nearly tie, the first."""
    best = preferences.max()
    return int(np.argmax(preferences >= best - NEAR_TIE * abs(best)))


def finish(
    vectors: Vectors,
    barriers: Barriers,
    draws: IndexArray,
    t: FloatArray,
    counts: dict[str, int],
    penalty: FloatArray | None = None,
) -> Sparsifier:
    """Add up the weights of repeats, recompute the spectrum and hold it against Lemma 1."""
    selected, weights = add_up_repeats(draws, t * barriers.weight_scale)
    lower, upper = weighted_spectrum(vectors.take(selected), weights, penalty)
    promised_lower, promised_upper = barriers.promised
    # the promise holds in exact arithmetic; sums of l terms of size `upper` round
    rounding = 1e-12 * vectors.rank * max(upper, 1.0)
    if lower < promised_lower - rounding or upper > promised_upper + rounding:
        raise NumericalBreakdownError(
            f"the weights found have a spectrum of [{lower:.6g}, {upper:.6g}], outside of "
            f"[{promised_lower:.6g}, {promised_upper:.6g}], which {barriers.n_draws} draws at rank "
            f"{barriers.dimension:.6g} promise: the vectors are not orthonormal enough for this. "
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


def weighted_spectrum(
    U: FloatArray, weights: FloatArray, penalty: FloatArray | None = None
) -> tuple[float, float]:
    """Smallest and largest eigenvalue of G = U^T diag(w) U.

    With a penalty e = alpha / sigma^2, of Z^1/2 G Z^1/2 + I - Z, Z = 1 / (1 + diag(e)): these bound
    K~ + alpha between multiples of K + alpha. They are squares of the singular values of B, with
    diag(sqrt(w)) U Z^1/2 above diag(sqrt(1 - Z)): where the small ones are far smaller than the
    large ones, not forming B^T B keeps them accurate.
    """
    B = np.sqrt(weights)[:, None] * U
    if penalty is not None:
        Z = 1 / (1 + penalty)
        B = np.vstack([B * np.sqrt(Z), np.diag(np.sqrt(penalty * Z))])
    if B.size == 0:
        return 0.0, 0.0
    if penalty is None and len(B) > B.shape[1]:
        eigenvalues = np.linalg.eigvalsh(B.T @ B)
        if eigenvalues[0] > WELL_CONDITIONED * eigenvalues[-1]:
            return float(eigenvalues[0]), float(eigenvalues[-1])
    singular = np.linalg.svd(B, compute_uv=False)
    smallest = singular[-1] if len(singular) == B.shape[1] else 0.0
    return float(smallest**2), float(singular[0] ** 2)
