# SPDX-License-Identifier: BSD-3-Clause
"""Random selection, the baseline."""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from ridgewise.selectors._base import FeatureSelector, check_n_features, validate_wide
from ridgewise.spectrum import as_columns


class RandomSelector(FeatureSelector):
    """Select features uniformly at random, without replacement.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        How many features, or which share of them. None: half. At most d.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same features on every run.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Feature indices in the order of selection.
    weights_ : ndarray of shape (n_selected,)
        Ones: this method does not weight.
    n_selected_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only where X has feature names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise import RandomSelector
    >>> RandomSelector(2, random_state=0).fit(np.eye(5)).selected_
    array([2, 0])
    """

    def __init__(
        self, n_features_to_select: int | float | None = None, *, random_state: Any = None
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features of X.

        Parameters
        ----------
        X : array, sparse array or data frame, or stored or Dask array, of shape (n, d)
        y : ignored
            Present for pipelines.

        Returns
        -------
        self
        """
        X = validate_wide(self, X)
        as_columns(X).check_finite()
        d = X.shape[1]
        wanted = check_n_features(self.n_features_to_select, d, default=max(1, d // 2))
        order = check_random_state(self.random_state).permutation(d)
        return self._set_selection(np.asarray(order[: min(wanted, d)]))
