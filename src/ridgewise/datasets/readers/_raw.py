# SPDX-License-Identifier: BSD-3-Clause
"""Options of the readers, their raw result, the final table, and helpers for messages."""

import codecs
import hashlib
import importlib
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np

from ridgewise._typing import AnyArray, is_sparse

FeaturesIn = Literal["columns", "rows"]
Missing = Literal["error", "drop-features", "drop-samples", "mean"]
Categorical = Literal["error", "drop", "onehot"]
CHOICES = {"features_in": FeaturesIn, "missing": Missing, "categorical": Categorical}

# Limits on the memory that a file may ask for: see `check_room`
BYTES_OF_A_NAME = 80  # of a feature: its name, and its place in a sparse matrix
ALWAYS_ALLOWED = 2 * 10**9  # bytes
LARGEST_RATIO = 1000  # of memory to the size of the file


@dataclass(kw_only=True)
class Options:
    """The options of `read_table`. A str is accepted for a tuple of one name, and for a path."""

    target: str | None = None  # a column (row, array, column of obs), or a file: see `read_target`
    ids: tuple[str, ...] = ()  # columns that are not features; the first has the row names
    drop: tuple[str, ...] = ()  # columns, or features, to leave out
    keep: tuple[str, ...] = ()  # columns to keep although they look like ids: `_why_no_feature`
    features_in: FeaturesIn | None = None  # None: columns, but rows beside a features.tsv of 10x
    missing: Missing = "error"  # empty cells, NA, NaN, null, N/A, ? and similar
    categorical: Categorical = "error"  # text; "onehot": columns named column=level, in a group
    vocabulary: Path | None = None  # file of feature names: the second of tab-separated columns
    sample_names: Path | None = None  # likewise
    format: str | None = None  # one of `FORMATS`; None: by the name of the file
    key: str | None = None  # array of an .npz, layer or path of an .h5ad, genome, or sheet
    header: bool | None = None  # None: yes, unless the first line is numbers that do not increase
    delimiter: str | None = None  # None: a tab for TSV, else the most frequent of the first line
    encoding: str | None = None  # of text; None: UTF-8
    zero_based: bool | Literal["auto"] = "auto"  # of svmlight; "auto": if there is a feature 0
    memory: int | None = None  # bytes: an .npy file larger than a quarter is memory-mapped

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value, known = getattr(self, name), get_args(choices)
            if value not in known and (value, name) != (None, "features_in"):
                expected = ", ".join(map(repr, known))
                raise ValueError(f"{name} must be one of {expected}; got {value!r}")
        for name in ("ids", "drop", "keep"):
            value = getattr(self, name)
            setattr(self, name, (value,) if isinstance(value, str) else tuple(value))
        for name, kind in (("target", os.fspath), ("vocabulary", Path), ("sample_names", Path)):
            value = getattr(self, name)
            setattr(self, name, None if value is None else kind(value))
        try:
            codec = codecs.lookup(self.encoding or "utf-8").name
            "".encode(codec)  # raises for codecs that do not encode text
        except LookupError:
            raise ValueError(
                f"there is no encoding {self.encoding!r}; known are 'latin-1', 'cp1252', 'utf-16'"
            ) from None
        self.encoding = None if codec == "utf-8" else codec

    @property
    def in_rows(self) -> bool:
        """Whether a row is a feature; by default it is a sample."""
        return self.features_in == "rows"


@dataclass
class Raw:
    """The content of a file: samples in rows, any numeric dtype, NaN where missing."""

    X: Any
    feature_names: AnyArray | None = None
    sample_names: AnyArray | None = None
    y: AnyArray | None = None
    target_name: str | None = None
    targets: list[str] = field(default_factory=list)  # names that the target can have, for errors
    notes: list[str] = field(default_factory=list)
    groups: AnyArray | None = None  # the category of each one-hot feature; None for others
    dropped: frozenset[str] = frozenset()  # options.drop, if the reader has handled it
    files: dict[str, Path] = field(default_factory=dict)  # read besides the file itself, by role
    is_mapped: bool = False  # X is a memory map
    decimal_comma: bool = False  # of numbers in the file's text


def group_labels(groups: AnyArray | None, feature_names: AnyArray) -> AnyArray:
    """A group for each feature: the category of a one-hot column, or the feature itself."""
    if groups is None:
        return feature_names
    is_alone = np.array([group is None for group in groups])
    labels: AnyArray = np.where(is_alone, feature_names, groups)
    return labels


@dataclass(frozen=True)
class Source:
    """A file that was read."""

    role: str  # "data", "target", "feature names" or "sample names"
    path: str  # as it was given
    n_bytes: int
    sha256: str  # in hexadecimal

    @classmethod
    def of(cls, role: str, path: Path) -> Self:
        """Compute the size and hash of a file, in chunks."""
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
    y: AnyArray | None  # integers as int64, other numbers as float64, all else as str
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


def check_room(shape: tuple[int, ...], n_bytes: int, memory: int | None, item: int = 0) -> None:
    """Raise if the shape that a file states needs more memory than its size can justify.

    ``memory`` is in bytes, None for that of the machine. ``item`` is the itemsize of a dense
    array, 0 for a sparse one.
    """
    needed = BYTES_OF_A_NAME * sum(shape) + item * math.prod(shape)
    memory = memory or machine_memory()
    if needed > memory / 2:
        problem = f"more than half of the {_size(memory)} of memory"
    elif needed > ALWAYS_ALLOWED and needed > LARGEST_RATIO * n_bytes:
        problem = f"more than {LARGEST_RATIO:,} times the {_size(n_bytes)} of the file"
    else:
        return
    raise ValueError(
        f"its header or indices ask for {' x '.join(f'{size:,}' for size in shape)} values, which "
        f"take {_size(needed)} with their names: {problem}. Is an index or the header wrong?"
    )


def machine_memory() -> int:
    """Bytes of memory of this machine; 8 GB if unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8 * 10**9


def _size(n_bytes: int) -> str:
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if n_bytes >= 10**power:
            return f"{n_bytes / 10**power:,.3g} {unit}"
    return count(n_bytes, "byte")


def need(module: str, extra: str, purpose: str) -> Any:
    """Import an optional dependency, or say what to install."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ImportError(
            f"reading {purpose} needs {module}: pip install 'ridgewise[{extra}]'", name=module
        ) from None


def count(number: int, thing: str) -> str:
    """Format a number with its noun: 1 sample, 2 samples."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def listed(names: Any, most: int = 3) -> str:
    """Quote the first few names."""
    shown = [shortened(name) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def shortened(text: Any, most: int = 60) -> str:
    """Quote text from a file, shortened."""
    text = str(text)
    return repr(text if len(text) <= most else text[: most - 3] + "...")
