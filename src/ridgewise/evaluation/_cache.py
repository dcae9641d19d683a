# SPDX-License-Identifier: BSD-3-Clause
"""Finished folds on disk, so that a killed run resumes where it was.

Not joblib.Memory: it unpickles whatever is in the folder, does not notice a misplaced entry, and
drops all entries when the source of the cached function changes.
"""

import gzip
import json
import os
import zlib
from pathlib import Path
from pickle import PicklingError
from typing import Any
from warnings import warn

import joblib
import numpy as np

from ridgewise._atomic import write_atomically
from ridgewise._typing import AnyArray, is_sparse
from ridgewise._version import __version__
from ridgewise.evaluation._fold import CellResult, Plan, Split

LAYOUT = 5  # of an entry; with another one, old entries are not found


class FoldCache:
    """The folds of one comparison: one file each, in a folder named by a hash of all inputs.

    With ``folder=None`` nothing is stored.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None, plan: Plan, X: Any, y: AnyArray, n_splits: int
    ) -> None:
        self.folder = None
        if folder is None:
            return
        # Not a sparse X itself: SciPy caches attributes in it.
        data = (X.shape, X.data, X.indices, X.indptr) if is_sparse(X) else X
        try:
            key = joblib.hash((LAYOUT, __version__, plan, data, y, n_splits), hash_name="sha1")
        except PicklingError as error:
            raise ValueError(
                "cache= needs selectors that can be pickled, without lambdas and nested functions: "
                f"{error.args[0]}"
            ) from error
        self.folder = Path(folder) / str(key)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(f"cannot write to cache={str(folder)!r}: {error}") from error

    def load(self, split: Split) -> list[CellResult] | None:
        """Read a fold; None if it is missing, damaged or misplaced."""
        if self.folder is None:
            return None
        path = self.folder / file_name(split)
        try:
            stored = json.loads(gzip.decompress(path.read_bytes()))
        except (OSError, EOFError, ValueError, zlib.error):
            return None
        if stored["place"] != [self.folder.name, path.name]:
            return None
        cells = []
        for errors, tuning, seconds, sets in stored["cells"]:
            features = [np.array(chosen, dtype=np.intp) for chosen in sets]
            cells.append(CellResult(np.array(errors), np.array(tuning), seconds, features))
        return cells

    def store(self, split: Split, result: list[CellResult]) -> None:
        """Write a fold atomically; a full disk stops the storing, not the run."""
        if self.folder is None:
            return
        path = self.folder / file_name(split)
        fold = {"place": (self.folder.name, path.name), "cells": result}
        text = json.dumps(fold, default=np.ndarray.tolist)  # floats are written exactly
        try:
            write_atomically(path, gzip.compress(text.encode(), compresslevel=1))
        except OSError as error:
            warn(f"folds are no longer stored: writing {path} failed: {error}", stacklevel=2)
            self.folder = None


def file_name(split: Split) -> str:
    """The name of a fold's file."""
    return f"repeat-{split.repeat:03d}-fold-{split.fold:03d}"
