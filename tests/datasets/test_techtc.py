# SPDX-License-Identifier: BSD-3-Clause
"""TechTC's layout is read as it is meant, and what is wrong with a file is said with its line."""

import time

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_svmlight_file

from ridgewise import load_techtc
from ridgewise.datasets import read_techtc_folder, resolve_data_home, techtc_names

FEATURES = """\
# a set that was made for this test
# id1 Science/Rivers
#

1 river
2 the
3 mountain
4 über
5 größe
6 c++ & c
"""
VECTORS = """\
# label index:count ...

# doc 0
+1 1:2 2:7 6:1
# doc 1
-1 2:5 3:12
# doc 2
-1 2:4
# doc 3
+1
"""


def write(folder, *, features=FEATURES, vectors=VECTORS):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("features.idx", features), ("vectors.dat", vectors)):
        if content is not None:
            encoded = content if isinstance(content, bytes) else content.encode()
            (folder / name).write_bytes(encoded)
    return folder


@pytest.fixture
def home(tmp_path):
    write(tmp_path / "Exp_10_20")
    return tmp_path


def test_words_counts_and_labels(home):
    found = load_techtc("10_20", data_home=home)
    assert list(found.feature_names) == ["river", "mountain", "größe", "c++ & c"]
    assert isinstance(found.data, csr_array)
    assert found.data.dtype == np.float64
    assert found.data.indices.dtype == np.int32
    assert found.data.has_canonical_format
    np.testing.assert_array_equal(
        found.data.toarray(), [[2, 0, 0, 1], [0, 12, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    )
    assert found.target.tolist() == [1, -1, -1, 1]
    assert np.issubdtype(found.target.dtype, np.integer)


def test_documents_that_become_empty_are_kept_and_reported(home):
    found = load_techtc("10_20", data_home=home)
    assert found.n_empty == 2
    assert "4 documents, 4 words of at least 5 letters" in found.DESCR
    assert "rows of zeros: 2." in found.DESCR
    assert load_techtc("10_20", data_home=home, min_word_length=3).n_empty == 1


@pytest.mark.parametrize(("length", "n_words"), [(0, 6), (3, 6), (4, 5), (5, 4), (8, 1)])
def test_min_word_length(home, length, n_words):
    assert load_techtc("10_20", data_home=home, min_word_length=length).data.shape == (4, n_words)


def test_no_word_is_long_enough(home):
    with pytest.raises(ValueError, match="no word of at least 9 letters: the longest has 8"):
        load_techtc("10_20", data_home=home, min_word_length=9)


@pytest.mark.parametrize(("length", "error"), [(-1, ValueError), (2.5, TypeError)])
def test_bad_min_word_length(home, length, error):
    with pytest.raises(error, match="min_word_length"):
        load_techtc("10_20", data_home=home, min_word_length=length)


def test_categories_have_their_names_or_ids(home):
    found = load_techtc("10_20", data_home=home)
    assert found.target_names == ["20", "Science/Rivers"]
    assert " 1: 2 documents of Science/Rivers\n-1: 2 documents of 20\n" in found.DESCR


@pytest.mark.parametrize("name", ["10_20", "Exp_10_20", "10-20"])
def test_names(home, name):
    found = load_techtc(name, data_home=home)
    assert found.name == "10_20"
    assert found.folder == str(home / "Exp_10_20")


@pytest.mark.parametrize(
    "name", ["", "10", "10_20_30", "../Exp_10_20", "/etc", "Exp_10_20/", "x_y"]
)
def test_what_is_no_name(home, name):
    with pytest.raises(ValueError, match=r"is not the name of a TechTC set: .* '10341_14525'"):
        load_techtc(name, data_home=home)


# --- where it looks


@pytest.mark.parametrize("place", ["", "techtc300", "techtc"])
def test_places(tmp_path, place, monkeypatch):
    write(tmp_path / place / "Exp_10_20")
    write(tmp_path / place / "Exp_10_3")
    (tmp_path / place / "Exp_notes").mkdir()
    (tmp_path / place / "Exp_1_1").write_text("a file")
    assert techtc_names(tmp_path) == techtc_names(str(tmp_path)) == ["10_20", "10_3"]
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    assert techtc_names() == ["10_20", "10_3"]
    assert load_techtc("10_3").folder == str(tmp_path / place / "Exp_10_3")


def test_default_place_is_that_of_scikit_learn_and_is_not_made(tmp_path, monkeypatch):
    monkeypatch.delenv("SCIKIT_LEARN_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert resolve_data_home(None) == tmp_path / "scikit_learn_data"
    assert resolve_data_home("~/data") == tmp_path / "data"
    assert techtc_names() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "nearest"), [("10_21", "10_20"), ("20_10", "10_20")])
def test_absent_set(home, name, nearest):
    write(home / "Exp_77777_88888")
    with pytest.raises(FileNotFoundError) as caught:
        load_techtc(name, data_home=home)
    message = str(caught.value)
    assert f"no TechTC set {name} in {home}" in message
    assert f"the nearest of 2 is {nearest}" in message
    assert "fetch_techtc300()" in message
    assert "ridgewise data fetch" in message


def test_no_set_at_all(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no set at all\. fetch_techtc300\(\)"):
        load_techtc("10_20", data_home=tmp_path / "nowhere")


@pytest.mark.parametrize("file", ["features", "vectors"])
def test_set_without_one_of_its_files(tmp_path, file):
    write(tmp_path / "Exp_1_2", **{file: None})
    with pytest.raises(FileNotFoundError, match=file):
        load_techtc("1_2", data_home=tmp_path)


# --- the layout's variations


def test_other_line_before_each_vector(tmp_path):
    vectors = "\n\ndocument 17 of http://example.org:80\n+1 1:2\n\n18\n\n  -1 3:1  \n"
    found = read_techtc_folder(write(tmp_path, vectors=vectors))
    assert found.target.tolist() == [1, -1]
    assert found.data.sum() == 3


def test_line_ends_tabs_order_gaps_and_zeros(tmp_path):
    folder = write(
        tmp_path,
        features=b"9\triver\r\n\r\n2  mountain \r\n",
        vectors=b"+1\t9:2 2:0\r\n-1 9:1  2:3",
    )
    found = read_techtc_folder(folder)
    assert list(found.words) == ["mountain", "river"]
    np.testing.assert_array_equal(found.data.toarray(), [[0, 2], [3, 1]])
    assert found.data.nnz == 3


def test_words_in_latin_1(tmp_path):
    found = read_techtc_folder(write(tmp_path, features=FEATURES.encode("latin-1")))
    assert "größe" in found.words


def test_words_with_odd_characters_do_not_break_lines(tmp_path):
    features = "1 river\u2028side\n2 mountain\x85\n3 forest\n"
    found = read_techtc_folder(write(tmp_path, features=features, vectors="+1 3:1\n-1 1:1\n"))
    assert found.words[0] == "river\u2028side"
    assert found.data[0, 2] == 1


def test_every_document_may_be_empty(tmp_path):
    found = read_techtc_folder(write(tmp_path, vectors="+1\n-1\n"))
    assert found.data.shape == (2, 4)
    assert found.data.nnz == 0


# --- what is malformed


@pytest.mark.parametrize(
    ("vectors", "line", "message"),
    [
        ("+1 1:2\n+1 1:2 3\n", 2, "got '3', expected index:count"),
        ("# doc\n\n-1 1:2 3:\n", 3, "got '3:', expected index:count"),
        ("-1 1:2\n+1 3:-1\n", 2, "got '3:-1', expected index:count, .* non-negative"),
        ("+1 1:1.5\n", 1, "got '1:1.5'"),
        ("+1 1:nan\n", 1, "got '1:nan'"),
        ("+1 1:1 # end\n", 1, "got '#'"),
        ("+1 1:99999999999\n", 1, "got '1:99999999999'"),
        ("2 1:1\n", 1, "got '2', expected a label"),
        ("1 1:1\n", 1, "got '1', expected a label"),
        ("+2\n", 1, r"got '\+2', expected a label"),
        ("+1 1:1\n-", 2, "got '-', expected a label"),
        ("+1 1:1\n-1 7:1\n", 2, "the index 7 has no word in features.idx, which has 6 words"),
        ("+1 0:1\n", 1, "the index 0 has no word"),
        ("+1 1:1\n-1 3:1 1:1 3:1\n", 2, "the index 3 occurs twice"),
        ("+1 1:1\nnotes\nmore notes\n-1 1:1\n", 2, "got 'notes', expected a label"),
        ("+1 1:1\nnotes\n", 2, "got 'notes', expected a label"),
        (b"+1 1:1\n+1 \xff\xfe:1\n", 2, "got .*, expected index:count"),
    ],
)
def test_malformed_vectors(tmp_path, vectors, line, message):
    folder = write(tmp_path, vectors=vectors)
    with pytest.raises(ValueError, match=rf"vectors\.dat, line {line}: {message}"):
        read_techtc_folder(folder)


@pytest.mark.parametrize(
    ("features", "line", "message"),
    [
        ("1 river\nmountain\n", 2, "got 'mountain', expected an index and a word"),
        ("1 river\n\n2\n", 3, "got '2', expected an index and a word"),
        ("1 river\nx mountain\n", 2, "got 'x mountain', expected"),
        ("1 river\n-2 mountain\n", 2, "got '-2 mountain', expected"),
        ("1 river\n0 mountain\n", 2, "got the index 0, expected indices from 1"),
        ("# words\n1 river\n2 mountain\n1 forest\n", 4, "the index 1 was on line 2 already"),
        ("x" * 1000, 1, r"got 'x{30}\.\.\.', expected"),
    ],
)
def test_malformed_features(tmp_path, features, line, message):
    folder = write(tmp_path, features=features)
    with pytest.raises(ValueError, match=rf"features\.idx, line {line}: {message}"):
        read_techtc_folder(folder)


@pytest.mark.parametrize("content", ["", "# only a comment\n\n"])
@pytest.mark.parametrize(("file", "what"), [("features", "words"), ("vectors", "documents")])
def test_files_without_content(tmp_path, file, what, content):
    with pytest.raises(ValueError, match=rf"{file}\.\w+ has no {what}"):
        read_techtc_folder(write(tmp_path, **{file: content}))


# --- the real data


@pytest.mark.shared_data
def test_real_sets_are_as_scikit_learn_reads_them(shared_data, tmp_path):
    for name in ("10341_14525", "6920_8366"):
        found = load_techtc(name, data_home=shared_data, min_word_length=0)
        vectors = shared_data / "techtc" / f"Exp_{name}" / "vectors.dat"
        lines = [line for line in vectors.read_text().splitlines() if line[:1] in ("+", "-")]
        (tmp_path / "clean").write_text("\n".join(lines))
        X, y = load_svmlight_file(tmp_path / "clean", n_features=found.data.shape[1])
        assert (found.data != csr_array(X)).nnz == 0
        np.testing.assert_array_equal(found.target, y)
        long = np.char.str_len(found.feature_names) > 4
        papers = load_techtc(name, data_home=shared_data)
        np.testing.assert_array_equal(papers.feature_names, found.feature_names[long])
        assert (papers.data != found.data[:, np.flatnonzero(long)]).nnz == 0


@pytest.mark.shared_data
@pytest.mark.slow
def test_all_real_sets(shared_data):
    names = techtc_names(shared_data)
    assert len(names) == len(list((shared_data / "techtc").glob("Exp_*"))) > 20
    start = time.perf_counter()
    sets = [load_techtc(name, data_home=shared_data / "techtc") for name in names]
    assert time.perf_counter() - start < 20  # it takes one
    for found in sets:
        n_documents, n_words = found.data.shape
        assert 125 <= n_documents <= 165
        assert n_words == len(found.feature_names) == len(set(found.feature_names)) > 5000
        assert found.data.data.min() >= 1
        assert "/" in found.target_names[0]
        assert "/" in found.target_names[1]
        assert found.n_empty == np.sum(found.data.sum(axis=1) == 0)
    assert {found.n_empty for found in sets} == {0, 1, 2, 3}


@pytest.mark.shared_data
def test_newsgroups_have_the_same_layout(shared_data):
    folders = sorted((shared_data / "newsgroup_pairs").iterdir())
    assert folders
    for folder in folders:
        found = read_techtc_folder(folder)
        assert found.data.shape[0] == 280
        assert [found.categories[1], found.categories[-1]] == folder.name.split("__")


@pytest.mark.shared_data
def test_labels_belong_to_the_documents_and_names(shared_data):
    found = load_techtc("14630_814096", data_home=shared_data)
    assert found.target_names[0].startswith("Regional/Europe/Ireland/Dublin")
    assert found.target_names[1].endswith("Colorado/Localities/B/Boulder")
    present = found.data.toarray() > 0
    shares = [present[found.target == label].mean(axis=0) for label in (-1, 1)]
    telling = [np.argmax(shares[0] - shares[1]), np.argmax(shares[1] - shares[0])]
    assert found.feature_names[telling].tolist() == ["dublin", "boulder"]
