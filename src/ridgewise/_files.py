# SPDX-License-Identifier: BSD-3-Clause
"""Files are written whole or not at all."""

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that at any moment the old one or the new one is there, and whole.

    Parameters
    ----------
    path : Path
        The file. A link is followed, not replaced.
    content : bytes
        What it will hold.
    """
    target = path.resolve()
    # In the same folder, since only within a file system is a replacement atomic.
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
