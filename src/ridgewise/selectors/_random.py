# SPDX-License-Identifier: BSD-3-Clause
"""Random selection, the baseline."""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from ridgewise._groups import groups_of
from ridgewise.selectors._base import FeatureSelector, check_n_groups, validate_wide
from ridgewise.spectrum import as_columns


class RandomSelector(FeatureSelector):
    """Select features uniformly at random, without replacement.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        Number of features (int), or their share (float in (0, 1]). None: half.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same features on every run.
    groups : None, int or array-like of shape (n_features,), default=None
        Groups of features that are selected whole and counted by ``n_features_to_select``: their
        size (int) if they are consecutive, or one label (any hashable) per feature.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Feature indices in the order of selection.
    weights_ : ndarray of shape (n_selected,)
        Ones; with groups, one per selected group.
    selected_groups_, group_sizes_ : ndarray of shape (n_selected_groups,)
        Only with groups: their labels (numbers from 0 if ``groups`` is an int), and their sizes.
    n_groups_ : int
        Only with groups: how many X has.
    n_selected_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only if X has feature names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise import RandomSelector
    >>> RandomSelector(2, random_state=0).fit(np.eye(5)).selected_
    array([2, 0])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        random_state: Any = None,
        groups: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.groups = groups

    def _fit(self, X: Any, y: Any) -> Self:
        X = validate_wide(self, X)
        groups = groups_of(self.groups, X)
        half = max(1, len(groups) // 2)
        wanted = check_n_groups(self.n_features_to_select, groups, default=half)
        as_columns(X).check_finite()
        order = check_random_state(self.random_state).permutation(len(groups))
        return self._set_selection(np.asarray(order[:wanted]), groups=groups)
