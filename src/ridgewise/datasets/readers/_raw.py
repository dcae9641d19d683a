# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of a reader, and what it gives before names, target and gaps are looked after."""

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
    """What `read_table` was asked for, as far as readers need it."""

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
    largest_loaded: float = math.inf  # bytes: a larger file is mapped, where its format lets that

    @property
    def in_rows(self) -> bool:
        """Whether a row is a feature. Where nothing was said, a row is a sample."""
        return self.features_in == "rows"


@dataclass
class Raw:
    """What is in a file, samples in rows, of any type of numbers and with gaps as NaN."""

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
    is_mapped: bool = False  # X is a memory map, and should stay one


def check_room(shape: tuple[int, ...], n_bytes: int, memory: int | None, item: int = 0) -> None:
    """Raise if a file's header or indices ask for more memory than can be meant.

    Parameters
    ----------
    shape : tuple of int
        Samples x features, in either order, before any array of that size is made.
    n_bytes : int
        The size of the file, decompressed where that is known.
    memory : int or None
        Bytes of memory that there are. None: as much as the machine has.
    item : int, default=0
        Bytes of a value of a dense array; 0 for a sparse one.
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
    """Give a number with its noun: 1 sample, 2 samples."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def listed(names: Any, most: int = 3) -> str:
    """Quote the first few names."""
    shown = [shortened(name) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def shortened(text: Any, most: int = 60) -> str:
    """Quote a piece of a file on one line."""
    text = str(text)
    return repr(text if len(text) <= most else text[: most - 3] + "...")
