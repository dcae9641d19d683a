# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files as a stored array: columns are read when they are asked for."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ridgewise._typing import AnyArray, IndexArray
from ridgewise.spectrum._containers import Transposed

INDEX_COLUMN = "__index_level_"  # how pandas names the columns of an index


def open_parquet(
    path: str | os.PathLike[str],
    *,
    features: str = "columns",
    leave_out: Sequence[str] = (),
    names: str | None = None,
) -> Any:
    """Open a Parquet file, or a folder of them, as data that selectors take.

    Nothing but the files' footers is read. Values are when they are needed, a block of features at
    a time. Needs pyarrow.

    Parameters
    ----------
    path : path-like
        A file, or a folder of files with the same columns, which hold rows one file after the
        other, by the files' names.
    features : {"columns", "rows"}, default="columns"
        Whether a feature is a column, and a row a sample, or the other way round. Of features in
        rows single ones are read fast where row groups are small.
    leave_out : sequence of str, default=()
        Columns that are not data, such as the target.
    names : str, default=None
        With features in rows: the column that has their names.

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
        raise ValueError('names= is for features="rows": columns have their names')
    aside = [*leave_out] if names is None else [*leave_out, names]
    table = ParquetTable(find_files(Path(path)), aside)
    if features == "columns":
        return table
    return Transposed(table, None if names is None else make_header(table.strings(names)))


class Group(NamedTuple):
    """A row group: the unit in which rows are read."""

    file: Any
    number: int
    start: int
    stop: int


class ParquetTable:
    """Columns of numbers in Parquet files, as a two-dimensional array.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    dtype : dtype
        One that holds the values of all columns.
    chunks : tuple of int
        Rows that are read at a time, and columns: 1.
    header : pyarrow.Table
        An empty one with the columns' names.
    """

    def __init__(self, paths: Sequence[Path], leave_out: Sequence[str]) -> None:
        parquet = import_parquet()
        files = [parquet.ParquetFile(path, memory_map=True) for path in paths]
        self.schema = files[0].schema_arrow
        for path, file in zip(paths, files, strict=True):
            if file.schema_arrow.names != self.schema.names:
                raise ValueError(f"{path} has other columns than {paths[0]}")
        check_columns(leave_out, self.schema.names, paths[0])
        aside = set(leave_out)
        self.fields = [
            field
            for field in self.schema
            if field.name not in aside and not field.name.startswith(INDEX_COLUMN)
        ]
        self.dtype = common_type(self.fields, paths[0])
        self.groups = row_groups(files)
        self.shape = (self.groups[-1].stop if self.groups else 0, len(self.fields))
        self.chunks = (max((group.stop - group.start for group in self.groups), default=1), 1)
        self.header = make_header([field.name for field in self.fields])

    @property
    def T(self) -> Transposed:
        """Rows and columns exchanged."""
        return Transposed(self)

    def __getitem__(self, place: tuple[Any, Any]) -> AnyArray:
        rows, columns = (
            np.arange(size)[part] for part, size in zip(place, self.shape, strict=True)
        )
        values = np.empty((len(rows), len(columns)), dtype=self.dtype, order="F")
        for group in self.groups:
            inside = slice(*np.searchsorted(rows, [group.start, group.stop]))
            if inside.start < inside.stop:
                self.fill(values[inside], group, rows[inside] - group.start, columns)
        return values

    def fill(self, values: AnyArray, group: Group, rows: IndexArray, columns: IndexArray) -> None:
        """Read some rows of a row group."""
        wanted = [self.fields[j].name for j in columns]
        # threads cost more than they bring where columns are many and short
        read = group.file.read_row_group(group.number, columns=wanted, use_threads=False)
        place = slice(None) if len(rows) == group.stop - group.start else rows
        # the file's order of columns is theirs too, since they ascend
        for j, column in enumerate(read.columns):
            if column.null_count > 0:
                raise ValueError(f"Input X contains NaN: column {wanted[j]!r} has missing values.")
            values[:, j] = column.to_numpy()[place]

    def strings(self, name: str) -> list[str]:
        """A column as text."""
        return [
            str(value)
            for group in self.groups
            for value in group.file.read_row_group(group.number, columns=[name])[0].to_pylist()
        ]


def import_parquet() -> Any:
    """The module pyarrow.parquet, or an error that says how to get it."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install 'ridgewise[parquet]'") from error
    return pyarrow.parquet


def find_files(path: Path) -> list[Path]:
    """The file, or the files of a folder by their names."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet"))
    if not files:
        raise FileNotFoundError(f"no *.parquet in {path}")
    return files


def row_groups(files: Sequence[Any]) -> list[Group]:
    """The row groups of all files, with the rows that they hold."""
    groups: list[Group] = []
    for file in files:
        for number in range(file.metadata.num_row_groups):
            start = groups[-1].stop if groups else 0
            size = file.metadata.row_group(number).num_rows
            groups.append(Group(file, number, start, start + size))
    return groups


def check_columns(wanted: Sequence[str], names: Sequence[str], path: Path) -> None:
    """Refuse names that no column has."""
    known = set(names)
    for name in wanted:
        if name not in known:
            raise ValueError(f"{path} has no column {name!r}")


def common_type(fields: Sequence[Any], path: Path) -> np.dtype[Any]:
    """The type that holds the numbers of all columns; an error where one has no numbers."""
    dtypes = {field.type: field.type.to_pandas_dtype() for field in fields}
    for field in fields:
        if np.dtype(dtypes[field.type]).kind not in "biuf":
            raise ValueError(
                f"X must hold numbers; column {field.name!r} of {path} has type {field.type}: "
                "leave_out= takes the names of columns that are not data"
            )
    return np.result_type(*dtypes.values()) if dtypes else np.dtype(np.float64)


def make_header(names: Sequence[str]) -> Any:
    """An empty table with these columns."""
    import pyarrow

    return pyarrow.table([pyarrow.array([], pyarrow.float64())] * len(names), names=list(names))
