# SPDX-License-Identifier: BSD-3-Clause
"""The paper's classifier: regularized least squares."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ridgewise._checks import check_number
from ridgewise._typing import AnyArray, FloatArray
from ridgewise.models._leave_one_out import class_targets
from ridgewise.models._solve import solve_ridge


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
