# SPDX-License-Identifier: BSD-3-Clause
"""Any container as `Columns`: its features, or its samples."""

from typing import Any

from ridgewise._typing import is_sparse
from ridgewise.spectrum._columns import Columns, SparseColumns
from ridgewise.spectrum._containers import is_dask, is_stored, transposed
from ridgewise.spectrum._stored import StoredColumns


def as_columns(X: Any, *, center: bool = False) -> Columns:
    """Return the features of X, a result of `as_numeric`, as columns."""
    return columns_class(X)(X, center=center)


def as_rows(X: Any, *, center: bool = False) -> Columns:
    """Return the samples of X as columns; with ``center``, minus the features' means."""
    rows = columns_class(X)(transposed(X))
    rows.holds_samples, rows.centers = True, center
    return rows


def columns_class(X: Any) -> type[Columns]:
    """Return the class of columns for this container."""
    if is_dask(X):
        from ridgewise.spectrum._dask import DaskColumns  # an optional dependency

        return DaskColumns
    if is_stored(X):
        return StoredColumns
    return SparseColumns if is_sparse(X) else Columns
