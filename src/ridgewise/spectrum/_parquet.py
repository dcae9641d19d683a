# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files as a lazily read array."""

import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ridgewise._typing import AnyArray, IndexArray
from ridgewise.spectrum._containers import Computed, Transposed

INDEX_COLUMN = "__index_level_"  # prefix of the columns in which pandas stores an index


def open_parquet(
    path: str | os.PathLike[str],
    *,
    features: str = "columns",
    leave_out: Sequence[str] = (),
    names: str | None = None,
) -> Any:
    """Open a Parquet file, or a folder of them, as input for selectors. Needs pyarrow.

    Only the footers are read here. Values are read on demand, a block of features at a time.

    Parameters
    ----------
    path : path-like
        A file, or a folder of files with the same columns, concatenated by rows in the order of
        their names.
    features : {"columns", "rows"}, default="columns"
        Where the features are. Reading single rows is fast if row groups are small.
    leave_out : sequence of str, default=()
        Columns that are not data, such as the target.
    names : str, default=None
        The column with the feature names, for ``features="rows"``.

    Returns
    -------
    Parquet table of shape (n_samples, n_features)

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from ridgewise import BSSSelector
    >>> from ridgewise.spectrum import open_parquet
    >>> values = np.random.default_rng(0).standard_normal((5, 40))
    >>> frame = pd.DataFrame(values, columns=[f"gene {j}" for j in range(40)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frame.assign(target=[0, 1, 0, 1, 1]).to_parquet(f"{folder}/genes.parquet")
    ...     X = open_parquet(f"{folder}/genes.parquet", leave_out=["target"])
    ...     selector = BSSSelector(10).fit(X)
    >>> X.shape
    (5, 40)
    >>> selector.get_feature_names_out()[:2]
    array(['gene 7', 'gene 9'], dtype=object)
    """
    if features not in ("columns", "rows"):
        raise ValueError(f'features must be "columns" or "rows"; got {features!r}')
    if names is not None and features == "columns":
        raise ValueError('names= is only for features="rows"; columns already have names')
    left_out = [*leave_out] if names is None else [*leave_out, names]
    path = Path(path)
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(f"no *.parquet in {path}")
    table = ParquetTable(files, left_out)
    if features == "columns":
        return table
    return Transposed(table, None if names is None else make_header(table.strings(names)))


class ParquetTable(Computed):
    """Numeric columns of Parquet files as a stored array; a chunk is a column of a row group."""

    def __init__(self, paths: Sequence[Path], leave_out: Sequence[str]) -> None:
        try:
            import pyarrow.parquet as parquet
        except ImportError as error:
            message = "Parquet files need pyarrow: pip install 'ridgewise[parquet]'"
            raise ImportError(message) from error
        files = [parquet.ParquetFile(path, memory_map=True) for path in paths]
        schema = files[0].schema_arrow
        for path, file in zip(paths, files, strict=True):
            if file.schema_arrow.names != schema.names:
                raise ValueError(f"the columns of {path} differ from those of {paths[0]}")
        left_out = set(leave_out)
        for name in left_out.difference(schema.names):
            raise ValueError(f"{paths[0]} has no column {name!r}")
        self.fields = [
            field
            for field in schema
            if field.name not in left_out and not field.name.startswith(INDEX_COLUMN)
        ]
        self.dtype = common_type(self.fields, paths[0])
        self.groups = [(file, i) for file in files for i in range(file.num_row_groups)]
        sizes = [file.metadata.row_group(i).num_rows for file, i in self.groups]
        self.edges = np.cumsum([0, *sizes])  # rows at which the row groups begin, and the last ends
        self.lock = Lock()  # of the files, which two threads must not read at once
        self.shape = (int(self.edges[-1]), len(self.fields))
        self.chunks = (max(sizes, default=1), 1)
        self.header = make_header([field.name for field in self.fields])

    def fill(self, values: AnyArray, rows: IndexArray, columns: IndexArray) -> None:
        """See `Computed.fill`: reads the row groups that hold these rows."""
        wanted = [self.fields[j].name for j in columns]
        bounds = np.searchsorted(rows, self.edges)
        for at in np.flatnonzero(np.diff(bounds)):
            inside = slice(bounds[at], bounds[at + 1])
            file, number = self.groups[at]
            with self.lock:  # many short columns: threads are slower
                read = file.read_row_group(number, columns=wanted, use_threads=False)
            # columns are ascending, so they come in the file's order
            for j, column in enumerate(read.columns):
                if column.null_count > 0:
                    raise ValueError(
                        f"Input X contains NaN: column {wanted[j]!r} has missing values."
                    )
                values[inside, j] = column.to_numpy()[rows[inside] - self.edges[at]]

    def strings(self, name: str) -> list[str]:
        """Read a column as strings."""
        return [
            str(value)
            for file, number in self.groups
            for value in file.read_row_group(number, columns=[name])[0].to_pylist()
        ]


def common_type(fields: Sequence[Any], path: Path) -> np.dtype[Any]:
    """Return the common type of all columns; raise if one is not numeric."""
    dtypes = {field.type: field.type.to_pandas_dtype() for field in fields}
    for field in fields:
        if np.dtype(dtypes[field.type]).kind not in "biuf":
            raise ValueError(
                f"X must be numeric; column {field.name!r} of {path} has type {field.type}. Use "
                "leave_out= for columns that are not data"
            )
    return np.result_type(*dtypes.values()) if dtypes else np.dtype(np.float64)


def make_header(names: Sequence[str]) -> Any:
    """Return an empty table with these columns."""
    import pyarrow

    return pyarrow.table([pyarrow.array([], pyarrow.float64())] * len(names), names=list(names))
