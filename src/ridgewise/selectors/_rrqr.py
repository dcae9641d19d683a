# SPDX-License-Identifier: BSD-3-Clause
"""Rank-revealing QR: the first pivots of a column-pivoted QR factorization."""

from typing import Any, Self

import numpy as np
from scipy.linalg import qr
from sklearn.utils.validation import validate_data

from ridgewise._run import one_blas_thread, remembered
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.selectors._base import FeatureSelector, as_numbers, check_n_features
from ridgewise.spectrum import as_dense, is_outside


class RRQRSelector(FeatureSelector):
    """Select features by LAPACK's column-pivoted QR factorization.

    Each pivot is the feature farthest from the span of the previous ones. There are rank(X)
    pivots; the remaining columns are in their span. ``restart=True`` factorizes the remaining
    columns again. ``restart=False`` appends them in the order in which LAPACK leaves them, nearly
    the storage order, as in the paper.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        Number of features (int), or their share (float in (0, 1]). None: rank(X).
    restart : bool, default=True
        Whether to factorize the remaining columns when more than rank(X) are selected.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Feature indices in the order of selection.
    weights_ : ndarray of shape (n_selected,)
        All ones.
    rank_ : int
        Number of pivots in the first factorization.
    n_selected_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only if X has feature names that are all strings.

    See Also
    --------
    BSSSelector : Has a guarantee beyond the rank.

    Notes
    -----
    The factorization makes a dense float64 copy of X.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise import RRQRSelector
    >>> X = np.array([[1.0, 2.0, 0.0], [0.0, 0.1, 1.0]])
    >>> RRQRSelector(2).fit(X).selected_
    array([1, 2])
    """

    def __init__(
        self, n_features_to_select: int | float | None = None, *, restart: bool = True
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.restart = restart

    def _fit(self, X: Any, y: Any) -> Self:
        if is_outside(X):
            raise ValueError(
                "RRQRSelector needs X as a dense array in memory; got "
                f"{type(X).__module__}.{type(X).__name__} of shape {X.shape}. Load it first, or "
                "use BSSSelector, which reads X in blocks"
            )
        X = as_numbers(validate_data(self, X, accept_sparse="csc", dtype="numeric"))
        wanted = check_n_features(self.n_features_to_select, X.shape[1], default=0)
        order, self.rank_ = remembered(pivots, X)
        wanted = min(wanted or max(1, self.rank_), X.shape[1])
        if self.restart and wanted > self.rank_:
            order = restarted(as_dense(X), order, self.rank_, wanted)
        return self._set_selection(order[:wanted])


def pivots(X: Any) -> tuple[IndexArray, int]:
    """Return the permutation of a column-pivoted QR of X, and the rank."""
    with one_blas_thread():
        copy = as_dense(X).astype(np.float64)
        R, order = qr(copy, overwrite_a=True, mode="r", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diagonal(R))
    cutoff = np.finfo(np.float64).eps * max(X.shape) * diagonal[0]
    return order.astype(np.intp), int(np.count_nonzero(diagonal > cutoff))


def restarted(X: FloatArray, order: IndexArray, rank: int, wanted: int) -> IndexArray:
    """Return the pivots of X, then of the remaining columns, until there are enough."""
    taken = [order[:rank]]
    left = np.sort(order[rank:])
    while rank > 0 and sum(map(len, taken)) < wanted:
        order, rank = pivots(X[:, left])
        taken.append(left[order[:rank]])
        left = np.delete(left, order[:rank])
    return np.concatenate([*taken, left])  # the rest are zero columns, or not needed
