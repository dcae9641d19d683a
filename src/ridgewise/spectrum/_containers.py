# SPDX-License-Identifier: BSD-3-Clause
"""Out-of-core containers: detection, checks and partial reads.

They are recognized by duck typing, so none of their libraries is imported here:

- *stored* arrays (Zarr arrays, HDF5 data sets, Parquet tables) have a shape, a dtype and chunks,
  and are read by ``X[rows, columns]``;
- Dask arrays and data frames have a graph; their chunks are computed by Dask's scheduler.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, check_array, gen_batches
from sklearn.utils.sparsefuncs import mean_variance_axis

from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse

VALUES_AT_ONCE = 2**20  # of which column_variances makes copies


def is_outside(X: Any) -> bool:
    """Whether X is an out-of-core container. A memory map is not: it is an ndarray."""
    return is_dask(X) or is_stored(X)


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or data frame."""
    return hasattr(X, "__dask_graph__")


def is_stored(X: Any) -> bool:
    """Whether X is a stored array, read by ``X[rows, columns]``."""
    is_known = isinstance(X, np.ndarray) or is_sparse(X) or is_dask(X)
    return not is_known and all(hasattr(X, name) for name in ("shape", "dtype", "chunks"))


def header_of(X: Any) -> Any:
    """Return an empty data frame with the feature names, for scikit-learn; X if it has none."""
    for attribute in ("header", "_meta"):  # Parquet tables, Dask data frames
        header = getattr(X, attribute, None)
        if hasattr(header, "columns"):
            return header
    return X


def as_source(X: Any, *, sized: bool = True) -> Any:
    """Check the shape of an out-of-core container; convert a Dask data frame to an array.

    ``sized``: whether the number of samples must be known. If so, the rows of a Dask data frame
    are counted, which may read them.
    """
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True if sized else None)
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead: shape={X.shape}")
    known = X.shape if sized else X.shape[1:]
    if any(np.isnan(size) for size in known):
        raise ValueError(
            f"X has chunks of unknown size (shape={X.shape}): call X.compute_chunk_sizes() first, "
            "or to_dask_array(lengths=True) on the data frame it comes from"
        )
    for size, what in zip(X.shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required."
            )
    return X


def as_numeric(X: Any) -> Any:
    """Convert X to a numeric array or sparse array; an out-of-core container stays lazy.

    Arrays are not copied, keep their dtype and are not checked for NaN and infinity.
    """
    if is_outside(X):
        return as_source(X)
    is_array = type(X) is np.ndarray or (is_sparse(X) and X.format in ("csc", "csr"))
    if is_array and X.ndim == 2 and X.dtype.char in "?bBhHiIlLefd" and 0 not in X.shape:
        return X  # most often: a selector has checked it already
    array = check_array(
        X,
        accept_sparse=("csc", "csr"),
        dtype="numeric",
        ensure_all_finite=False,
        estimator="the spectrum",
    )
    return array.astype(np.float64) if array.dtype == np.longdouble else array


def as_dense(values: Any) -> AnyArray:
    """Convert an array or sparse array to an array."""
    return np.asarray(values.toarray() if is_sparse(values) else values)


def column_variances(X: Any) -> FloatArray:
    """Variances of the columns of an array or sparse array."""
    if is_sparse(X):
        return mean_variance_axis(X.tocsr().astype(np.float64, copy=False), axis=0)[1]
    found = np.empty(X.shape[1])
    for some in gen_batches(X.shape[1], max(1, VALUES_AT_ONCE // len(X))):
        found[some] = np.var(np.asarray(X[:, some]), axis=0, dtype=np.float64)
    return found


def read(X: Any, rows: slice | IndexArray, columns: slice | IndexArray) -> AnyArray:
    """Read rows and columns of a stored array, each a slice or ascending indices."""
    return np.asarray(getattr(X, "oindex", X)[rows, columns])  # oindex: Zarr's orthogonal indexing


def select_columns(X: Any, places: IndexArray, scale: FloatArray | None) -> Any:
    """Return the columns ``places`` (ascending), scaled; lazy if X is a Dask array."""
    if is_dask(X):
        from ridgewise.spectrum._dask import lazy_columns

        return lazy_columns(X, places, scale)
    selected = read(X, slice(0, X.shape[0]), places)
    assert_all_finite(selected, input_name="X")
    return selected if scale is None else rescaled(selected, scale)


def rescaled(X: Any, factors: FloatArray) -> Any:
    """X diag(factors), in the floating-point type of X, or float64 if X has integers."""
    X = X if X.dtype.kind == "f" else X.astype(np.float64)
    factors = factors.ravel().astype(X.dtype)
    return (X @ sp.diags_array(factors)).asformat(X.format) if is_sparse(X) else X * factors


def scaled_columns(X: Any, factors: FloatArray) -> Any:
    """Return X, a result of `as_numeric`, times diag(factors); lazy unless sparse."""
    if is_sparse(X):
        return rescaled(X.tocsc().astype(np.float64, copy=False), factors)
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


def transposed(X: Any) -> Any:
    """X^T, as a view: nothing is read."""
    return X.T if hasattr(X, "T") else Transposed(X)


class Transposed:
    """The transpose of a stored array; ``header`` is an empty data frame with feature names."""

    def __init__(self, X: Any, header: Any = None) -> None:
        self.T, self.header, self.dtype = X, header, X.dtype
        self.shape: tuple[int, int] = X.shape[::-1]
        self.chunks = X.chunks and X.chunks[::-1]

    def __getitem__(self, place: tuple[Any, Any]) -> AnyArray:
        rows, columns = place
        return read(self.T, columns, rows).T


class Computed:
    """Base of stored arrays that are filled by `fill`. Subclasses set shape, dtype and chunks."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    chunks: tuple[int, int]

    @property
    def T(self) -> Transposed:
        """The transpose, nothing read."""
        return Transposed(self)

    def fill(self, values: AnyArray, rows: IndexArray, columns: IndexArray) -> None:
        """Write these rows and columns, ascending indices, into ``values``."""
        raise NotImplementedError

    def __getitem__(self, place: tuple[Any, Any]) -> AnyArray:
        rows, columns = (
            np.arange(size)[part] for part, size in zip(place, self.shape, strict=True)
        )
        values = np.empty((len(rows), len(columns)), dtype=self.dtype, order="F")
        self.fill(values, rows, columns)
        return values
