# SPDX-License-Identifier: BSD-3-Clause
"""Information gain: mutual information of the class and the presence of a feature."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import entr
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ridgewise._run import check_number
from ridgewise._typing import AnyArray, FloatArray, IndexArray
from ridgewise.selectors._base import FeatureSelector, check_n_features, descending, validate_wide
from ridgewise.spectrum import as_columns, as_dense


class InformationGainSelector(FeatureSelector):
    """Select the features with the largest information gain.

    The only supervised method of the paper: it needs y. The gain of a feature is the entropy of the
    class minus its conditional entropy given the presence of the feature.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        Number of features (int), or their share (float in (0, 1]). None: half.
    threshold : float >= 0 or "median", default=0.0
        A feature is present in a sample if its absolute value is above this. With "median", if
        its value is above the feature's median: for continuous data, which have no zeros.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Feature indices by descending gain; ties by ascending index.
    weights_ : ndarray of shape (n_selected,)
        All ones.
    scores_ : ndarray of shape (n_features_in,)
        Information gain of every feature, in bits.
    classes_ : ndarray
    n_selected_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only if X has feature names that are all strings.

    See Also
    --------
    BSSSelector : Needs no labels.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise import InformationGainSelector
    >>> X = np.array([[1, 0, 2], [1, 3, 0], [1, 0, 1], [1, 1, 0]])
    >>> selector = InformationGainSelector(1).fit(X, ["tea", "ale", "tea", "ale"])
    >>> selector.selected_, selector.scores_
    (array([1]), array([0., 1., 1.]))
    """

    _needs_target = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        threshold: float | str = 0.0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.threshold = threshold

    def _fit(self, X: Any, y: Any) -> Self:
        if self.threshold != "median":
            check_number("threshold", self.threshold, otherwise=' or "median"')
        y = validate_data(self, y=y)
        X = validate_wide(self, X)
        check_consistent_length(X, y)
        check_classification_targets(y)
        d = X.shape[1]
        wanted = check_n_features(self.n_features_to_select, d, default=max(1, d // 2))
        self.classes_, y = np.unique(y, return_inverse=True)
        counts = as_columns(X).map(presence_counts, y, len(self.classes_), self.threshold)
        self.scores_ = information_gain(np.hstack(counts), np.bincount(y))
        return self._set_selection(descending(self.scores_)[: min(wanted, d)])


def information_gain(present: FloatArray, totals: AnyArray) -> FloatArray:
    """H(class) - H(class | presence) in bits, from counts of shape (classes, features)."""
    n = totals.sum()
    absent = totals[:, None] - present
    conditional = entropy(present) * present.sum(axis=0) + entropy(absent) * absent.sum(axis=0)
    return np.maximum(entropy(totals[:, None]) - conditional / n, 0.0)


def entropy(counts: AnyArray) -> FloatArray:
    """Entropy of each column of counts in bits; 0 for an empty column."""
    shares = counts / np.maximum(counts.sum(axis=0), 1)
    return entr(shares).sum(axis=0) / np.log(2)


def presence_counts(block: Any, y: IndexArray, n_classes: int, threshold: Any) -> FloatArray:
    """Count the samples of each class with each feature present, shape (classes, features)."""
    assert_all_finite(block, input_name="X")
    in_class = sp.csr_array((np.ones(len(y)), (y, np.arange(len(y)))), shape=(n_classes, len(y)))
    if threshold == "median":
        block = as_dense(block)
        return np.asarray(in_class @ (block > np.median(block, axis=0)))
    # Not abs(block) > threshold: abs(-128) overflows int8.
    return as_dense(in_class @ (block > threshold)) + as_dense(in_class @ (block < -threshold))
