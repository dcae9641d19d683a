# SPDX-License-Identifier: BSD-3-Clause
"""Delimited text as programs and people write it."""

import csv
import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ridgewise.datasets.readers import _csv, read_table

# names as a table may have them: no line separator that is lost at the ends of a name
names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00\x1f"), min_size=1, max_size=8
).filter(lambda name: name == name.strip())
odd = st.sampled_from(['"', "a,b", "a\nb", "a\r\nb", "<script>", "x;y\tz", "=1+1", "Ω", "'", "1"])


@given(
    header=st.lists(names | odd, min_size=2, max_size=6, unique=True),
    delimiter=st.sampled_from(",;\t"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    compressed=st.booleans(),
    data=st.data(),
)
@settings(deadline=None, max_examples=200)
def test_what_is_written_is_read(tmp_path_factory, header, delimiter, quoting, compressed, data):
    finite = st.floats(allow_nan=False, allow_infinity=False)
    X = data.draw(arrays(float, (data.draw(st.integers(1, 5)), len(header)), elements=finite))
    samples = data.draw(st.lists(names | odd, min_size=len(X), max_size=len(X)))
    path = tmp_path_factory.mktemp("csv") / ("x.csv.gz" if compressed else "x.csv")
    opener = gzip.open if compressed else open
    with opener(path, "wt", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter, quoting=quoting)
        writer.writerow(["who", *header, "y"])
        for sample, row, label in zip(samples, X.tolist(), range(len(X)), strict=True):
            writer.writerow([sample, *row, label])
    # "who" and "y" may be names of features too
    if "who" in header or "y" in header:
        return
    table = read_table(path, target="y", ids="who", delimiter=delimiter, header=True)
    np.testing.assert_array_equal(table.X, X)
    assert table.feature_names.tolist() == header
    assert table.sample_names.tolist() == samples
    assert table.y.tolist() == list(range(len(X)))


def test_batches_are_put_together(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "BATCH", 100)
    X = np.random.default_rng(0).standard_normal((40, 6))
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(6)]).assign(sex=["m", "f"] * 20)
    frame.iloc[7, 2] = np.nan
    frame.to_csv(tmp_path / "x.csv")
    table = read_table(tmp_path / "x.csv", categorical="drop", missing="drop-features")
    np.testing.assert_array_equal(table.X, X[:, [0, 1, 3, 4, 5]])
    assert table.sample_names.tolist() == [str(i) for i in range(40)]
    with pytest.raises(ValueError, match="sample '7', feature 'g2'"):
        read_table(tmp_path / "x.csv", categorical="drop")


def test_row_names_of_r_have_no_heading(read):
    table = read('"a" "b"\n"s 1" 1 2\n"s 2" 3 4\n', delimiter=" ")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.sample_names.tolist() == ["s 1", "s 2"]
    table = read("a\tb\ns1\t1\t2\ns2\t3\t4\n", "x.txt")
    assert table.feature_names.tolist() == ["a", "b"]


def test_a_target_has_decimal_commas_too(read):
    table = read("fat;1100;1102\n10,25;1,5;2\n;0,5;1\n", target="fat", missing="drop-samples")
    assert table.y.tolist() == [10.25]
    texts = read("kind;1100\na,b;1,5\nc;0,5\n", target="kind").y
    assert texts.tolist() == ["a,b", "c"]


def test_decimal_commas_go_with_semicolons(read):
    table = read('"";"a";"b"\n"s1";1,5;2\n"s2";-3e-1;"4,25"\n')
    np.testing.assert_array_equal(table.X, [[1.5, 2], [-0.3, 4.25]])
    with pytest.raises(ValueError, match="not numeric: 'b', with '1,5'"):
        read('a,b\n2,"1,5"\n')


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0,1,2\n7,8,9\n", ["0", "1", "2"]),  # pandas without names
        ("400,400.5,401\n7,8,9\n", ["400", "400.5", "401"]),  # wavelengths
        ("0.3,0.1,0.2\n7,8,9\n", None),
        ("0,0,0\n7,8,9\n", None),
    ],
)
def test_a_first_line_of_numbers(read, text, names):
    table = read(text)
    assert table.feature_names.tolist() == (names or ["x0", "x1", "x2"])
    assert len(table.X) == (1 if names else 2)
    assert bool(table.notes) == (names is None)
    assert len(read(text, header=False).X) == 2
    assert len(read(text, header=True).X) == 1


def test_ids(read):
    text = "a,patient,site,b\n1,p1,north,2\n3,p2,north,4\n"
    table = read(text, ids=["patient", "site"])
    assert table.sample_names.tolist() == ["p1", "p2"]
    assert table.feature_names.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="no column 'Patients': did you mean 'patient'"):
        read(text, ids="Patients")
    # numbers are ids only if they are said to be, or without a heading
    assert read("id,a\n7,1\n8,2\n").X.shape == (2, 2)
    assert read("id,a\n7,1\n8,2\n", ids="id").sample_names.tolist() == ["7", "8"]
    assert read("Unnamed: 0,a\n7,1\n8,2\n").sample_names.tolist() == ["7", "8"]
    # text that repeats is none
    with pytest.raises(ValueError, match="1 column is not numeric: 'sex', with 'f'"):
        read("sex,a\nf,1\nf,2\n")


def test_booleans_and_spaces(read):
    table = read("a,b,c\nTRUE, 1 ,false\nFalse,2.5,true\n")
    np.testing.assert_array_equal(table.X, [[1, 1, 0], [0, 2.5, 1]])


def test_names_that_repeat_or_lack(read):
    table = read("a,a,a.1,,a\n1,2,3,4,5\n")
    assert table.feature_names.tolist() == ["a", "a.2", "a.1", "x3", "a.3"]
    assert table.notes == (
        "1 feature had no name: named by position, such as 'x3'.",
        "2 duplicate names made unique: .1, .2, ... was appended.",
    )


GENES = "gene,description,s1,s2,s3\nTP53,tumour,1,2,3\nEGFR,growth,4,5,6\nstate,,ill,well,ill\n"


def test_features_in_rows(read):
    table = read("gene,s1,s2\nTP53,1,2\nEGFR,3,4\nTP53,5,6\n", features_in="rows")
    np.testing.assert_array_equal(table.X, [[1, 3, 5], [2, 4, 6]])
    assert table.feature_names.tolist() == ["TP53", "EGFR", "TP53.1"]
    assert table.sample_names.tolist() == ["s1", "s2"]


@pytest.mark.parametrize("options", [{"categorical": "drop"}, {"ids": ["gene", "description"]}])
def test_features_in_rows_with_a_description_and_the_target(read, options):
    table = read(GENES, features_in="rows", target="state", **options)
    np.testing.assert_array_equal(table.X, [[1, 4], [2, 5], [3, 6]])
    assert table.y.tolist() == ["ill", "well", "ill"]
    assert table.feature_names.tolist() == ["TP53", "EGFR"]
    assert table.sample_names.tolist() == ["s1", "s2", "s3"]


def test_features_in_rows_that_are_text(read):
    with pytest.raises(ValueError, match="1 row is not numeric: 'state', with 'ill'"):
        read(GENES, features_in="rows", ids=["gene", "description"])
    with pytest.raises(ValueError, match="1 column is not numeric: 'description', with 'tumour'"):
        read(GENES, features_in="rows", target="state")
    with pytest.raises(ValueError, match=r"no column 'stat' .* did you mean 'state'"):
        read(GENES, features_in="rows", categorical="drop", target="stat")
    table = read(GENES, features_in="rows", categorical="drop", ids=["gene", "description"])
    assert table.notes == ("1 row with text dropped: 'state'.",)
