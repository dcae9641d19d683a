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

# Digits are bounded so that every number fits; of bytes, so that \d means 0 to 9 only.
VECTOR = re.compile(rb"[+-]1(?:[ \t]+\d{1,9}:\d{1,9})*[ \t]*")
PAIR = re.compile(rb"\d{1,9}:\d{1,9}")
LIKE_A_PAIR = re.compile(rb"\s\d+:")
FEATURE = re.compile(rb"(\d{1,9})[ \t]+(\S.*)")
CATEGORY = re.compile(r"#\s*(id1|id2|[+-]1)\s+(\S.*)")  # "# id1 Regional/North_America"
SIGN_OF = {"id1": 1, "+1": 1, "id2": -1, "-1": -1}

Lines = list[tuple[int, bytes]]  # each with its number, from 1


class TechTCSet(NamedTuple):
    """What a folder of TechTC's layout holds."""

    data: csr_array  # documents x words, float64 counts
    target: NDArray[np.int_]  # 1 or -1
    words: AnyArray
    categories: dict[int, str]  # by label, where features.idx names them


def read_techtc_folder(folder: str | os.PathLike[str], *, min_word_length: int = 5) -> TechTCSet:
    r"""Read a folder of TechTC's layout: document-term counts of two classes.

    ``vectors.dat`` has a line ``+1 index:count index:count ...`` a document (or ``-1``), and
    ``features.idx`` a line ``index word`` a word, with indices from 1. Comments (``#``), blank
    lines and the line before each vector that some sets have are skipped.

    Parameters
    ----------
    folder : str or path
        The folder.
    min_word_length : int, default=5
        Words of fewer letters are left out. Documents that have none left are kept.

    Returns
    -------
    TechTCSet
        Its `data` (a csr_array of counts), `target` (1 or -1), `words`, in the order of their
        indices, and `categories`, the classes' names by label, as far as the files have them.

    Raises
    ------
    FileNotFoundError
        Where the folder or one of its two files is absent.
    ValueError
        Where a file is not of that layout: its message has the file and the line.

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
            f"the longest has {lengths.max()}. Take a smaller min_word_length."
        )
    data, target = _read_vectors(folder / VECTORS, indices, kept)
    return TechTCSet(data, target, words[kept], categories)


def _read_features(path: Path) -> tuple[IndexArray, AnyArray, dict[int, str]]:
    """Return the words by rising index, with their indices, and the categories' names."""
    content = path.read_bytes()
    encoding = _encoding(content)
    numbers, words, lines, categories = [], [], [], {}
    for line, text in _numbered(content):
        if text.startswith(b"#"):
            if found := CATEGORY.match(text.decode(encoding)):
                categories[SIGN_OF[found[1]]] = found[2].strip()
        elif feature := FEATURE.fullmatch(text):
            numbers.append(int(feature[1]))
            words.append(feature[2].decode(encoding))
            lines.append(line)
        else:
            _refuse(
                path, line, f"got {_shown(text)}, expected an index and a word, such as 17 river"
            )
    if not words:
        raise ValueError(f"{path} has no words: expected lines with an index and a word")
    indices = np.array(numbers, dtype=np.intp)
    order = np.argsort(indices, kind="stable")
    _check_features(path, indices[order], np.array(lines)[order])
    return indices[order], np.array(words)[order], categories


def _check_features(path: Path, indices: IndexArray, lines: AnyArray) -> None:
    if indices[0] == 0:
        _refuse(path, lines[0], "got the index 0, expected indices from 1")
    repeated = np.flatnonzero(np.diff(indices) == 0)
    if len(repeated):
        at = repeated[0]
        _refuse(path, lines[at + 1], f"the index {indices[at]} was on line {lines[at]} already")


def _read_vectors(
    path: Path, indices: IndexArray, kept: BoolArray
) -> tuple[csr_array, NDArray[np.int_]]:
    """Return the counts of the words that are kept, and the labels."""
    vectors = _vector_lines(path)
    lines = np.array([line for line, _ in vectors])
    target = np.array([int(text[:2]) for _, text in vectors])
    rows = np.repeat(np.arange(len(vectors)), [text.count(b":") for _, text in vectors])
    # All that is left is known to be numbers, so they are read in one go.
    body = b" ".join(text[2:] for _, text in vectors).replace(b":", b" ").decode("ascii")
    pairs = np.fromstring(body, dtype=np.int64, sep=" ") if body.strip() else np.zeros(0, int)
    given, counts = pairs[::2], pairs[1::2]
    columns = np.minimum(np.searchsorted(indices, given), len(indices) - 1)
    unknown = np.flatnonzero(indices[columns] != given)
    if len(unknown):
        at = unknown[0]
        known = f"{len(indices)} words with indices from {indices[0]} to {indices[-1]}"
        problem = f"the index {given[at]} has no word in {FEATURES}, which has {known}"
        _refuse(path, lines[rows[at]], problem)
    _check_unique(path, lines, rows, given)
    used = kept[columns] & (counts > 0)
    position = np.cumsum(kept) - 1  # among the words that are kept
    # With int32, which not every solver can do without.
    places = rows[used].astype(np.int32), position[columns[used]].astype(np.int32)
    shape = (len(vectors), int(kept.sum()))
    return csr_array((counts[used].astype(np.float64), places), shape=shape), target


def _vector_lines(path: Path) -> Lines:
    """Return the lines that are vectors; one other line may stand before each."""
    content = path.read_bytes()
    vectors: Lines = []
    before: tuple[int, bytes] | None = None
    for line, text in _numbered(content):
        if text.startswith(b"#"):
            continue
        if VECTOR.fullmatch(text):
            vectors.append((line, text))
            before = None
        elif before is not None or _is_meant_as_vector(text):
            _refuse_vector(path, *(before or (line, text)))
        else:
            before = line, text
    if before is not None:
        _refuse_vector(path, *before)
    if not vectors:
        raise ValueError(f"{path} has no documents: expected lines such as +1 3:2 17:1")
    return vectors


def _is_meant_as_vector(text: bytes) -> bool:
    return text[:1] in (b"+", b"-") or LIKE_A_PAIR.search(text) is not None


def _refuse_vector(path: Path, line: int, text: bytes) -> NoReturn:
    """Say what is wrong with a line that is no vector."""
    label, *pairs = text.split()
    if label not in (b"+1", b"-1"):
        _refuse(path, line, f"got {_shown(label)}, expected a label, +1 or -1")
    wrong = next(pair for pair in pairs if not PAIR.fullmatch(pair))
    _refuse(
        path,
        line,
        f"got {_shown(wrong)}, expected index:count, two whole numbers that are not negative",
    )


def _check_unique(path: Path, lines: AnyArray, rows: AnyArray, given: AnyArray) -> None:
    """Refuse a document that has an index twice."""
    order = np.lexsort((given, rows))
    same = (np.diff(rows[order]) == 0) & (np.diff(given[order]) == 0)
    if same.any():
        at = order[np.flatnonzero(same)[0]]
        _refuse(path, lines[rows[at]], f"the index {given[at]} is there twice")


def _numbered(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, stripped, with their numbers.

    Bytes are split at line ends only; text would be at characters that words may contain.
    """
    for line, text in enumerate(content.splitlines(), start=1):
        if stripped := text.strip():
            yield line, stripped


def _encoding(content: bytes) -> str:
    """Return UTF-8 where it is that, else Latin-1, which anything can be read as."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _shown(text: bytes) -> str:
    """Quote a piece of a file, shortened."""
    start = text[:30].decode("ascii", errors="backslashreplace")
    return repr(start + ("..." if len(text) > 30 else ""))


def _refuse(path: Path, line: int, problem: str) -> NoReturn:
    raise ValueError(f"{path}, line {line}: {problem}. Is the file damaged? Fetch it again.")
