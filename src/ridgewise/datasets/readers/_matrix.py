# SPDX-License-Identifier: BSD-3-Clause
"""Formats without named columns: NumPy, SciPy, svmlight, Matrix Market (10x too), TechTC."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from ridgewise._typing import AnyArray
from ridgewise.datasets._techtc import FEATURES, read_techtc_folder
from ridgewise.datasets.readers._names import as_names, nearest_name, read_names, take_names
from ridgewise.datasets.readers._opening import COMPRESSIONS, find_file, open_binary
from ridgewise.datasets.readers._raw import Options, Raw, check_room, count, listed, shortened

SPARSE = {"format", "shape", "data"}  # arrays that identify a sparse matrix of SciPy
ARRAYS_OF_NAMES = {
    **dict.fromkeys(("feature_names", "features", "var_names", "genes"), "feature_names"),
    **dict.fromkeys(("sample_names", "samples", "obs_names", "barcodes"), "sample_names"),
}
GENERAL_NAMES = ("names", "columns", "vocabulary")
PICKLED = (
    "holds Python objects, which are never unpickled here (save plain values), or is not a NumPy "
    "file"
)
MAPPED_SHARE = 0.25  # of the memory: a larger .npy file is memory-mapped

# Matrix Market: comments, then lines of one to four numbers. Checked first, because SciPy's reader
# crashes the process on some malformed lines, such as a truncated last one.
NUMBER = rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|nan|NaN|inf)"
NUMBERS = rb"[ \t]*(?:" + NUMBER + rb"(?:[ \t]+" + NUMBER + rb"){0,3}[ \t]*)?\r?$"
ODD_LINE = re.compile(rb"^(?!%|" + NUMBERS + rb").*", re.MULTILINE)


def read_npy(path: Path, options: Options) -> Raw:
    """Read an .npy file; memory-map a large one, unless its type has to be converted."""
    if not options.memory or path.stat().st_size <= MAPPED_SHARE * options.memory:
        return Raw(_oriented(load_numpy(path), options))
    # copy-on-write if means are filled in: the file does not change
    X = load_numpy(path, mmap_mode="c" if options.missing == "mean" else "r")
    dtype = X.dtype
    if dtype.isnative and (dtype.kind in "biu" or dtype in (np.float32, np.float64)):
        return Raw(_oriented(X, options), is_mapped=True)
    note = f"Loaded, not memory-mapped: its type {dtype} had to be converted."
    return Raw(_oriented(np.array(X), options), notes=[note])


def read_npz(path: Path, options: Options) -> Raw:
    """Read an .npz file: a sparse matrix of SciPy, or an array under a key."""
    with load_numpy(path) as archive:
        if set(archive.files) >= SPARSE:
            X = _load(lambda: sp.load_npz(path), path.name)
            parts = SPARSE | {"indices", "indptr"}
        else:
            key = _find_key(archive, options.key)
            X, parts = _member(archive, key), {key}
        raw = Raw(_oriented(X, options))
        raw.targets = [name for name in archive.files if name not in parts]
        for name in raw.targets:
            if name == options.target:
                raw.y, raw.target_name = _member(archive, name), name
            else:
                _take_array_of_names(raw, name, archive)
    return raw


def load_numpy(path: Path, **settings: Any) -> Any:
    """Load an .npy or .npz file without unpickling."""
    return _load(lambda: np.load(path, allow_pickle=False, **settings), path.name)


def _member(archive: Any, key: str) -> AnyArray:
    return np.asarray(_load(lambda: archive[key], f"array {shortened(key)}"))


def _load(load: Callable[[], Any], name: str) -> Any:
    """Call a loader of NumPy or SciPy; turn any of its errors into a ValueError."""
    try:
        return load()
    except Exception as error:
        # NumPy also says so of a file that is not its own
        is_pickled = "pickle" in str(error).lower() or "Python object" in str(error)
        problem = PICKLED if is_pickled else f"is damaged or cut off: {error}"
        raise ValueError(f"{name} {problem}") from error


def _take_array_of_names(raw: Raw, name: str, archive: Any) -> None:
    """Use an array as names of features or samples, by its key and its length."""
    role = ARRAYS_OF_NAMES.get(name.casefold())
    if role is None and name.casefold() not in GENERAL_NAMES:
        return
    names = _member(archive, name)
    sizes = dict(zip(("sample_names", "feature_names"), raw.X.shape, strict=True))
    fitting = [each for each, size in sizes.items() if names.shape == (size,)]
    if role is None and fitting:
        role = fitting[-1]  # of features rather than of samples
    if role not in fitting:
        raw.notes.append(
            f"Array {shortened(name)} of shape {names.shape} was ignored: it matches no axis of X."
        )
    elif getattr(raw, role) is None:
        setattr(raw, role, as_names(names))


def _find_key(archive: Any, key: str | None) -> str:
    """The key of the data: as given, or X, or the only matrix."""
    names = archive.files
    if key is not None:
        if key not in names:
            known = f"it has {listed(names)}{nearest_name(key, names)}"
            raise ValueError(f"there is no array {shortened(key)}: {known}")
        return key
    if "X" in names or len(names) == 1:
        return "X" if "X" in names else str(names[0])
    tables = [name for name in names if _is_table(archive, name)]
    if len(tables) == 1:
        return tables[0]
    raise ValueError(f"it has {len(names)} arrays ({listed(names)}): give the key of the data")


def _is_table(archive: Any, name: str) -> bool:
    try:
        array = archive[name]
    except ValueError:  # it would have to be unpickled
        return False
    return bool(array.ndim == 2 and array.dtype.kind in "biuf")


def read_svmlight(path: Path, options: Options) -> Raw:
    """Read lines of a label and index:value pairs."""
    with open_binary(path) as stream:
        try:
            X, y = load_svmlight_file(stream, zero_based=True)
        except (ValueError, IndexError) as error:
            raise ValueError(f"expected lines such as '1 3:0.5 17:2': {error}") from error
    if not X.nnz:
        raise ValueError("there are no values in it")
    raw = Raw(X, y=y, target_name="label")
    has_zero = bool((X.indices == 0).any())
    if options.zero_based is False and has_zero:
        raise ValueError("it has a feature with index 0, and zero_based=False was given")
    if options.zero_based == "auto":
        raw.notes.append(f"Feature indices were assumed to start at {0 if has_zero else 1}.")
    if not (has_zero if options.zero_based == "auto" else options.zero_based):
        raw.X = X[:, 1:]
    if options.vocabulary is not None:
        _widen(raw, options.vocabulary)
    return raw


def _widen(raw: Raw, vocabulary: Path) -> None:
    """Append zero columns for the last names of a vocabulary, which no sample has."""
    n_samples, n_features = raw.X.shape
    n_names = len(read_names(find_file(vocabulary)))
    if n_names > n_features:
        raw.X.resize((n_samples, n_names))
        added = count(n_names - n_features, "feature")
        raw.notes.append(f"{added} at the end of {vocabulary.name} without values: added as zeros.")


def read_matrix_market(path: Path, options: Options) -> Raw:
    """Read a Matrix Market file, and names from the 10x files beside it."""
    X = load_matrix_market(path, options.memory)
    features, barcodes = _beside(path, "features.tsv", "genes.tsv"), _beside(path, "barcodes.tsv")
    in_rows = options.in_rows or (options.features_in is None and features is not None)
    raw = Raw(X.T if in_rows else X)
    if in_rows and not options.in_rows:
        raw.notes.append("Features were assumed to be in rows, as in 10x files.")
    for of, file in (("feature", features), ("sample", barcodes)):
        if file is not None:
            take_names(raw, file, of=of)
            raw.notes.append(f"{of.capitalize()} names read from {file.name}, beside the matrix.")
    return raw


def load_matrix_market(path: Path, memory: int | None = None) -> Any:
    """Load a matrix, sparse or dense as in the file."""
    with open_binary(path) as stream:
        content = stream.read()
    if not content.startswith(b"%%"):
        raise ValueError("it is not a Matrix Market file, which starts with %%MatrixMarket")
    if not content.endswith(b"\n"):
        content += b"\n"
    found = ODD_LINE.search(content)
    if found is not None:
        number = content.count(b"\n", 0, found.start()) + 1
        line = shortened(found[0].decode("ascii", "replace"))
        raise ValueError(f"line {number} is {line}, expected numbers: is it cut off?")
    try:
        _check_header(content, memory)
        return scipy.io.mmread(io.BytesIO(content))
    except (ValueError, OverflowError, MemoryError) as error:
        raise ValueError(f"it is not a Matrix Market file, or damaged: {error}") from error


def _check_header(content: bytes, memory: int | None) -> None:
    """Raise if the header announces more than there is, before memory is allocated for it."""
    n_rows, n_columns, n_entries, layout, _, symmetry = scipy.io.mminfo(io.BytesIO(content))
    n_lines = content.count(b"\n")
    if n_entries > (n_lines if layout == "coordinate" or symmetry == "general" else 2 * n_lines):
        raise ValueError(f"its header declares {n_entries:,} entries, and it has {n_lines:,} lines")
    check_room((n_rows, n_columns), len(content), memory)


def _beside(path: Path, *names: str) -> Path | None:
    """A 10x file beside matrix.mtx with the same prefix, compressed or not."""
    prefix, found, _ = path.name.partition("matrix.mtx")
    for name in names if found else ():
        for ending in ("", *COMPRESSIONS):
            candidate = path.with_name(f"{prefix}{name}{ending}")
            if candidate.is_file():
                return candidate
    return None


def read_techtc(path: Path, options: Options) -> Raw:
    """Read a folder of TechTC's layout, all of its words."""
    found = read_techtc_folder(path, min_word_length=0)
    raw = Raw(found.data, as_names(found.words), y=found.target, target_name="label")
    raw.files["feature names"] = path / FEATURES
    return raw


def _oriented(X: Any, options: Options) -> Any:
    if X.ndim != 2:
        raise ValueError(f"the array has the shape {X.shape}; expected samples x features")
    return X.T if options.in_rows else X
