# SPDX-License-Identifier: BSD-3-Clause
"""A decomposed, and one barrier's view of it: its resolvent, with no decomposition at every draw.

With A = Q (diag(lam) + Z^T T Z) Q^T, decomposed some draws ago and the k rows drawn since in Z
(rotated by Q), the matrix between A and a barrier is, in the coordinates of Q,

    M = diag(e) + sign Z^T T Z,    e > 0 the old gaps,    sign = +1 (lower) or -1 (upper),

and its inverse is diagonal plus rank k (Woodbury):

    N = M^-1 = G - sign C^T C,    G = diag(1 / e),    C = R^-T Z G,    R^T R = T^-1 + sign Z G Z^T.

Compiled draws (``_draws.c``) can do with a tridiagonal matrix in the place of diag(lam), which
takes less than half of the time.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dorghr, dpotrf, dpttrf, dstebz, dsyevd, dsytrd

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


class LostDefinitenessError(ArithmeticError):
    """The stale decomposition no longer carries the barrier: decompose again."""


class Resolvent:
    """N = (A - L I)^-1 for the lower barrier (sign +1), (U I - A)^-1 for the upper one (-1)."""

    g: FloatArray
    C: FloatArray | None
    trace: float
    change: float

    def __init__(self, sign: int) -> None:
        self.sign = sign
        self.potential = np.nan

    def move(self, gaps: FloatArray, Z: FloatArray, t_inverse: FloatArray) -> None:
        """Move the barrier, so that the eigenvalues decomposed are at ``gaps`` from it now.

        ``Z`` are the rows, rotated, that A has grown by since; ``t_inverse`` is 1 / their weights.
        """
        if min(gaps[0], gaps[-1]) <= 0:  # eigenvalues are sorted, so these are extreme
            raise LostDefinitenessError
        self.g = 1 / gaps
        self.C = self.low_rank_factor(Z, t_inverse) if len(Z) else None
        self.trace = float(np.add.reduce(self.g))
        if self.C is not None:
            self.trace -= self.sign * float(np.vdot(self.C, self.C))
        # Phi(L + 1) - Phi(L) below, Phi^(U) - Phi^(U + delta_U) above: positive, both of them
        self.change = self.sign * (self.trace - self.potential)
        if not self.change > 0:
            raise LostDefinitenessError

    def low_rank_factor(self, Z: FloatArray, t_inverse: FloatArray) -> FloatArray:
        """C = R^-T Z G, with R^T R = T^-1 + sign Z G Z^T."""
        ZG = Z * self.g
        S = ZG @ Z.T
        if self.sign < 0:
            np.negative(S, out=S)
        S.ravel()[:: len(Z) + 1] += t_inverse
        R, failed = dpotrf(S.T, lower=0, clean=0, overwrite_a=1)
        if failed:
            raise LostDefinitenessError
        C: FloatArray = dtrsm(1.0, R, ZG.T, side=1, lower=0, overwrite_b=1).T
        return C

    def times(self, z: FloatArray) -> FloatArray:
        """The rows of z times N."""
        Nz = z * self.g
        if self.C is not None:
            Nz -= self.sign * ((z @ self.C.T) @ self.C)
        return Nz

    def shift(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Each row's L (lower barrier) or U (upper), and the positive term z^T N^2 z / change."""
        Nz = self.times(z)
        term = np.einsum("ij,ij->i", Nz, Nz) / self.change
        return term - self.sign * np.einsum("ij,ij->i", Nz, z), term

    def add(self, t: float, z: FloatArray) -> None:
        """Account for A + t z^T z in the potential, z being rows (Woodbury)."""
        Nz = self.times(z)
        inner = np.eye(len(z)) / t + self.sign * Nz @ z.T
        self.potential = self.trace - self.sign * float(np.trace(np.linalg.solve(inner, Nz @ Nz.T)))
