# SPDX-License-Identifier: BSD-3-Clause
"""Samples and features as a file, in the formats that the readers read."""

from io import BytesIO
from typing import Any

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import AnyArray, is_sparse

SAVE_FORMATS = ("parquet", "csv", "tsv", "feather", "npz", "npy")


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
