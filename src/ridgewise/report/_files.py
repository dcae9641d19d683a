# SPDX-License-Identifier: BSD-3-Clause
"""None of a user's files is overwritten unasked."""

import os
from collections.abc import Collection
from pathlib import Path


def check_target(path: Path, *, formats: Collection[str], overwrite: bool) -> None:
    """Refuse a path that cannot be written, before any work is done for it.

    Parameters
    ----------
    path : Path
        Where a file is to be.
    formats : collection of str
        The suffixes that it may have, without their dots.
    overwrite : bool
        Whether there may be a file already.

    Raises
    ------
    ValueError
        Where its suffix is none of the formats.
    OSError
        Where it cannot be written, or exists and is not to be overwritten.
    """
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
