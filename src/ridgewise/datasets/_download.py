# SPDX-License-Identifier: BSD-3-Clause
"""Download of a file, with a size limit, and resumed after interruptions.

By hand: pooch neither resumes a download nor limits its size.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

ATTEMPTS = 5
PAUSE = 1.0  # seconds before the second attempt, doubled for each one after it
TIMEOUT = 30.0  # seconds without data
BLOCK = 1 << 16
TEMPORARY = (408, 429, 500, 502, 503, 504)  # HTTP statuses worth another attempt
RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")

OnProgress = Callable[[int, int | None], None]


class _RetryError(Exception):
    """The connection failed; another attempt may succeed."""


class _RefusedError(Exception):
    """The server's answer is invalid; another attempt would not help."""


def download(
    url: str, path: Path, *, max_bytes: int, on_progress: OnProgress | None = None
) -> None:
    """Download a file, resuming an earlier call or attempt.

    Until it is complete, the data is kept beside it in a file with the suffix ".part".
    `on_progress` gets the number of bytes so far and in total; None if that is unknown.
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
        except _RefusedError as error:
            part.unlink(missing_ok=True)
            raise OSError(f"cannot download {url}: {error}") from error
        else:
            part.replace(path)
            return
    raise OSError(
        f"cannot download {url}: {problem}, at the last of {ATTEMPTS} attempts. What has arrived "
        f"is kept in {part}: try again later to resume, or delete it to start over."
    )


@dataclass
class _Transfer:
    """Requests for the same file, each for the bytes that are missing."""

    url: str
    part: Path
    max_bytes: int
    on_progress: OnProgress
    total: int | None = None  # as the server said first
    etag: str | None = None  # of the version being downloaded

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
            with error:
                self._handle_status(error, done)
        except URLError as error:
            if first:
                raise OSError(f"cannot reach {self.url}: {error.reason}") from error
            raise _RetryError(f"cannot reach the server again ({error.reason})") from error
        except (HTTPException, TimeoutError, ConnectionError) as error:
            raise _cut_off(error) from error

    def _receive(self, response: HTTPResponse, done: int) -> None:
        total = _number(response.headers.get("Content-Length", ""))
        if response.status == 206:
            found = RANGE.match(response.headers.get("Content-Range", ""))
            if not found or found[1] is None or int(found[1]) != done:
                self.part.unlink(missing_ok=True)
                raise _RetryError("the server resumed at another byte than requested")
            total = _number(found[2])
        else:  # the whole file, even if a range was requested
            done = 0
        self._check_total(total)
        etag = response.headers.get("ETag", "")
        self.etag = None if etag.startswith("W/") else etag
        with self.part.open("ab" if done else "wb") as file:
            self.on_progress(done, total)
            while block := _read(response):
                done += len(block)
                if done > self.max_bytes:
                    raise _RefusedError(f"it has more than the {self.max_bytes} bytes allowed")
                file.write(block)
                self.on_progress(done, total)
        if total is not None and done != total:
            raise _RetryError(f"{done} of the {total} bytes arrived that the server announced")

    def _check_total(self, total: int | None) -> None:
        """Raise if the length is too large or differs from an earlier answer."""
        if self.total is not None and total is not None and total != self.total:
            raise _RefusedError(
                f"the server contradicts itself: {self.total} bytes at first and {total} now"
            )
        self.total = self.total if total is None else total
        if self.total is not None and self.total > self.max_bytes:
            raise _RefusedError(f"it has {self.total} bytes, and {self.max_bytes} are allowed")

    def _handle_status(self, error: HTTPError, done: int) -> None:
        """Return if the file is complete already; else raise."""
        if error.code == 416 and done:  # no bytes left in the requested range
            found = RANGE.match(error.headers.get("Content-Range", ""))
            total = _number(found[2]) if found else None
            self._check_total(total)
            if total == done:
                return
            self.part.unlink()
            raise _RetryError(f"the server has {total} bytes, and {done} were downloaded")
        if error.code in TEMPORARY:
            raise _RetryError(f"the server answers {error.code} {error.reason}") from error
        raise OSError(f"cannot download {self.url}: {error.code} {error.reason}") from error


def _read(response: HTTPResponse) -> bytes:
    """Read a block. Only network errors are caught here, not those of writing it."""
    try:
        return response.read(BLOCK)
    except (HTTPException, OSError) as error:
        raise _cut_off(error) from error


def _cut_off(error: Exception) -> _RetryError:
    return _RetryError(f"the connection was cut off ({str(error) or type(error).__name__})")


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
