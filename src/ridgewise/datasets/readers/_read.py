# SPDX-License-Identifier: BSD-3-Clause
"""Read a user's file: format, names, target, dtype and missing values."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import AnyArray, is_sparse
from ridgewise.datasets._techtc import VECTORS
from ridgewise.datasets.readers import _matrix
from ridgewise.datasets.readers._csv import read_delimited
from ridgewise.datasets.readers._frame import read_frame
from ridgewise.datasets.readers._hdf5 import read_hdf5
from ridgewise.datasets.readers._missing import keep, refuse_infinite, settle_missing
from ridgewise.datasets.readers._names import complete_names, find_columns, take_names
from ridgewise.datasets.readers._opening import find_file, find_format
from ridgewise.datasets.readers._raw import (
    Options,
    Raw,
    Source,
    Table,
    check_room,
    count,
    group_labels,
)
from ridgewise.datasets.readers._target import attach_target

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
    Column 'patient' was taken for the names of the samples.
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
        raise ValueError(f"it has {raw.X.shape[0]} samples and {raw.X.shape[1]} features")
    attach_target(raw, options)
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
    keep(raw, np.setdiff1d(np.arange(len(known)), places), "feature", "a name to be dropped")


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
