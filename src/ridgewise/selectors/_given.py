# SPDX-License-Identifier: BSD-3-Clause
"""A selector of given features."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ridgewise.selectors._base import FeatureSelector, validate_wide


class GivenSelector(FeatureSelector):
    """Select the features that are given, such as a published panel of genes.

    Parameters
    ----------
    features : sequence of int
        Indices of the features, each once.
    weights : sequence of float, default=None
        Their weights. None: 1 each.
    rescale : bool, default=True
        Whether ``transform`` multiplies features by the square roots of their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.selectors import GivenSelector
    >>> GivenSelector([2, 0]).fit_transform(np.array([[1.0, 2.0, 3.0]]))
    array([[1., 3.]])
    """

    def __init__(
        self,
        features: Sequence[int] = (),
        *,
        weights: Sequence[float] | None = None,
        rescale: bool = True,
    ) -> None:
        self.features = features
        self.weights = weights
        self.rescale = rescale

    def _fit(self, X: Any, y: Any) -> Self:
        X = validate_wide(self, X)
        indices = np.asarray(self.features, dtype=np.intp)
        if not len(indices) or len(np.unique(indices)) < len(indices):
            raise ValueError("features must be a list of distinct indices, at least one")
        if indices.min() < 0 or indices.max() >= X.shape[1]:
            raise ValueError(
                f"features must be from 0 to {X.shape[1] - 1}; got {indices.min()} to "
                f"{indices.max()}"
            )
        weights = None if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        return self._set_selection(indices, weights)
