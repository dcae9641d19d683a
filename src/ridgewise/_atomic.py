# SPDX-License-Identifier: BSD-3-Clause
"""Atomic writing of files."""

import os
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file (or the target of a link) so that readers see the old or the new one whole."""
    target = path.resolve()
    # In the same folder: a replacement is atomic only within one file system.
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
