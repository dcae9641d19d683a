# SPDX-License-Identifier: BSD-3-Clause
"""Files for programs: how CSV and JSON are written, and where."""

import csv
import json
import os
import platform
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import Any

import numpy as np

from ridgewise._version import __version__
from ridgewise.datasets import spreadsheet_safe
from ridgewise.datasets.readers import Table


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Write CSV in UTF-8, safe to open in a spreadsheet."""
    lines: list[str] = []
    # with "\r\n", so that a "\r" within a name is quoted; before Python 3.13 it is not otherwise
    writer = csv.writer(SimpleNamespace(write=lines.append), lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([spreadsheet_safe(cell) for cell in row] for row in rows)
    text = "".join(line.removesuffix("\r\n") + "\n" for line in lines)
    # A name may hold lone surrogates, which cannot be encoded in UTF-8.
    return text.encode(errors="backslashreplace")


def input_record(table: Table) -> dict[str, Any]:
    """Describe the files that were read: names without folders, sizes, hashes."""
    return {
        "format": table.format,
        "n_samples": table.X.shape[0],
        "n_features": table.X.shape[1],
        "target": table.target_name,
        "files": [asdict(each) | {"path": Path(each.path).name} for each in table.sources],
        "notes": list(table.notes),
    }


def versions() -> dict[str, str]:
    """Versions of the packages that the numbers depend on."""
    packages = ("numpy", "scipy", "scikit-learn")
    return {
        "ridgewise": __version__,
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def to_json(record: Any) -> str:
    """Write strict JSON: indented, ASCII, null for NaN."""
    return json.dumps(_without_nan(record), indent=2, allow_nan=False)


def _without_nan(record: Any) -> Any:
    if isinstance(record, dict):
        return {name: _without_nan(value) for name, value in record.items()}
    if isinstance(record, list | tuple):
        return [_without_nan(value) for value in record]
    if isinstance(record, float | np.floating):
        return float(record) if np.isfinite(record) else None
    return record.item() if isinstance(record, np.generic) else record


def check_target(path: Path, *, formats: Collection[str], overwrite: bool) -> None:
    """Raise if a file cannot be written, before any work is done for it."""
    if path.suffix.lower().lstrip(".") not in formats:
        known = ", ".join(f".{name}" for name in formats)
        raise ValueError(f"cannot write {path}: its name must end in one of {known}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise IsADirectoryError(f"cannot write {path}: it is a folder")
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists already: --force overwrites it")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"cannot write {path}: no permission to write to {path.parent}")


def check_folder(folder: Path, names: Collection[str], *, overwrite: bool) -> None:
    """Raise if results cannot be written to a folder, before any work is done for them."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"cannot write to {folder}: it is not a folder")
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"cannot write {folder}: there is no folder {folder.parent}")
    for name in names:
        if (folder / name).exists() and not overwrite:
            raise FileExistsError(f"{folder / name} exists already: --force overwrites it")
    try:
        with TemporaryFile(dir=folder if folder.is_dir() else folder.parent):
            pass
    except OSError as error:
        raise OSError(f"cannot write to {folder}: {error.strerror}") from error


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder of results atomically: all files or none."""
    folder = folder.resolve()
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        part.mkdir()
        for name, content in files.items():
            (part / name).write_bytes(content)
        if not folder.exists():
            part.rename(folder)
            return
        for name in files:
            (folder / name).unlink(missing_ok=True)
        for name in files:
            (part / name).rename(folder / name)
    except OSError as error:
        raise OSError(f"cannot write {folder}: {error.strerror}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
