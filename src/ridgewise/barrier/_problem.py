# SPDX-License-Identifier: BSD-3-Clause
"""What the plain algorithm and the engine share: vectors, barriers, rules, the pool, the result."""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from ridgewise._groups import Groups, sums
from ridgewise._run import check_one_of
from ridgewise._typing import AnyArray, BoolArray, FloatArray, IndexArray

RULES = ("norm", "slack", "ratio")
SIGNS = (+1, -1)  # of the lower and the upper barrier

# The pool that rows are drawn from: so many rows a draw, and so many times in a run that all rows
# are scored to fill it, chosen by measurement (docs/how-it-works.md).
POOL = {"norm": 1.0, "slack": 1.0, "ratio": 2.0}
REFILLS = {"norm": 4, "slack": 8, "ratio": 10}
MANY_DIRECTIONS = 600  # of which filling costs more than decomposing A: it is done a third as often
FEW = 5  # times fewer unselected rows than draws to the next filling: rows may be drawn again
LEAST_POOL = 0.25  # groups a draw, however large they are
LEAST_SLACK = 1e-6  # of the largest
PREFIX = 4  # rows a draw of the first pool of the rule "norm"

# Two ways of computing L(u) and U(u) differ in the last digits. Comparisons that decide which row
# is drawn are therefore made with this tolerance, relative to the terms compared, and only here.
NEAR_TIE = 1e-10

CANCELLED = 1e-4  # of a potential: a difference of two that is smaller has too few digits

ZERO_NORM2 = 1e-290  # a row below it is zero: its reciprocal, a weight, could not be stored

# Smallest by largest eigenvalue from which on the smallest is accurate to some 1e-13 of itself.
WELL_CONDITIONED = 1e-2

# Penalties above this are taken for it: the promise stays true, since lower barriers rise for it
# and upper ones fall, and matrices stay well enough conditioned for their small eigenvalues.
MOST_PENALTY = 1e5

# Times r: the most draws that are made for r distinct rows.
MOST_DRAWS = 4

# s = sqrt(dimension / draws) at most: nearer to 1 the barriers start so close to each other that
# rounding decides.
MOST_S = 1 - 1e-5


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

    def hold(self, indices: IndexArray) -> Any:
        """The same, or anything that can be indexed, multiplied and converted as that array can."""

    @property
    def form_type(self) -> Any:
        """The floating-point type that `forms` computes in: W need not be more precise."""

    def forms(self, W: FloatArray) -> FloatArray:
        """Quadratic forms u_j^T W u_j of all vectors, W symmetric, shape (d,).

        They may be rounded more than `take` is: the engine computes those anew that decide.
        """

    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        """Squared norms of all vectors with coordinate i multiplied by ``scale[i]``."""


class GroupedVectors:
    """Vectors in groups that are drawn whole; an index is that of a group.

    B_g = sum of u_j u_j^T over a group stands in the place of u u^T. L and U are linear in it, so
    that a group's are the sums of its rows'. A draw adds t B_g to A, and the promise is the same,
    whatever the ranks of the B_g.

    Attributes
    ----------
    sizes : ndarray of shape (n_groups,)
        How many rows `take` gives for each group: at most ``rank``.
    """

    def __init__(self, vectors: Vectors, groups: Groups) -> None:
        self.vectors, self.groups, self.rank = vectors, groups, vectors.rank
        self.form_type = vectors.form_type
        self.norms2 = groups.sums(vectors.norms2)
        self.sizes: IndexArray = np.minimum(groups.sizes, self.rank)

    def take(self, indices: IndexArray) -> FloatArray:
        """Rows C_g with C_g^T C_g = B_g of these groups, one group below the other."""
        rows, sizes = self.vectors.take(self.groups.members(indices)), self.groups.sizes[indices]
        if sizes.max(initial=0) <= self.rank:
            return rows
        parts = np.split(rows, np.cumsum(sizes)[:-1])
        is_long = sizes > self.rank
        return np.vstack(
            [np.linalg.qr(C, mode="r") if is_long[i] else C for i, C in enumerate(parts)]
        )

    def hold(self, indices: IndexArray) -> Any:
        """`take`, as the vectors hold their rows, unless some are shortened."""
        if self.groups.sizes[indices].max(initial=0) > self.rank:
            return self.take(indices)
        return self.vectors.hold(self.groups.members(indices))

    def forms(self, W: FloatArray) -> FloatArray:
        """Tr B_g W of all groups."""
        return self.groups.sums(self.vectors.forms(W))

    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        """Tr B_g of all groups, with coordinate i multiplied by ``scale[i]``."""
        return self.groups.sums(self.vectors.scaled_norms2(scale))


def grouped(vectors: Vectors, groups: Groups | None) -> Vectors:
    """The vectors in groups, if there are any."""
    return vectors if groups is None or not groups.given else GroupedVectors(vectors, groups)


def sizes_of(vectors: Vectors) -> IndexArray:
    """How many rows `take` gives for each index: one, unless it is that of a group."""
    if isinstance(vectors, GroupedVectors):
        return vectors.sizes
    return np.ones(len(vectors.norms2), dtype=np.intp)


class NumericalBreakdownError(ArithmeticError):
    """Rounding broke what the barrier method needs, and the plain arithmetic broke too."""


class Barriers:
    """The barriers of Algorithm 1 for r draws of vectors of length l.

    L_tau = tau - sqrt(r l) and U_tau = delta_U (tau + sqrt(r l)), delta_U = (1 + s) / (1 - s),
    s = sqrt(l / r). The lower barrier moves by 1 a draw, the upper one by delta_U.

    With a penalty e >= 0, one number a direction, the barriers are matrices that start farther away
    where e is large: L_tau I - sqrt(r l) diag(e) and U_tau I + delta_U sqrt(r l) diag(e), and l is
    the effective dimension sum 1 / (1 + e_i). That is the same as adding to A, or taking from it,
    what is called lift here. With e = alpha / sigma^2 it is the version for ridge models, which
    may draw fewer rows than there are directions.

    Barriers may go on past r draws by the same steps: potentials do not grow, so a feasible row
    exists at every draw. After T >= r draws A lies between L_T and U_T. Multiplied by (1 - s) / T,

        (1 - s) (1 - s r / T) I <= sum w_j u_j u_j^T <= (1 + s) (1 + s r / T) I,

    which at T = r is Lemma 1 and is tighter at T > r.
    """

    def __init__(self, rank: int, n_draws: int, penalty: FloatArray | None = None) -> None:
        self.n_draws = n_draws
        self.penalty = None if penalty is None else np.minimum(penalty, MOST_PENALTY)
        dimension = float(rank if self.penalty is None else np.sum(1 / (1 + self.penalty)))
        what = "rank" if penalty is None else "effective dimension"
        if n_draws <= dimension:
            raise ValueError(
                f"the barrier method needs more draws than the {what}: got {n_draws} draws for "
                f"vectors of {what} {dimension:.6g}"
            )
        self.dimension = dimension
        self.start = math.sqrt(n_draws * dimension)
        self.s = math.sqrt(dimension / n_draws)
        if self.s > MOST_S:
            raise NumericalBreakdownError(
                f"{n_draws} draws exceed the {what} {dimension:.10g} by too little to compute "
                "with: make more draws, or take a larger alpha"
            )
        self.delta_U = (1 + self.s) / (1 - self.s)

    def places(self, tau: int) -> tuple[float, float]:
        """L_tau and U_tau."""
        return tau - self.start, self.delta_U * (tau + self.start)

    def promised(self, n_made: int) -> tuple[float, float]:
        """Between which numbers the eigenvalues of sum w_j u_j u_j^T lie after so many draws."""
        later = self.s * self.n_draws / n_made
        return (1 - self.s) * (1 - later), (1 + self.s) * (1 + later)

    def weight_scale(self, n_made: int) -> float:
        """Step 5 of Algorithm 1: what the sums of t are multiplied with."""
        return (1 - self.s) / n_made

    def matrix(self, side: int, A: FloatArray, tau: int | None = None) -> FloatArray:
        """The matrix between A and the lower (side 0) or upper barrier (1) after tau draws.

        That is sign (A + lift - place); of no tau, A + lift, in which the place is left out.
        """
        lift, sign = 0.0 if self.penalty is None else self.start * self.penalty, SIGNS[side]
        place = 0.0 if tau is None else self.places(tau)[side]
        found = A.copy() if sign > 0 or tau is None else -A
        diagonal = (lift if side == 0 else -self.delta_U * lift) - place
        found.flat[:: len(A) + 1] += diagonal if tau is None else sign * diagonal
        return found


class Shift(NamedTuple):
    """L(u) or U(u) of any row u at a draw: u^T N^2 u / change - sign u^T N u.

    N = (A - L I)^-1 (sign +1) or (U I - A)^-1 (sign -1) at the barrier's next place, and change is
    by how much moving there changes the potential, the trace of N.
    """

    sign: int
    N: FloatArray
    change: float

    def of(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The shift of every row, or of matrices B in the place of u u^T, and its first term."""
        if u.ndim == 3:
            square, plain = (np.einsum("gij,ij->g", u, M) for M in (self.N @ self.N, self.N))
        else:
            Nu = u @ self.N
            square, plain = np.einsum("ij,ij->i", Nu, Nu), np.einsum("ij,ij->i", Nu, u)
        return square / self.change - self.sign * plain, square / self.change

    def potential_with(self, u: FloatArray, t: float) -> float:
        """The trace of N after t u^T u, u being rows, was added to A (Woodbury)."""
        Nu = u @ self.N
        inner = np.eye(len(u)) / t + self.sign * Nu @ u.T
        return float(np.trace(self.N) - self.sign * np.trace(np.linalg.solve(inner, Nu @ Nu.T)))

    def form(self, dtype: Any) -> FloatArray:
        """W with L(u), or U(u), = u^T W u."""
        N = self.N.astype(dtype, copy=False)
        square: FloatArray = N @ N.T  # symmetric: half of the work
        square /= self.change
        square -= self.sign * N
        return square


def shifts(
    barriers: Barriers, A: FloatArray, tau: int, known: tuple[float, float] | None = None
) -> tuple[Shift, Shift]:
    """L(u) and U(u) after tau draws. Known potentials save two inverses."""
    found = []
    for i, sign in enumerate(SIGNS):
        N = resolvent(barriers, A, i, tau + 1)
        trace = float(np.trace(N))
        change = 0.0 if known is None else sign * (trace - known[i])
        if not change > CANCELLED * trace:
            # step tr N N_before, with the resolvent before: nothing cancels
            step = barriers.places(tau + 1)[i] - barriers.places(tau)[i]
            change = step * float(np.vdot(N, resolvent(barriers, A, i, tau)))
        found.append(Shift(sign, N, change))
    lower, upper = found
    return lower, upper


def resolvent(barriers: Barriers, A: FloatArray, side: int, tau: int) -> FloatArray:
    """(A - L_tau I)^-1, side 0, or (U_tau I - A)^-1, side 1."""
    return inverse(barriers.matrix(side, A, tau))


def weigh(
    u: FloatArray, both: tuple[Shift, Shift], sizes: IndexArray | None = None
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """L and U of every row, or of groups of so many consecutive ones, and whether U <= L.

    That is up to a near-tie, relative to L's positive term: L and U are what is left of it.
    """
    (lv, term), (uv, _) = (shift.of(u) for shift in both)
    if sizes is not None:
        lv, term, uv = (sums(part, sizes) for part in (lv, term, uv))
    return lv, uv, (lv > 0) & (lv >= uv - NEAR_TIE * term)


def inverse(M: FloatArray) -> FloatArray:
    """The inverse of a positive definite matrix, by Cholesky: however its rows are scaled.

    M is overwritten.
    """
    diagonal = np.diagonal(M)
    if np.count_nonzero(M) == np.count_nonzero(diagonal > 0) == len(M):  # before the first draw
        return np.diag(1 / diagonal)
    factor, failed = dpotrf(M.T, lower=1, overwrite_a=1)
    if failed:
        raise NumericalBreakdownError(
            "a barrier has passed an eigenvalue, which cannot happen in exact arithmetic"
        )
    half: FloatArray = dpotri(factor, lower=1, overwrite_c=1)[0]  # zeros above the diagonal
    found = half + half.T
    found.flat[:: len(M) + 1] /= 2
    return found


@dataclass(frozen=True)
class Sparsifier:
    """What a run of the barrier method gives.

    ``draws`` are the indices drawn, one a draw, repeats included; ``selected`` the distinct ones in
    the order of their first draw, and ``weights`` theirs, added up over repeats. ``lower`` and
    ``upper`` are the extreme eigenvalues of sum w_j u_j u_j^T, computed anew from the weights.

    Examples
    --------
    >>> from ridgewise.barrier import sparsify_plain
    >>> found = sparsify_plain(np.full((8, 1), 8**-0.5), 4)
    >>> found.selected, found.lower == found.upper
    (array([0, 1, 2, 3]), True)
    """

    draws: IndexArray
    selected: IndexArray
    weights: FloatArray
    lower: float
    upper: float
    promised_lower: float
    promised_upper: float
    counts: dict[str, int] = field(default_factory=dict)
    """What the run took: decompositions, scans of all rows, compiled and plain draws, and the rows,
    or groups, that compiled draws computed closely."""


def penalized_norms2(vectors: Vectors, penalty: FloatArray | None) -> FloatArray:
    """Squared norms with each direction weighed by 1 / (1 + penalty): one pass over the vectors.

    The rule "norm" goes by them. Of a data set's rows of U they are the ridge leverage scores.
    """
    if penalty is None:
        return vectors.norms2
    return vectors.scaled_norms2(1 / np.sqrt(1 + penalty))


def scan_order(norms2: FloatArray) -> IndexArray:
    """Non-zero rows by descending norm; rows whose norms nearly tie by ascending index.

    Norms are compared after rounding to about ten significant digits, so that rows which are equal
    in exact arithmetic stay in the order of their indices.
    """
    mantissa, exponent = np.frexp(norms2)
    rounded = np.ldexp(np.round(mantissa, 10), exponent)
    order = np.argsort(-rounded)  # in a fifth of the time of a stable sort
    if np.any(np.diff(rounded[order]) == 0):
        order = np.argsort(-rounded, kind="stable")
    return order[: int(np.count_nonzero(norms2 > ZERO_NORM2))]


def choose(rule: str, lv: FloatArray, uv: FloatArray, drawable: BoolArray) -> int:
    """Position of the drawable row, of rows in scan order, that the rule prefers; -1 if none.

    Of rows that nearly tie, the first.
    """
    candidates = np.flatnonzero(drawable)
    if len(candidates) == 0:
        return -1
    if rule == "norm":
        return int(candidates[0])
    lv, uv = lv[candidates], uv[candidates]
    preference = lv - uv if rule == "slack" else lv / uv
    best = preference.max()
    return int(candidates[np.argmax(preference >= best - NEAR_TIE * abs(best))])


class Plan:
    """How a run draws: how many rows, or groups of these sizes, by which rule and from what pool.

    Draws are r, or up to ``most``, until so many distinct rows are drawn. Where distinct rows
    count, a row drawn again is that of the most slack, whatever the rule, and has the largest
    weight, 1 / t = U(u), so that few rows are drawn again.

    The pool is filled anew after ``interval`` draws; that of the rule "norm" is a prefix at first.
    """

    def __init__(
        self, rule: str, n_draws: int, n_distinct: int | None, rank: int, sizes: IndexArray
    ) -> None:
        check_one_of("rule", rule, RULES)
        self.rule, self.n_draws, self.n_distinct = rule, n_draws, n_distinct or 0
        self.is_distinct = n_distinct is not None
        self.most = MOST_DRAWS * n_draws if self.is_distinct else n_draws
        share = max(POOL[rule] / max(1.0, sizes.mean()), LEAST_POOL)
        self.size, self.prefix = math.ceil(n_draws * share), math.ceil(PREFIX * n_draws)
        least = 3 * most_stale(rank) if rank >= MANY_DIRECTIONS else 1.0
        self.interval = math.ceil(max(n_draws / REFILLS[rule], least))

    def wanted(self, n_made: int, n_distinct: int) -> tuple[int, int]:
        """How many draws, and how many distinct rows, are missing: none if that is not positive."""
        return self.n_draws - n_made, self.n_distinct - n_distinct if n_made < self.most else 0

    def rule_for(self, again: bool) -> str:
        """The rule by which selected rows are drawn again, or others."""
        return "slack" if again and self.is_distinct else self.rule

    def weight(self, lv: float, uv: float, again: bool) -> float:
        """The weight t of a draw, 1 / t between U(u) and L(u)."""
        return 1 / uv if again and self.is_distinct else 2 / (lv + uv)

    def pool(self, slack: FloatArray) -> IndexArray:
        """Of rows in scan order, the ``size`` with the most slack L(u) - U(u), ascending.

        Slacks are rounded to nine digits of the largest; of equal ones the first counts. Rows with
        hardly any are not in it (`LEAST_SLACK`), so it is empty where no row is feasible.
        """
        most = float(slack.max(initial=0.0))
        if most <= 0:
            return np.empty(0, dtype=np.intp)
        rounded = np.round(slack / most, 9)
        best = np.argsort(-rounded, kind="stable")[: self.size]
        return np.sort(best[rounded[best] >= LEAST_SLACK])

    def is_short(self, pool: IndexArray) -> bool:
        """Whether so few unselected rows are left that rows may be drawn again."""
        return FEW * len(pool) < self.interval

    def widened(self, pool: IndexArray, of_all: IndexArray, selected: BoolArray) -> IndexArray:
        """A short pool, with the pool of all rows and unselected ones that may become feasible."""
        large = np.flatnonzero(~selected)[: math.ceil(self.n_draws / 2)]  # of large norm
        return np.unique(np.concatenate([pool, of_all, large]))


def most_stale(rank: int) -> float:
    """About how many rows are drawn between two decompositions of A.

    These cost l^3, and k rows l k^2 at every draw: this balances them.
    """
    return 1.2 * float(rank) ** 0.62


NONE_FEASIBLE = (
    "no row is feasible, which cannot happen in exact arithmetic: the vectors are not orthonormal "
    'enough. Try solver="qr", or a smaller rank='
)


def finish(
    vectors: Vectors,
    barriers: Barriers,
    draws: IndexArray,
    t: FloatArray,
    counts: dict[str, int],
    penalty: FloatArray | None = None,
) -> Sparsifier:
    """Add up the weights of repeats, recompute the spectrum and hold it against Lemma 1."""
    selected, weights = add_up_repeats(draws, t * barriers.weight_scale(len(draws)))
    spread = np.repeat(weights, sizes_of(vectors)[selected])
    lower, upper = weighted_spectrum(vectors.take(selected), spread, penalty)
    promised_lower, promised_upper = barriers.promised(len(draws))
    # the promise holds in exact arithmetic; sums of l terms of size `upper` round
    rounding = 1e-12 * vectors.rank * max(upper, 1.0)
    if not (lower >= promised_lower - rounding and upper <= promised_upper + rounding):
        raise NumericalBreakdownError(
            f"the weights found have a spectrum of [{lower:.6g}, {upper:.6g}], outside of "
            f"[{promised_lower:.6g}, {promised_upper:.6g}], which {len(draws)} draws at rank "
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
    Z = np.ones(U.shape[1]) if penalty is None else 1 / (1 + penalty)
    B *= np.sqrt(Z)
    if B.size == 0 and penalty is None:
        return 0.0, 0.0
    if len(B) > B.shape[1] or penalty is not None:
        G = B.T @ B
        G.flat[:: len(G) + 1] += 0.0 if penalty is None else penalty * Z
        eigenvalues = np.linalg.eigvalsh(G)
        if eigenvalues[0] > WELL_CONDITIONED * eigenvalues[-1]:
            return float(eigenvalues[0]), float(eigenvalues[-1])
    if penalty is not None:
        B = np.vstack([B, np.diag(np.sqrt(penalty * Z))])
    singular = np.linalg.svd(B, compute_uv=False)
    smallest = singular[-1] if len(singular) == B.shape[1] else 0.0
    return float(smallest**2), float(singular[0] ** 2)
