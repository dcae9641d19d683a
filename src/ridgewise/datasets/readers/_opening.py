# SPDX-License-Identifier: BSD-3-Clause
"""Find a file, detect its format, open it."""

import bz2
import difflib
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ridgewise.datasets._techtc import FEATURES, VECTORS
from ridgewise.datasets.readers._raw import need

SUFFIXES = {
    "csv": (".csv", ".txt"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "feather": (".feather", ".arrow", ".ipc"),
    "npy": (".npy",),
    "npz": (".npz",),
    "svmlight": (".svmlight", ".svm", ".libsvm"),
    "mtx": (".mtx", ".mm"),
    "h5ad": (".h5ad", ".h5", ".hdf5"),
    "excel": (".xlsx", ".xlsm", ".xls", ".ods"),
    "techtc": (),  # a folder
}
FORMATS = tuple(SUFFIXES)
COMPRESSED = ("csv", "tsv", "svmlight", "mtx")  # text formats, which may be compressed
MODULES: dict[str, tuple[Any, tuple[type[Exception], ...]]] = {  # and errors for damaged files
    ".gz": (gzip, (EOFError, zlib.error, gzip.BadGzipFile)),
    ".bz2": (bz2, (EOFError, OSError)),
    ".xz": (lzma, (EOFError, lzma.LZMAError)),
}
COMPRESSIONS = (*MODULES, ".zst")
MATRIX_NAMES = tuple(f"matrix.mtx{ending}" for ending in ("", ".gz", ".zst"))  # as 10x writes it


def find_file(path: Path) -> Path:
    """Return the file to read (for a 10x folder, the matrix in it), or raise an OSError."""
    if path.is_dir():
        for name in MATRIX_NAMES:
            if (path / name).is_file():
                return path / name
        if (path / VECTORS).is_file() and (path / FEATURES).is_file():
            return path
        inside = sorted(entry.name for entry in path.iterdir() if suffix_format(entry))
        hint = f"give one of its files, such as {inside[0]!r}" if inside else "give a file"
        raise IsADirectoryError(f"{path} is a folder of an unknown layout: {hint}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} does not exist: there is no folder {path.parent}")
    if not path.exists():
        names = difflib.get_close_matches(path.name, [each.name for each in path.parent.iterdir()])
        hint = f": did you mean {names[0]!r}?" if names else f" in {path.parent.resolve()}"
        raise FileNotFoundError(f"{path} does not exist{hint}")
    if not path.is_file():
        raise OSError(f"{path} is not a regular file: save it to one first")
    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty")
    return path


def suffix_format(path: Path) -> str | None:
    """Return the format by the suffix, or None."""
    is_compressed = path.suffix.lower() in COMPRESSIONS
    suffix = (Path(path.stem) if is_compressed else path).suffix.lower()
    for name, suffixes in SUFFIXES.items():
        if suffix in suffixes and (name in COMPRESSED or not is_compressed):
            return name
    return None


def find_format(path: Path, given: str | None) -> str:
    """Return the format: as given, or by the suffix."""
    if given is not None:
        if given not in FORMATS:
            raise ValueError(f"format must be one of {', '.join(FORMATS)}; got {given!r}")
        if path.is_dir() != (given == "techtc"):
            kind = "a folder" if path.is_dir() else "a file"
            raise ValueError(f"{path} is {kind}, which cannot have the format {given!r}")
        return given
    found = "techtc" if path.is_dir() else suffix_format(path)
    if found is None:
        endings = ", ".join(suffixes[0] for suffixes in SUFFIXES.values() if suffixes)
        raise ValueError(
            f"the format of {path} cannot be inferred from its name, which should end in one of "
            f"{endings} (for text also with .gz, .zst): give the format, or save it as one of them"
        )
    return found


@contextmanager
def open_binary(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that may be compressed; a damaged one is a ValueError."""
    module, damage = MODULES.get(path.suffix.lower(), (io, ()))
    if path.suffix.lower() == ".zst":  # in the standard library from Python 3.14
        is_own = sys.version_info >= (3, 14)
        module = need("compression.zstd" if is_own else "backports.zstd", "cli", ".zst files")
        damage = (EOFError, module.ZstdError)
    try:
        with module.open(path, "rb") as stream:
            yield stream
    except damage as error:
        raise ValueError(f"{path.name} is damaged or cut off: {error}") from error


@contextmanager
def open_text(path: Path, encoding: str | None = None) -> Iterator[IO[str]]:
    """Open a text file, by default UTF-8, without newline translation."""
    with open_binary(path) as binary:
        try:
            yield io.TextIOWrapper(binary, encoding=encoding or "utf-8-sig", newline="")
        except UnicodeError as error:
            byte = getattr(error, "object", b"")[getattr(error, "start", 0) :][:1].hex()
            found = f"it has the byte 0x{byte}" if byte else str(error)
            usual = "utf-16" if byte in ("ff", "fe") else "latin-1"
            raise ValueError(
                f"{path.name} is not {encoding or 'UTF-8'} text ({found}): give its encoding, "
                f"such as encoding={usual!r}"
            ) from error
