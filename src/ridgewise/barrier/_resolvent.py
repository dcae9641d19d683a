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

    def start(self, gaps: FloatArray) -> None:
        """Begin with a decomposition of A, whose eigenvalues are at ``gaps`` from the barrier."""
        self.potential = float(np.sum(1 / gaps))

    def move(self, gaps: FloatArray, Z: FloatArray, t: FloatArray) -> None:
        """Move the barrier, so that the eigenvalues decomposed are at ``gaps`` from it now.

        ``Z`` and ``t`` are the rows, rotated, and the weights that A has grown by since.
        """
        if gaps.min() <= 0:
            raise LostDefinitenessError
        self.g = 1 / gaps
        self.C = self.low_rank_factor(Z, t) if len(Z) else None
        self.trace = float(self.g.sum())
        if self.C is not None:
            self.trace -= self.sign * float(np.vdot(self.C, self.C))
        # Phi(L + 1) - Phi(L) below, Phi^(U) - Phi^(U + delta_U) above: positive, both of them
        self.change = self.sign * (self.trace - self.potential)
        if not self.change > 0:
            raise LostDefinitenessError

    def low_rank_factor(self, Z: FloatArray, t: FloatArray) -> FloatArray:
        """C = R^-T Z G, with R^T R = T^-1 + sign Z G Z^T."""
        ZG = Z * self.g
        S = ZG @ Z.T
        if self.sign < 0:
            np.negative(S, out=S)
        S.flat[:: len(Z) + 1] += 1 / t
        R, failed = dpotrf(S.T, lower=0, clean=0, overwrite_a=1)
        if failed:
            raise LostDefinitenessError
        C: FloatArray = dtrsm(1.0, R, ZG.T, side=1, lower=0, overwrite_b=1).T
        return C

    def forms(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """z^T N^2 z and z^T N z of each row of z."""
        Nz = z * self.g
        if self.C is not None:
            Nz -= self.sign * ((z @ self.C.T) @ self.C)
        return np.einsum("ij,ij->i", Nz, Nz), np.einsum("ij,ij->i", Nz, z)

    def shift(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Each row's L (lower barrier) or U (upper), and the positive term z^T N^2 z / change."""
        square, plain = self.forms(z)
        term = square / self.change
        return term - self.sign * plain, term

    def quadratic(self) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
        """L or U as a quadratic form diag(w) + C^T B + B^T C; here (w, C, B).

        It is N^2 / change - sign N, multiplied out for N = G - sign C^T C.
        """
        ratio = self.g / self.change
        w = self.g * (ratio - self.sign)
        if self.C is None:
            return w, None, None
        inner = self.C @ self.C.T
        inner /= 2 * self.change
        inner.flat[:: len(inner) + 1] += 0.5
        return w, self.C, inner @ self.C - self.sign * (self.C * ratio)

    def form(self) -> FloatArray:
        """The same quadratic form as a matrix."""
        w, C, B = self.quadratic()
        W = np.zeros((len(w), len(w)))
        if C is not None and B is not None:
            W = C.T @ B
            W += W.T
        W.flat[:: len(w) + 1] += w
        return W

    def add(self, t: float, square: float, plain: float) -> None:
        """Account for A + t z z^T in the potential, given both forms of z (Sherman-Morrison)."""
        self.potential = self.trace - self.sign * t * square / (1 + self.sign * t * plain)
