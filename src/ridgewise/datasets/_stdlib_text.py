# SPDX-License-Identifier: BSD-3-Clause
"""A document-term matrix without a download: two topics of Python's standard library."""

import platform
from operator import attrgetter

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import Bunch

from ridgewise.datasets._stdlib_sources import Document, read_documents, standard_library_path

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


def load_stdlib_text() -> Bunch:
    """Load word counts of classes and functions from Python's own standard library.

    A document is a class or function at the top level of a module, on one of two topics:
    data formats (such as json, xml and zipfile) and the internet (such as email, http and
    urllib). Its words are those of its docstrings, comments and identifiers. Nothing is
    downloaded and no module is imported: the library's source files are read.

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

    Raises
    ------
    FileNotFoundError
        If this Python is installed with too little of its library's source.

    See Also
    --------
    make_ridge_synthetic : Data of any size, with known relevant features.

    Notes
    -----
    The data depends on the version of Python only. The rows are in the order of the modules:
    shuffle them when splitting, or whole modules are in the test set only, which is much harder.

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
    topics = _read_topics(standard_library_path())
    documents = [document for topic in topics.values() for document in topic]
    vectorizer = CountVectorizer(analyzer=attrgetter("words"), min_df=2, dtype=np.float64)
    data = csr_array(vectorizer.fit_transform(documents))
    return Bunch(
        data=data,
        target=np.repeat(np.arange(len(topics)), [len(topic) for topic in topics.values()]),
        target_names=list(topics),
        feature_names=vectorizer.get_feature_names_out().astype(str),
        document_names=np.array([document.name for document in documents]),
        DESCR=_describe(topics, n_words=data.shape[1]),
    )


def _read_topics(path: list[str]) -> dict[str, list[Document]]:
    """Return the documents of each topic that have enough words."""
    modules = {
        module: read_documents(module, path)
        for names in TOPICS.values()
        for module in names.split()
    }
    topics = {
        topic: [
            document
            for module in names.split()
            for document in modules[module]
            if len(document.words) >= MINIMUM_WORDS
        ]
        for topic, names in TOPICS.items()
    }
    if all(len(documents) >= MINIMUM_DOCUMENTS for documents in topics.values()):
        return topics
    found = " and ".join(
        f"{len(documents)} documents on {topic}" for topic, documents in topics.items()
    )
    missing = ", ".join(module for module, documents in modules.items() if not documents)
    raise FileNotFoundError(
        "load_stdlib_text reads the source of Python's standard library, of which this Python "
        f"has too little: it gave {found}, and {MINIMUM_DOCUMENTS} on each are needed. Modules "
        f"without source: {missing or 'none'}. Use a Python that is installed with the .py files "
        "of its library (minimal and embedded ones have compiled files only), or "
        "make_ridge_synthetic."
    )


def _describe(topics: dict[str, list[Document]], n_words: int) -> str:
    sizes = "\n".join(
        f"{topic}: {len(documents)} documents, from {TOPICS[topic]}"
        for topic, documents in topics.items()
    )
    return f"""Text from the standard library of Python {platform.python_version()}

{sum(map(len, topics.values()))} documents, {n_words} words, two topics:

{sizes}

A document is a class or function at the top level of one of these modules, or of a public
submodule, with at least {MINIMUM_WORDS} words: those of its docstrings, comments and identifiers.
Identifiers are split (snake_case and CamelCase) and words are lower-cased. Dropped are words of
fewer than three letters, Python's keywords and similar words ("self"), English stop words, and
words that occur in one document only. The counts are raw: log(1 + count) suits linear models
better. The documents are in the order of the modules: shuffle them when splitting.

The text is the Python Software Foundation's, under the PSF licence, and is read from the
installed Python: this package has no copy of it.
"""
