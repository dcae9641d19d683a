# SPDX-License-Identifier: BSD-3-Clause
"""Download of TechTC-300: resumed after interruptions, with limits, from an untrusted archive.

By hand: pooch neither resumes a download nor limits its size, and pooch.Unzip, like
zipfile.extractall, limits neither bytes nor members.
"""

import re
import stat
import tempfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path, PurePosixPath
from typing import NoReturn
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from ridgewise.datasets._techtc import StrPath, resolve_data_home, techtc_names

ARCHIVE = "techtc300_preprocessed.zip"
ADDRESS = f"http://techtc.cs.technion.ac.il/techtc300/data/{ARCHIVE}"
PAGE = "http://gabrilovich.com/resources/data/techtc/"
FOLDER = "techtc300"

# Several times the size of 295 sets of up to 280 documents
MAX_DOWNLOAD = 1 << 30
MAX_EXTRACTED = 4 << 30
MAX_MEMBERS = 10_000
MAX_RATIO = 100  # of extracted to compressed bytes; text has about 10
SLACK = 1 << 20  # bytes that any archive may expand to

ATTEMPTS = 5
PAUSE = 1.0  # seconds before the second attempt, doubled for each one after it
TIMEOUT = 30.0  # seconds without data
BLOCK = 1 << 16  # bytes
TEMPORARY = (408, 429, 500, 502, 503, 504)  # HTTP statuses worth another attempt
RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")

OnProgress = Callable[[int, int | None], None]


def fetch_techtc300(
    *,
    data_home: StrPath | None = None,
    mirror: str | None = None,
    max_download: int = MAX_DOWNLOAD,
    max_extracted: int = MAX_EXTRACTED,
    on_progress: OnProgress | None = None,
) -> list[str]:
    """Download the sets of TechTC-300, unless they are present.

    They are written to the subfolder ``techtc300`` of `data_home`, all or none of them. An
    interrupted download is resumed by the next call.

    Parameters
    ----------
    data_home : str or path, default=None
        The data folder, as of `load_techtc`, which is created if needed.
    mirror : str, default=None
        Another source: the http or https address of a zip archive (ending in ``.zip``), or of a
        folder with ``techtc300_preprocessed.zip``; or the path of a local archive.
    max_download, max_extracted : int, default=2**30 and 2**32
        Limits on the downloaded and on the extracted bytes.
    on_progress : callable, default=None
        Called with the number of bytes so far and in total; the total is None if the server does
        not state it.

    Returns
    -------
    list of str
        The names of the sets, for `load_techtc`, sorted.

    Notes
    -----
    No checksum of the original archive is known, so it is treated as untrusted: links, paths
    outside the folder, and an expansion to more than 100 times its size raise an error. To
    download again, delete the folder ``techtc300`` first.

    Examples
    --------
    Nothing is downloaded if the sets are present:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ridgewise import fetch_techtc300
    >>> with TemporaryDirectory() as home:
    ...     Path(home, "techtc300", "Exp_10341_14525").mkdir(parents=True)
    ...     fetch_techtc300(data_home=home)
    ['10341_14525']
    """
    home = resolve_data_home(data_home)
    target = home / FOLDER
    if names := techtc_names(target):
        return names
    home.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not any(target.iterdir()):
        target.rmdir()
    if target.exists() or target.is_symlink():
        raise FileExistsError(
            f"{target} exists, is not empty and has no TechTC set: move it, or set another "
            "data_home."
        )
    if mirror is not None and Path(mirror).is_file():
        _install(Path(mirror), target, max_extracted, source=mirror)
        return techtc_names(target)
    address = ADDRESS if mirror is None else mirror
    if not address.lower().endswith(".zip"):
        address = f"{address.rstrip('/')}/{ARCHIVE}"
    # The name depends on the address: a part is resumed only from its own server.
    archive = home / f"{FOLDER}-{zlib.crc32(address.encode()):08x}.download"
    if not archive.exists():  # it does if its extraction was interrupted
        try:
            download(address, archive, max_bytes=max_download, on_progress=on_progress)
        except OSError as error:
            hint = f" (see {PAGE} for other sources, and give one as the mirror)"
            raise OSError(f"{error}{'' if mirror else hint}") from error
    try:
        _install(archive, target, max_extracted, source=address)
    except Exception:
        archive.unlink()  # it is invalid; Ctrl-C keeps it
        raise
    archive.unlink()
    return techtc_names(target)


class _RetryError(Exception):
    """The connection failed; another attempt may succeed."""


def download(
    url: str, path: Path, *, max_bytes: int, on_progress: OnProgress | None = None
) -> None:
    """Download a file, resuming an earlier call or attempt.

    Until it is complete, the data is kept beside it in a file with the suffix ".part".
    """
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise ValueError(f"cannot download {url!r}: expected an address with http:// or https://")
    part = path.with_name(f"{path.name}.part")
    transfer = _Transfer(url, part, max_bytes, on_progress or (lambda done, total: None))
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            transfer.run(first=attempt == 0)
        except _RetryError as error:
            problem = str(error)
        else:
            part.replace(path)
            return
    raise OSError(
        f"cannot download {url}: {problem}, at the last of {ATTEMPTS} attempts. The part "
        f"downloaded so far is in {part}: try again later to resume, or delete it to start over."
    )


@dataclass
class _Transfer:
    """Requests for the same file, each for the bytes that are missing."""

    url: str
    part: Path
    max_bytes: int
    on_progress: OnProgress
    total: int | None = None  # as the server said first
    etag: str = ""  # of the version being downloaded

    def run(self, *, first: bool) -> None:
        """Request the rest of the file and append it to the part."""
        done = self.part.stat().st_size if self.part.exists() else 0
        headers = {"User-Agent": "ridgewise", "Accept-Encoding": "identity"}
        if done:
            headers["Range"] = f"bytes={done}-"
            if self.etag:
                headers["If-Range"] = self.etag
        try:
            with urlopen(Request(self.url, headers=headers), timeout=TIMEOUT) as response:
                self._receive(response, done)
        except InvalidURL as error:
            raise ValueError(f"cannot download {self.url!r}: {error}") from error
        except HTTPError as error:
            error.close()  # only its headers are used
            status = f"{error.code} {error.reason}"
            if error.code == 416 and done:  # no bytes left in the requested range
                self._receive(error, done)
            elif error.code in TEMPORARY:
                raise _RetryError(f"the server answers {status}") from error
            else:
                raise OSError(f"cannot download {self.url}: {status}") from error
        except URLError as error:
            if first:
                raise OSError(f"cannot reach {self.url}: {error.reason}") from error
            raise _RetryError(f"cannot reach the server again ({error.reason})") from error
        except (HTTPException, TimeoutError, ConnectionError) as error:
            raise _cut_off(error) from error

    def _receive(self, response: HTTPResponse | HTTPError, done: int) -> None:
        """Append the rest of the file to the part, or write all of it."""
        found = RANGE.match(response.headers.get("Content-Range", ""))
        is_whole = response.status == 200  # even if a range was requested
        is_rest = bool(found and found[1] == str(done))
        length = response.headers.get("Content-Length", "") if is_whole else found and found[2]
        total = int(length) if length and length.isdecimal() else None
        if is_rest or response.status != 206:
            self._check_total(total)
        if response.status == 416 and total == done:
            return
        if is_whole:
            done = 0
        elif not is_rest:
            self.part.unlink(missing_ok=True)
            raise _RetryError(f"the server did not resume at byte {done}")
        etag = response.headers.get("ETag", "")
        self.etag = "" if etag.startswith("W/") else etag
        with self.part.open("ab" if done else "wb") as file:
            self.on_progress(done, total)
            while block := _read(response):
                done += len(block)
                if done > self.max_bytes:
                    self._refuse(f"it has more than the {self.max_bytes} bytes allowed")
                file.write(block)
                self.on_progress(done, total)
        if total is not None and done != total:
            raise _RetryError(f"{done} of the {total} bytes arrived that the server announced")

    def _check_total(self, total: int | None) -> None:
        """Raise if the length is too large or differs from an earlier answer."""
        if self.total is not None and total is not None and total != self.total:
            self._refuse(
                f"the server contradicts itself: {self.total} bytes at first and {total} now"
            )
        self.total = self.total if total is None else total
        if self.total is not None and self.total > self.max_bytes:
            self._refuse(f"it has {self.total} bytes, and {self.max_bytes} are allowed")

    def _refuse(self, problem: str) -> NoReturn:
        """Delete the part and raise: another attempt would not help."""
        self.part.unlink(missing_ok=True)
        raise OSError(f"cannot download {self.url}: {problem}")


def _read(response: HTTPResponse | HTTPError) -> bytes:
    """Read a block. Only network errors are caught here, not those of writing it."""
    try:
        return response.read(BLOCK)
    except (HTTPException, OSError) as error:
        raise _cut_off(error) from error


def _cut_off(error: Exception) -> _RetryError:
    return _RetryError(f"the connection was cut off ({str(error) or type(error).__name__})")


def _install(archive: Path, target: Path, max_extracted: int, *, source: str) -> None:
    """Extract beside the target, then rename: the target appears at once and complete."""
    with tempfile.TemporaryDirectory(
        prefix=f".{FOLDER}-", dir=target.parent, ignore_cleanup_errors=True
    ) as scratch:
        content = Path(scratch, "content")
        try:
            extract_zip(archive, content, max_bytes=max_extracted, max_members=MAX_MEMBERS)
            # the archive's top folder, or one within it
            tops = {folder.parent for folder in content.rglob("Exp_*/")}
            tops = {top for top in tops if techtc_names(top)}
            if len(tops) != 1:
                raise ValueError(
                    f"the archive has TechTC sets in {len(tops)} places, expected one with "
                    "folders such as Exp_10341_14525"
                )
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from error
        tops.pop().rename(target)


def extract_zip(archive: Path, folder: Path, *, max_bytes: int, max_members: int) -> None:
    """Extract regular files and folders into a new folder, which the caller removes on error.

    Bytes are counted as they are decompressed: the sizes that the archive states are not trusted.
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
        name = str(PurePosixPath(member.filename)).casefold()
        problem = "occurs twice" if name in names else _problem(member)
        if problem:
            raise ValueError(f"refused the archive: its member {member.filename!r} {problem}")
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
