# SPDX-License-Identifier: BSD-3-Clause
"""The text of the standard library is a fair data set, and the same one every time."""

import hashlib
import os
import py_compile
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ridgewise.datasets import _stdlib_text, load_stdlib_text
from ridgewise.datasets._stdlib_text import Document, read_documents, standard_library_path

EXAMPLE = '''
"""A licence at the top of a module belongs to no document."""
BANNER = "ignored"

class HTTPServer:
    """Serves URLs.\\n"""

    def parse_header(self, rawValue):
        """Take a header apart."""
        # careful with commas
        return rawValue.split("literal")

async def reconnect(): pass
'''

WORDS = (
    "serves urls header apart "  # docstrings come first
    "http server parse header raw value careful commas raw value split"
)

DIGEST = """
import hashlib, sys
from ridgewise.datasets import load_stdlib_text
text = load_stdlib_text()
for part in text.data.toarray(), text.target, text.feature_names, text.document_names:
    print(hashlib.sha256(part.tobytes()).hexdigest())
print([name for name in ("imaplib", "mailbox", "shelve", "wave") if name in sys.modules])
"""


@pytest.fixture(scope="module")
def text():
    return load_stdlib_text()


def test_sizes_agree(text):
    n_documents, n_words = text.data.shape
    assert 150 <= n_documents <= 300
    assert 2000 <= n_words <= 5000
    assert len(text.target) == len(text.document_names) == n_documents
    assert len(text.feature_names) == n_words
    assert f"{n_documents} documents, {n_words} words" in text.DESCR


def test_data_is_sparse_counts(text):
    assert isinstance(text.data, csr_array)
    assert text.data.dtype == np.float64
    assert np.all(text.data.data > 0)
    np.testing.assert_array_equal(text.data.data, np.round(text.data.data))


def test_no_document_is_empty_and_every_word_is_in_two(text):
    present = text.data.toarray() > 0
    assert present.sum(axis=1).min() >= 20
    assert present.sum(axis=0).min() >= 2


def test_words_are_sorted_unique_and_readable(text):
    words = list(text.feature_names)
    assert words == sorted(set(words))
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words)
    assert min(map(len, words)) >= 3
    assert {"header", "socket", "xml", "json"} <= set(words)
    assert not {"self", "def", "class", "none", "the"} & set(words)


def test_licences_do_not_dominate(text):
    share = text.data.sum(axis=0) / text.data.sum()
    legal = np.isin(text.feature_names, ["copyright", "licence", "license", "warranty", "coding"])
    assert share[legal].sum() < 1e-3


def test_documents_have_names_of_their_own(text):
    assert len(set(text.document_names)) == len(text.document_names)
    topics = dict(zip(text.document_names, text.target, strict=True))
    assert text.target_names[topics["email.message.Message"]] == "internet"
    assert text.target_names[topics["zipfile.ZipFile"]] == "data formats"


def test_topics_are_balanced(text):
    assert set(text.target) == {0, 1}
    assert 0.35 <= text.target.mean() <= 0.65


def test_topics_can_be_told_apart_but_not_trivially(text):
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    accuracy = cross_val_score(RidgeClassifier(), np.log1p(text.data), text.target, cv=folds)
    assert 0.03 <= 1 - accuracy.mean() <= 0.25


@pytest.mark.slow
def test_data_is_the_same_whatever_the_hash_seed_and_nothing_is_imported(text):
    done = subprocess.run(
        [sys.executable, "-c", DIGEST],
        env={**os.environ, "PYTHONHASHSEED": "1"},  # here it is another one
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    *digests, imported = done.stdout.splitlines()
    parts = text.data.toarray(), text.target, text.feature_names, text.document_names
    assert digests == [hashlib.sha256(part.tobytes()).hexdigest() for part in parts]
    assert imported == "[]"


def test_words_of_a_document(tmp_path):
    (tmp_path / "example.py").write_text(EXAMPLE)
    server, reconnect = read_documents("example", [str(tmp_path)])
    assert server.name == "example.HTTPServer"
    assert server.words == WORDS.split()
    assert reconnect == Document("example.reconnect", ["reconnect"])


def test_private_submodules_are_left_out_and_others_sorted(tmp_path):
    for name in ("__init__", "zebra", "apple", "_private", "__main__"):
        (tmp_path / f"{name}.py").write_text("def function(): pass")
    documents = read_documents(tmp_path.name, [str(tmp_path.parent)])
    assert [document.name.removeprefix(f"{tmp_path.name}.") for document in documents] == [
        "function",
        "apple.function",
        "zebra.function",
    ]


def test_a_zip_file_gives_the_same_documents(tmp_path):
    library = Path(sysconfig.get_path("stdlib"))
    archive = tmp_path / "library.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for source in [library / "csv.py", *(library / "json").glob("*.py")]:
            file.write(source, source.relative_to(library))
    for module in ("csv", "json"):
        documents = read_documents(module, [str(archive)])
        assert documents
        assert documents == read_documents(module, standard_library_path())


def test_a_module_without_source_is_skipped(tmp_path):
    source = tmp_path / "example.py"
    source.write_text(EXAMPLE)
    py_compile.compile(str(source), cfile=str(tmp_path / "example.pyc"))
    source.unlink()
    assert read_documents("example", [str(tmp_path)]) == []
    (tmp_path / "folder").mkdir()
    assert read_documents("folder", [str(tmp_path)]) == []
    assert read_documents("absent", [str(tmp_path)]) == []


def test_only_the_library_itself_is_searched(tmp_path, monkeypatch):
    archive = tmp_path / f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(archive)
    path = standard_library_path()
    assert path[0] == sysconfig.get_path("stdlib")
    assert str(archive) in path
    assert str(tmp_path) not in path


def test_too_little_source_is_explained(tmp_path, monkeypatch):
    (tmp_path / "csv.py").write_text("class Sniffer: pass")
    monkeypatch.setattr(_stdlib_text, "standard_library_path", lambda: [str(tmp_path)])
    with pytest.raises(FileNotFoundError) as raised:
        load_stdlib_text()
    message = str(raised.value)
    assert "0 documents on data formats and 0 documents on internet" in message
    assert "75 on each are needed" in message
    assert "base64, bz2, codecs, configparser, dbm" in message  # and csv, in between, was found
