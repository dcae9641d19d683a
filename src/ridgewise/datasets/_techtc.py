# SPDX-License-Identifier: BSD-3-Clause
"""TechTC: document-term matrices of pairs of categories of the Open Directory Project.

A set is a folder with vectors.dat, the documents, and features.idx, the words.
"""

import difflib
import os
import re
from collections.abc import Iterator
from importlib.resources import files
from numbers import Integral
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import Bunch, check_scalar

from ridgewise._typing import AnyArray, BoolArray, IndexArray

NAME = re.compile(r"(?:Exp_)?(\d+)[_-](\d+)")  # the paper writes 10341-14525
FOLDER = re.compile(r"Exp_(\d+_\d+)")
SUBFOLDERS = ("techtc300", "techtc")
HOW_TO_GET = (
    "fetch_techtc300() or `ridgewise data fetch` downloads the sets; data_home sets another folder"
)

VECTORS = "vectors.dat"
FEATURES = "features.idx"

# The number of digits is bounded so that every number fits into int64. In bytes, \d is 0 to 9.
VECTOR = re.compile(rb"[+-]1(?:[ \t]+\d{1,9}:\d{1,9})*[ \t]*")
PAIR = re.compile(rb"\d{1,9}:\d{1,9}")
LIKE_A_PAIR = re.compile(rb"\s\d+:")
FEATURE = re.compile(rb"(\d{1,9})[ \t]+(\S.*)")
CATEGORY = re.compile(r"#\s*(id1|id2|[+-]1)\s+(\S.*)")  # "# id1 Regional/North_America"
SIGN_OF = {"id1": 1, "+1": 1, "id2": -1, "-1": -1}

StrPath = str | os.PathLike[str]


def load_techtc(name: str, *, data_home: StrPath | None = None, min_word_length: int = 5) -> Bunch:
    r"""Load one TechTC set: word counts of documents from two categories of web pages.

    Parameters
    ----------
    name : str
        The ids of the two categories, such as ``"10341_14525"``. Also accepted:
        ``"Exp_10341_14525"``, the name of the folder, and ``"10341-14525"``, as in the paper.
    data_home : str or path, default=None
        The folder of the sets, or one with a subfolder ``techtc300`` or ``techtc`` of them.
        None: scikit-learn's data folder, which is the environment variable
        ``SCIKIT_LEARN_DATA``, or ``scikit_learn_data`` in the home folder.
    min_word_length : int, default=5
        Shorter words are dropped. The paper drops words of at most four letters.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object, with the attributes:

        data : csr_array of shape (n_documents, n_words), float64
            Count of each word in each document.
        target : ndarray of shape (n_documents,), int
            1 for the first category, -1 for the second.
        target_names : list of str
            The categories of -1 and of 1, in this order; their ids if the set has no names.
        feature_names : ndarray of shape (n_words,), str
            The words, in the set's order.
        n_empty : int
            Number of documents without any word left. They are kept, as rows of zeros.
        name : str
            For example ``"10341_14525"``.
        folder : str
            Path of the set.
        DESCR : str
            A description of the data.

    See Also
    --------
    fetch_techtc300 : Download the sets; nothing is downloaded here.

    Examples
    --------
    A small set in TechTC's layout:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ridgewise import load_techtc
    >>> with TemporaryDirectory() as home:
    ...     folder = Path(home, "Exp_1_2")
    ...     folder.mkdir()
    ...     _ = (folder / "features.idx").write_text("1 river\n2 the\n3 mountain\n")
    ...     _ = (folder / "vectors.dat").write_text("+1 1:2 2:7\n-1 2:5 3:1\n-1 2:4\n")
    ...     hills = load_techtc("1_2", data_home=home)
    >>> print(hills.data.toarray())
    [[2. 0.]
     [0. 1.]
     [0. 0.]]
    >>> print(hills.feature_names, hills.target, hills.n_empty)
    ['river' 'mountain'] [ 1 -1 -1] 1
    """
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(
            f"{name!r} is not the name of a TechTC set: expected two numbers, as in '10341_14525'"
        )
    name = f"{found[1]}_{found[2]}"
    folders = _find_folders(data_home)
    if name not in folders:
        raise FileNotFoundError(_explain_absence(name, list(folders), data_home))
    techtc = read_techtc_folder(folders[name], min_word_length=min_word_length)
    names = {1: found[1], -1: found[2], **techtc.categories}
    n_empty = int((techtc.data.sum(axis=1) == 0).sum())
    return Bunch(
        data=techtc.data,
        target=techtc.target,
        target_names=[names[-1], names[1]],
        feature_names=techtc.words,
        n_empty=n_empty,
        name=name,
        folder=str(folders[name]),
        DESCR=description(
            "techtc",
            name=name,
            n_documents=len(techtc.target),
            n_words=len(techtc.words),
            min_word_length=min_word_length,
            n_first=int((techtc.target == 1).sum()),
            n_second=int((techtc.target == -1).sum()),
            first=names[1],
            second=names[-1],
            n_empty=n_empty,
        ),
    )


def techtc_names(data_home: StrPath | None = None) -> list[str]:
    """List the TechTC sets in a folder, as of `load_techtc`, sorted.

    Examples
    --------
    >>> techtc_names("no such folder")
    []
    """
    return list(_find_folders(data_home))


def _find_folders(data_home: StrPath | None) -> dict[str, Path]:
    """Return the folder of each set by its name, sorted."""
    home = resolve_data_home(data_home)
    found: dict[str, Path] = {}
    for place in (home, *(home / subfolder for subfolder in SUBFOLDERS)):
        for folder in place.glob("Exp_*/"):
            if name := FOLDER.fullmatch(folder.name):
                found.setdefault(name[1], folder)
    return dict(sorted(found.items()))


def resolve_data_home(data_home: StrPath | None) -> Path:
    """Return the data folder by scikit-learn's convention, without creating it.

    Examples
    --------
    >>> resolve_data_home("data").name
    'data'
    """
    if data_home is None:
        data_home = os.environ.get("SCIKIT_LEARN_DATA") or Path("~", "scikit_learn_data")
    return Path(data_home).expanduser()


def _explain_absence(name: str, present: list[str], data_home: StrPath | None) -> str:
    found = "there is no set at all"
    if present:
        swapped = "_".join(reversed(name.split("_")))
        nearest = (
            [swapped] if swapped in present else difflib.get_close_matches(name, present, 1, 0)
        )
        found = f"the nearest of {len(present)} is {nearest[0]}"
    where = f"{resolve_data_home(data_home)} and its folders {' and '.join(SUBFOLDERS)}"
    return f"no TechTC set {name} in {where}: {found}. {HOW_TO_GET}"


def description(data_set: str, **values: object) -> str:
    """The description of a data set, with its numbers."""
    text = files("ridgewise.datasets").joinpath("descr", f"{data_set}.rst").read_text("utf-8")
    return text.format(**values)


class TechTCSet(NamedTuple):
    """The content of a folder in TechTC's layout."""

    data: csr_array  # documents x words, float64 counts
    target: NDArray[np.int_]  # 1 or -1
    words: AnyArray
    categories: dict[int, str]  # by label, where features.idx names them


def read_techtc_folder(folder: StrPath, *, min_word_length: int = 5) -> TechTCSet:
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
    lines, vectors = zip(*_vector_lines(path), strict=True)
    target = np.array([int(vector[:2]) for vector in vectors])
    rows = np.repeat(np.arange(len(vectors)), [vector.count(b":") for vector in vectors])
    # Only numbers are left, so they are parsed in one call.
    body = b" ".join(vector[2:] for vector in vectors).replace(b":", b" ").decode("ascii")
    pairs = np.fromstring(body, dtype=np.int64, sep=" ") if body.strip() else np.zeros(0, int)
    given, counts = pairs[::2], pairs[1::2]
    columns = np.minimum(np.searchsorted(indices, given), len(indices) - 1)
    unknown = np.flatnonzero(indices[columns] != given)
    if len(unknown):
        at = unknown[0]
        known = f"{len(indices)} words with indices from {indices[0]} to {indices[-1]}"
        problem = f"the index {given[at]} has no word in {FEATURES}, which has {known}"
        _fail(path, lines[rows[at]], problem)
    first = np.unique(rows * len(indices) + columns, return_index=True)[1]
    if len(first) < len(given):
        at = np.setdiff1d(np.arange(len(given)), first)[0]
        _fail(path, lines[rows[at]], f"the index {given[at]} occurs twice")
    # int32, because some solvers accept no other indices
    places = rows.astype(np.int32), columns.astype(np.int32)
    shape = (len(vectors), len(indices))
    data = csr_array((counts.astype(np.float64), places), shape=shape)[:, np.flatnonzero(kept)]
    data.eliminate_zeros()
    return data, target


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
