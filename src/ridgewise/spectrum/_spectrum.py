# SPDX-License-Identifier: BSD-3-Clause
"""The spectrum of a data set, X = V S U^T. Of wide data, U is never held whole."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import nullcontext
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, svd

from ridgewise._run import one_blas_thread, remembered
from ridgewise._typing import FloatArray, IndexArray, is_sparse
from ridgewise.spectrum._columns import Columns, as_columns, as_rows
from ridgewise.spectrum._containers import as_numeric

MOST_CONDITION = 1e4  # condition number of X up to which quadratic forms keep eight digits
SINGLE_CONDITION = 3e2  # ... and up to which they keep three digits in single precision
SPARSE = 13  # rows with at most one non-zero in so many are faster to multiply if sparse
LARGE = 2**20  # values of X, or of W for a sparse X, from which single precision is faster

FEW = 600  # rows: an eigendecomposition of fewer is slower on two threads than on one
SOLVERS = ("auto", "gram", "qr")

EPS = float(np.finfo(np.float64).eps)
# Eigenvalues of K have an error of about EPS times the largest. Below this share of the largest,
# they and their singular vectors have fewer than five digits.
DIGITS_LOST = 1e-11


class Product:
    """X B for a sparse X, multiplied out when it is multiplied with something else."""

    def __init__(self, X: Any, B: FloatArray) -> None:
        self.X, self.B = X, B

    def __getitem__(self, rows: IndexArray) -> "Product":
        return Product(self.X[rows], self.B)

    def __matmul__(self, right: FloatArray) -> FloatArray:
        return np.asarray(self.X @ (self.B @ right))

    def __array__(self, dtype: Any = None, copy: Any = None) -> FloatArray:
        return np.asarray(self.X @ self.B, dtype=dtype)


class Decomposition(NamedTuple):
    """Left singular vectors and singular values of an array given by its columns."""

    vectors: FloatArray
    singular_values: FloatArray
    """Of the scaled columns, in descending order; those at rounding level are cut off."""
    cutoff: float
    solver: str
    is_whole: bool = False
    """Whether none is missing; False if that was not checked."""


class Spectrum(ABC):
    """X = V S U^T, with rows of U (d x rank) computed on demand: the vectors of the barrier method.

    Row j of U belongs to feature j, and its squared norm is the feature's leverage score.

    Attributes
    ----------
    singular_values : ndarray of shape (rank,)
        In descending order.
    rank, numerical_rank : int
        The number of singular vectors kept, and of singular values above rounding errors.
    cutoff : float
        Singular values up to this one count as zero.
    energy : float
        The share of the sum of squared singular values that is kept.
    solver : {"gram", "qr"}
        The solver that was used.
    V : ndarray of shape (n, rank)
        One row for each sample.
    shape : tuple of int
        Samples and features of the data.
    center : bool
        Whether the features' means were subtracted.
    """

    V: FloatArray

    def __init__(self, columns: Columns, found: Decomposition, rank: int | float | None) -> None:
        self.columns, self.center = columns, columns.centers
        self.shape = columns.shape[::-1] if columns.holds_samples else columns.shape
        singular_values = found.singular_values / columns.scale
        self.rank = choose_rank(singular_values, rank)
        self.numerical_rank = len(singular_values)
        self.singular_values = singular_values[: self.rank]
        self.cutoff, self.solver = found.cutoff / columns.scale, found.solver
        self.found_whole = found.is_whole
        shares = (singular_values / singular_values[:1]) ** 2
        self.energy = float(shares[: self.rank].sum() / shares.sum()) if self.rank else 1.0

    @cached_property
    def is_whole(self) -> bool:
        """Whether these are all singular values: none was cut off, and rounding hides none."""
        if self.rank < self.numerical_rank:
            return False
        return self.found_whole or is_attained(self.rank, self.columns)

    @cached_property
    @abstractmethod
    def leverage_scores(self) -> FloatArray:
        """Squared norms of the rows of U, shape (d,)."""

    @property
    def mean_diagonal(self) -> float:
        """The mean of the diagonal of K = X X^T, from the singular values kept."""
        return float(np.sum(self.singular_values**2)) / self.shape[0]

    @property
    def norms2(self) -> FloatArray:
        """The leverage scores, under the name that the barrier method uses."""
        return self.leverage_scores

    @abstractmethod
    def take(self, indices: IndexArray) -> FloatArray:
        """Rows of U for the features ``indices``, shape (len(indices), rank)."""

    def hold(self, indices: IndexArray) -> Any:
        """`take`, or a `Product` where that is faster to multiply."""
        return self.take(indices)

    @abstractmethod
    def projections(self, directions: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """U times ``directions``, block by block."""

    form_type: Any = np.float64  # that `forms` computes in

    @abstractmethod
    def forms(self, W: FloatArray) -> FloatArray:
        """Quadratic forms u_j^T W u_j of all rows of U, W symmetric, shape (d,)."""

    @abstractmethod
    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        """Squared norms of the rows of U diag(scale), shape (d,)."""


class WideSpectrum(Spectrum):
    """Spectrum of more features than samples: u_j = S^-1 V^T x_j is computed on demand."""

    def __init__(self, columns: Columns, found: Decomposition, rank: int | float | None) -> None:
        super().__init__(columns, found, rank)
        self.V = found.vectors[:, : self.rank]
        self.projector = self.V / found.singular_values[: self.rank]
        if self.center:  # sparse columns are not centred themselves
            self.projector -= self.projector.mean(axis=0)

    @cached_property
    def leverage_scores(self) -> FloatArray:
        scores = self.columns.norms2(self.projector)
        self.columns.expect(scores)
        return scores

    def take(self, indices: IndexArray) -> FloatArray:
        return self.columns.take(indices).T @ self.projector

    def hold(self, indices: IndexArray) -> Any:
        rows = self.columns.take_rows(indices)
        is_light = is_sparse(rows) and SPARSE * rows.nnz < rows.shape[0] * rows.shape[1]
        return Product(rows, self.projector) if is_light else self.take(indices)

    def projections(self, directions: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        return self.columns.products(self.projector @ directions)

    @cached_property
    def form_type(self) -> Any:
        most, least = self.singular_values[0], self.singular_values[-1]
        n, d = self.shape
        is_large = n * (n if is_sparse(self.columns.X) else d) > LARGE
        is_single = least > 1e-6 and most < min(1e6, SINGLE_CONDITION * least)
        return np.float32 if is_large and is_single else np.float64

    def forms(self, W: FloatArray) -> FloatArray:
        # With B = V S^-1, u_j^T W u_j = x_j^T (B W B^T) x_j loses digits with the square of the
        # condition number of X. Where these are too many, u_j = B^T x_j is computed first.
        if self.singular_values[0] < MOST_CONDITION * self.singular_values[-1]:
            B = self.projector.astype(self.form_type, copy=False)
            return self.columns.forms(B @ W.astype(self.form_type, copy=False) @ B.T)
        values, vectors = np.linalg.eigh(W)
        found = np.empty(self.shape[1])
        for place, block in self.projections(vectors):
            found[place] = block**2 @ values
        return found

    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        return self.columns.norms2(self.projector * scale)


class TallSpectrum(Spectrum):
    """Spectrum of more samples than features: U is small and held."""

    def __init__(self, rows: Columns, found: Decomposition, rank: int | float | None) -> None:
        super().__init__(rows, found, rank)
        self.U = found.vectors[:, : self.rank]

    @cached_property
    def V(self) -> FloatArray:  # type: ignore[override]  # computed on demand: n x rank
        """V = X U S^-1, made orthonormal: the rounding of X is divided by small S too."""
        V = np.empty((self.columns.shape[1], self.rank))
        for place, block in self.columns.dense_blocks():
            V[place] = block.T @ self.U / (self.singular_values * self.columns.scale)
        V, R = np.linalg.qr(V)
        return V * np.where(np.diagonal(R) < 0, -1.0, 1.0)

    @cached_property
    def leverage_scores(self) -> FloatArray:
        return np.einsum("ij,ij->i", self.U, self.U)

    def take(self, indices: IndexArray) -> FloatArray:
        return self.U[indices]

    def projections(self, directions: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        yield slice(0, len(self.U)), self.U @ directions

    def forms(self, W: FloatArray) -> FloatArray:
        return np.einsum("ij,ij->i", self.U @ W, self.U)

    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        return (self.U * scale) ** 2 @ np.ones(self.rank)


def compute_spectrum(
    X: Any,
    *,
    rank: int | float | None = None,
    center: bool = False,
    solver: str = "auto",
) -> Spectrum:
    """Compute the spectrum of X, n samples x d features, from blocks of its columns.

    Parameters
    ----------
    X : array, memory map, sparse array or matrix, or data frame of shape (n, d)
        Any numeric type; sums are in float64. Or an out-of-core container: a Zarr array, an HDF5
        data set, a Parquet table (`open_parquet`), a Dask array or data frame.
    rank : int or float or None
        How many singular vectors to keep: all above rounding errors (None), at most so many (int),
        or as many as hold this share of the sum of squares (float in (0, 1]).
    center : bool
        Subtract column means, implicitly where X is sparse.
    solver : {"auto", "gram", "qr"}
        "gram" takes the eigenvalues of K = X X^T, which squares the condition number: singular
        values below about 1e-7 of the largest are lost. "qr" keeps them, at several times the
        cost. "auto" takes "gram", and "qr" if digits were lost.

    Returns
    -------
    Spectrum

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.spectrum import compute_spectrum
    >>> X = np.array([[3.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]])
    >>> spectrum = compute_spectrum(X)
    >>> spectrum.rank
    2
    >>> spectrum.leverage_scores.round(3)
    array([1.   , 0.333, 0.333, 0.333])
    """
    check_parameters(rank, solver)
    X = as_numeric(X)
    kind = TallSpectrum if X.shape[0] > X.shape[1] else WideSpectrum
    return kind(*remembered(_decomposed, X, center=bool(center), solver=solver), rank)


def scored_spectrum(X: Any, **settings: Any) -> Spectrum:
    """Compute the spectrum of X and its leverage scores: parameters as of `compute_spectrum`."""
    spectrum = compute_spectrum(X, **settings)
    _ = spectrum.leverage_scores  # a cached property
    return spectrum


def _decomposed(X: Any, *, center: bool, solver: str) -> tuple[Columns, Decomposition]:
    """Decompose X by its samples if there are more of them than features, else by its features."""
    read = as_rows if X.shape[0] > X.shape[1] else as_columns
    columns = read(X, center=center)
    return columns, decompose(columns, solver)


def choose_rank(singular_values: FloatArray, rank: int | float | None) -> int:
    """The number of singular vectors to keep."""
    available = len(singular_values)
    if rank is None or available == 0:
        return available
    if isinstance(rank, Integral):
        return min(int(rank), available)
    shares = np.cumsum((singular_values / singular_values[0]) ** 2)
    return int(np.searchsorted(shares, rank * shares[-1] * (1 - 1e-12))) + 1


def check_parameters(rank: int | float | None, solver: str) -> None:
    """Raise if a parameter is invalid."""
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {', '.join(map(repr, SOLVERS))}; got {solver!r}")
    if rank is None:
        return
    is_count = isinstance(rank, Integral) and not isinstance(rank, bool) and rank >= 1
    is_share = isinstance(rank, Real) and not isinstance(rank, Integral) and 0 < rank <= 1
    if not (is_count or is_share):
        raise ValueError(
            "rank must be None, an int >= 1 (singular vectors to keep) or a float in (0, 1] "
            f"(share of the energy to keep); got {rank!r}"
        )


def rank_limit(n_samples: int, n_features: int, center: bool) -> int:
    """Return the largest rank that X can have: centred data of n samples has rank n - 1 at most.

    Centring leaves an n-th singular value of rounding size, which must never be inverted.
    """
    return min(n_samples - bool(center), n_features)


def decompose(columns: Columns, solver: str) -> Decomposition:
    """Compute left singular vectors and singular values."""
    if solver == "qr":
        return by_qr(columns)
    with np.errstate(over="ignore", invalid="ignore"):
        K = columns.gram()
    if not is_safe(K):
        rescale(columns)
        K = columns.gram()
    found = by_gram(K, columns)
    if solver == "gram":
        return found
    if has_lost_digits(found.singular_values, columns):
        return by_qr(columns)
    return found._replace(is_whole=True)


def by_gram(K: FloatArray, columns: Columns) -> Decomposition:
    """From the eigendecomposition K = V S^2 V^T."""
    with one_blas_thread() if len(K) < FEW else nullcontext():
        # divide and conquer is the fastest, but fails for a matrix of one row in SciPy 1.12
        eigenvalues, V = eigh(K, driver="evd" if len(K) > 1 else "ev", check_finite=False)
    eigenvalues, V = eigenvalues[::-1], V[:, ::-1]
    # rounding errors of a zero eigenvalue: of sums over columns, and of the decomposition
    cutoff = EPS * max(len(K), 4 * np.sqrt(columns.shape[1])) * max(eigenvalues[0], 0.0)
    rank = min(int(np.count_nonzero(eigenvalues > cutoff)), limit_of(columns))
    V = np.ascontiguousarray(V[:, :rank])
    return Decomposition(V, np.sqrt(eigenvalues[:rank]), float(np.sqrt(cutoff)), "gram")


def by_qr(columns: Columns) -> Decomposition:
    """From R in X^T = Q R."""
    rescale(columns)
    _, singular_values, Vt = svd(columns.triangle(), full_matrices=False, check_finite=False)
    cutoff = EPS * max(columns.shape) * float(singular_values[0])
    rank = min(int(np.count_nonzero(singular_values > cutoff)), limit_of(columns))
    if rank > 0 and singular_values[rank - 1] < 1e3 * cutoff:  # may be a rounding error
        rank = min(rank, attainable_rank(columns))
    return Decomposition(np.ascontiguousarray(Vt[:rank].T), singular_values[:rank], cutoff, "qr")


def is_safe(K: FloatArray) -> bool:
    """Whether neither K nor its square over- or underflows."""
    return bool(np.isfinite(K).all()) and 1e-125 < float(np.diagonal(K).max()) < 1e125


def has_lost_digits(singular_values: FloatArray, columns: Columns) -> bool:
    """Whether squaring lost singular values, or most digits of the smallest one."""
    if len(singular_values) == 0:
        return attainable_rank(columns) > 0
    if singular_values[-1] ** 2 < DIGITS_LOST * singular_values[0] ** 2:
        return True
    return not is_attained(len(singular_values), columns)


def is_attained(rank: int, columns: Columns) -> bool:
    """Whether the rank is the largest that X can have; the limits are from cheap to expensive."""
    return any(rank >= limit(columns) for limit in RANK_LIMITS)


def attainable_rank(columns: Columns) -> int:
    """The largest rank that shape, centring, equal and zero samples and features allow."""
    return min(limit(columns) for limit in RANK_LIMITS)


def limit_of(columns: Columns) -> int:
    """`rank_limit` of columns that are features, or samples."""
    samples, features = columns.shape[::-1] if columns.holds_samples else columns.shape
    return rank_limit(samples, features, columns.centers)


def sample_limit(columns: Columns) -> int:
    """The number of distinct samples that are not zero."""
    found = distinct(columns, are_columns=columns.holds_samples)
    # samples minus their mean: one dimension fewer than there are distinct ones
    return len(found) - 1 if columns.centers else len(found - {b""})


def feature_limit(columns: Columns) -> int:
    """The number of distinct features that are not zero."""
    return len(distinct(columns, are_columns=not columns.holds_samples) - {b""})


RANK_LIMITS = (limit_of, sample_limit, feature_limit)


def distinct(columns: Columns, *, are_columns: bool) -> set[bytes]:
    """Digests of the distinct columns, or else rows: empty for zeros."""
    blocks = columns.map(digests, are_columns)
    if are_columns:
        return {found for block in blocks for found in block}
    # each block has a part of every row
    return {b"|".join(parts) if any(parts) else b"" for parts in zip(*blocks, strict=True)}


def digests(block: Any, are_columns: bool) -> list[bytes]:
    """Digests of the columns, or else rows, of an array or sparse array: empty for zeros."""
    rows = block.T if are_columns else block
    if not is_sparse(block):
        return [digest(row) if row.any() else b"" for row in np.asarray(rows)]
    rows = rows.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return [
        digest(rows.indices[i:j], rows.data[i:j]) if i < j else b""
        for i, j in pairwise(rows.indptr.tolist())
    ]


def digest(*parts: Any) -> bytes:
    """SHA-256 of arrays."""
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).digest()


def rescale(columns: Columns) -> None:
    """Scale by a power of two such that the largest value is near 1: no digit is lost."""
    columns.check_finite()
    largest = columns.largest()
    exponent = max(int(np.frexp(largest)[1]), -1022)  # 2^1023 is the largest power
    columns.set_scale(float(np.ldexp(1.0, -exponent)) if largest > 0 else 1.0)
