# SPDX-License-Identifier: BSD-3-Clause
"""Any container with each of its columns multiplied by a number."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import AnyArray, FloatArray, is_sparse
from ridgewise.spectrum._containers import is_dask, read, select_columns


def scaled_columns(X: Any, factors: FloatArray) -> Any:
    """X (what `as_numeric` gives) times diag(factors).

    A sparse array is copied, its non-zeros only; of a Dask array the result is lazy; of anything
    else columns are multiplied when they are read.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.spectrum import as_columns
    >>> X = scaled_columns(np.array([[1, 2], [3, 4]]), np.array([1.0, 0.5]))
    >>> as_columns(X).take(np.array([1, 0]))
    array([[1., 1.],
           [2., 3.]])
    """
    if is_sparse(X):
        return (X.tocsc() @ sp.diags_array(factors)).tocsc()
    if is_dask(X):
        return select_columns(X, np.arange(X.shape[1]), factors)
    return Scaled(X, factors)


class Scaled:
    """An array or a stored array whose columns are multiplied as they are read."""

    dtype = np.dtype(np.float64)

    def __init__(self, X: Any, factors: FloatArray) -> None:
        self.X, self.factors = X, factors
        self.shape: tuple[int, int] = X.shape
        self.chunks = getattr(X, "chunks", None)

    def __getitem__(self, place: tuple[Any, Any]) -> AnyArray:
        rows, columns = place
        in_memory = isinstance(self.X, np.ndarray)
        found = self.X[rows][:, columns] if in_memory else read(self.X, rows, columns)
        return found * self.factors[columns]
