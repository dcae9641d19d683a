# SPDX-License-Identifier: BSD-3-Clause
"""Ridge models for every alpha, from one decomposition of the kernel."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ridgewise._typing import FloatArray

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class DualPath:
    """Ridge models of one kernel for any alphas and targets, from one decomposition.

    With K = V diag(k) V^T, where k are the eigenvalues above zero, the dual coefficients of a
    target y are ::

        (K + alpha I)^-1 y = V (diag(k) + alpha I)^-1 V^T y + (y - V V^T y) / alpha

    and for alpha = 0 the minimum-norm ones, K^+ y: the first term alone. Build a path with
    `from_kernel` or `from_features`; a further alpha or target then costs two small products. Both
    take an eigenvalue for zero where it is at most max(shape) * eps times the largest: singular
    values of X below about 2e-7 of the largest, which K cannot hold in float64.

    >>> X = np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> path = DualPath.from_kernel(X @ X.T)
    >>> path.predict(np.array([[1.0, 1.0, 1.0]]) @ X.T, [1.0, -1.0], alphas=[0.0, 1.0])
    array([[-0.5, -0.1]])
    """

    basis: FloatArray  # V, n_samples x rank
    eigenvalues: FloatArray  # k, all above zero

    @classmethod
    def from_kernel(cls, K: ArrayLike) -> Self:
        """Decompose a kernel: one eigendecomposition, n_samples x n_samples."""
        K = np.asarray(K, dtype=np.float64)
        return cls(*positive_part(K, size=K.shape[0]))

    @classmethod
    def from_features(cls, A: ArrayLike) -> Self:
        """Decompose the kernel A A^T through the smaller of A A^T and A^T A."""
        A = np.asarray(A, dtype=np.float64)
        if A.shape[0] <= A.shape[1]:
            return cls(*positive_part(A @ A.T, size=A.shape[1]))
        # A^T A = Q diag(k) Q^T, so V = A Q diag(k)^-1/2
        Q, k = positive_part(A.T @ A, size=A.shape[0])
        return cls(A @ (Q / np.sqrt(k)), k)

    def dual_coef(self, Y: ArrayLike, alphas: ArrayLike) -> FloatArray:
        """Compute the dual coefficients, (K + alpha I)^-1 Y, for every alpha and target.

        Y has shape (n_samples,) or (n_samples, n_targets), the result (n_samples, n_alphas) or
        (n_samples, n_alphas, n_targets).
        """
        Y, alphas = np.asarray(Y, dtype=np.float64), np.asarray(alphas, dtype=np.float64)
        coef = self.range_coef(Y, alphas)
        positive = alphas > 0
        # Outside a range that is everything there is only rounding, for 1 / alpha to blow up
        if positive.any() and self.eigenvalues.size < Y.shape[0]:
            outside = Y - self.basis @ (self.basis.T @ Y)
            # Once more, since what rounding left inside would be divided by alpha
            outside -= self.basis @ (self.basis.T @ outside)
            coef[:, positive] += np.multiply.outer(1 / alphas[positive], outside).swapaxes(0, 1)
        return coef

    def range_coef(self, Y: ArrayLike, alphas: ArrayLike) -> FloatArray:
        """Compute the part of `dual_coef` in the range of K: the formula's first term.

        It is all that predictions need. The rest is large for small alphas, and its rounding too.
        """
        Y, alphas = np.asarray(Y, dtype=np.float64), np.asarray(alphas, dtype=np.float64)
        k = self.eigenvalues.reshape(-1, *(1,) * Y.ndim)
        alpha = alphas.reshape(-1, *(1,) * (Y.ndim - 1))
        coordinates = (self.basis.T @ Y)[:, np.newaxis]
        return np.tensordot(self.basis, coordinates / (k + alpha), axes=1)

    def predict(self, K_test: Any, Y: ArrayLike, alphas: ArrayLike) -> FloatArray:
        """Predict at test points, K_test (K + alpha I)^-1 Y, in the shape of `dual_coef`.

        K_test (n_test, n_samples) has the inner products of test points and training samples.
        """
        coef = self.range_coef(Y, alphas)
        predictions = K_test @ coef.reshape(len(coef), -1)
        return predictions.reshape(K_test.shape[0], *coef.shape[1:])


def positive_part(
    gram: FloatArray, size: int, scale: float = 0.0, most: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Decompose a Gram matrix into eigenvectors and ascending eigenvalues above rounding.

    Eigenvalues of at most size * eps times the largest are zero, or times ``scale`` where that is
    larger: the size of what the Gram matrix was the difference of, and so of its rounding. At most
    ``most`` are kept. Only the lower triangle is read.
    """
    k, V = np.linalg.eigh(gram)
    scale = max(scale, np.abs(k).max(initial=0.0))
    # Rounding puts zeros within a few eps of the scale, on both sides; nothing else is negative
    if k.min(initial=0.0) < -np.sqrt(EPS) * scale:
        raise ValueError(
            f"K must be positive semi-definite, as every kernel is; "
            f"its eigenvalues reach from {k[0]:.3g} to {k[-1]:.3g}."
        )
    rank = int(np.count_nonzero(k > size * EPS * scale))
    first = len(k) - (rank if most is None else min(rank, most))
    return V[:, first:], k[first:]
