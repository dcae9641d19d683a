# SPDX-License-Identifier: BSD-3-Clause
"""The paper's classifier, regularized least squares, and the solver of its ridge problem.

Cholesky factors are scikit-learn's (`KernelRidge`). The rest is written here, because its `Ridge`
- has no dual coefficients: residuals over alpha have 4 digits at alpha = 1e-6, features near 100;
- solves sparse X with an intercept by iterations only;
- inverts the singular value of rounding size that centring leaves: its coefficients are then wrong
  at alpha = 0.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils import Tags
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ridgewise._run import check_number
from ridgewise._typing import AnyArray, FloatArray, is_sparse
from ridgewise.models._leave_one_out import class_targets
from ridgewise.models._path import EPS, DualPath, centred_kernel, positive_part
from ridgewise.spectrum import rank_limit

Coefficients = tuple[FloatArray, FloatArray]  # dual and primal, one column a target
Solution = tuple[FloatArray, FloatArray, FloatArray]  # these, and the intercepts


class RLSClassifier(ClassifierMixin, BaseEstimator):
    """Regularized least squares classification (RLSC).

    Labels are coded as -1 and +1 and fitted by ridge regression on the linear kernel
    K = X X^T ::

        dual_coef = (K + alpha I)^-1 y,    coef = X^T dual_coef,    f(x) = x^T coef + intercept

    and a point is classified by the sign of f. More than two classes are fitted one against the
    rest.

    Parameters
    ----------
    alpha : float, default=1.0
        What is added to the kernel's diagonal, at least 0: the paper's lambda for RLSC, and
        scikit-learn's alpha. 0 gives the solution of minimum norm, by the pseudo-inverse.
    fit_intercept : bool, default=False
        Whether to fit an intercept, not penalised. The paper has none. Sparse X stays sparse.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. With two, the second is coded as +1.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Coefficients of the features; one row where there are two classes.
    dual_coef_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        Coefficients of the training samples: `coef_` is `dual_coef_ @ X`.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Zeros where `fit_intercept` is False.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only if X has feature names that are all strings.

    See Also
    --------
    sklearn.linear_model.RidgeClassifier : The same model where `alpha` is above 0, without dual
        coefficients, and with other solvers.
    sklearn.kernel_ridge.KernelRidge : Its regression in the dual, for any kernel.

    Notes
    -----
    A point on the boundary, where f is 0, belongs to `classes_[0]`. With more than two classes
    the largest f decides, and among equals the first class.

    The smaller of the dual (n_samples) and the primal (n_features) problem is solved, in float64:
    by a Cholesky factor where alpha is large enough, otherwise, and so for alpha = 0, by the
    spectrum. Singular values of at most max(n_samples, n_features) * 2.2e-16 times the largest then
    count as zero; of sparse X their squares, since only K or X^T X is computed.

    References
    ----------
    S. Paul and P. Drineas, "Feature Selection for Ridge Regression with Provable Guarantees".

    Examples
    --------
    >>> from ridgewise.models import RLSClassifier
    >>> X = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> model = RLSClassifier(alpha=1.0).fit(X, ["spam", "ham"])
    >>> model.coef_
    array([[ 0.4, -0.5,  0. ]])
    >>> model.decision_function([[1.0, 0.0, 5.0], [0.0, 0.0, 5.0]])
    array([0.4, 0. ])
    >>> model.predict([[1.0, 0.0, 5.0], [0.0, 0.0, 5.0]])
    array(['spam', 'ham'], dtype='<U4')
    """

    classes_: AnyArray
    coef_: FloatArray
    dual_coef_: FloatArray
    intercept_: FloatArray
    n_features_in_: int

    def __init__(self, alpha: float = 1.0, *, fit_intercept: bool = False) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Their labels: of any kind, and at least two different ones.

        Returns
        -------
        self
        """
        alpha = check_number("alpha", self.alpha)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        self.classes_, indices = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "RLSClassifier needs samples of at least two classes; y has only one class, "
                f"{self.classes_.tolist()[0]!r}"
            )
        Y = class_targets(indices, np.arange(len(self.classes_)))
        dual_coef, coef, self.intercept_ = solve_ridge(
            X, Y, alpha, fit_intercept=self.fit_intercept
        )
        self.dual_coef_, self.coef_ = map(np.ascontiguousarray, (dual_coef.T, coef.T))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Compute f at each point, whose sign is the class.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column a class where there are more than two.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Of classes that tie, the first in `classes_`.
        """
        scores = self.decision_function(X)
        chosen = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[chosen]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


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
        # It sums to zero up to rounding errors, which a small alpha amplifies
        dual_coef -= dual_coef.mean(axis=0)
    return dual_coef, coef, y_mean - x_mean @ coef


# Below, the data is X - 1 m^T with m = offset, which is 0 unless X is sparse and has an intercept.


def _by_cholesky(X: Any, offset: FloatArray, Y: FloatArray, alpha: float) -> Coefficients:
    """Solve the smaller of the dual and the primal problem, for alpha well above zero."""
    if X.shape[0] <= X.shape[1]:
        dual_coef = _solve_shifted(centred_kernel(X, X, offset), Y, alpha)
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
    K, scale = centred_kernel(X, X, offset), X.shape[0] * float(offset @ offset)
    path = DualPath(*positive_part(K, X.shape[1], scale, most))
    coef = _transpose_dot(X, offset, path.range_coef(Y, [alpha])[:, 0])
    return path.dual_coef(Y, [alpha])[:, 0], coef


def _by_covariance(
    X: Any, offset: FloatArray, Y: FloatArray, alpha: float, most: int
) -> Coefficients:
    # C = X^T X = Q diag(k) Q^T and B = X^T Y: coef = Q (diag(k) + alpha I)^-1 Q^T B, and
    # dual_coef = X C^+ coef + (Y - X C^+ B) / alpha, which never needs X Q, dense and tall
    C, scale = _covariance(X, offset), X.shape[0] * float(offset @ offset)
    Q, k = positive_part(C, X.shape[0], scale, most)
    B = _transpose_dot(X, offset, Y)
    coef = (Q / (k + alpha)) @ (Q.T @ B)
    dual_coef = _dot(X, offset, (Q / k) @ (Q.T @ coef))
    if alpha > 0:
        dual_coef += (Y - _dot(X, offset, (Q / k) @ (Q.T @ B))) / alpha
    return dual_coef, coef


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
