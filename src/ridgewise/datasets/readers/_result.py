# SPDX-License-Identifier: BSD-3-Clause
"""What a file gives: a table of samples and features, and where it came from."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from ridgewise._typing import AnyArray, is_sparse


@dataclass(frozen=True)
class Source:
    """A file that was read."""

    role: str  # "data", "target", "feature names" or "sample names"
    path: str  # as it was given
    n_bytes: int
    sha256: str  # in hexadecimal

    @classmethod
    def of(cls, role: str, path: Path) -> Self:
        """Take the size and hash of a file, piece by piece."""
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256")
            return cls(role, str(path), stream.tell(), digest.hexdigest())


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Samples, features, their names, and what was done to read them."""

    # Finite numbers, dense, CSR or CSC as in the file. float32 if that is exact for the dtype
    # (float32, float16, integers of at most 16 bits, booleans), else float64. A memory map keeps
    # its dtype.
    X: Any
    y: AnyArray | None  # whole numbers as int64, other numbers as float64, anything else as str
    feature_names: AnyArray  # unique strings, as objects
    sample_names: AnyArray | None
    target_name: str | None  # the column of the target, or the name of its file
    format: str  # one of `FORMATS`
    sources: tuple[Source, ...]  # every file that was read, the data first
    notes: tuple[str, ...]  # a sentence on each thing that was done to the data or assumed
    seconds: float
    # For each feature its own name, or the name of the column that was expanded to one-hot columns
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
