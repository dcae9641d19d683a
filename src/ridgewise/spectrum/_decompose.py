# SPDX-License-Identifier: BSD-3-Clause
"""Singular vectors and values from blocks of columns: by the kernel, or by a tall-skinny QR."""

import hashlib
from contextlib import nullcontext
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh, svd

from ridgewise._threads import one_blas_thread
from ridgewise._typing import FloatArray, is_sparse
from ridgewise.spectrum._columns import Columns

FEW = 600  # rows: an eigendecomposition of fewer is slower on two threads than on one
SOLVERS = ("auto", "gram", "qr")

EPS = float(np.finfo(np.float64).eps)
# Eigenvalues of K have an error of about EPS times the largest. Below this share of the largest,
# they and their singular vectors have fewer than five digits.
DIGITS_LOST = 1e-11


class Decomposition(NamedTuple):
    """Left singular vectors and singular values of an array given by its columns."""

    vectors: FloatArray
    singular_values: FloatArray
    """Of the scaled columns, in descending order; those at rounding level are cut off."""
    cutoff: float
    solver: str
    is_whole: bool = False
    """Whether none is missing; False if that was not checked."""


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
