# SPDX-License-Identifier: BSD-3-Clause
"""A document-term matrix without a download: two topics of Python's standard library.

Its source files are read; nothing is imported or run.
"""

import ast
import io
import keyword
import pkgutil
import platform
import re
import sys
import sysconfig
import tokenize
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.abc import InspectLoader
from importlib.machinery import PathFinder
from operator import attrgetter
from typing import NamedTuple, cast

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.utils import Bunch

from ridgewise.datasets._techtc import description

# Modules of every supported Python, so that an absent one is worth naming in the error.
TOPICS = {
    "data formats": (
        "base64 bz2 codecs configparser csv dbm gzip html json lzma pickle pickletools plistlib "
        "quopri shelve sqlite3 tarfile wave xml zipfile"
    ),
    "internet": (
        "email ftplib http imaplib ipaddress mailbox mimetypes netrc poplib selectors smtplib "
        "socket socketserver ssl urllib webbrowser wsgiref xmlrpc"
    ),
}
MINIMUM_WORDS = 100
MINIMUM_DOCUMENTS = 75

# Words of Python code that are in nearly every document, whatever its topic.
PYTHON_WORDS = (
    "arg args classmethod cls getattr hasattr init int isinstance issubclass kwargs kwds len obj "
    "self setattr staticmethod str"
)
STOP_WORDS = ENGLISH_STOP_WORDS.union(
    PYTHON_WORDS.split(), (word.lower() for word in keyword.kwlist)
)

# A run of capitals, with its plural ("HTTP" in HTTPServer, "URLs"); else lower-case letters
# after at most one capital.
WORD = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[a-z]+")
MINIMUM_WORD_LENGTH = 3

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Document(NamedTuple):
    """A top-level class or function of a module."""

    name: str
    words: list[str]


def load_stdlib_text() -> Bunch:
    """Load word counts of classes and functions from Python's own standard library.

    A document is a class or function at the top level of a module, on data formats (such as json
    and zipfile) or the internet (such as email and http). Its words are those of its docstrings,
    comments and identifiers. The library's source files are read; no module is imported.

    Returns
    -------
    data : :class:`~sklearn.utils.Bunch`
        Dictionary-like object, with the attributes:

        data : csr_array of shape (n_documents, n_words), float64
            Count of each word in each document.
        target : ndarray of shape (n_documents,), int
            The topic of each document: an index of `target_names`.
        target_names : list of str
            The topics, ``["data formats", "internet"]``.
        feature_names : ndarray of shape (n_words,), str
            The words, sorted.
        document_names : ndarray of shape (n_documents,), str
            For example ``"email.message.Message"``.
        DESCR : str
            A description of the data.

    Notes
    -----
    The data depends on the version of Python only. It raises FileNotFoundError where Python is
    installed without the source of its library. The rows are in the order of the modules: shuffle
    them when splitting, or whole modules are in the test set only, which is much harder.

    Examples
    --------
    >>> from ridgewise.datasets import load_stdlib_text
    >>> text = load_stdlib_text()
    >>> text.target_names
    ['data formats', 'internet']
    >>> row = list(text.document_names).index("email.message.Message")
    >>> column = list(text.feature_names).index("header")
    >>> print(text.target_names[text.target[row]])
    internet
    >>> bool(text.data[row, column] > 50)
    True
    """
    topics = _read_topics(tuple(standard_library_path()))
    documents = [document for topic in topics.values() for document in topic]
    vectorizer = CountVectorizer(analyzer=attrgetter("words"), min_df=2, dtype=np.float64)
    data = csr_array(vectorizer.fit_transform(documents))
    return Bunch(
        data=data,
        target=np.repeat(np.arange(len(topics)), [len(topic) for topic in topics.values()]),
        target_names=list(topics),
        feature_names=vectorizer.get_feature_names_out().astype(str),
        document_names=np.array([document.name for document in documents]),
        DESCR=description(
            "stdlib_text",
            python=platform.python_version(),
            n_documents=data.shape[0],
            n_words=data.shape[1],
            minimum=MINIMUM_WORDS,
            topics="\n".join(
                f"{topic}: {len(found)} documents, from {TOPICS[topic]}"
                for topic, found in topics.items()
            ),
        ),
    )


@lru_cache(maxsize=1)  # reading takes seconds
def _read_topics(path: tuple[str, ...]) -> dict[str, list[Document]]:
    """Return the documents of each topic that have enough words."""
    topics: dict[str, list[Document]] = {}
    missing = []
    for topic, names in TOPICS.items():
        modules = {module: read_documents(module, path) for module in names.split()}
        missing += [module for module, documents in modules.items() if not documents]
        topics[topic] = [
            document
            for documents in modules.values()
            for document in documents
            if len(document.words) >= MINIMUM_WORDS
        ]
    if all(len(documents) >= MINIMUM_DOCUMENTS for documents in topics.values()):
        return topics
    found = " and ".join(f"{len(each)} documents on {topic}" for topic, each in topics.items())
    raise FileNotFoundError(
        "load_stdlib_text reads the source of Python's standard library, of which this Python "
        f"has too little: it gave {found}, and {MINIMUM_DOCUMENTS} on each are needed. Modules "
        f"without source: {', '.join(missing) or 'none'}. Use a Python that is installed with the "
        ".py files of its library (minimal and embedded ones have compiled files only), or "
        "make_ridge_synthetic."
    )


def standard_library_path() -> list[str]:
    """Return the folder of the standard library, and its zip file: not sys.path with user files."""
    is_archive = re.compile(r"(.*[/\\])?python\d+t?\.zip").fullmatch
    return [sysconfig.get_path("stdlib"), *filter(is_archive, sys.path)]


def read_documents(module: str, path: Sequence[str]) -> list[Document]:
    """Return the documents of a module and of its public submodules; none without its source."""
    return [
        Document(f"{name}.{statement.name}", _words(statement, source.split("\n")))
        for name, source in _sources(module, path)
        for statement in ast.parse(source).body
        if isinstance(statement, Definition)
    ]


def _sources(name: str, path: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the source of a module, then of its public submodules, sorted."""
    # importlib.util.find_spec would import the parents of a submodule; this imports nothing.
    spec = PathFinder.find_spec(name, path)
    if spec is None or spec.loader is None:  # absent, or a namespace package
        return
    # Loaders of files and of zip files both have get_source.
    source = cast(InspectLoader, spec.loader).get_source(name)
    if source is not None:  # None for compiled and extension modules
        yield name, source
    locations = list(spec.submodule_search_locations or [])
    for submodule in sorted(found.name for found in pkgutil.iter_modules(locations)):
        if not submodule.startswith("_"):
            yield from _sources(f"{name}.{submodule}", locations)


def _words(definition: Definition, lines: list[str]) -> list[str]:
    """Return the words of a definition's docstrings, comments and identifiers."""
    source = "\n".join(lines[definition.lineno - 1 : definition.end_lineno])
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)  # a syntax tree has no comments
    kinds = (tokenize.NAME, tokenize.COMMENT)
    texts = [*_docstrings(definition), *(token.string for token in tokens if token.type in kinds)]
    words = [word.lower() for text in texts for word in WORD.findall(text)]
    return [word for word in words if len(word) >= MINIMUM_WORD_LENGTH and word not in STOP_WORDS]


def _docstrings(definition: Definition) -> Iterator[str]:
    """Yield the docstrings of a definition and of its nested definitions."""
    yield ast.get_docstring(definition, clean=False) or ""
    for statement in definition.body:
        if isinstance(statement, Definition):
            yield from _docstrings(statement)
