# SPDX-License-Identifier: BSD-3-Clause
"""TechTC: document-term matrices of pairs of categories of the Open Directory Project."""

import difflib
import os
import re
from importlib.resources import files
from pathlib import Path

from sklearn.utils import Bunch

from ridgewise.datasets._techtc_files import read_techtc_folder

NAME = re.compile(r"(?:Exp_)?(\d+)[_-](\d+)")  # the paper writes 10341-14525
FOLDER = re.compile(r"Exp_(\d+_\d+)")
SUBFOLDERS = ("techtc300", "techtc")
HOW_TO_GET = (
    "fetch_techtc300() or `ridgewise data fetch` downloads the sets; data_home sets another folder"
)

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
    where = f"{resolve_data_home(data_home)} and its folders {' and '.join(SUBFOLDERS)}"
    swapped = "_".join(reversed(name.split("_")))
    nearest = [swapped] if swapped in present else difflib.get_close_matches(name, present, 1, 0)
    found = (
        f"the nearest of {len(present)} is {nearest[0]}" if nearest else "there is no set at all"
    )
    return f"no TechTC set {name} in {where}: {found}. {HOW_TO_GET}"


def description(data_set: str, **values: object) -> str:
    """The description of a data set, with its numbers."""
    text = files("ridgewise.datasets").joinpath("descr", f"{data_set}.rst").read_text("utf-8")
    return text.format(**values)
