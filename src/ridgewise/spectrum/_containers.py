# SPDX-License-Identifier: BSD-3-Clause
"""Out-of-core containers: detection, checks and partial reads.

They are recognized by duck typing, so none of their libraries is imported here:

- *stored* arrays (Zarr arrays, HDF5 data sets, Parquet tables) have a shape, a dtype and chunks,
  and are read by ``X[rows, columns]``;
- Dask arrays and data frames have a graph; their chunks are computed by Dask's scheduler.
"""

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite

from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse


def is_outside(X: Any) -> bool:
    """Whether X is an out-of-core container. A memory map is not: it is an ndarray.

    Examples
    --------
    >>> import numpy as np
    >>> is_outside(np.eye(3))
    False
    """
    return is_dask(X) or is_stored(X)


def is_dask(X: Any) -> bool:
    """Whether X is a Dask array or data frame."""
    return hasattr(X, "__dask_graph__")


def is_stored(X: Any) -> bool:
    """Whether X is a stored array, read by ``X[rows, columns]``."""
    is_known = isinstance(X, np.ndarray) or is_sparse(X) or is_dask(X)
    return not is_known and all(hasattr(X, name) for name in ("shape", "dtype", "chunks"))


def header_of(X: Any) -> Any:
    """An empty data frame with the feature names, for scikit-learn; X itself if it has none."""
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


def read(X: Any, rows: slice | IndexArray, columns: slice | IndexArray) -> AnyArray:
    """Read rows and columns of a stored array, each a slice or ascending indices."""
    return np.asarray(getattr(X, "oindex", X)[rows, columns])  # oindex: Zarr's orthogonal indexing


def select_columns(X: Any, places: IndexArray, scale: FloatArray | None) -> Any:
    """The columns ``places`` (ascending), scaled; lazy if X is a Dask array."""
    if is_dask(X):
        from ridgewise.spectrum._dask import lazy_columns

        return lazy_columns(X, places, scale)
    selected = read(X, slice(0, X.shape[0]), places)
    assert_all_finite(selected, input_name="X")
    if scale is None:
        return selected
    selected = selected if selected.dtype.kind == "f" else selected.astype(np.float64)
    return selected * scale.astype(selected.dtype)
