# SPDX-License-Identifier: BSD-3-Clause
"""What a file gives: a table of samples and features, and where it came from."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ridgewise._typing import AnyArray, is_sparse


@dataclass(frozen=True)
class Source:
    """A file that was read.

    Attributes
    ----------
    role : {"data", "target", "feature names", "sample names"}
        What it was read for.
    path : str
        Where it lies, as it was given.
    n_bytes : int
        Its size.
    sha256 : str
        The hash of its bytes, as ``sha256sum`` prints it.
    """

    role: str
    path: str
    n_bytes: int
    sha256: str

    @classmethod
    def of(cls, role: str, path: Path) -> Self:
        """Take the size and hash of a file, piece by piece."""
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256")
            return cls(role, str(path), stream.tell(), digest.hexdigest())


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Samples, features, their names, and what was done to read them.

    Attributes
    ----------
    X : ndarray, csr_array or csc_array of shape (n_samples, n_features)
        Finite numbers, as float32 where that holds them exactly (float32, float16, integers of
        at most 16 bits and booleans), else as float64; a memory map as it is in the file. Dense
        or sparse as it was there.
    y : ndarray of shape (n_samples,) or None
        The target: whole numbers as int64, other numbers as float64, anything else as str.
    feature_names : ndarray of shape (n_features,), object
        Strings, no two alike.
    sample_names : ndarray of shape (n_samples,), object, or None
        Strings; None where the file has none.
    target_name : str or None
        The column of the target, or the name of its file.
    format : str
        One of `FORMATS`.
    sources : tuple of Source
        Every file that was read, the data first.
    notes : tuple of str
        A sentence on each thing that was done to the data or taken for granted.
    seconds : float
        How long reading took.
    groups : ndarray of shape (n_features,), object, or None
        A label for each feature, for selecting groups as a whole: its own name, or, where a
        column of text was expanded to one-hot columns, the name of that column for all of them.
    """

    X: Any
    y: AnyArray | None
    feature_names: AnyArray
    sample_names: AnyArray | None
    target_name: str | None
    format: str
    sources: tuple[Source, ...]
    notes: tuple[str, ...]
    seconds: float
    groups: AnyArray | None = None

    @property
    def sha256(self) -> str:
        """The hash of the file of the data."""
        return self.sources[0].sha256

    @property
    def n_bytes(self) -> int:
        """The size of the file of the data."""
        return self.sources[0].n_bytes

    def __repr__(self) -> str:
        n_samples, n_features = self.X.shape
        kind = f"{'sparse ' if is_sparse(self.X) else ''}{self.X.dtype}"
        target = "no target" if self.target_name is None else f"target {self.target_name!r}"
        return f"<Table: {n_samples} samples x {n_features} features, {kind}, {target}>"
