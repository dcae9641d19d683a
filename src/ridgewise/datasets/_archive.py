# SPDX-License-Identifier: BSD-3-Clause
"""Extraction of untrusted zip archives: no path traversal, no zip bombs.

By hand: pooch.Unzip and zipfile.extractall limit neither bytes nor members.
"""

import stat
import zlib
from pathlib import Path, PurePosixPath
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

BLOCK = 1 << 16
SLACK = 1 << 20  # bytes that any archive may expand to
MAX_RATIO = 100  # of expanded to compressed size; text has about 10


def extract_zip(archive: Path, folder: Path, *, max_bytes: int, max_members: int) -> None:
    """Extract regular files and folders into a new folder, which the caller removes on error.

    Bytes are counted while they are decompressed: the sizes that an archive states are not
    trusted. `MAX_RATIO` times the size of the archive is another limit.
    """
    folder.mkdir()
    limit = min(max_bytes, MAX_RATIO * archive.stat().st_size + SLACK)
    try:
        with ZipFile(archive) as file:
            members = file.infolist()
            _check_members(members, max_members)
            for member in members:
                limit -= _extract(file, member, folder, limit)
    except (BadZipFile, EOFError, NotImplementedError, zlib.error) as error:
        raise ValueError(_explain(archive, error)) from error


def _check_members(members: list[ZipInfo], max_members: int) -> None:
    """Raise if there are too many or one is not allowed, before anything is written."""
    if len(members) > max_members:
        raise ValueError(
            f"refused the archive: it has {len(members)} members, and {max_members} are allowed"
        )
    names = set()
    for member in members:
        if problem := _problem(member):
            raise ValueError(f"refused the archive: its member {member.filename!r} {problem}")
        name = str(PurePosixPath(member.filename)).casefold()
        if name in names:
            raise ValueError(f"refused the archive: its member {member.filename!r} occurs twice")
        names.add(name)


def _problem(member: ZipInfo) -> str | None:
    """Say why a member is not extracted, or return None."""
    # orig_filename: before zipfile truncates it at a null byte
    path = PurePosixPath(member.orig_filename)
    kind = stat.S_IFMT(member.external_attr >> 16)
    if path.is_absolute() or ".." in path.parts or any(c in str(path) for c in "\\:\0"):
        return "leaves the folder, or has a name that could"
    if not path.parts:
        return "has no name"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device, and not a file or a folder"
    if member.flag_bits & 1:
        return "is encrypted"
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # others have no bounded ratio
        return "is compressed by a method other than deflate"
    return None


def _extract(file: ZipFile, member: ZipInfo, folder: Path, limit: int) -> int:
    """Write a member and return its number of bytes."""
    target = folder / member.filename
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return 0
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with file.open(member) as source, target.open("xb") as sink:
        while block := source.read(BLOCK):
            written += len(block)
            if written > limit:
                raise ValueError(
                    f"refused the archive: at its member {member.filename!r} it expands to more "
                    "than is allowed"
                )
            sink.write(block)
    if written != member.file_size:
        raise BadZipFile(f"{member.filename!r} has {written} bytes, not {member.file_size}")
    return written


def _explain(archive: Path, error: Exception) -> str:
    with archive.open("rb") as file:
        start = file.read(512)
    if start.startswith(b"PK"):
        size = archive.stat().st_size
        return f"the archive is damaged, or has more than the {size} bytes received ({error})"
    if start.lstrip().startswith(b"<"):
        return "got a web page instead of a zip archive"
    shown = start[:20].decode("ascii", errors="backslashreplace")
    return f"expected a zip archive, got {shown!r}..."
