# SPDX-License-Identifier: BSD-3-Clause
"""The path of a selection of features: what cross-validation asks for thousands of times."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ridgewise._typing import AnyArray, FloatArray, IndexArray
from ridgewise.models._path import DualPath


def selected_path(
    X_train: Any, X_test: Any, selected: ArrayLike, weights: ArrayLike | None = None
) -> tuple[DualPath, FloatArray]:
    """Decompose the kernel of selected, weighted features, and give that of the test points.

    The kernel is that of the paper's sampled features, K~ = X_S diag(w) X_S^T. A selection costs
    one eigendecomposition of the size of min(n_samples, n_selected).

    Parameters
    ----------
    X_train : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training samples. Of the sparse formats, CSC gives its columns fastest.
    X_test : {ndarray, sparse matrix} of shape (n_test, n_features)
        Test points.
    selected : array-like of int of shape (n_selected,)
        Indices of the selected features.
    weights : array-like of shape (n_selected,), default=None
        Their weights w, at least 0; ones where None.

    Returns
    -------
    path : DualPath
        Of K~, ready for any alphas and targets.
    K_test : ndarray of shape (n_test, n_samples)
        The test points' kernel, for `DualPath.predict`.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.models import selected_path
    >>> X = np.array([[1.0, 7.0, 0.0], [0.0, 7.0, 1.0]])
    >>> path, K_test = selected_path(X, [[3.0, 7.0, 1.0]], selected=[0, 2], weights=[1.0, 2.0])
    >>> K_test
    array([[3., 2.]])
    >>> path.predict(K_test, [1.0, -1.0], alphas=[0.0, 1.0])
    array([[2.        , 0.83333333]])
    """
    A = weighted_columns(X_train, selected, weights)
    A_test = weighted_columns(X_test, selected, weights)
    return DualPath.from_features(A), A_test @ A.T


def weighted_columns(X: Any, selected: ArrayLike, weights: ArrayLike | None = None) -> FloatArray:
    """Take the selected columns of X, each times the square root of its weight, as dense.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data.
    selected : array-like of int of shape (n_selected,)
        Indices of columns, in any order.
    weights : array-like of shape (n_selected,), default=None
        At least 0; ones where None.

    Returns
    -------
    A : ndarray of shape (n_samples, n_selected)
        With A A^T = X_S diag(w) X_S^T.

    Examples
    --------
    >>> from ridgewise.models import weighted_columns
    >>> weighted_columns([[1, 2, 3], [4, 5, 6]], [2, 0], weights=[4, 1])
    array([[ 6.,  1.],
           [12.,  4.]])
    """
    indices = _check_indices(selected)
    A = _columns(X, indices).astype(np.float64, copy=False)
    if weights is None:
        return A
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != indices.shape or not (w >= 0).all():
        raise ValueError(
            f"weights must be numbers of at least 0, one for each of the {indices.size} selected "
            f"features; got shape {w.shape}, smallest {w.min(initial=np.inf)}."
        )
    return A * np.sqrt(w)


def _check_indices(selected: ArrayLike) -> IndexArray:
    indices = np.asarray(selected)
    # A mask would be read as columns 0 and 1
    if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
        raise ValueError(
            f"selected must be a list of column indices; got {indices.dtype} of shape "
            f"{indices.shape}. For a mask, pass np.flatnonzero(mask)."
        )
    return indices.astype(np.intp)


def _columns(X: Any, indices: IndexArray) -> AnyArray:
    if not sparse.issparse(X):
        return np.asarray(X)[:, indices]
    matrix: Any = X
    # The other formats are slower to take columns from, or cannot at all
    matrix = matrix if matrix.format in ("csc", "csr") else matrix.tocsc()
    return matrix[:, indices].toarray()
