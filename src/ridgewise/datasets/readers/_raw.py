# SPDX-License-Identifier: BSD-3-Clause
"""The options of a reader, and what it returns before names, target and gaps are settled."""

import importlib
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ridgewise._typing import AnyArray

FeaturesIn = Literal["columns", "rows"]
Missing = Literal["error", "drop-features", "drop-samples", "mean"]
Categorical = Literal["error", "drop", "onehot"]

# What a file may ask for, whatever is in it: see `check_room`
BYTES_OF_A_NAME = 80  # of a feature: its name, and its place in a sparse matrix
ALWAYS_ALLOWED = 2 * 10**9  # bytes
LARGEST_RATIO = 1000  # of memory to the size of the file


@dataclass(frozen=True)
class Options:
    """The options of `read_table` that readers need."""

    format: str
    target: str | None
    ids: tuple[str, ...]
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    features_in: FeaturesIn | None
    missing: Missing
    categorical: Categorical
    vocabulary: Path | None
    sample_names: Path | None
    key: str | None
    header: bool | None
    delimiter: str | None
    encoding: str | None
    zero_based: bool | Literal["auto"]
    memory: int | None = None  # bytes that the user said there are
    largest_loaded: float = math.inf  # bytes: a larger .npy file is memory-mapped

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
    targets: list[str] = field(default_factory=list)  # names that the target could have had
    notes: list[str] = field(default_factory=list)
    groups: AnyArray | None = None  # the category that a feature is a level of; None: of no one
    dropped: frozenset[str] = frozenset()  # what was asked to be dropped, and has been
    files: dict[str, Path] = field(default_factory=dict)  # read besides the file itself, by role
    is_mapped: bool = False  # X is a memory map


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
    """Bytes of memory of this machine; 8 GB where the system does not tell."""
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
