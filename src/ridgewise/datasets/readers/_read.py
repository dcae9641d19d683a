# SPDX-License-Identifier: BSD-3-Clause
"""Read a user's file: format, names, target, dtype and missing values."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from ridgewise._typing import AnyArray, IndexArray, is_sparse
from ridgewise.datasets._techtc import VECTORS
from ridgewise.datasets.readers import _matrix
from ridgewise.datasets.readers._csv import read_delimited
from ridgewise.datasets.readers._frame import read_frame
from ridgewise.datasets.readers._hdf5 import read_hdf5
from ridgewise.datasets.readers._names import complete_names, find_columns, take_names
from ridgewise.datasets.readers._opening import find_file, find_format
from ridgewise.datasets.readers._raw import (
    Missing,
    Options,
    Raw,
    Source,
    Table,
    check_room,
    count,
    group_labels,
    listed,
    shortened,
)
from ridgewise.datasets.readers._target import as_target, attach_target, is_missing

READERS: dict[str, Callable[[Path, Options], Raw]] = {
    "csv": read_delimited,
    "tsv": read_delimited,
    "parquet": read_frame,
    "feather": read_frame,
    "npy": _matrix.read_npy,
    "npz": _matrix.read_npz,
    "svmlight": _matrix.read_svmlight,
    "mtx": _matrix.read_matrix_market,
    "h5ad": read_hdf5,
    "excel": read_frame,
    "techtc": _matrix.read_techtc,
}
BLOCK = 2**22  # values tested at a time
WAYS_OUT = (
    "missing='mean' imputes the mean, missing='drop-features' and missing='drop-samples' drop them"
)


def read_table(path: str | os.PathLike[str], **options: Any) -> Table:
    r"""Read a table of samples and features from a file. Nothing is ever unpickled.

    The formats, by suffix:

    - delimited text, ``.csv .txt .tsv .tab``, with names in the first line;
    - Parquet, ``.parquet .pq``, and Feather or Arrow IPC, ``.feather .arrow .ipc``;
    - arrays of NumPy, ``.npy .npz``, and sparse ones that SciPy saved, ``.npz``;
    - svmlight, ``.svm .svmlight .libsvm``, and Matrix Market, ``.mtx``, also a folder or files
      named as 10x Genomics does;
    - AnnData, ``.h5ad``, CellRanger's and other HDF5, ``.h5 .hdf5``;
    - Excel and OpenDocument, ``.xlsx .xlsm .xls .ods``;
    - a folder in TechTC's layout, all of its words.

    Text (CSV, TSV, svmlight, Matrix Market) may be compressed: ``.gz .bz2 .xz .zst``. The options
    are the fields of `Options`. Dense stays dense and sparse stays sparse; float32 stays float32.
    Bad content is a ValueError that says what is wrong, where, and what to do.

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
    Column 'patient' was used for the sample names.
    """
    start = time.perf_counter()
    settings = Options(**options)
    path = find_file(Path(path))
    file_format = settings.format = find_format(path, settings.format)
    source = Source.of("data", path / VECTORS if path.is_dir() else path)
    try:
        raw = READERS[file_format](path, settings)
        if not raw.is_mapped:
            check_room(raw.X.shape, source.n_bytes, settings.memory)
        feature_names = _complete(raw, settings)
    except ValueError as error:
        message = " ".join(str(error).split())  # on one line, with the path
        prefix = "" if message.startswith(str(path)) else f"{path}: "
        raise ValueError(f"{prefix}{message}") from error
    return Table(
        X=raw.X,
        y=raw.y,
        feature_names=feature_names,
        sample_names=raw.sample_names,
        target_name=raw.target_name,
        format=file_format,
        sources=(source, *(Source.of(role, file) for role, file in raw.files.items())),
        notes=tuple(raw.notes),
        seconds=time.perf_counter() - start,
        groups=group_labels(raw.groups, feature_names),
    )


def _complete(raw: Raw, options: Options) -> AnyArray:
    """Settle names, target, dtype and missing values; return the names of the features."""
    for of, file in (("feature", options.vocabulary), ("sample", options.sample_names)):
        if file is not None:
            take_names(raw, find_file(file), of=of, encoding=options.encoding)
    if not raw.is_mapped:
        raw.X = as_floats(raw.X)
    if not all(raw.X.shape):
        sizes = map(count, raw.X.shape, ("sample", "numeric feature"))
        raise ValueError(f"it has {' and '.join(sizes)}")
    attach_target(raw, options)
    if left := [name for name in options.drop if name not in raw.dropped]:
        known = complete_names(raw).tolist()
        places = [place for name in left for place in find_columns(name, known, "feature")]
        drop(raw, places, "feature", "a name to be dropped")
    refuse_infinite(raw)
    settle_missing(raw, options.missing)
    if is_sparse(raw.X):
        n_empty = int((np.asarray(abs(raw.X).sum(axis=1)).ravel() == 0).sum())
        if n_empty:
            raw.notes.append(f"{count(n_empty, 'sample')} with only zeros kept.")
    return complete_names(raw)


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


def settle_missing(raw: Raw, missing: Missing) -> None:
    """Raise on missing values, drop them or impute means; raise or drop for the target."""
    rows, columns = find_places(raw.X, np.isnan)
    if len(rows) and missing == "error":
        raise ValueError(_describe(raw, rows, columns))
    if len(rows) and missing == "mean":
        _fill_means(raw, rows, columns)
    elif len(rows):
        what, places = ("feature", columns) if missing == "drop-features" else ("sample", rows)
        drop(raw, places, what, "missing values")
    _settle_target(raw, missing)


def refuse_infinite(raw: Raw) -> None:
    """Raise if a value is infinite."""
    rows, columns = find_places(raw.X, np.isinf)
    if len(rows):
        raise ValueError(
            f"X has {count(len(rows), 'infinite value')}, the first {_first(raw, rows, columns)}: "
            "replace or remove them"
        )
    if raw.y is not None and raw.y.dtype.kind == "f" and np.isinf(raw.y).any():
        raise ValueError(f"the target {shortened(raw.target_name)} has infinite values")


def find_places(X: Any, test: Any) -> tuple[IndexArray, IndexArray]:
    """Rows and columns of the stored values that pass a test, such as isnan."""
    values = X.data if is_sparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        # a cheap first test; overflow of finite values costs time only
        if np.isfinite(values.sum()):
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    if not is_sparse(X):
        return _dense_places(X, test)
    entries = X.tocoo()  # in the order of X.data
    found = test(entries.data)
    return entries.row[found].astype(np.intp), entries.col[found].astype(np.intp)


def _dense_places(X: AnyArray, test: Any) -> tuple[IndexArray, IndexArray]:
    """The same for an array, block by block: X may be a memory map."""
    if X.flags.f_contiguous and not X.flags.c_contiguous:
        columns, rows = _dense_places(X.T, test)
        return rows, columns
    blocks = gen_batches(len(X), max(1, BLOCK // X.shape[1]))
    found = [np.argwhere(test(X[block])) + np.array([block.start, 0]) for block in blocks]
    rows, columns = np.concatenate(found).T
    return rows, columns


def _describe(raw: Raw, rows: IndexArray, columns: IndexArray) -> str:
    if raw.groups is not None and raw.feature_names is not None:
        # the columns of a category miss the same values: its first counts
        labels = [place if group is None else group for place, group in enumerate(raw.groups)]
        firsts = {label: place for place, label in reversed(list(enumerate(labels)))}
        kept = np.isin(columns, list(firsts.values()))
        rows, columns = rows[kept], columns[kept]
        raw.feature_names = group_labels(raw.groups, raw.feature_names)
    features = np.unique(columns)
    shown = features[:3] if raw.feature_names is None else raw.feature_names[features]
    return (
        f"{count(len(rows), 'value')} missing, in {count(len(features), 'feature')} "
        f"({listed(shown)}) and {count(len(np.unique(rows)), 'sample')}, the first "
        f"{_first(raw, rows, columns)}: {WAYS_OUT}"
    )


def _first(raw: Raw, rows: IndexArray, columns: IndexArray) -> str:
    at = np.lexsort((columns, rows))[0]
    sample, feature = _name(raw.sample_names, rows[at]), _name(raw.feature_names, columns[at])
    return f"in sample {sample}, feature {feature}"


def _name(names: AnyArray | None, place: int) -> str:
    """The quoted name, or the number from 1."""
    return str(place + 1) if names is None else shortened(names[place])


def drop(raw: Raw, places: Any, what: str, reason: str) -> None:
    """Drop features or samples, and note why."""
    is_feature = what == "feature"
    size = raw.X.shape[is_feature]
    kept = np.setdiff1d(np.arange(size), places)
    if not len(kept):
        raise ValueError(f"every {what} has {reason}: nothing is left when they are dropped")
    raw.X = raw.X[:, kept] if is_feature else raw.X[kept]
    for name in ("feature_names", "groups") if is_feature else ("sample_names", "y"):
        if (values := getattr(raw, name)) is not None:
            setattr(raw, name, values[kept])
    raw.notes.append(f"{count(size - len(kept), what)} with {reason} dropped.")
    if raw.is_mapped:
        raw.notes.append("The rest was copied into memory.")
        raw.is_mapped = False


def _fill_means(raw: Raw, rows: IndexArray, columns: IndexArray) -> None:
    """Impute the mean of each feature; drop features without any value."""
    n_samples, n_features = raw.X.shape
    n_gaps = np.bincount(columns, minlength=n_features)
    if not is_sparse(raw.X) and not raw.X.flags.writeable:
        raw.X = raw.X.copy()
    # of sparse data the stored values, in the order of `rows` and `columns`
    values, gaps = (
        (raw.X.data, np.isnan(raw.X.data)) if is_sparse(raw.X) else (raw.X, (rows, columns))
    )
    values[gaps] = 0
    sums = np.asarray(raw.X.sum(axis=0, dtype=np.float64)).ravel()
    values[gaps] = (sums / np.maximum(n_samples - n_gaps, 1))[columns]
    raw.notes.append(
        f"{count(len(rows), 'missing value')} in {count(int((n_gaps > 0).sum()), 'feature')} "
        "replaced by the mean of the feature."
    )
    if (n_gaps == n_samples).any():
        drop(raw, np.flatnonzero(n_gaps == n_samples), "feature", "missing values only")


def _settle_target(raw: Raw, missing: Missing) -> None:
    if raw.y is None or not (gaps := is_missing(raw.y)).any():
        return
    if missing != "drop-samples":
        raise ValueError(
            f"the target {shortened(raw.target_name)} is missing for "
            f"{count(int(gaps.sum()), 'sample')}, the first "
            f"{_name(raw.sample_names, int(np.argmax(gaps)))}: missing='drop-samples' drops them"
        )
    drop(raw, np.flatnonzero(gaps), "sample", "no target")
    raw.y = as_target(raw.y)
