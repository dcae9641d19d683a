# SPDX-License-Identifier: BSD-3-Clause
"""The target: numbers or labels, from a column or a file."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ridgewise._typing import AnyArray, BoolArray
from ridgewise.datasets.readers._matrix import load_numpy
from ridgewise.datasets.readers._names import as_names, nearest_name, read_lines
from ridgewise.datasets.readers._opening import find_file
from ridgewise.datasets.readers._raw import Options, Raw, count, listed, shortened

MISSING = frozenset({"", "na", "n/a", "nan", "null", "<na>", "#n/a", "?", "."})  # casefolded


def check_classes(y: AnyArray, target_name: str | None = None) -> AnyArray:
    """Return the classes of a target, sorted; raise if there are less than two."""
    classes: AnyArray = np.unique(y)
    if len(classes) < 2:
        name = "the target" if target_name is None else f"the target {shortened(target_name)}"
        raise ValueError(
            f"{name} has one class only, {shortened(classes[0])}, for all "
            f"{count(len(y), 'sample')}: at least two classes are needed"
        )
    return classes


def describe_target(y: AnyArray) -> str:
    """Describe the values of a target, from which a user can tell the task.

    >>> describe_target(np.array([3, 5, 8, 5]))
    '3 distinct integers from 3 to 8'
    """
    values = np.unique(y)
    if y.dtype.kind not in "iuf":
        return f"{len(values):,} distinct labels"
    kind = "numbers" if y.dtype.kind == "f" else "integers"
    return f"{len(values):,} distinct {kind} from {values[0]:g} to {values[-1]:g}"


def attach_target(raw: Raw, options: Options) -> None:
    """Read the target from its file, if it is not a column; settle its dtype."""
    target = options.target
    if target is not None and raw.target_name != target:
        path = target_file(target, raw.targets)
        raw.y, raw.target_name = read_target(path, raw, options.encoding), path.name
        raw.files["target"] = path
    if raw.y is not None:
        raw.y = as_target(raw.y, decimal_comma=raw.decimal_comma)


def target_file(target: str, names: list[str]) -> Path:
    """The path of a target that is not a column; raises with the nearest column otherwise."""
    if Path(target).is_file():
        return Path(target)
    if not names:
        raise ValueError(
            "this format has no columns with names, so the target must be a file with one value "
            f"per line, and there is no file {shortened(target)}"
        )
    raise ValueError(
        f"there is no column {shortened(target)} for the target, nor a file of that name"
        f"{nearest_name(target, names)}"
    )


def read_target(path: Path, raw: Raw, encoding: str | None) -> AnyArray:
    """Values of a file: one per line in the order of the samples, or with their names.

    A .csv or .tsv with two columns has the sample names first; its rows are matched by them.
    """
    n_samples = raw.X.shape[0]
    find_file(path)
    if path.suffix.lower() == ".npy":
        values = load_numpy(path)
        if values.ndim != 1:
            raise ValueError(f"{path.name} has the shape {values.shape}; expected one dimension")
    else:
        rows = _rows(path, encoding)
        if len(rows) == n_samples + 1:
            rows = rows[1:]  # without the header
        values = _aligned(rows, raw, path) if len(rows[0]) == 2 else as_names(r[0] for r in rows)
    if len(values) != n_samples:
        raise ValueError(
            f"the target {path.name} has {count(len(values), 'value')}, and there are "
            f"{count(n_samples, 'sample')}: expected one value per line"
        )
    return values


def _rows(path: Path, encoding: str | None) -> list[list[str]]:
    """Cells of each line: one, or two in a .csv or .tsv file."""
    lines = read_lines(path, encoding)
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if delimiter is None:
        return [[line.strip()] for line in lines]
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    widths = {len(row) for row in rows}
    if widths not in ({1}, {2}):
        raise ValueError(
            f"the target {path.name} must have one column (values) or two (sample names, values); "
            f"it has up to {max(widths, default=0)}"
        )
    return rows


def _aligned(rows: list[list[str]], raw: Raw, path: Path) -> AnyArray:
    """Values in the order of the samples, by their names."""
    if raw.sample_names is None:
        raise ValueError(
            f"the target {path.name} has sample names, and the data has none: keep the values only"
        )
    values = dict(rows)
    absent = [name for name in raw.sample_names if name not in values]
    if absent or len(values) != len(rows):
        problem = f"no line for {listed(absent)}" if absent else "a sample more than once"
        raise ValueError(f"the target {path.name} has {problem}")
    raw.notes.append(f"The target was matched to the samples by the names in {path.name}.")
    return as_names(values[name] for name in raw.sample_names)


def as_target(values: AnyArray, *, decimal_comma: bool = False) -> AnyArray:
    """Integers as int64, other numbers as float64, all else as str."""
    if values.dtype.kind in "OSU":
        missing = is_missing(values)
        try:
            values = np.array([_number(value, decimal_comma=decimal_comma) for value in values])
        except ValueError:
            labels = np.array([str(value).strip() for value in values])
            labels[missing] = ""
            return labels
    if values.dtype.kind in "biu":
        return values.astype(np.int64)
    if values.dtype.kind != "f":
        raise ValueError(f"the target must be numbers or text; it is of type {values.dtype}")
    is_whole = np.isfinite(values).all() and (values == np.trunc(values)).all()
    return values.astype(np.int64 if is_whole and abs(values).max() < 2**53 else np.float64)


def _number(value: Any, *, decimal_comma: bool = False) -> float:
    text = str(value).strip()
    if text.casefold() in ("true", "false"):
        raise ValueError  # labels
    if decimal_comma:
        text = text.replace(",", ".")
    return np.nan if text.casefold() in MISSING else float(text)


def is_missing(values: Sequence[Any] | AnyArray) -> BoolArray:
    """Which values of a target are missing."""
    kind = getattr(values, "dtype", np.dtype(object)).kind
    if kind in "biu":
        return np.zeros(len(values), dtype=bool)
    if kind == "f":
        return np.isnan(np.asarray(values))
    return np.array([value is None or str(value).strip().casefold() in MISSING for value in values])
