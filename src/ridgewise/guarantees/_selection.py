# SPDX-License-Identifier: BSD-3-Clause
"""What a certificate is about: the selected features, their weights, and how X was treated."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ridgewise._typing import FloatArray, IndexArray


@dataclass(frozen=True)
class Selection:
    """Selected features and their weights, in plain numbers: it compares, pickles and prints.

    Attributes
    ----------
    selected : tuple of int
        Feature indices, without repetition.
    weights : tuple of float
        Their weights.
    n_features : int
        The number d of all features.
    center : bool
        Whether the features' means were subtracted.
    rank : int or None
        The number of leading singular vectors that the certificate is about; None: all of X.

    Examples
    --------
    >>> Selection.of([2, 0], n_features=3)
    Selection(selected=(2, 0), weights=(1.0, 1.0), n_features=3, center=False, rank=None)
    """

    selected: tuple[int, ...]
    weights: tuple[float, ...]
    n_features: int
    center: bool = False
    rank: int | None = None

    @classmethod
    def of(cls, selected: ArrayLike, weights: ArrayLike | None = None, **about: Any) -> Self:
        """Take arrays; without weights, each is 1."""
        indices: IndexArray = np.asarray(selected, dtype=np.intp)
        w = np.ones(len(indices)) if weights is None else np.asarray(weights, dtype=np.float64)
        if w.shape != indices.shape or not np.all((w >= 0) & np.isfinite(w)):
            raise ValueError(
                f"expected a finite weight of at least 0 for each of the {len(indices)} selected "
                f"features, got shape {w.shape}"
            )
        return cls(tuple(indices.tolist()), tuple(w.tolist()), **about)

    @property
    def indices(self) -> IndexArray:
        """The selected features as an array."""
        return np.asarray(self.selected, dtype=np.intp)

    @property
    def w(self) -> FloatArray:
        """Their weights as an array."""
        return np.asarray(self.weights, dtype=np.float64)

    @property
    def keeps_all(self) -> bool:
        """Whether every feature is there with weight 1, so that K~ = K."""
        return len(self.selected) == self.n_features and set(self.weights) == {1.0}
