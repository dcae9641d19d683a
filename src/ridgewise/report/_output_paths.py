# SPDX-License-Identifier: BSD-3-Clause
"""Output paths: nothing is overwritten unless asked for, and a folder of results is atomic."""

import os
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import TemporaryFile


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
        _put_in_place(part, folder, files)
    except OSError as error:
        raise OSError(f"cannot write {folder}: {error.strerror}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _put_in_place(part: Path, folder: Path, names: Collection[str]) -> None:
    if not folder.exists():
        part.rename(folder)
        return
    for name in names:
        (folder / name).unlink(missing_ok=True)
    for name in names:
        (part / name).rename(folder / name)
