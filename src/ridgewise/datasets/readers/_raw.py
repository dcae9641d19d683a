# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of a reader, and what it gives before names, target and gaps are looked after."""

import importlib
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ridgewise._typing import AnyArray

FeaturesIn = Literal["columns", "rows"]
Missing = Literal["error", "drop-features", "drop-samples", "mean"]
Categorical = Literal["error", "drop"]


@dataclass(frozen=True)
class Options:
    """What `read_table` was asked for, as far as readers need it."""

    format: str
    target: str | None
    ids: tuple[str, ...]
    features_in: FeaturesIn | None
    missing: Missing
    categorical: Categorical
    vocabulary: Path | None
    sample_names: Path | None
    key: str | None
    header: bool | None
    delimiter: str | None
    zero_based: bool | Literal["auto"]
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
    files: dict[str, Path] = field(default_factory=dict)  # read besides the file itself, by role
    is_mapped: bool = False  # X is a memory map, and should stay one


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
