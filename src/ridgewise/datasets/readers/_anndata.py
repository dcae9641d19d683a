# SPDX-License-Identifier: BSD-3-Clause
"""AnnData's .h5ad, and other HDF5, by h5py: matrix, names, and a column of obs as the target."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import AnyArray
from ridgewise.datasets.readers._names import as_names, nearest_name
from ridgewise.datasets.readers._raw import Options, Raw, check_room, listed, need, shortened


def read_h5ad(path: Path, options: Options) -> Raw:
    """Read an .h5ad file: X, or the layer or the path in the file that is the key."""
    h5py = need("h5py", "anndata", "HDF5 and AnnData files")
    try:
        with h5py.File(path, "r") as file:
            return _read(file, options)
    except ValueError:
        raise
    except Exception as error:  # of many types: h5py has none of its own for a damaged file
        raise ValueError(f"it is damaged, or no HDF5 file: {error}") from error


def _read(file: Any, options: Options) -> Raw:
    X = _matrix(_find_matrix(file, options.key), options)
    if options.in_rows:
        X = X.T
    raw = Raw(X, _index(file, "var", X.shape[1]), _index(file, "obs", X.shape[0]))
    table = file.get("obs", file)
    raw.targets = [name for name in table if name not in (_index_name(table), "__categories")]
    if options.target in raw.targets:
        raw.y, raw.target_name = _column(table, str(options.target)), options.target
    return raw


def _find_matrix(file: Any, key: str | None) -> Any:
    for place in ("X",) if key is None else (f"layers/{key}", key):
        if place in file:
            return file[place]
    names = [*file, *(f"layers/{name}" for name in file.get("layers", ()))]
    wanted = key or "X"
    raise ValueError(
        f"there is no matrix {shortened(wanted)} in it{nearest_name(wanted, names)} "
        f"The key is one of {listed(names, 8)}"
    )


def _matrix(node: Any, options: Options) -> Any:
    """An array, or the group of three arrays that is a sparse matrix."""
    if hasattr(node, "shape"):
        if len(node.shape) != 2:
            raise ValueError(f"{node.name} has the shape {node.shape}; expected two dimensions")
        check_room(node.shape, node.file.id.get_filesize(), options.memory, node.dtype.itemsize)
        return node[...]
    kind = _text(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "")))
    shape = node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
    container = {"csr": sp.csr_array, "csc": sp.csc_array}.get(kind[:3])
    if container is None or shape is None:
        raise ValueError(f"{node.name} is no matrix that is known here (it is {kind or 'a group'})")
    parts = tuple(node[name][...] for name in ("data", "indices", "indptr"))
    return container(parts, shape=tuple(int(size) for size in shape))


def _index_name(table: Any) -> str:
    return _text(table.attrs.get("_index", "_index"))


def _index(file: Any, name: str, size: int) -> AnyArray | None:
    """Names of the rows of obs or var, where they are there and as many."""
    table = file.get(name)
    if table is None or not hasattr(table, "keys") or _index_name(table) not in table:
        return None
    names = as_names(_column(table, _index_name(table)))
    return names if len(names) == size else None


def _column(table: Any, name: str) -> AnyArray:
    """A column: an array, or a group with codes and categories, or with values and a mask."""
    node = table[name]
    if not hasattr(node, "shape"):
        if "codes" in node:
            return _decoded(node["codes"][...], node["categories"])
        values = _strings(node["values"]).astype(object)
        values[node["mask"][...]] = None
        return values
    older = table.get("__categories", {})  # of files of AnnData before 0.8
    if name in older:
        return _decoded(node[...], older[name])
    return _strings(node)


def _decoded(codes: AnyArray, categories: Any) -> AnyArray:
    """Categories by their codes; a negative one means that it is missing."""
    known = _strings(categories)
    values = np.full(len(codes), None, dtype=object)
    values[codes >= 0] = known[codes[codes >= 0]]
    return values


def _strings(node: Any) -> AnyArray:
    """An array in which bytes are text."""
    values = node[...]
    if values.dtype.kind not in "OS":
        return np.asarray(values)
    return np.array([_text(value) for value in values], dtype=object)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
