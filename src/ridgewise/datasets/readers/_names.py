# SPDX-License-Identifier: BSD-3-Clause
"""Names of features and samples: read, made unique, looked up."""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ridgewise._typing import AnyArray
from ridgewise.datasets.readers._opening import open_text
from ridgewise.datasets.readers._raw import Raw, count, shortened


def as_names(values: Iterable[Any]) -> AnyArray:
    """An object array of str: unlike a fixed-width one, a single long name costs little."""
    return np.array([as_text(value) for value in values], dtype=object)


def as_text(value: Any) -> str:
    """Text, decoded if it is bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def read_lines(path: Path, encoding: str | None = None) -> list[str]:
    """Lines of a text file, without trailing blank ones."""
    with open_text(path, encoding) as stream:
        lines = [line.rstrip("\r\n") for line in stream]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def read_names(path: Path, encoding: str | None = None) -> AnyArray:
    """Names from a file, one per line; of tab-separated columns, the second.

    ``features.tsv`` of 10x has id, symbol and type; vocabularies often have index and word.
    """
    cells = [line.split("\t") for line in read_lines(path, encoding)]
    return as_names((cell[1] if len(cell) > 1 else cell[0]).strip() for cell in cells)


def take_names(raw: Raw, path: Path, *, of: str, encoding: str | None = None) -> None:
    """Set the names of the features or samples from a file; raise if their number is wrong."""
    names = read_names(path, encoding)
    expected = raw.X.shape[1 if of == "feature" else 0]
    if len(names) != expected:
        raise ValueError(
            f"{path.name} has {count(len(names), 'name')}, and there are "
            f"{count(expected, of)}: expected one name per line"
        )
    setattr(raw, f"{of}_names", names)
    raw.files[f"{of} names"] = path


def complete_names(raw: Raw) -> AnyArray:
    """Names of the features: unique, and x0, x1, ... by default."""
    if raw.feature_names is None:
        return as_names(f"x{j}" for j in range(raw.X.shape[1]))
    names = raw.feature_names
    blank = np.flatnonzero(names == "")
    if len(blank):
        names = names.copy()
        names[blank] = [f"x{j}" for j in blank]
        place = shortened(names[blank[0]])
        raw.notes.append(
            f"{count(len(blank), 'feature')} had no name: named by position, such as {place}."
        )
    unique, n_renamed = make_unique(names)
    if n_renamed:
        raw.notes.append(
            f"{count(n_renamed, 'duplicate name')} made unique: .1, .2, ... was appended."
        )
    return unique


def make_unique(names: AnyArray) -> tuple[AnyArray, int]:
    """Append .1, .2, ... to repeated names; also return how many there were."""
    seen = set(names)
    if len(seen) == len(names):
        return names, 0
    used: dict[str, int] = {}
    unique = names.copy()
    for j, name in enumerate(names):
        if name not in used:
            used[name] = 0
            continue
        while (candidate := f"{name}.{used[name] + 1}") in seen:
            used[name] += 1
        unique[j] = candidate
        seen.add(candidate)
    return unique, len(names) - len(used)


def find_column(name: str, columns: Sequence[str], what: str) -> int:
    """Index of a column by name; raises with the nearest name if there is none."""
    places = find_columns(name, columns, what)
    if len(places) > 1:
        raise ValueError(f"{len(places)} {what}s are named {shortened(name)}: rename all but one")
    return places[0]


def find_columns(name: str, columns: Sequence[str], what: str) -> list[int]:
    """Indices of all columns of a name; raises with the nearest name if there is none."""
    places = [place for place, column in enumerate(columns) if column == name]
    if not places:
        raise ValueError(f"there is no {what} {shortened(name)}{nearest_name(name, columns)}")
    return places


def nearest_name(name: str, names: Sequence[str]) -> str:
    """A hint at the nearest name, or an empty string."""
    folded = {known.casefold(): known for known in names}
    nearest = difflib.get_close_matches(name.casefold(), list(folded), n=1)
    return f": did you mean {shortened(folded[nearest[0]])}?" if nearest else ""
