# SPDX-License-Identifier: BSD-3-Clause
"""The words of Python's standard library, read from its source: nothing is imported or run."""

import ast
import io
import keyword
import os
import pkgutil
import re
import sys
import sysconfig
import tokenize
from collections.abc import Iterator
from importlib.abc import InspectLoader
from importlib.machinery import PathFinder
from typing import NamedTuple, cast

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

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
    """A top-level class or function of a module: its words, those of docstrings first."""

    name: str
    words: list[str]


def standard_library_path() -> list[str]:
    """Return the folder of the standard library, and its zip file if there is one.

    Not the rest of `sys.path`: it could have a user's own csv.py.
    """
    archives = [
        entry for entry in sys.path if re.fullmatch(r"python\d+t?\.zip", os.path.basename(entry))
    ]
    return [sysconfig.get_path("stdlib"), *archives]


def read_documents(module: str, path: list[str]) -> list[Document]:
    """Return the documents of a module or package and of its public submodules, in a fixed order.

    Empty if the module is not in the folders and zip files of `path`, or has no source.
    """
    return [
        document for name, source in _sources(module, path) for document in _documents(name, source)
    ]


def _sources(name: str, path: list[str]) -> Iterator[tuple[str, str]]:
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


def _documents(module: str, source: str) -> Iterator[Document]:
    """Yield the top-level classes and functions of a module, in the order of its source."""
    lines = source.split("\n")
    for statement in ast.parse(source).body:
        if isinstance(statement, Definition):
            yield Document(f"{module}.{statement.name}", list(_words(statement, lines)))


def _words(definition: Definition, lines: list[str]) -> Iterator[str]:
    """Yield the words of a definition's docstrings, comments and identifiers."""
    for text in (*_docstrings(definition), *_identifiers_and_comments(definition, lines)):
        for match in WORD.findall(text):
            word = match.lower()
            if len(word) >= MINIMUM_WORD_LENGTH and word not in STOP_WORDS:
                yield word


def _docstrings(definition: Definition) -> Iterator[str]:
    """Yield the docstrings of a definition and of its nested definitions."""
    yield ast.get_docstring(definition, clean=False) or ""
    for statement in definition.body:
        if isinstance(statement, Definition):
            yield from _docstrings(statement)


def _identifiers_and_comments(definition: Definition, lines: list[str]) -> Iterator[str]:
    """Yield the names and comments of a definition, by tokens: the syntax tree has no comments."""
    text = "\n".join(lines[definition.lineno - 1 : definition.end_lineno])
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NAME, tokenize.COMMENT):
            yield token.string
