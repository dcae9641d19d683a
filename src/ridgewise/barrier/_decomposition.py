# SPDX-License-Identifier: BSD-3-Clause
"""A in coordinates where its resolvents are cheap: by its eigenvalues, or as a tridiagonal matrix.

The second takes less than half of the time. NumPy has a use for the first alone, but compiled draws
(see ``_compiled``) can do with either.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dorghr, dpttrf, dstebz, dsyevd, dsytrd

from ridgewise._typing import FloatArray

BLOCK_SIZE = 32  # of LAPACK's blocked algorithms
TOLERANCE = 1e-3  # of the least eigenvalue: barriers move by 1


@dataclass(frozen=True)
class Decomposition:
    """A = Q T Q^T, T given by its diagonal and what is beside it, with a zero at the end.

    If T is diagonal, that is the eigenvalues of A in ascending order.
    """

    Q: FloatArray
    diagonal: FloatArray
    off: FloatArray
    is_diagonal: bool

    @cached_property
    def least(self) -> float:
        """The least eigenvalue, or a little less."""
        if self.is_diagonal:
            return float(self.diagonal[0])
        by_index, first = 2, 1
        _, found, _, _, _ = dstebz(
            self.diagonal, self.off[:-1], by_index, 0.0, 0.0, first, first, TOLERANCE, "E"
        )
        return float(found[0]) - 2 * TOLERANCE

    def potential(self, sign: int, place: float) -> float:
        """The trace of the resolvent at a place below (+1) or above (-1) all eigenvalues."""
        gaps, off = sign * (self.diagonal - place), self.off[:-1]
        if self.is_diagonal:
            return float(np.sum(1 / gaps))
        pivots, _, failed = dpttrf(gaps, off)
        from_below, _, failed_too = dpttrf(gaps[::-1], off[::-1])
        if failed or failed_too:
            return math.nan
        pivots[:-1] -= off**2 / from_below[-2::-1]
        return float(np.sum(1 / pivots))


def eigendecomposition(A: FloatArray) -> Decomposition:
    """A symmetric matrix by its eigenvalues and eigenvectors."""
    zero = np.zeros(len(A))
    if not A.any():
        return Decomposition(np.eye(len(A)), zero, zero, is_diagonal=True)
    eigenvalues, Q, _ = dsyevd(A.T, lower=1)
    return Decomposition(Q, eigenvalues, zero, is_diagonal=True)


def tridiagonalization(A: FloatArray) -> Decomposition:
    """A symmetric matrix as a tridiagonal one."""
    if len(A) < 3 or not A.any():
        return eigendecomposition(A)
    reflectors, diagonal, off, tau, _ = dsytrd(A.T, lower=1, lwork=BLOCK_SIZE * len(A))
    # the reflectors of LAPACK's Hessenberg form, so that one routine makes Q of both
    Q, _ = dorghr(reflectors, tau, lwork=BLOCK_SIZE * len(A), overwrite_a=1)
    return Decomposition(Q, diagonal, np.append(off, 0.0), is_diagonal=False)
