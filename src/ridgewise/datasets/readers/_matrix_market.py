# SPDX-License-Identifier: BSD-3-Clause
"""Matrix Market, with the files of names of a 10x Genomics folder."""

import io
import re
from pathlib import Path
from typing import Any

import scipy.io

from ridgewise.datasets.readers._names import take_names
from ridgewise.datasets.readers._opening import COMPRESSIONS, open_binary
from ridgewise.datasets.readers._raw import Options, Raw, check_room, shortened

# Comments, then lines of one to four numbers. Checked first, because SciPy's reader crashes the
# process on some malformed lines, such as a truncated last one.
NUMBER = rb"(?:[+-]?+(?:\d++\.?+\d*+|\.\d++)(?:[eE][+-]?+\d++)?+|[+-]?+(?:nan|NaN|inf))"
NUMBERS = rb"[ \t]*+(?:" + NUMBER + rb"(?:[ \t]++" + NUMBER + rb"){0,3}+[ \t]*+)?+\r?+\n"
LINES = re.compile(rb"(?:%[^\n]*+\n)*+(?:" + NUMBERS + rb")*+")


def read_matrix_market(path: Path, options: Options) -> Raw:
    """Read a Matrix Market file, and names from the 10x files beside it."""
    X = load_matrix_market(path, options.memory)
    features, barcodes = _beside(path, "features.tsv", "genes.tsv"), _beside(path, "barcodes.tsv")
    in_rows = options.in_rows or (options.features_in is None and features is not None)
    raw = Raw(X.T if in_rows else X)
    if in_rows and not options.in_rows:
        raw.notes.append("Features were taken to be in rows, as 10x writes them.")
    for of, file in (("feature", features), ("sample", barcodes)):
        if file is not None:
            take_names(raw, file, of=of)
            raw.notes.append(f"Names of {of}s from {file.name}, beside the matrix.")
    return raw


def load_matrix_market(path: Path, memory: int | None = None) -> Any:
    """Load a matrix, sparse or dense as in the file."""
    with open_binary(path) as stream:
        content = stream.read()
    if not content.startswith(b"%%"):
        raise ValueError("it is no Matrix Market file, which starts with %%MatrixMarket")
    if not content.endswith(b"\n"):
        content += b"\n"
    found = LINES.match(content)
    end = 0 if found is None else found.end()
    if end < len(content):
        number = content.count(b"\n", 0, end) + 1
        line = content[end : content.index(b"\n", end)].decode("ascii", "replace")
        raise ValueError(f"line {number} is {shortened(line)}, expected numbers: is it cut off?")
    try:
        _check_header(content, memory)
        return scipy.io.mmread(io.BytesIO(content))
    except (ValueError, OverflowError, MemoryError) as error:
        raise ValueError(f"it is no Matrix Market file, or damaged: {error}") from error


def _check_header(content: bytes, memory: int | None) -> None:
    """Raise if the header announces more than there is, before memory is taken for it."""
    n_rows, n_columns, n_entries, layout, _, symmetry = scipy.io.mminfo(io.BytesIO(content))
    n_lines = content.count(b"\n")
    if n_entries > (n_lines if layout == "coordinate" or symmetry == "general" else 2 * n_lines):
        raise ValueError(
            f"its header announces {n_entries:,} entries, and it has {n_lines:,} lines"
        )
    check_room((n_rows, n_columns), len(content), memory)


def _beside(path: Path, *names: str) -> Path | None:
    """A 10x file beside matrix.mtx with the same prefix, compressed or not."""
    prefix, found, _ = path.name.partition("matrix.mtx")
    for name in names if found else ():
        for ending in ("", *COMPRESSIONS):
            candidate = path.with_name(f"{prefix}{name}{ending}")
            if candidate.is_file():
                return candidate
    return None
