# SPDX-License-Identifier: BSD-3-Clause
"""Download of a file, with a size limit, and resumed after interruptions.

By hand: pooch neither resumes a download nor limits its size.
"""

import re
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException, HTTPResponse, InvalidURL
from pathlib import Path
from typing import NoReturn
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


class _CutOffError(Exception):
    """The connection failed; another attempt may succeed."""


class _RefusedError(OSError):
    """The server's answer is invalid; another attempt would not help."""


def download(
    url: str, path: Path, *, max_bytes: int, on_progress: OnProgress | None = None
) -> None:
    """Download a file, resuming an earlier call or attempt.

    Until it is complete, the data is kept beside it in a file with the suffix ".part".

    Parameters
    ----------
    url : str
        An http or https address.
    path : Path
        Where to save the file.
    max_bytes : int
        Limit on its size.
    on_progress : callable, default=None
        Called with the number of bytes so far and in total; None if the server does not tell.

    Raises
    ------
    ValueError
        If the URL is not http or https.
    OSError
        If the server cannot be reached or has no such file, the file is too large, all attempts
        fail, or the server contradicts itself about its length.
    """
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise ValueError(f"cannot download {url!r}: expected an address with http:// or https://")
    part = path.with_name(f"{path.name}.part")
    attempt = _Attempt(url, part, max_bytes, on_progress or (lambda done, total: None))
    problem = ""
    for number in range(ATTEMPTS):
        if number:
            time.sleep(PAUSE * 2 ** (number - 1))
        try:
            attempt.run(first=number == 0)
        except _CutOffError as error:
            problem = str(error)
        except _RefusedError:
            part.unlink(missing_ok=True)
            raise
        else:
            part.replace(path)
            return
    raise OSError(
        f"cannot download {url}: {problem}, at the last of {ATTEMPTS} attempts. What has arrived "
        f"is kept in {part}: try again later to resume, or delete it to start anew."
    )


class _Attempt:
    """Requests for the same file, each for the bytes that are missing."""

    def __init__(self, url: str, part: Path, max_bytes: int, on_progress: OnProgress) -> None:
        self.url = url
        self.part = part
        self.max_bytes = max_bytes
        self.on_progress = on_progress
        self.total: int | None = None  # as the server said first
        self.validator: str | None = None  # the ETag of the version being downloaded

    def run(self, *, first: bool) -> None:
        """Request the rest of the file and append it to the part."""
        there = self.part.stat().st_size if self.part.exists() else 0
        try:
            with urlopen(self._request(there), timeout=TIMEOUT) as response:
                self._receive(response, there)
        except InvalidURL as error:
            raise ValueError(f"cannot download {self.url!r}: {error}") from error
        except HTTPError as error:
            with error:
                self._judge_status(error, there)
        except URLError as error:
            if first:
                raise OSError(f"cannot reach {self.url}: {error.reason}") from error
            raise _CutOffError(f"cannot reach the server again ({error.reason})") from error
        except (HTTPException, TimeoutError, ConnectionError) as error:
            raise _cut_off(error) from error

    def _request(self, there: int) -> Request:
        headers = {"User-Agent": "ridgewise", "Accept-Encoding": "identity"}
        if there:
            headers["Range"] = f"bytes={there}-"
            if self.validator:
                headers["If-Range"] = self.validator
        return Request(self.url, headers=headers)

    def _receive(self, response: HTTPResponse, there: int) -> None:
        if response.status == 206:
            found = RANGE.match(response.headers.get("Content-Range", ""))
            if not found or found[1] is None or int(found[1]) != there:
                self.part.unlink(missing_ok=True)
                raise _CutOffError("the server resumed elsewhere than it was asked to")
            total = _number(found[2])
        else:  # all of it, also where only the rest was asked for
            there = 0
            total = _number(response.headers.get("Content-Length", ""))
        self._check_total(total)
        tag = response.headers.get("ETag", "")
        self.validator = tag if tag and not tag.startswith("W/") else None
        self._write(response, there, total)

    def _check_total(self, total: int | None) -> None:
        """Raise if the length is too large or differs from an earlier answer."""
        if self.total is not None and total is not None and total != self.total:
            self._give_up(
                f"the server lies about its length, {self.total} bytes at first and {total} now"
            )
        self.total = self.total if total is None else total
        if self.total is not None and self.total > self.max_bytes:
            self._give_up(f"it has {self.total} bytes, and {self.max_bytes} are allowed")

    def _write(self, response: HTTPResponse, there: int, total: int | None) -> None:
        with self.part.open("ab" if there else "wb") as file:
            self.on_progress(there, total)
            for block in _blocks(response):
                there += len(block)
                if there > self.max_bytes:
                    self._give_up(f"it has more than the {self.max_bytes} bytes that are allowed")
                file.write(block)
                self.on_progress(there, total)
        if total is not None and there != total:
            raise _CutOffError(
                f"{there} of the {total} bytes arrived that the server announced: "
                "it cuts them off, or lies about their length"
            )

    def _judge_status(self, error: HTTPError, there: int) -> None:
        """Return if the file is complete already; else raise."""
        if error.code == 416 and there:  # nothing is left of what was asked for
            found = RANGE.match(error.headers.get("Content-Range", ""))
            total = _number(found[2]) if found else None
            self._check_total(total)
            if total == there:
                return
            self.part.unlink()
            raise _CutOffError(f"the server has {total} bytes, of which {there} were there")
        if error.code in TEMPORARY:
            raise _CutOffError(f"the server answers {error.code} {error.reason}") from error
        raise OSError(f"cannot download {self.url}: {error.code} {error.reason}") from error

    def _give_up(self, problem: str) -> NoReturn:
        raise _RefusedError(f"cannot download {self.url}: {problem}")


def _blocks(response: HTTPResponse) -> Iterator[bytes]:
    """Yield the data. Only network errors are caught here, not those of writing it."""
    while True:
        try:
            block = response.read(BLOCK)
        except (HTTPException, OSError) as error:
            raise _cut_off(error) from error
        if not block:
            return
        yield block


def _cut_off(error: Exception) -> _CutOffError:
    return _CutOffError(f"the connection was cut off ({str(error) or type(error).__name__})")


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
