# SPDX-License-Identifier: BSD-3-Clause
"""`--groups`: which features are selected together."""

import csv
from pathlib import Path

import numpy as np

from ridgewise._typing import AnyArray
from ridgewise.datasets.readers import Table

PREFIX = "prefix:"
HEADER = ["feature", "group"]


def group_labels(option: str | None, table: Table) -> AnyArray | None:
    """One label per feature, or None: by ``--groups``, and of one-hot columns their category.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> table = SimpleNamespace(feature_names=np.array(["age", "lag_1", "lag_2"]), groups=None)
    >>> group_labels("prefix:_", table)
    array(['age', 'lag', 'lag'], dtype=object)
    """
    own = table.groups
    if own is not None and len(set(own)) == len(own):  # no categories
        own = None
    names = table.feature_names if own is None else own
    if option is None:
        return own
    if option.startswith(PREFIX):
        labels = _by_prefix(names, option.removeprefix(PREFIX))
    else:
        labels = _by_file(names, Path(option))
    return np.array(labels, dtype=object)


def _by_prefix(names: AnyArray, separator: str) -> list[str]:
    """The part of each name before the separator, or all of it."""
    if not separator:
        raise ValueError("--groups prefix: needs a separator, as in --groups prefix:_")
    labels = [str(name).split(separator)[0] or str(name) for name in names]
    if len(set(labels)) == len(set(names)):
        raise ValueError(
            f"--groups prefix:{separator}: no two features have the same name before "
            f"{separator!r}; the first feature is {str(names[0])!r}"
        )
    return labels


def _by_file(names: AnyArray, path: Path) -> list[str]:
    """The groups that a file names; a feature that it does not name is one of its own."""
    group = _read(path)
    known = [str(name) in group for name in names]
    if not any(known):
        raise ValueError(
            f"--groups {path}: none of its {len(group)} features is one of the data, whose first "
            f"is {str(names[0])!r}; it should have lines with a feature and its group"
        )
    return [group.get(str(name), str(name)) for name in names]


def _read(path: Path) -> dict[str, str]:
    """Features and their groups, of a CSV or TSV file."""
    text = path.read_text(encoding="utf-8-sig")
    first = text.split("\n", 1)[0]
    delimiter = max("\t,;", key=first.count)
    group: dict[str, str] = {}
    for number, row in enumerate(csv.reader(text.splitlines(), delimiter=delimiter), start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or (number == 1 and [cell.lower() for cell in cells[:2]] == HEADER):
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise ValueError(
                f"--groups {path}: line {number} should have a feature and its group; got {row!r}"
            )
        if group.setdefault(cells[0], cells[1]) != cells[1]:
            raise ValueError(
                f"--groups {path}: line {number} has feature {cells[0]!r} in group {cells[1]!r}, "
                f"and an earlier one in {group[cells[0]]!r}; a feature has one group"
            )
    return group
