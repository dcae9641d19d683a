# SPDX-License-Identifier: BSD-3-Clause
"""One barrier's view of A: its resolvent, kept without a decomposition at every draw.

With A = Q (diag(lam) + Z^T T Z) Q^T, decomposed some draws ago and the k rows drawn since in Z
(rotated by Q), the matrix between A and a barrier is, in the coordinates of Q,

    M = diag(e) + sign Z^T T Z,    e > 0 the old gaps,    sign = +1 (lower) or -1 (upper),

and its inverse is diagonal plus rank k (Woodbury):

    N = M^-1 = G - sign C^T C,    G = diag(1 / e),    C = R^-T Z G,    R^T R = T^-1 + sign Z G Z^T.
"""

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf

from ridgewise._typing import FloatArray


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
