# SPDX-License-Identifier: BSD-3-Clause
"""Read a user's file: format, names, target, dtype and missing values."""

import codecs
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import AnyArray, is_sparse
from ridgewise.datasets._techtc_files import VECTORS
from ridgewise.datasets.readers._csv import read_delimited
from ridgewise.datasets.readers._frame import read_frame
from ridgewise.datasets.readers._hdf5 import read_hdf5
from ridgewise.datasets.readers._matrix import read_npy, read_npz, read_svmlight, read_techtc
from ridgewise.datasets.readers._matrix_market import read_matrix_market
from ridgewise.datasets.readers._missing import keep_features, refuse_infinite, settle_missing
from ridgewise.datasets.readers._names import complete_names, find_columns, take_names
from ridgewise.datasets.readers._opening import find_file, find_format
from ridgewise.datasets.readers._raw import (
    Categorical,
    FeaturesIn,
    Missing,
    Options,
    Raw,
    check_room,
    count,
)
from ridgewise.datasets.readers._result import Source, Table
from ridgewise.datasets.readers._target import attach_target

READERS: dict[str, Callable[[Path, Options], Raw]] = {
    "csv": read_delimited,
    "tsv": read_delimited,
    "parquet": read_frame,
    "feather": read_frame,
    "npy": read_npy,
    "npz": read_npz,
    "svmlight": read_svmlight,
    "mtx": read_matrix_market,
    "h5ad": read_hdf5,
    "excel": read_frame,
    "techtc": read_techtc,
}
CHOICES = {
    "features_in": ("columns", "rows", None),
    "missing": ("error", "drop-features", "drop-samples", "mean"),
    "categorical": ("error", "drop", "onehot"),
}

MAPPED_SHARE = 0.25  # of the memory: a larger file is mapped, where its format lets that

StrPath = str | os.PathLike[str]


def read_table(
    path: StrPath,
    *,
    target: StrPath | None = None,
    ids: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    features_in: FeaturesIn | None = None,
    missing: Missing = "error",
    categorical: Categorical = "error",
    vocabulary: StrPath | None = None,
    sample_names: StrPath | None = None,
    format: str | None = None,  # noqa: A002
    key: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    memory: int | None = None,
) -> Table:
    r"""Read a table of samples and features from a file. Nothing is ever unpickled.

    The formats, by the ends of their names:

    - delimited text, ``.csv .txt .tsv .tab``, with names in the first line;
    - Parquet, ``.parquet .pq``, and Feather or Arrow IPC, ``.feather .arrow .ipc``;
    - arrays of NumPy, ``.npy .npz``, and sparse ones that SciPy saved, ``.npz``;
    - svmlight, ``.svm .svmlight .libsvm``, and Matrix Market, ``.mtx``, also a folder or files
      named as 10x Genomics does;
    - AnnData, ``.h5ad``, CellRanger's and other HDF5, ``.h5 .hdf5``;
    - Excel and OpenDocument, ``.xlsx .xlsm .xls .ods``;
    - a folder of TechTC's layout, all of its words.

    Text (CSV, TSV, svmlight, Matrix Market) may be compressed: ``.gz .bz2 .xz .zst``.

    Parameters
    ----------
    path : str or path
        The file or folder.
    target : str or path, default=None
        Name of the column of the target (of the row, where features are in rows; of the array of
        an ``.npz``; of the column of ``obs`` of an ``.h5ad``), or a file with one value a line
        (``.txt .csv .tsv .npy``). A ``.csv`` or ``.tsv`` with two columns has the samples' names
        first, and is put into their order. None: no target, or the labels that svmlight and
        TechTC have.
    ids : str or sequence of str, default=()
        Columns that are no features. The first of them has the names of the rows. Without, the
        first column has them if it has no name itself, or is text without repetition.
    drop : str or sequence of str, default=()
        Columns, or features, that are left out.
    keep : str or sequence of str, default=()
        Columns of a table that are features although they look like none. Without, columns that
        number the rows, that mark training and test samples, or that are named as another target
        are left out, and a note names them.
    features_in : {"columns", "rows"}, default=None
        Where the features are. With "rows" a row of a table has the name of a feature (in its
        first column, or the first of `ids`) and its values. None means "columns", except beside
        a ``features.tsv`` of 10x.
    missing : {"error", "drop-features", "drop-samples", "mean"}, default="error"
        What is done about missing values: empty cells, NA, NaN, null, N/A, ? and the like.
    categorical : {"error", "drop", "onehot"}, default="error"
        What is done about columns of text, dates and so on. Booleans are numbers, 0 and 1.
        "onehot" expands each to columns of zeros and ones, named ``column=level``, after the
        other features; in `groups` of the result they have the name of the column. Where a cell
        is missing, all of them are.
    vocabulary : str or path, default=None
        A file with the names of the features, one a line (the second column, if parted by tabs).
    sample_names : str or path, default=None
        A file with the names of the samples, likewise.
    format : str, default=None
        One of `FORMATS`, where the name of the file does not tell.
    key : str, default=None
        Which array of an ``.npz``, layer (or ``raw``, or path) of an ``.h5ad``, genome of
        CellRanger's ``.h5``, or sheet of a workbook.
    header : bool, default=None
        Whether the first line of delimited text has names. None: it has, unless all of it is
        numbers that do not rise from cell to cell.
    delimiter : str, default=None
        What parts the cells. None: a tab for TSV, else what the first line has most of: comma,
        tab, or semicolon (then a comma within a number is its decimal point).
    encoding : str, default=None
        The encoding of delimited text, and of files of names and targets. None: UTF-8.
    zero_based : bool or "auto", default="auto"
        Whether svmlight counts features from 0. "auto": it does if there is a feature 0.
    memory : int, default=None
        How many bytes of memory there are. An ``.npy`` file larger than a quarter of that is not
        loaded but mapped. Files of other formats are held in memory. None: that of the machine,
        and nothing is mapped. A file whose header or indices ask for more than half of it, or for
        2 GB and 1,000 times the size of the file, is an error.

    Returns
    -------
    Table
        The data with names, notes on what was done, and a hash of each file that was read.

    Raises
    ------
    OSError
        Where a file is absent, is a folder, or must not be read.
    ValueError
        Where what is in it cannot be used as it is: the message has what, where and a way out.
    ImportError
        Where reading this format needs a package that is not there.

    Notes
    -----
    Dense stays dense and sparse stays sparse, whatever the share of zeros; float32 stays float32.
    What is mapped stays of its type, integers too.
    Features of the same name get .1, .2, ... added, which is noted.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ridgewise.datasets.readers import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "patients.csv")
    ...     _ = path.write_text("patient,TP53,EGFR,state\nA,1.5,2,ill\nB,0.5,1,well\n")
    ...     table = read_table(path, target="state")
    >>> print(table.X)
    [[1.5 2. ]
     [0.5 1. ]]
    >>> print(table.feature_names, table.sample_names, table.y)
    ['TP53' 'EGFR'] ['A' 'B'] ['ill' 'well']
    >>> print(*table.notes)
    Column 'patient' was taken for the names of the samples.
    """
    start = time.perf_counter()
    _check_choices(features_in=features_in, missing=missing, categorical=categorical)
    path = find_file(Path(path))
    options = Options(
        format=find_format(path, format),
        target=None if target is None else os.fspath(target),
        ids=_as_tuple(ids),
        drop=_as_tuple(drop),
        keep=_as_tuple(keep),
        features_in=features_in,
        missing=missing,
        categorical=categorical,
        vocabulary=None if vocabulary is None else Path(vocabulary),
        sample_names=None if sample_names is None else Path(sample_names),
        key=key,
        header=header,
        delimiter=delimiter,
        encoding=_known_encoding(encoding),
        zero_based=zero_based,
        memory=memory,
        largest_loaded=math.inf if memory is None else MAPPED_SHARE * memory,
    )
    source = Source.of("data", path / VECTORS if path.is_dir() else path)
    try:
        raw = READERS[options.format](path, options)
        if not raw.is_mapped:
            check_room(raw.X.shape, source.n_bytes, memory)
        feature_names = _complete(raw, options)
    except ValueError as error:
        raise ValueError(_in_one_line(path, error)) from error
    return Table(
        X=raw.X,
        y=raw.y,
        feature_names=feature_names,
        sample_names=raw.sample_names,
        target_name=raw.target_name,
        format=options.format,
        sources=(source, *(Source.of(role, file) for role, file in raw.files.items())),
        notes=tuple(raw.notes),
        seconds=time.perf_counter() - start,
        groups=_labels(raw.groups, feature_names),
    )


def _check_choices(**given: Any) -> None:
    for name, value in given.items():
        if value not in CHOICES[name]:
            known = ", ".join(repr(choice) for choice in CHOICES[name])
            raise ValueError(f"{name} must be one of {known}; got {value!r}")


def _as_tuple(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _known_encoding(encoding: str | None) -> str | None:
    try:
        "".encode(encoding or "utf-8")
        name = codecs.lookup(encoding or "utf-8").name
        return None if name == "utf-8" else name
    except LookupError:
        raise ValueError(
            f"there is no encoding {encoding!r}; such as 'latin-1', 'cp1252' or 'utf-16' are known"
        ) from None


def _labels(groups: AnyArray | None, feature_names: AnyArray) -> AnyArray:
    """A group for each feature: the category it is a level of, or itself."""
    if groups is None:
        return feature_names
    alone = np.array([group is None for group in groups])
    labels: AnyArray = np.where(alone, feature_names, groups)
    return labels


def _complete(raw: Raw, options: Options) -> AnyArray:
    """Settle names, target, dtype and missing values; return the names of the features."""
    if options.vocabulary is not None:
        take_names(raw, find_file(options.vocabulary), of="feature", encoding=options.encoding)
    if options.sample_names is not None:
        take_names(raw, find_file(options.sample_names), of="sample", encoding=options.encoding)
    if not raw.is_mapped:
        raw.X = as_floats(raw.X)
    if not all(raw.X.shape):
        raise ValueError(f"it has {raw.X.shape[0]} samples and {raw.X.shape[1]} features")
    attach_target(raw, options.target, options.encoding)
    _drop_features(raw, [name for name in options.drop if name not in raw.dropped])
    refuse_infinite(raw)
    settle_missing(raw, options.missing)
    if is_sparse(raw.X):
        n_empty = int((np.asarray(abs(raw.X).sum(axis=1)).ravel() == 0).sum())
        if n_empty:
            raw.notes.append(f"{count(n_empty, 'sample')} without any value but 0 kept.")
    return complete_names(raw)


def _drop_features(raw: Raw, names: list[str]) -> None:
    """Drop features by name, in formats other than tables."""
    if not names:
        return
    known = complete_names(raw).tolist()
    places = [place for name in names for place in find_columns(name, known, "feature")]
    keep_features(raw, np.setdiff1d(np.arange(len(known)), places), "a name to be dropped")


def as_floats(X: Any) -> Any:
    """float32 where that is exact for the dtype, else float64; sparse as CSR or CSC."""
    if X.dtype.kind not in "biuf":
        raise ValueError(f"the values must be real numbers; they are of type {X.dtype}")
    dtype = np.float64 if X.dtype.itemsize > 8 else np.result_type(X.dtype, np.float32)
    if not is_sparse(X):
        return np.asarray(X).astype(dtype, copy=False)
    X = (sp.csr_array if X.format == "csr" else sp.csc_array)(X).astype(dtype, copy=False)
    X.check_format(full_check=True)  # indices from a file may be out of range
    X.sum_duplicates()
    return X


def _in_one_line(path: Path, error: Exception) -> str:
    """The message on one line, with the path."""
    message = " ".join(str(error).split())
    return message if message.startswith(str(path)) else f"{path}: {message}"
