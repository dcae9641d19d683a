# SPDX-License-Identifier: BSD-3-Clause
"""HDF5, by h5py: AnnData's .h5ad in every layout it has had, CellRanger's .h5, plain matrices.

Not by anndata: it takes 4 s to import (h5py .5 s), and does not read CellRanger's files.
"""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import AnyArray
from ridgewise.datasets.readers._names import as_names, as_text, nearest_name
from ridgewise.datasets.readers._raw import Options, Raw, check_room, listed, need, shortened

CELL_RANGER = {"barcodes", "data", "indices", "indptr", "shape"}
CATEGORIES = "__categories"  # where AnnData 0.7 kept the categories of a group's columns


def read_hdf5(path: Path, options: Options) -> Raw:
    """Read X, or what the key names: a layer, raw, a path in the file, a genome of CellRanger."""
    h5py = need("h5py", "anndata", "HDF5 and AnnData files")
    try:
        with h5py.File(path, "r") as file:
            groups = [name for name, node in file.items() if not hasattr(node, "shape")]
            genomes = [name for name in groups if set(file[name]) >= CELL_RANGER]
            if genomes and (options.key is None or options.key in genomes):
                return _read_cell_ranger(file, genomes, options)
            return _read_anndata(file, options)
    except ValueError:
        raise
    except Exception as error:  # of many types: h5py has none of its own for a damaged file
        raise ValueError(f"it is damaged, or has an unknown layout: {error}") from error


def _read_cell_ranger(file: Any, genomes: list[str], options: Options) -> Raw:
    """One group "matrix" since version 3, before that one for each genome."""
    if options.key is None and len(genomes) > 1:
        raise ValueError(
            f"it has several genomes, {listed(genomes)}: give the key of the one to read"
        )
    group = file[options.key or genomes[0]]
    n_features, n_samples = (int(size) for size in group["shape"][...])
    names = "features/name" if "features/name" in group else "gene_names"
    return Raw(
        _sparse(group, sp.csr_array, (n_samples, n_features)),
        as_names(group[names][...]),
        as_names(group["barcodes"][...]),
        notes=["CellRanger's layout: each barcode is a sample."],
    )


def _read_anndata(file: Any, options: Options) -> Raw:
    place = _find_matrix(file, options.key)
    X = _matrix(file[place], options)
    if options.in_rows:
        X = X.T
    features = "raw/var" if place.startswith("raw") else "var"
    raw = Raw(X, _index(file, features, X.shape[1]), _index(file, "obs", X.shape[0]))
    table = file.get("obs", file)
    raw.targets = [name for name in _columns(table) if name != _index_name(table)]
    if options.target in raw.targets:
        raw.y, raw.target_name = _column(file, table, str(options.target)), options.target
    return raw


def _find_matrix(file: Any, key: str | None) -> str:
    for place in ("X",) if key is None else (f"layers/{key}", f"{key}/X", key):
        if place in file:
            return place
    names = [*file, *(f"layers/{name}" for name in file.get("layers", ()))]
    wanted = key or "X"
    raise ValueError(
        f"there is no matrix {shortened(wanted)} in it{nearest_name(wanted, names)} "
        f"The key is one of {listed(names, 8)}"
    )


def _matrix(node: Any, options: Options) -> Any:
    """Read an array, or the group of three arrays that is a sparse matrix."""
    if hasattr(node, "shape"):
        if len(node.shape) != 2:
            raise ValueError(f"{node.name} has the shape {node.shape}; expected two dimensions")
        n_bytes = node.file.id.get_filesize()
        check_room(node.shape, n_bytes, options.memory, node.dtype.itemsize)
        return node[...]
    kind = as_text(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "")))
    shape = node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
    container = {"csr": sp.csr_array, "csc": sp.csc_array}.get(kind[:3])
    if container is None or shape is None:
        raise ValueError(f"{node.name} is not a known kind of matrix (it is {kind or 'a group'})")
    return _sparse(node, container, tuple(int(size) for size in shape))


def _sparse(node: Any, container: Any, shape: tuple[int, ...]) -> Any:
    parts = tuple(node[name][...] for name in ("data", "indices", "indptr"))
    return container(parts, shape=shape)


def _columns(table: Any) -> list[str]:
    """Names of the columns of obs or var: a group, or an array of records before AnnData 0.7."""
    names = table.dtype.names if hasattr(table, "dtype") else table
    return [name for name in names or () if name != CATEGORIES]


def _index_name(table: Any) -> str | None:
    names = _columns(table)
    given = [as_text(table.attrs["_index"])] if "_index" in table.attrs else ["_index", "index"]
    return next((name for name in given if name in names), None)


def _index(file: Any, name: str, size: int) -> AnyArray | None:
    """Names of the rows of obs or var, or None if absent or of another length."""
    table = file.get(name)
    index = None if table is None else _index_name(table)
    if index is None:
        return None
    names = as_names(_column(file, table, index))
    return names if len(names) == size else None


def _column(file: Any, table: Any, name: str) -> AnyArray:
    """Read a column: an array, codes and categories, or values and a mask."""
    node = table[name]
    if isinstance(node, np.ndarray):  # a field of records
        categories = file.get(f"uns/{name}_categories")
        return _strings(node) if categories is None else _decoded(node, categories[...])
    if not hasattr(node, "shape"):
        if "codes" in node:
            return _decoded(node["codes"][...], node["categories"][...])
        values = _strings(node["values"][...]).astype(object)
        values[node["mask"][...]] = None
        return values
    if name in table.get(CATEGORIES, ()):
        return _decoded(node[...], table[CATEGORIES][name][...])
    return _strings(node[...])


def _decoded(codes: AnyArray, categories: AnyArray) -> AnyArray:
    """Categories by their codes; a negative code means that the value is missing."""
    values = np.full(len(codes), None, dtype=object)
    values[codes >= 0] = _strings(categories)[codes[codes >= 0]]
    return values


def _strings(values: AnyArray) -> AnyArray:
    """Decode bytes; return other values unchanged."""
    return as_names(values) if values.dtype.kind in "OS" else values
