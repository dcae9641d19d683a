# SPDX-License-Identifier: BSD-3-Clause
"""Atomic writing of files."""

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file by a complete new one; readers see the old or the new file, never a part.

    Parameters
    ----------
    path : Path
        The file. A symbolic link is followed, not replaced.
    content : bytes
        The new content.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from ridgewise._atomic import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder, "selected.csv"), b"feature,weight")
    ...     Path(folder, "selected.csv").read_bytes()
    b'feature,weight'
    """
    target = path.resolve()
    # In the same folder: a replacement is atomic only within one file system.
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
