# SPDX-License-Identifier: BSD-3-Clause
"""Write samples and features to a file, in formats that `read_table` reads."""

import re
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse
from ridgewise.datasets.readers import Table

SAVE_FORMATS = ("parquet", "csv", "tsv", "feather", "npz", "npy")
MARK, WEIGHT = "selected", "selected_weight"  # columns of var
FORMULA = re.compile(r"'*[=+\-@\t\r]")  # the same in report/templates/page.js
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def table_bytes(
    X: Any,
    feature_names: AnyArray,
    suffix: str,
    *,
    sample_names: AnyArray | None = None,
    y: AnyArray | None = None,
    target_name: str | None = None,
) -> bytes:
    r"""Return the content of a file with samples, features and target, in one of `SAVE_FORMATS`.

    A table has the sample names first and the target last; in CSV and TSV, names are made safe
    for spreadsheets. An ``.npz`` of dense data has X, feature_names, sample_names and y; one of
    sparse data, and an ``.npy``, has X alone.

    Examples
    --------
    >>> table_bytes(np.eye(2), np.array(["a", "b"]), "csv")
    b'a,b\n1.0,0.0\n0.0,1.0\n'
    """
    buffer = BytesIO()
    names = [str(name) for name in feature_names]
    samples = None if sample_names is None else sample_names.astype(str)
    if suffix == "npz" and is_sparse(X):
        sp.save_npz(buffer, X)
        return buffer.getvalue()
    X = X.toarray() if is_sparse(X) else X
    if suffix == "npy":
        np.save(buffer, X)
    elif suffix == "npz":
        arrays = {"X": X, "feature_names": np.array(names), "sample_names": samples, "y": y}
        np.savez_compressed(
            buffer, **{key: each for key, each in arrays.items() if each is not None}
        )
    else:
        safe = spreadsheet_safe if suffix in ("csv", "tsv") else str
        columns = {safe(name): X[:, place] for place, name in enumerate(names)}
        if samples is not None:
            safe_samples = np.array([safe(name) for name in samples])
            columns = {_free("sample", names): safe_samples, **columns}
        if y is not None:
            columns[safe(_free(target_name or "target", names))] = y
        frame = import_module("polars").DataFrame(columns)  # optional, and slow to import
        if suffix == "parquet":
            frame.write_parquet(buffer)
        elif suffix == "feather":
            frame.write_ipc(buffer)
        else:
            frame.write_csv(buffer, separator="\t" if suffix == "tsv" else ",")
    return buffer.getvalue()


def spreadsheet_safe(cell: Any) -> Any:
    """Prefix text that a spreadsheet would run as a formula with an apostrophe.

    Text that has such apostrophes already gets one more, so that removing one restores any name.

    Examples
    --------
    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("-1.5")
    ("'=1+1", '-1.5')
    """
    if isinstance(cell, str) and FORMULA.match(cell) and not NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def _free(name: str, taken: list[str]) -> str:
    """Append underscores until no feature has the name."""
    while name in taken:
        name += "_"
    return name


def marked_h5ad(path: Path, table: Table, selected: IndexArray, weights: FloatArray) -> bytes:
    """Copy an .h5ad file, with columns ``selected`` and ``selected_weight`` (0 if not) in var."""
    h5py = import_module("h5py")  # optional, but the table was read with it

    buffer = BytesIO(path.read_bytes())
    with h5py.File(buffer, "r+") as file:
        var = file.get("var")
        if not isinstance(var, h5py.Group) or "column-order" not in var.attrs:
            raise ValueError(
                f"cannot mark features in {path.name}: its var is not as AnnData 0.7 and later "
                "write it; read it and write it again with anndata"
            )
        n_features = len(var[var.attrs.get("_index", "_index")])
        if n_features != table.X.shape[1]:
            raise ValueError(
                f"cannot mark features in {path.name}: var has {n_features}, and "
                f"{table.X.shape[1]} were selected from"
            )
        values = np.zeros(n_features)
        values[selected] = weights
        for name, column in ((MARK, values > 0), (WEIGHT, values)):
            if name in var:
                del var[name]
            var[name] = column
            var[name].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        order = [name for name in var.attrs["column-order"] if name not in (MARK, WEIGHT)]
        var.attrs["column-order"] = np.array([*order, MARK, WEIGHT], dtype=h5py.string_dtype())
    return buffer.getvalue()
