# SPDX-License-Identifier: BSD-3-Clause
"""Singular vectors and values from blocks of columns: by the kernel, or by a tall-skinny QR."""

import hashlib
from collections.abc import Callable
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
# Eigenvalues of K carry an error of about EPS times the largest. One that is kept but smaller than
# this share of the largest has fewer than five digits, and a singular vector to match.
DIGITS_LOST = 1e-11


class Decomposition(NamedTuple):
    """Left singular vectors and singular values of an array given by its columns."""

    vectors: FloatArray
    singular_values: FloatArray
    """In descending order, of the columns as scaled; those at rounding level are cut off."""
    cutoff: float
    solver: str


def rank_limit(n_samples: int, n_features: int, center: bool) -> int:
    """The largest rank that X can have: centred data of n samples has rank n - 1 at most.

    Centring leaves an n-th singular value of rounding size, which must never be inverted.
    Everything that centres takes its rank from here.

    Examples
    --------
    >>> rank_limit(5, 30, center=False), rank_limit(5, 30, center=True)
    (5, 4)
    """
    return min(n_samples - bool(center), n_features)


def decompose(columns: Columns, solver: str) -> Decomposition:
    """Singular vectors (one row for a row of the array) and values."""
    if solver == "qr":
        return by_qr(columns)
    with np.errstate(over="ignore", invalid="ignore"):
        K = columns.gram()
    if not is_safe(K):
        rescale(columns)
        K = columns.gram()
    found = by_gram(K, columns)
    if solver == "auto" and has_lost_digits(found.singular_values, columns):
        return by_qr(columns)
    return found


def by_gram(K: FloatArray, columns: Columns) -> Decomposition:
    """From the eigendecomposition K = V S^2 V^T."""
    with one_blas_thread() if len(K) < FEW else nullcontext():
        # divide and conquer is the fastest, but SciPy 1.12's refuses a matrix of one row
        eigenvalues, V = eigh(K, driver="evd" if len(K) > 1 else "ev", check_finite=False)
    eigenvalues, V = eigenvalues[::-1], V[:, ::-1]
    # what rounding leaves of a zero eigenvalue: sums over columns, and the decomposition itself
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
    if rank > 0 and singular_values[rank - 1] < 1e3 * cutoff:  # is it more than rounding?
        rank = min(rank, attainable_rank(columns))
    return Decomposition(np.ascontiguousarray(Vt[:rank].T), singular_values[:rank], cutoff, "qr")


def is_safe(K: FloatArray) -> bool:
    """Whether no square over- or underflowed."""
    return bool(np.isfinite(K).all()) and 1e-250 < float(np.diagonal(K).max()) < 1e250


def has_lost_digits(singular_values: FloatArray, columns: Columns) -> bool:
    """Whether squaring cost singular values, or most of the smallest one's digits."""
    if len(singular_values) == 0:
        return attainable_rank(columns) > 0
    if singular_values[-1] ** 2 < DIGITS_LOST * singular_values[0] ** 2:
        return True
    # a rank that equal and zero samples explain is as it should be
    return not is_attained(len(singular_values), columns)


def is_attained(rank: int, columns: Columns) -> bool:
    """Whether X surely has no more singular values than these: rounding hides none."""
    limits: tuple[Callable[[Columns], int], ...] = (limit_of, sample_limit, feature_limit)
    return any(rank >= limit(columns) for limit in limits)


def attainable_rank(columns: Columns) -> int:
    """The largest rank that shape, centring, equal and zero samples and features allow."""
    return min(limit_of(columns), sample_limit(columns), feature_limit(columns))


def limit_of(columns: Columns) -> int:
    """`rank_limit` of what the columns are: features, or samples."""
    if columns.holds_samples:
        return rank_limit(columns.shape[1], columns.shape[0], columns.centers)
    return rank_limit(*columns.shape, columns.centers)


def sample_limit(columns: Columns) -> int:
    """The rank that equal and zero samples leave possible."""
    digests = column_digests if columns.holds_samples else row_digests
    different = distinct(columns, digests, joined=not columns.holds_samples)
    # samples less their mean: one dimension fewer than there are different ones
    return len(different) - 1 if columns.centers else len(different - {b""})


def feature_limit(columns: Columns) -> int:
    """The rank that equal and zero features leave possible."""
    digests = row_digests if columns.holds_samples else column_digests
    return len(distinct(columns, digests, joined=columns.holds_samples) - {b""})


def distinct(
    columns: Columns, digests: Callable[[Any], list[bytes]], *, joined: bool
) -> set[bytes]:
    """The different digests, block by block; ``joined``, where a block has a part of each."""
    blocks = columns.map(digests)
    if joined:
        return {b"" if not any(parts) else b"|".join(parts) for parts in zip(*blocks, strict=True)}
    return {found for block in blocks for found in block}


def column_digests(block: Any) -> list[bytes]:
    """`row_digests` of the transposed block."""
    return row_digests(block.T)


def row_digests(block: Any) -> list[bytes]:
    """The digest of every row of an array or sparse array: empty for a row of zeros."""
    if not is_sparse(block):
        return [digest(row) if row.any() else b"" for row in np.asarray(block)]
    rows = block.tocsr(copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return [
        digest(rows.indices[i:j], rows.data[i:j]) if i < j else b""
        for i, j in pairwise(rows.indptr.tolist())
    ]


def digest(*parts: Any) -> bytes:
    """Tell arrays apart by 32 bytes."""
    found = hashlib.sha256()
    for part in parts:
        found.update(np.ascontiguousarray(part).tobytes())
    return found.digest()


def rescale(columns: Columns) -> None:
    """Multiply by a power of two, so that the largest value is near 1: no digit is lost."""
    columns.check_finite()
    largest = columns.largest()
    exponent = max(int(np.frexp(largest)[1]), -1022)  # 2^1023 is the largest that there is
    columns.set_scale(float(np.ldexp(1.0, -exponent)) if largest > 0 else 1.0)
