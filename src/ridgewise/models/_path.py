# SPDX-License-Identifier: BSD-3-Clause
"""Ridge models for every alpha, from one decomposition of the kernel."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.extmath import safe_sparse_dot

from ridgewise._typing import FloatArray, is_sparse
from ridgewise.spectrum import rank_limit

EPS = float(np.finfo(np.float64).eps)
WIDE = 4  # features per sample above which a sparse kernel is cheaper than dense features


@dataclass(frozen=True, eq=False)
class DualPath:
    """Ridge models of one kernel for any alphas and targets, from one decomposition.

    With K = V diag(k) V^T, where k are the eigenvalues above zero, the dual coefficients of a
    target y are ::

        (K + alpha I)^-1 y = V (diag(k) + alpha I)^-1 V^T y + (y - V V^T y) / alpha

    and for alpha = 0 the minimum-norm ones, K^+ y: the first term alone. Each further alpha or
    target costs two small products.

    >>> X = np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> path = DualPath.from_features(X)
    >>> path.predict(np.array([[1.0, 1.0, 1.0]]) @ X.T, [1.0, -1.0], alphas=[0.0, 1.0])
    array([[-0.5, -0.1]])
    """

    basis: FloatArray  # V, n_samples x rank
    eigenvalues: FloatArray  # k, all above zero

    @classmethod
    def from_features(cls, A: ArrayLike, most: int | None = None) -> Self:
        """Decompose A A^T, of rank ``most`` at most, by the smaller of A A^T and A^T A."""
        A = np.asarray(A, dtype=np.float64)
        if A.shape[0] <= A.shape[1]:
            return cls(*positive_part(A @ A.T, size=A.shape[1], most=most))
        # A^T A = Q diag(k) Q^T, so V = A Q diag(k)^-1/2
        Q, k = positive_part(A.T @ A, size=A.shape[0], most=most)
        return cls(A @ (Q / np.sqrt(k)), k)

    def dual_coef(self, Y: ArrayLike, alphas: ArrayLike) -> FloatArray:
        """Compute the dual coefficients, (K + alpha I)^-1 Y, for every alpha and target.

        Y has shape (n_samples,) or (n_samples, n_targets), the result (n_samples, n_alphas) or
        (n_samples, n_alphas, n_targets).
        """
        Y, alphas = np.asarray(Y, dtype=np.float64), np.asarray(alphas, dtype=np.float64)
        coef = self.range_coef(Y, alphas)
        positive = alphas > 0
        # If K has full rank, what is outside its range is rounding, which 1 / alpha would amplify
        if positive.any() and self.eigenvalues.size < Y.shape[0]:
            outside = Y - self.basis @ (self.basis.T @ Y)
            # Twice, since what rounding errors leave in the range would be divided by alpha
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


def dual_path(A: Any, A_test: Any = None, *, center: bool) -> tuple[DualPath, FloatArray | None]:
    """Decompose the kernel A A^T, and compute A_test A^T if there are test samples.

    ``center``: subtract the means of A's features from both; if wide and sparse, implicitly.
    """
    n, d = A.shape
    most, implicit = rank_limit(n, d, center), is_sparse(A) and d > WIDE * n
    A, *tests = (
        _checked(part.toarray() if is_sparse(part) and not implicit else part)
        for part in (A, A_test)
        if part is not None
    )
    mean = np.asarray(A.mean(axis=0)).ravel() if center else np.zeros(d)
    if implicit:
        K, *K_tests = (centred_kernel(part, A, mean) for part in (A, *tests))
        path = DualPath(*positive_part(K, d, n * float(mean @ mean), most))
    else:
        A, *tests = (part - mean for part in (A, *tests)) if center else (A, *tests)
        path, K_tests = DualPath.from_features(A, most), [test @ A.T for test in tests]
    return path, K_tests[0] if K_tests else None


def _checked(A: Any) -> Any:
    """Convert to float64; raise if squares of the features overflow."""
    A = (A if is_sparse(A) else np.asarray(A)).astype(np.float64, copy=False)
    values = A.data if is_sparse(A) else A
    if not np.isfinite(np.vdot(values, values)):
        raise ValueError("squares of the features overflow: scale X")
    return A


def centred_kernel(X: Any, Z: Any, m: FloatArray) -> FloatArray:
    """Compute (X - 1 m^T) (Z - 1 m^T)^T; X and Z may be sparse."""
    # X Z^T - X m 1^T - 1 (Z m)^T + m^T m 1 1^T
    K = safe_sparse_dot(X, Z.T, dense_output=True)
    return K - np.add.outer(X @ m, Z @ m) + m @ m


def positive_part(
    gram: FloatArray, size: int, scale: float = 0.0, most: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Decompose a Gram matrix into eigenvectors and ascending eigenvalues above rounding.

    Eigenvalues of at most size * eps times the largest are zero: singular values of X below about
    2e-7 of the largest, which K cannot hold in float64. ``scale`` stands for the largest where it
    is larger: of a Gram matrix centred by subtraction, n ||m||^2 for means m, which is the size of
    what was subtracted. At most ``most`` are kept. Only the lower triangle is read.
    """
    k, V = np.linalg.eigh(gram)
    scale = max(scale, np.abs(k).max(initial=0.0))
    # Rounding moves zero eigenvalues by a few eps of the scale; nothing else is negative
    if k.min(initial=0.0) < -np.sqrt(EPS) * scale:
        raise ValueError(
            f"K must be positive semi-definite, as every kernel is; "
            f"its eigenvalues reach from {k[0]:.3g} to {k[-1]:.3g}."
        )
    rank = int(np.count_nonzero(k > size * EPS * scale))
    first = len(k) - (rank if most is None else min(rank, most))
    return V[:, first:], k[first:]
