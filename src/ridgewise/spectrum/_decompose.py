# SPDX-License-Identifier: BSD-3-Clause
"""Singular vectors and values from blocks of columns: by the kernel, or by a tall-skinny QR."""

from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, svd

from ridgewise._threads import one_blas_thread
from ridgewise._typing import FloatArray
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


def decompose(columns: Columns, solver: str) -> Decomposition:
    """Singular vectors (one row for a row of the array) and values."""
    if solver == "qr":
        rescale(columns)
        return by_qr(columns)
    with np.errstate(over="ignore", invalid="ignore"):
        K = columns.gram()
    if not is_safe(K):
        rescale(columns)
        K = columns.gram()
    found = by_gram(K, columns.shape[1])
    if solver == "auto" and has_lost_digits(found.singular_values, K, columns):
        return by_qr(columns)
    return found


def by_gram(K: FloatArray, n_columns: int) -> Decomposition:
    """From the eigendecomposition K = V S^2 V^T."""
    with one_blas_thread() if len(K) < FEW else nullcontext():
        # divide and conquer is the fastest, but SciPy 1.12's refuses a matrix of one row
        eigenvalues, V = eigh(K, driver="evd" if len(K) > 1 else "ev", check_finite=False)
    eigenvalues, V = eigenvalues[::-1], V[:, ::-1]
    # what rounding leaves of a zero eigenvalue: sums over columns, and the decomposition itself
    cutoff = EPS * max(len(K), 4 * np.sqrt(n_columns)) * max(eigenvalues[0], 0.0)
    rank = int(np.count_nonzero(eigenvalues > cutoff))
    V = np.ascontiguousarray(V[:, :rank])
    return Decomposition(V, np.sqrt(eigenvalues[:rank]), float(np.sqrt(cutoff)), "gram")


def by_qr(columns: Columns) -> Decomposition:
    """From R in X^T = Q R."""
    _, singular_values, Vt = svd(columns.triangle(), full_matrices=False, check_finite=False)
    cutoff = EPS * max(columns.shape) * float(singular_values[0])
    rank = int(np.count_nonzero(singular_values > cutoff))
    return Decomposition(np.ascontiguousarray(Vt[:rank].T), singular_values[:rank], cutoff, "qr")


def is_safe(K: FloatArray) -> bool:
    """Whether no square over- or underflowed."""
    return bool(np.isfinite(K).all()) and 1e-250 < float(np.diagonal(K).max()) < 1e250


def has_lost_digits(singular_values: FloatArray, K: FloatArray, columns: Columns) -> bool:
    """Whether K shows that squaring cost singular values, or most of the smallest one's digits."""
    if len(singular_values) == 0:
        return False
    smallest, largest = singular_values[-1], singular_values[0]
    if smallest**2 < DIGITS_LOST * largest**2:
        return True
    # a rank that equal and zero samples (and centring) explain is as it should be
    expected = min(distinct_samples(K) - columns.center, columns.shape[1])
    return len(singular_values) < expected


def distinct_samples(K: FloatArray) -> int:
    """How many samples are not zero and not, as far as K can tell, equal to an earlier one."""
    squares = np.diagonal(K)
    sums = squares[:, None] + squares
    equal = sums - 2 * K <= 4 * len(K) * EPS * sums
    return int(np.count_nonzero(squares[equal.argmax(axis=1) == np.arange(len(K))] > 0))


def rescale(columns: Columns) -> None:
    """Multiply by a power of two, so that the largest value is near 1: no digit is lost."""
    columns.check_finite()
    largest = columns.largest()
    exponent = max(int(np.frexp(largest)[1]), -1022)  # 2^1023 is the largest that there is
    columns.scale = float(np.ldexp(1.0, -exponent)) if largest > 0 else 1.0
