# SPDX-License-Identifier: BSD-3-Clause
"""TechTC: document-term matrices of pairs of categories of the Open Directory Project."""

import difflib
import os
import re
from pathlib import Path

from sklearn.utils import Bunch

from ridgewise.datasets._techtc_files import TechTCSet, read_techtc_folder

NAME = re.compile(r"(?:Exp_)?(\d+)[_-](\d+)")  # the paper writes 10341-14525
FOLDER = re.compile(r"Exp_(\d+_\d+)")
SUBFOLDERS = ("techtc300", "techtc")
HOW_TO_GET = (
    "fetch_techtc300() or `ridgewise data fetch` downloads the sets; data_home names another folder"
)

StrPath = str | os.PathLike[str]


def load_techtc(name: str, *, data_home: StrPath | None = None, min_word_length: int = 5) -> Bunch:
    r"""Load one TechTC set: word counts of documents from two categories of web pages.

    Parameters
    ----------
    name : str
        Such as ``"10341_14525"``, the ids of the two categories. ``"Exp_10341_14525"``, the name
        of the set's folder, and ``"10341-14525"``, as in the paper, mean the same.
    data_home : str or path, default=None
        The folder of the sets, or one that has them in a folder ``techtc300`` or ``techtc``.
        None: scikit-learn's folder of data, that is the environment variable
        ``SCIKIT_LEARN_DATA``, or ``scikit_learn_data`` in the home folder.
    min_word_length : int, default=5
        Words of fewer letters are left out: the paper drops those of at most four.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object, with the attributes:

        data : csr_array of shape (n_documents, n_words), float64
            How often each document has each word.
        target : ndarray of shape (n_documents,), int
            1 for the first category, -1 for the second.
        target_names : list of str
            The categories of -1 and of 1, in this order; their ids where the set names none.
        feature_names : ndarray of shape (n_words,), str
            The words, in the set's order.
        n_empty : int
            Number of documents that have no word left. They are kept, as rows of zeros.
        name : str
            Such as ``"10341_14525"``.
        folder : str
            Where it lies.
        DESCR : str
            A description of the data.

    Raises
    ------
    FileNotFoundError
        Where the set is not at hand. Nothing is downloaded: `fetch_techtc300` does that.
    ValueError
        Where `name` is no name of a set, or its files are damaged.

    See Also
    --------
    fetch_techtc300 : Download the sets.
    load_stdlib_text : A document-term matrix that needs no download.

    Examples
    --------
    A set made for this example, in the layout of the real ones:

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
            f"{name!r} is no name of a TechTC set: expected two numbers, such as '10341_14525'"
        )
    name = f"{found[1]}_{found[2]}"
    at_hand = find_techtc(data_home)
    if name not in at_hand:
        raise FileNotFoundError(_explain_absence(name, list(at_hand), data_home))
    folder = at_hand[name]
    techtc = read_techtc_folder(folder, min_word_length=min_word_length)
    names = {1: found[1], -1: found[2], **techtc.categories}
    n_empty = int((techtc.data.sum(axis=1) == 0).sum())
    return Bunch(
        data=techtc.data,
        target=techtc.target,
        target_names=[names[-1], names[1]],
        feature_names=techtc.words,
        n_empty=n_empty,
        name=name,
        folder=str(folder),
        DESCR=_describe(name, techtc, names, n_empty, min_word_length),
    )


def techtc_names(data_home: StrPath | None = None) -> list[str]:
    """List the TechTC sets that are at hand.

    Parameters
    ----------
    data_home : str or path, default=None
        Where to look, as in `load_techtc`.

    Returns
    -------
    list of str
        Such as ``["10341_14525", "10341_61792"]``, sorted. Empty where there is none.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from ridgewise.datasets import techtc_names
    >>> with TemporaryDirectory() as home:
    ...     techtc_names(home)
    []
    """
    return list(find_techtc(data_home))


def find_techtc(data_home: StrPath | None = None) -> dict[str, Path]:
    """Return the folder of each set at hand by its name, sorted."""
    found: dict[str, Path] = {}
    for place in _places(data_home):
        for folder in place.glob("Exp_*/"):
            name = FOLDER.fullmatch(folder.name)
            if name is not None:
                found.setdefault(name[1], folder)
    return dict(sorted(found.items()))


def resolve_data_home(data_home: StrPath | None) -> Path:
    """Return the folder of data, by scikit-learn's convention.

    Parameters
    ----------
    data_home : str or path or None
        The folder; a leading ~ is the home folder. None: the environment variable
        ``SCIKIT_LEARN_DATA``, or ``scikit_learn_data`` in the home folder.

    Returns
    -------
    Path
        The folder, which need not exist: unlike `sklearn.datasets.get_data_home` this makes none.

    Examples
    --------
    >>> from ridgewise.datasets import resolve_data_home
    >>> print(resolve_data_home("data"))
    data
    """
    if data_home is None:
        data_home = os.environ.get("SCIKIT_LEARN_DATA") or Path("~", "scikit_learn_data")
    return Path(data_home).expanduser()


def _places(data_home: StrPath | None) -> list[Path]:
    home = resolve_data_home(data_home)
    return [home, *(home / subfolder for subfolder in SUBFOLDERS)]


def _explain_absence(name: str, at_hand: list[str], data_home: StrPath | None) -> str:
    home, *subfolders = _places(data_home)
    where = f"{home} and its folders {' and '.join(folder.name for folder in subfolders)}"
    problem = f"no TechTC set {name} in {where}"
    swapped = "_".join(reversed(name.split("_")))
    nearest = [swapped] if swapped in at_hand else difflib.get_close_matches(name, at_hand, 1, 0)
    if not nearest:
        return f"{problem}, where there is none at all: {HOW_TO_GET}"
    return f"{problem}: of the {len(at_hand)} there, {nearest[0]} is nearest. {HOW_TO_GET}"


def _describe(
    name: str, techtc: TechTCSet, names: dict[int, str], n_empty: int, min_word_length: int
) -> str:
    n_documents, n_words = techtc.data.shape
    n_first = int((techtc.target == 1).sum())
    return f"""TechTC set {name}

{n_documents} documents, {n_words} words of at least {min_word_length} letters, two categories:

 1: {n_first} documents of {names[1]}
-1: {n_documents - n_first} documents of {names[-1]}

A document is a web page of a category of the Open Directory Project (ODP), as a bag of words.
The counts are raw. Documents that have no word left are kept, as rows of zeros: {n_empty}.

TechTC-300 was made by D. Davidov, E. Gabrilovich and S. Markovitch: Parameterized generation of
labeled datasets for text categorization based on a hierarchical directory, SIGIR 2004.
"""
