# SPDX-License-Identifier: BSD-3-Clause
"""The interval [lower, upper] of a weighted selection, at two levels of certainty.

For every basis P of the samples' space (at alpha = 0, of what X spans of it), lower and upper are
the extreme eigenvalues of G = P^T (K~ + alpha) P against M = P^T (K + alpha) P. P is made from
the computed X = V S U^T, so that M is the identity but for rounding:

- `measured_interval` takes M for the identity, and adds an estimate of the rounding: no pass over
  the data;
- `verified_interval` measures M, on the data: whatever P is, the interval holds.

The third level, a proof, is in `_proof`. What remains here are first-order estimates of the
rounding of sums and products, tested against exact arithmetic.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr, svd

from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier import weighted_spectrum
from ridgewise.spectrum import Columns, Spectrum, TallSpectrum, as_columns

UNIT = float(np.finfo(np.float64).eps) / 2  # the unit of rounding, u
KERNEL_SUFFICES = 1e-7  # error of M below which it is taken from K, without a dense pass over X


@dataclass(frozen=True)
class Selection:
    """Selected features and their weights, in plain numbers: it compares, pickles and prints.

    ``n_features`` counts all features of X, ``center`` tells whether their means were subtracted.
    ``rank`` is the number of leading singular vectors that the certificate is about; None: all.
    If ``cutoff`` is set, nobody asked for that rank: smaller singular values count as rounding.
    """

    selected: tuple[int, ...]
    weights: tuple[float, ...]
    n_features: int
    center: bool = False
    rank: int | None = None
    cutoff: float | None = None

    @classmethod
    def of(
        cls,
        spectrum: Spectrum,
        selected: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        rank: int | float | None = None,
        alpha: float = 0.0,
    ) -> Self:
        """Take arrays (weights: 1 by default), and note what part of X a certificate is about.

        At alpha = 0 it is about what the spectrum has. That is less than X where a rank was asked
        for, or where rounding hides singular values and nothing explains them.
        """
        indices: IndexArray = np.asarray(selected, dtype=np.intp)
        w = np.ones(len(indices)) if weights is None else np.asarray(weights, dtype=np.float64)
        if w.shape != indices.shape or not np.all((w >= 0) & np.isfinite(w)):
            raise ValueError(
                f"expected a finite weight of at least 0 for each of the {len(indices)} selected "
                f"features, got shape {w.shape}"
            )
        is_part = (rank is not None or alpha == 0) and not spectrum.is_whole
        return cls(
            tuple(indices.tolist()),
            tuple(w.tolist()),
            n_features=spectrum.shape[1],
            center=spectrum.center,
            rank=spectrum.rank if is_part else None,
            cutoff=spectrum.cutoff if is_part and rank is None else None,
        )

    @property
    def indices(self) -> IndexArray:
        """The selected features as an array."""
        return np.asarray(self.selected, dtype=np.intp)

    @property
    def w(self) -> FloatArray:
        """Their weights as an array."""
        return np.asarray(self.weights, dtype=np.float64)

    @property
    def max_weight(self) -> float:
        """The largest weight."""
        return max(self.weights, default=0.0)

    @property
    def keeps_all(self) -> bool:
        """Whether every feature is there with weight 1, so that K~ = K."""
        return len(self.selected) == self.n_features and set(self.weights) == {1.0}


class Interval(NamedTuple):
    """lower (K + alpha) <= K~ + alpha <= upper (K + alpha); 0 and infinity say nothing."""

    lower: float
    upper: float

    @property
    def says_something(self) -> bool:
        """Whether both ends do."""
        return self.lower > 0 and math.isfinite(self.upper)

    @property
    def around_one(self) -> "Interval":
        """Widened until it holds 1, which bounds that compare with K itself need."""
        return Interval(min(self.lower, 1.0), max(self.upper, 1.0))

    def widened(self, *, selected_error: float, kernel_error: float) -> "Interval":
        """Widen by errors, of G by ``selected_error`` and of M = I by ``kernel_error``.

        [(a - e_G) / (1 + e_M), (b + e_G) / (1 - e_M)].
        """
        lower = max(self.lower - selected_error, 0.0) / (1 + kernel_error)
        certain = kernel_error < 1 and math.isfinite(selected_error)
        upper = (self.upper + selected_error) / (1 - kernel_error) if certain else math.inf
        return Interval(lower if certain else 0.0, upper)


def measured_interval(
    spectrum: Spectrum, selected_rows: FloatArray, weights: FloatArray, alpha: float = 0.0
) -> Interval:
    """Measure [a, b] from the spectrum, and widen it by an estimate of the spectrum's errors."""
    found = weighted_spectrum(
        selected_rows, weights, ridge_penalty(spectrum.singular_values, alpha)
    )
    return widened_interval(spectrum, found, float(weights.max(initial=0.0)), alpha)


def widened_interval(
    spectrum: Spectrum, ends: tuple[float, float], w_max: float, alpha: float
) -> Interval:
    """Widen [a, b] by an estimate of the spectrum's errors; ``w_max`` is the largest weight.

    With G = U^T W U and Z = S^2 (S^2 + alpha)^-1, the ends are the extreme eigenvalues of
    Z^1/2 G Z^1/2 + I - Z: of G itself at alpha = 0. Above that, what X does not span counts too,
    where both sides are alpha: the interval then holds 1.
    """
    n, S, found = spectrum.shape[0], spectrum.singular_values, Interval(*ends)
    smallest = math.hypot(S[-1], math.sqrt(alpha))
    if alpha > 0 and spectrum.rank < n:
        found, smallest = found.around_one, math.sqrt(alpha)
    condition = float(S[0]) / smallest
    error = product_error(n, float(np.linalg.norm(S / S[0]))) * condition
    if alpha > 0 and not spectrum.is_whole:  # what was cut off acts like an error
        error += spectrum.cutoff * math.sqrt(n - spectrum.rank) / smallest
    elif alpha == 0:
        error += hidden_error(spectrum)
    # eigenvalues of K are off by this share of the largest; of a QR, singular values are
    digits = max(n, 4 * math.sqrt(max(spectrum.shape))) * 4 * UNIT
    decomposition = digits * condition * (S[0] / S[-1] if spectrum.solver == "gram" else 2)
    return found.widened(
        selected_error=gram_error(error, w_max, found.upper, spectrum.rank),
        kernel_error=decomposition + gram_error(error, 1.0, 1.0, 0),
    )


def verified_interval(spectrum: Spectrum, selection: Selection, alpha: float) -> Interval:
    """Measure [a, b] and M on the data: the interval holds for the numbers in X.

    At alpha = 0 it holds on the span of V, which is all of X where ``spectrum.is_whole``, and on
    that of the leading singular vectors where rounding hides others; above that, everywhere.
    """
    columns, n = spectrum.columns, spectrum.shape[0]
    S = spectrum.singular_values * columns.scale
    # a smaller alpha has an interval that holds for this one: it keeps numbers in range
    largest = float(S[0])  # of Python: a product that overflows is inf, without a warning
    alpha = min(alpha * columns.scale * columns.scale, 1e300 * min(largest * largest, 1.0))
    if isinstance(spectrum, TallSpectrum):  # X = Q R: the statement about R is that about X
        columns = as_columns(columns.triangle())
        V, S = (part[..., : spectrum.rank] for part in svd(columns.X, full_matrices=False)[:2])
    else:
        V = spectrum.V
    X_S = columns.take(selection.indices)
    P = basis(V, S, alpha)
    norm_P = 1 / (math.sqrt(alpha) if P.shape[1] > len(S) else math.hypot(S[-1], math.sqrt(alpha)))
    error = product_error(n, float(np.linalg.norm(S))) * norm_P  # of P^T X

    Y_S = np.sqrt(selection.w)[:, None] * (X_S.T @ P)
    overlap = P.T @ P
    eigenvalues = np.linalg.eigvalsh(Y_S.T @ Y_S + alpha * overlap)
    found = Interval(max(float(eigenvalues[0]), 0.0), float(eigenvalues[-1]))
    if alpha > 0 and len(P) < n:  # of tall data, P spans what X does, and all else is alpha
        found = found.around_one
    hidden = hidden_error(spectrum) if alpha == 0 else 0.0
    return found.widened(
        selected_error=gram_error(error + hidden, selection.max_weight, found.upper, P.shape[1]),
        kernel_error=kernel_error(columns, P, overlap, S, alpha, error)
        + gram_error(hidden, 1.0, 1.0, 0),
    )


def hidden_error(spectrum: Spectrum) -> float:
    """Bound the relative error of X^T x if the rank was cut where rounding errors begin.

    The statement is about the span L of the leading k singular vectors, and P spans that of the
    computed ones, V. For x in L, X^T x and X^T V V^T x differ by ||(I - V V^T) X|| ||x||. The first
    factor is at most twice the cut-off, and ||x|| at most ||X^T x|| / sigma_k.
    """
    if spectrum.is_whole or spectrum.rank < spectrum.numerical_rank:
        return 0.0
    return 2 * spectrum.cutoff / float(spectrum.singular_values[-1])


def kernel_error(
    columns: Columns,
    P: FloatArray,
    overlap: FloatArray,
    S: FloatArray,
    alpha: float,
    error: float,
) -> float:
    """Bound ||P^T (K + alpha) P - I||: from K where its rounding allows that, else from X^T P.

    From K by its residual R = K P - P S^2: P^T (K + alpha) P = P^T P (S^2 + alpha) + P^T R.
    """
    K, identity = columns.gram(), np.eye(len(overlap))
    norm2_P = float(overlap.diagonal().max()) * (1 + KERNEL_SUFFICES)
    of_K = 4 * math.sqrt(max(columns.shape)) * UNIT * float(K.trace()) * norm2_P
    if of_K < KERNEL_SUFFICES:
        squares = np.append(S**2, np.zeros(P.shape[1] - len(S)))
        residual = math.sqrt(norm2_P) * float(np.linalg.norm(K @ P - P * squares))
        return float(np.linalg.norm(overlap * (squares + alpha) - identity)) + residual + of_K
    M = alpha * overlap
    for _, block in columns.dense_blocks():
        Y = block.T @ P
        M += Y.T @ Y
    return float(np.linalg.norm(M - identity)) + gram_error(error, 1.0, 2.0, len(M))


def basis(V: FloatArray, S: FloatArray, alpha: float) -> FloatArray:
    """P = V (S^2 + alpha)^-1/2; with alpha, also the directions that V lacks, over sqrt(alpha)."""
    P = V / np.hypot(S, math.sqrt(alpha))
    if alpha == 0 or V.shape[0] == V.shape[1]:
        return P
    Q: Any = qr(V, check_finite=False)[0]
    return np.hstack([P, Q[:, V.shape[1] :] / math.sqrt(alpha)])


def ridge_penalty(singular_values: FloatArray, alpha: float) -> FloatArray | None:
    """Alpha / sigma^2 of each direction, kept in range; None where alpha is 0."""
    if alpha == 0:
        return None
    with np.errstate(over="ignore"):
        return np.minimum((math.sqrt(alpha) / singular_values) ** 2, 1e300)


def product_error(n: int, norm: float) -> float:
    """Bound the rounding errors of products with X, whose norm is given: 4 sqrt(n) u ||X||."""
    return 4 * math.sqrt(n) * UNIT * norm


def gram_error(error: float, max_weight: float, upper: float, size: int) -> float:
    """Bound the error of Y^T W Y if Y has the error e: 2 sqrt(w b) e + w e^2 + 64 l u b."""
    root = math.sqrt(max_weight)
    return 2 * root * math.sqrt(upper) * error + (root * error) ** 2 + 64 * size * UNIT * upper


def ill_conditioned_note(alpha: float) -> str:
    """Explain that rounding errors are too large, and what would help."""
    more = "a larger alpha" if alpha else "alpha > 0 (for ridge models)"
    return f"X is too ill-conditioned for double precision; {more} would help"


def check_rank(spectrum: Spectrum) -> None:
    """Raise if X has rank 0."""
    if spectrum.rank == 0:
        raise ValueError(f"every feature of X is {'constant' if spectrum.center else 'zero'}")
