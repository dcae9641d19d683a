# SPDX-License-Identifier: BSD-3-Clause
"""The two files of a TechTC set: vectors.dat, the documents, and features.idx, the words."""

import os
import re
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import check_scalar

from ridgewise._typing import AnyArray, BoolArray, IndexArray

VECTORS = "vectors.dat"
FEATURES = "features.idx"

# The number of digits is bounded so that every number fits into int64. In bytes, \d is 0 to 9.
VECTOR = re.compile(rb"[+-]1(?:[ \t]+\d{1,9}:\d{1,9})*[ \t]*")
PAIR = re.compile(rb"\d{1,9}:\d{1,9}")
LIKE_A_PAIR = re.compile(rb"\s\d+:")
FEATURE = re.compile(rb"(\d{1,9})[ \t]+(\S.*)")
CATEGORY = re.compile(r"#\s*(id1|id2|[+-]1)\s+(\S.*)")  # "# id1 Regional/North_America"
SIGN_OF = {"id1": 1, "+1": 1, "id2": -1, "-1": -1}


class TechTCSet(NamedTuple):
    """The content of a folder in TechTC's layout."""

    data: csr_array  # documents x words, float64 counts
    target: NDArray[np.int_]  # 1 or -1
    words: AnyArray
    categories: dict[int, str]  # by label, where features.idx names them


def read_techtc_folder(folder: str | os.PathLike[str], *, min_word_length: int = 5) -> TechTCSet:
    r"""Read a folder in TechTC's layout: document-term counts of two classes.

    ``vectors.dat`` has one line per document, ``+1 index:count index:count ...`` (or ``-1``).
    ``features.idx`` has one line per word, ``index word``, with indices from 1. Comments (``#``)
    and blank lines are skipped, as is one other line before each document.

    Parameters
    ----------
    folder : str or path
    min_word_length : int, default=5
        Shorter words are dropped. Documents without any word left are kept.

    Returns
    -------
    TechTCSet
        With `data` (a csr_array of counts), `target` (1 or -1), `words` in the order of their
        indices, and `categories`, the names of the classes by label, if the files have them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ridgewise.datasets import read_techtc_folder
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "features.idx").write_text("1 river\n2 the\n3 mountain\n")
    ...     _ = Path(folder, "vectors.dat").write_text("+1 1:2 2:7\n-1 2:5 3:1\n")
    ...     found = read_techtc_folder(folder)
    >>> print(found.words)
    ['river' 'mountain']
    >>> print(found.data.toarray())
    [[2. 0.]
     [0. 1.]]
    >>> print(found.target)
    [ 1 -1]
    """
    check_scalar(min_word_length, "min_word_length", Integral, min_val=0)
    folder = Path(folder)
    indices, words, categories = _read_features(folder / FEATURES)
    lengths = np.char.str_len(words)
    kept: BoolArray = lengths >= min_word_length
    if not kept.any():
        raise ValueError(
            f"{folder / FEATURES} has no word of at least {min_word_length} letters: "
            f"the longest has {lengths.max()}. Use a smaller min_word_length."
        )
    data, target = _read_vectors(folder / VECTORS, indices, kept)
    return TechTCSet(data, target, words[kept], categories)


def _read_features(path: Path) -> tuple[IndexArray, AnyArray, dict[int, str]]:
    """Return the indices in increasing order, their words, and the names of the categories."""
    content = path.read_bytes()
    try:
        content.decode("utf-8")
        encoding = "utf-8"
    except UnicodeDecodeError:
        encoding = "latin-1"  # which decodes any bytes
    features: dict[int, tuple[str, int]] = {}  # the word and the line of each index
    categories = {}
    for line, text in _numbered(content):
        if text.startswith(b"#"):
            if found := CATEGORY.match(text.decode(encoding)):
                categories[SIGN_OF[found[1]]] = found[2].strip()
            continue
        feature = FEATURE.fullmatch(text)
        if feature is None:
            _fail(path, line, f"got {_quote(text)}, expected an index and a word, as in 17 river")
        index = int(feature[1])
        if index == 0:
            _fail(path, line, "got the index 0, expected indices from 1")
        if index in features:
            _fail(path, line, f"the index {index} was on line {features[index][1]} already")
        features[index] = feature[2].decode(encoding), line
    if not features:
        raise ValueError(f"{path} has no words: expected lines with an index and a word")
    indices = sorted(features)
    words = np.array([features[index][0] for index in indices])
    return np.array(indices, dtype=np.intp), words, categories


def _read_vectors(
    path: Path, indices: IndexArray, kept: BoolArray
) -> tuple[csr_array, NDArray[np.int_]]:
    """Return the counts of the words that are kept, and the labels."""
    vectors = _vector_lines(path)
    lines = [line for line, _ in vectors]
    target = np.array([int(text[:2]) for _, text in vectors])
    rows = np.repeat(np.arange(len(vectors)), [text.count(b":") for _, text in vectors])
    # Only numbers are left, so they are parsed in one call.
    body = b" ".join(text[2:] for _, text in vectors).replace(b":", b" ").decode("ascii")
    pairs = np.fromstring(body, dtype=np.int64, sep=" ") if body.strip() else np.zeros(0, int)
    given, counts = pairs[::2], pairs[1::2]
    columns = np.minimum(np.searchsorted(indices, given), len(indices) - 1)
    unknown = np.flatnonzero(indices[columns] != given)
    if len(unknown):
        at = unknown[0]
        known = f"{len(indices)} words with indices from {indices[0]} to {indices[-1]}"
        problem = f"the index {given[at]} has no word in {FEATURES}, which has {known}"
        _fail(path, lines[rows[at]], problem)
    order = np.lexsort((given, rows))
    repeated = (np.diff(rows[order]) == 0) & (np.diff(given[order]) == 0)
    if repeated.any():
        at = order[np.argmax(repeated)]
        _fail(path, lines[rows[at]], f"the index {given[at]} occurs twice")
    used = kept[columns] & (counts > 0)
    position = np.cumsum(kept) - 1  # among the words that are kept
    # int32, because some solvers accept no other indices
    places = rows[used].astype(np.int32), position[columns[used]].astype(np.int32)
    shape = (len(vectors), int(kept.sum()))
    return csr_array((counts[used].astype(np.float64), places), shape=shape), target


def _vector_lines(path: Path) -> list[tuple[int, bytes]]:
    """Return the lines that are vectors, with their numbers; each may follow one other line."""
    vectors: list[tuple[int, bytes]] = []
    before: tuple[int, bytes] | None = None
    for line, text in _numbered(path.read_bytes()):
        if text.startswith(b"#"):
            continue
        if VECTOR.fullmatch(text):
            vectors.append((line, text))
            before = None
        elif before is not None or text[:1] in (b"+", b"-") or LIKE_A_PAIR.search(text):
            _fail_vector(path, *(before or (line, text)))
        else:
            before = line, text
    if before is not None:
        _fail_vector(path, *before)
    if not vectors:
        raise ValueError(f"{path} has no documents: expected lines such as +1 3:2 17:1")
    return vectors


def _fail_vector(path: Path, line: int, text: bytes) -> NoReturn:
    """Raise with the reason why a line is not a vector."""
    label, *pairs = text.split()
    if label not in (b"+1", b"-1"):
        _fail(path, line, f"got {_quote(label)}, expected a label, +1 or -1")
    wrong = _quote(next(pair for pair in pairs if not PAIR.fullmatch(pair)))
    _fail(path, line, f"got {wrong}, expected index:count, two non-negative integers")


def _numbered(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the stripped text of each non-blank line."""
    # of bytes: str.splitlines also splits at characters such as U+2028, which words may contain
    for line, text in enumerate(content.splitlines(), start=1):
        if stripped := text.strip():
            yield line, stripped


def _quote(text: bytes) -> str:
    start = text[:30].decode("ascii", errors="backslashreplace")
    return repr(start + ("..." if len(text) > 30 else ""))


def _fail(path: Path, line: int, problem: str) -> NoReturn:
    raise ValueError(f"{path}, line {line}: {problem}. Is the file damaged? Fetch it again.")
