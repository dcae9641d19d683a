# SPDX-License-Identifier: BSD-3-Clause
"""Finished folds on disk, so that a killed run resumes where it was.

Not joblib.Memory: that unpickles whatever is in the folder, hashes X for every fold, takes damaged
entries for whole, and drops all of them when this file changes.
"""

import os
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from pickle import PicklingError
from typing import Any
from warnings import warn

import joblib
import numpy as np

from ridgewise._atomic import write_atomically
from ridgewise._typing import AnyArray, is_sparse
from ridgewise._version import __version__
from ridgewise.evaluation._fold import FoldResult, Plan, Split

DIGEST_SIZE = sha256().digest_size
LAYOUT = 4  # of an entry; with another one, old entries are not found


class FoldCache:
    """The folds of one comparison: one file each, in a folder named by a hash of all inputs.

    With ``folder=None`` nothing is stored.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None, plan: Plan, X: Any, y: AnyArray, n_splits: int
    ) -> None:
        self.folder = None
        if folder is not None:
            everything = (LAYOUT, __version__, plan, _content(X), y, n_splits)
            self.folder = Path(folder) / _hash(everything)
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OSError(f"cannot write to cache={str(folder)!r}: {error}") from error

    def load(self, split: Split) -> FoldResult | None:
        """Read a fold; None where it is missing, damaged or misplaced."""
        if self.folder is None:
            return None
        path = self._path(split)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        digest, payload = content[:DIGEST_SIZE], content[DIGEST_SIZE:]
        return _unpack(payload) if _digest(path, payload) == digest else None

    def store(self, split: Split, result: FoldResult) -> None:
        """Write a fold atomically; a full disk stops the storing, not the run."""
        if self.folder is None:
            return
        path, payload = self._path(split), _pack(result)
        try:
            write_atomically(path, _digest(path, payload) + payload)
        except OSError as error:
            warn(f"folds are no longer stored: writing {path} failed: {error}", stacklevel=2)
            self.folder = None

    def _path(self, split: Split) -> Path:
        assert self.folder is not None
        return self.folder / f"repeat-{split.repeat:03d}-fold-{split.fold:03d}"


def _hash(everything: tuple[Any, ...]) -> str:
    try:
        return str(joblib.hash(everything, hash_name="sha1"))
    except PicklingError as error:
        raise ValueError(
            "cache= needs selectors that can be pickled, without lambdas and nested functions: "
            f"{error.args[0]}"
        ) from error


def _digest(path: Path, payload: bytes) -> bytes:
    """Hash a fold together with its place, so that a misplaced file is not taken for it."""
    return sha256(f"{path.parent.name}/{path.name}/".encode() + payload).digest()


def _content(X: Any) -> tuple[Any, ...]:
    """The content of a matrix, without attributes that SciPy caches."""
    return (X.format, X.shape, X.data, X.indices, X.indptr) if is_sparse(X) else (X,)


def _pack(result: FoldResult) -> bytes:
    """The arrays of a fold, with the features of each cell's tries one after the other."""
    arrays: dict[str, Any] = {
        "errors": result.errors,
        "tuning": result.tuning,
        "seconds": result.seconds,
    }
    for cell, tries in enumerate(result.sets):
        arrays[f"sizes-{cell}"] = np.array([len(chosen) for chosen in tries], dtype=np.int64)
        arrays[f"features-{cell}"] = np.concatenate([np.empty(0, np.int32), *tries], dtype=np.int32)
    buffer = BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _unpack(payload: bytes) -> FoldResult:
    with np.load(BytesIO(payload), allow_pickle=False) as stored:
        sets = []
        for cell in range(len(stored["seconds"])):
            ends = np.cumsum(stored[f"sizes-{cell}"])
            sets.append(np.split(stored[f"features-{cell}"], ends)[: len(ends)])
        return FoldResult(stored["errors"], stored["tuning"], stored["seconds"], sets)
