# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's supervised selectors, with the interface of this package."""

from typing import Any, Self
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, f_classif, f_regression
from sklearn.linear_model import Lasso, Ridge, RidgeClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, l1_min_c
from sklearn.utils import check_X_y
from sklearn.utils.validation import validate_data

from ridgewise._run import check_one_of, remembered
from ridgewise._typing import FloatArray, is_sparse
from ridgewise.selectors._base import FeatureSelector, check_n_features, descending, validate_wide
from ridgewise.spectrum import column_variances

L1_PENALTIES = (0.5, 0.3, 0.2, 0.1)  # of the smallest that leaves no feature; weaker ones fit noise
RFE_STEP = 0.1  # of all features, removed in a round
RFE_ALPHA = 0.1  # of the mean diagonal of the centred kernel


class SklearnSelector(FeatureSelector):
    """Select features by a filter or model of scikit-learn.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        Number of features (int), or their share (float in (0, 1]). None: half.
    by : {"f-test", "l1", "rfe"}, default="f-test"
        "f-test": `f_classif` or `f_regression`, feature by feature. "l1": the largest coefficients
        of `Lasso` or of `LinearSVC` with an l1 penalty, on standardized features: at the first
        of .5, .3, .2 and .1 of the largest penalty with enough non-zeros, then by the F-test.
        "rfe": `RFE` with `Ridge` or `RidgeClassifier`, a tenth of the features in a round.
    classify : bool, default=True
        Whether the target holds class labels, not numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.selectors import SklearnSelector
    >>> X = np.array([[1.0, 5.0, 2.0], [2.0, 5.1, 2.0], [1.0, 1.0, 2.5], [2.0, 1.2, 2.0]])
    >>> SklearnSelector(1).fit(X, ["tea", "tea", "ale", "ale"]).selected_
    array([1])
    """

    _needs_target = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        by: str = "f-test",
        classify: bool = True,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.by = by
        self.classify = classify

    def _fit(self, X: Any, y: Any) -> Self:
        check_one_of("by", self.by, ("f-test", "l1", "rfe"))
        y = tuple(validate_data(self, y=y).tolist())  # hashable, so that results are remembered
        X = validate_wide(self, X)
        d = X.shape[1]
        wanted = min(d, check_n_features(self.n_features_to_select, d, default=max(1, d // 2)))
        target = {"y": y, "classify": bool(self.classify)}
        if self.by == "f-test":
            scores = remembered(_f_values, X, **target)
        elif self.by == "l1":
            scores = _l1_scores(X, wanted, **target)
        else:
            scores = _rfe_scores(X, wanted, **target)
        return self._set_selection(descending(scores)[:wanted])


def _checked(X: Any, y: tuple[Any, ...], classify: bool) -> tuple[Any, Any]:
    return check_X_y(X, y, accept_sparse="csr", dtype=np.float64, y_numeric=not classify)


def _f_values(X: Any, *, y: tuple[Any, ...], classify: bool) -> FloatArray:
    """F values; constant features come last."""
    X, target = _checked(X, y, classify)
    with np.errstate(divide="ignore", invalid="ignore"), catch_warnings():
        simplefilter("ignore", UserWarning)  # constant features
        scores = (f_classif if classify else f_regression)(X, target)[0]
    largest = np.nanmax(np.where(np.isfinite(scores), scores, 0.0), initial=0.0)
    finite = np.nan_to_num(scores, nan=-1.0, posinf=2 * largest + 1)
    return np.asarray(finite / max(largest, 1.0))


def _l1_scores(X: Any, count: int, **target: Any) -> FloatArray:
    """Sizes of coefficients at the first penalty with enough non-zeros; F values below them."""
    path = remembered(_l1_sizes, X, **target)
    enough = np.count_nonzero(path, axis=1) >= count
    sizes = path[enough.argmax() if enough.any() else -1]
    f_values = remembered(_f_values, X, **target)
    return np.where(sizes > 0, f_values.max() + 1 + sizes / (sizes.max() or 1.0), f_values)


def _l1_sizes(X: Any, *, y: tuple[Any, ...], classify: bool) -> FloatArray:
    """Sizes of coefficients on standardized features, for each of `L1_PENALTIES`."""
    X, target = _checked(X, y, classify)
    Z = StandardScaler(with_mean=not is_sparse(X)).fit_transform(X)
    if classify:
        smallest = l1_min_c(Z, target)
        models: list[Any] = [
            LinearSVC(C=smallest / penalty, penalty="l1", dual=False, tol=1e-3)
            for penalty in L1_PENALTIES
        ]
    else:
        largest = np.abs(Z.T @ (target - target.mean())).max() / len(target)
        models = [Lasso(alpha=penalty * largest, tol=1e-3) for penalty in L1_PENALTIES]
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # a ranking needs few digits
        return np.array([_sizes(model.fit(Z, target).coef_) for model in models])


def _rfe_scores(X: Any, count: int, *, y: tuple[Any, ...], classify: bool) -> FloatArray:
    """0 for features that were eliminated; for the others the sizes of their coefficients."""
    X, target = _checked(X, y, classify)
    alpha = max(RFE_ALPHA * float(column_variances(X).sum()), np.finfo(np.float64).tiny)
    model = RidgeClassifier(alpha) if classify else Ridge(alpha)
    found = RFE(model, n_features_to_select=count, step=RFE_STEP).fit(X, target)
    scores = np.zeros(X.shape[1])
    sizes = _sizes(found.estimator_.coef_)
    scores[found.support_] = 1 + sizes / max(sizes.max(initial=0.0), np.finfo(np.float64).tiny)
    return scores


def _sizes(coef: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(np.atleast_2d(coef), axis=0))
