# SPDX-License-Identifier: BSD-3-Clause
"""Rank-revealing QR: the columns that a column-pivoted QR takes first."""

from typing import Any, Self

import numpy as np
from scipy.linalg import qr
from sklearn.utils.validation import validate_data

from ridgewise._memory import remembered
from ridgewise._threads import one_blas_thread
from ridgewise._typing import FloatArray, IndexArray, is_sparse
from ridgewise.selectors._base import FeatureSelector, as_numbers, check_n_features
from ridgewise.spectrum import is_outside


class RRQRSelector(FeatureSelector):
    """Select features by LAPACK's column-pivoted QR factorization.

    Each pivot is the feature that is farthest from the span of those before it. There are only
    rank(X) of them; past them all remaining columns are in the span. With ``restart=True`` the
    factorization starts again on the columns that are left; with ``restart=False`` they come in
    the order in which the factorization left them, nearly that of storage: what the paper did.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        How many features, or which share of them. None: the rank of X. At most d.
    restart : bool, default=True
        What happens past the rank of X.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Feature indices in the order of selection.
    weights_ : ndarray of shape (n_selected,)
        Ones: this method does not weight.
    n_selected_ : int
    rank_ : int
        Number of pivots in the first factorization.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only where X has feature names that are all strings.

    See Also
    --------
    BSSSelector : Selects with a guarantee, past the rank.

    Notes
    -----
    The factorization needs X dense, in float64.

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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features of X.

        Parameters
        ----------
        X : array, sparse array or data frame of shape (n, d)
        y : ignored
            Present for pipelines.

        Returns
        -------
        self
        """
        if is_outside(X):
            raise ValueError(
                "RRQRSelector needs all of X in memory, dense; got a container that is not: "
                f"{type(X).__module__}.{type(X).__name__} of shape {X.shape}. Load it first, or "
                "use BSSSelector, which does without"
            )
        X = as_numbers(validate_data(self, X, accept_sparse="csc", dtype="numeric"))
        wanted = check_n_features(self.n_features_to_select, X.shape[1], default=0)
        order, self.rank_ = remembered(pivots, X)
        wanted = min(wanted or max(1, self.rank_), X.shape[1])
        if self.restart and wanted > self.rank_:
            order = restarted(as_dense(X), order, self.rank_, wanted)
        return self._set_selection(order[:wanted])


def as_dense(X: Any) -> FloatArray:
    """A copy of X, dense and in float64."""
    return (X.toarray() if is_sparse(X) else X).astype(np.float64)


def pivots(X: Any) -> tuple[IndexArray, int]:
    """The permutation of a column-pivoted QR of X, and its number of pivots, the rank."""
    with one_blas_thread():
        R, order = qr(as_dense(X), overwrite_a=True, mode="r", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diagonal(R))
    cutoff = np.finfo(np.float64).eps * max(X.shape) * diagonal[0]
    return order.astype(np.intp), int(np.count_nonzero(diagonal > cutoff))


def restarted(X: FloatArray, order: IndexArray, rank: int, wanted: int) -> IndexArray:
    """Pivots of X, then those of the columns left, and so on, until there are enough."""
    taken = [order[:rank]]
    left = np.sort(order[rank:])
    while rank > 0 and sum(map(len, taken)) < wanted:
        order, rank = pivots(X[:, left])
        taken.append(left[order[:rank]])
        left = np.delete(left, order[:rank])
    return np.concatenate([*taken, left])  # what is left is zero, or not needed
