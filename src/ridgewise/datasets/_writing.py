# SPDX-License-Identifier: BSD-3-Clause
"""Samples and features as a file, in the formats that the readers read."""

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


def table_bytes(
    X: Any,
    feature_names: AnyArray,
    suffix: str,
    *,
    sample_names: AnyArray | None = None,
    y: AnyArray | None = None,
    target_name: str | None = None,
) -> bytes:
    """Write samples, features and a target.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
        The values.
    feature_names : ndarray of shape (n_features,)
        No two alike.
    suffix : str
        One of `SAVE_FORMATS`.
    sample_names, y : ndarray of shape (n_samples,), default=None
        Names of the samples, and the target.
    target_name : str, default=None
        The column of the target. None: "target".

    Returns
    -------
    bytes
        Of a file. Tables have the names of the samples first, and the target last; ``.npz`` holds
        X, feature_names, and sample_names and y where there are any, or, where the data is
        sparse, the sparse matrix alone.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.datasets import table_bytes
    >>> print(table_bytes(np.eye(2), np.array(["a", "b"]), "csv", y=np.array([1, 0])).decode())
    a,b,target
    1.0,0.0,1
    0.0,1.0,0
    <BLANKLINE>
    """
    buffer = BytesIO()
    dense = X.toarray() if is_sparse(X) and suffix != "npz" else X
    names = [str(name) for name in feature_names]
    if suffix == "npy":
        np.save(buffer, dense)
    elif suffix == "npz" and is_sparse(X):
        sp.save_npz(buffer, X)
    elif suffix == "npz":
        arrays = {"X": X, "feature_names": np.array(names), "sample_names": sample_names, "y": y}
        given = {name: array for name, array in arrays.items() if array is not None}
        if sample_names is not None:
            given["sample_names"] = sample_names.astype(str)
        np.savez_compressed(buffer, **given)
    else:
        columns = {name: dense[:, place] for place, name in enumerate(names)}
        if sample_names is not None:
            columns = {_free("sample", names): sample_names.astype(str), **columns}
        if y is not None:
            columns[_free(target_name or "target", names)] = y
        _write_frame(columns, suffix, buffer)
    return buffer.getvalue()


def _write_frame(columns: dict[str, AnyArray], suffix: str, buffer: BytesIO) -> None:
    import polars as pl  # of the extra, and slow to import: only where it is needed

    frame = pl.DataFrame(columns)
    if suffix == "parquet":
        frame.write_parquet(buffer)
    elif suffix == "feather":
        frame.write_ipc(buffer)
    else:
        frame.write_csv(buffer, separator="\t" if suffix == "tsv" else ",")


def _free(name: str, taken: list[str]) -> str:
    """A name that no feature has."""
    while name in taken:
        name += "_"
    return name


def marked_h5ad(path: Path, table: Table, selected: IndexArray, weights: FloatArray) -> bytes:
    """Copy an .h5ad file, with two more columns of var: ``selected`` and ``selected_weight``.

    Parameters
    ----------
    path : Path
        The file that the table was read from.
    table : Table
        What was read.
    selected : ndarray of shape (n_selected,)
        Feature indices in the table.
    weights : ndarray of shape (n_selected,)
        Their weights; features that are not selected have 0.

    Returns
    -------
    bytes
        Of the copy.

    Raises
    ------
    ValueError
        Where the file's var is not a group, as AnnData has it since 0.7, or has other features.
    """
    h5py = import_module("h5py")  # of the extra: the file was read with it

    buffer = BytesIO(path.read_bytes())
    with h5py.File(buffer, "r+") as file:
        var = file.get("var")
        if not isinstance(var, h5py.Group) or "column-order" not in var.attrs:
            raise ValueError(
                f"cannot mark features in {path.name}: its var is not as AnnData 0.7 and later "
                "write it; read it and write it again with anndata"
            )
        index = var.attrs.get("_index", "_index")
        n_features = len(var[index])
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
