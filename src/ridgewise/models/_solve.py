# SPDX-License-Identifier: BSD-3-Clause
"""One ridge problem: its dual and primal coefficients, by the solver that its numbers allow.

Cholesky factors are scikit-learn's (`KernelRidge`). The rest is written here, because its `Ridge`
has no dual coefficients, solves sparse X with an intercept by iterations only, and inverts the
singular value of rounding size that centring leaves: at alpha = 0 its coefficients are then wrong.
"""

from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from ridgewise._typing import FloatArray, is_sparse
from ridgewise.models._path import EPS, DualPath, positive_part
from ridgewise.spectrum import rank_limit

Coefficients = tuple[FloatArray, FloatArray]  # dual and primal, one column a target
Solution = tuple[FloatArray, FloatArray, FloatArray]  # these, and the intercepts


def solve_ridge(X: Any, Y: FloatArray, alpha: float, *, fit_intercept: bool) -> Solution:
    """Solve the ridge problem of X and Y with alpha on the kernel's diagonal.

    ::

        dual_coef = (K + alpha I)^-1 Y,    K = X X^T,    coef = X^T dual_coef

    and K^+ Y for alpha = 0. With an intercept, the columns of X and Y are centred first: those of
    sparse X implicitly. Rounding costs a Cholesky factor of K + alpha I about eps trace(K) / alpha
    in accuracy: dense X is solved so where that is below sqrt(eps), sparse X (of which only K, or
    X^T X, is computed) down to alpha = max(X.shape) * eps trace(K). Below, by the spectrum.
    """
    zeros = np.zeros(X.shape[1])
    x_mean = np.asarray(X.mean(axis=0)).ravel() if fit_intercept else zeros
    y_mean = Y.mean(axis=0) if fit_intercept else np.zeros(Y.shape[1])
    offset, Y = x_mean, Y - y_mean
    if fit_intercept and not is_sparse(X):
        # Explicitly, since X X^T of data far from its origin has no digits left for the rest; and
        # twice, since the first mean has lost digits too
        X, offset = X - x_mean, zeros
        rest = X.mean(axis=0)
        X, x_mean = X - rest, x_mean + rest

    n_samples, n_features = X.shape
    smallest = max(X.shape) * EPS if is_sparse(X) else float(np.sqrt(EPS))
    most = rank_limit(n_samples, n_features, fit_intercept)
    if alpha > smallest * row_norms(X, squared=True).sum():
        dual_coef, coef = _by_cholesky(X, offset, Y, alpha)
    elif not is_sparse(X):
        dual_coef, coef = _by_singular_values(X, Y, alpha, most)
    else:
        solve = _by_kernel if n_samples <= n_features else _by_covariance
        dual_coef, coef = solve(X, offset, Y, alpha, most)
    if fit_intercept:
        # It sums to zero but for rounding, which a small alpha makes large
        dual_coef -= dual_coef.mean(axis=0)
    return dual_coef, coef, y_mean - x_mean @ coef


# Below, the data is X - 1 m^T with m = offset, which is zero unless X is sparse and centred.


def _by_cholesky(X: Any, offset: FloatArray, Y: FloatArray, alpha: float) -> Coefficients:
    """Solve in the smaller of the dual and the primal, for alpha well above zero."""
    if X.shape[0] <= X.shape[1]:
        dual_coef = _solve_shifted(_kernel(X, offset), Y, alpha)
        return dual_coef, _transpose_dot(X, offset, dual_coef)
    # (X^T X + alpha I) coef = X^T Y, and (K + alpha I) dual_coef = Y reads
    # X coef + alpha dual_coef = Y
    coef = _solve_shifted(_covariance(X, offset), _transpose_dot(X, offset, Y), alpha)
    return (Y - _dot(X, offset, coef)) / alpha, coef


def _solve_shifted(G: FloatArray, B: FloatArray, alpha: float) -> FloatArray:
    # (G + alpha I)^-1 B
    return KernelRidge(alpha=alpha, kernel="precomputed").fit(G, B).dual_coef_


# On the range of K alone, of rank ``most`` at most, for alpha of zero or nearly:


def _by_singular_values(X: FloatArray, Y: FloatArray, alpha: float, most: int) -> Coefficients:
    # X = V S U^T, coef = U S (S^2 + alpha I)^-1 V^T Y; X^T dual_coef would lose small features
    V, sigma, Ut = np.linalg.svd(X, full_matrices=False)
    above = np.count_nonzero(sigma > max(X.shape) * EPS * sigma.max(initial=0.0))
    rank = min(int(above), most)
    V, sigma, Ut = V[:, :rank], sigma[:rank], Ut[:rank]
    coef = Ut.T @ ((sigma / (sigma**2 + alpha))[:, np.newaxis] * (V.T @ Y))
    return DualPath(V, sigma**2).dual_coef(Y, [alpha])[:, 0], coef


def _by_kernel(X: Any, offset: FloatArray, Y: FloatArray, alpha: float, most: int) -> Coefficients:
    K = _kernel(X, offset)
    path = DualPath(*positive_part(K, X.shape[1], _removed(X, offset), most))
    coef = _transpose_dot(X, offset, path.range_coef(Y, [alpha])[:, 0])
    return path.dual_coef(Y, [alpha])[:, 0], coef


def _by_covariance(
    X: Any, offset: FloatArray, Y: FloatArray, alpha: float, most: int
) -> Coefficients:
    # C = X^T X = Q diag(k) Q^T and B = X^T Y: coef = Q (diag(k) + alpha I)^-1 Q^T B, and
    # dual_coef = X C^+ coef + (Y - X C^+ B) / alpha, which never needs X Q, dense and tall
    C = _covariance(X, offset)
    Q, k = positive_part(C, X.shape[0], _removed(X, offset), most)
    B = _transpose_dot(X, offset, Y)
    coef = (Q / (k + alpha)) @ (Q.T @ B)
    dual_coef = _dot(X, offset, (Q / k) @ (Q.T @ coef))
    if alpha > 0:
        dual_coef += (Y - _dot(X, offset, (Q / k) @ (Q.T @ B))) / alpha
    return dual_coef, coef


def _removed(X: Any, offset: FloatArray) -> float:
    """Size of what implicit centring subtracts from K, and so of the rounding that it leaves."""
    return X.shape[0] * float(offset @ offset)


def _kernel(X: Any, offset: FloatArray) -> FloatArray:
    # (X - 1 m^T)(X - 1 m^T)^T = X X^T - X m 1^T - 1 m^T X^T + m^T m 1 1^T
    p = X @ offset
    K = safe_sparse_dot(X, X.T, dense_output=True)
    return K - np.add.outer(p, p) + offset @ offset


def _covariance(X: Any, offset: FloatArray) -> FloatArray:
    # (X - 1 m^T)^T (X - 1 m^T) = X^T X - n m m^T
    C = safe_sparse_dot(X.T, X, dense_output=True)
    return C - X.shape[0] * np.outer(offset, offset)


def _dot(X: Any, offset: FloatArray, B: FloatArray) -> FloatArray:
    # (X - 1 m^T) B
    return X @ B - offset @ B


def _transpose_dot(X: Any, offset: FloatArray, B: FloatArray) -> FloatArray:
    # (X - 1 m^T)^T B
    return X.T @ B - np.outer(offset, B.sum(axis=0))
