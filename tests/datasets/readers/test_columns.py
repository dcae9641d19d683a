# SPDX-License-Identifier: BSD-3-Clause
"""Columns that are no features, and columns that are categories."""

import numpy as np
import polars as pl
import pytest

from ridgewise.datasets.readers import read_table

N = 24
RNG = np.random.default_rng(0)
NUMBERS = {"a": RNG.standard_normal(N), "b": RNG.standard_normal(N)}
SITES = np.array(["lung", "skin", "colon"])[np.arange(N) % 3]


@pytest.fixture(params=["csv", "parquet", "xlsx"])
def read(request, tmp_path):
    """Writes columns in each format, and reads them."""

    def read(columns, **options):
        path = tmp_path / f"x.{request.param}"
        frame = pl.DataFrame({name: list(values) for name, values in columns.items()})
        if request.param == "csv":
            frame.write_csv(path)
        elif request.param == "parquet":
            frame.write_parquet(path)
        else:
            frame.to_pandas().to_excel(path, index=False)
        return read_table(path, **options)

    return read


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("row", np.arange(1, N + 1), "numbers the rows"),
        ("Patient_ID", RNG.permutation(90000)[:N], "has a different number for each sample"),
        ("train", np.arange(N) % 4 > 0, "marks training and test samples"),
        ("train", np.where(np.arange(N) % 4, "T", "F"), "marks training and test samples"),
        ("is_test", np.arange(N) % 2, "marks training and test samples"),
        ("part", np.where(np.arange(N) % 4, "train", "test"), "marks training and test samples"),
        ("label", np.arange(N) % 2, "is another target"),
    ],
)
def test_no_features(read, name, values, reason):
    columns = {"y": NUMBERS["a"], name: values, **NUMBERS}
    table = read(columns, target="y")
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.notes == (
        f"Left out, as not features: {name!r} {reason}. keep={name!r} would keep it.",
    )
    if values.dtype.kind != "U":
        kept = read(columns, target="y", keep=name)
        assert kept.feature_names.tolist() == [name, "a", "b"]


def test_the_first_column_that_numbers_the_rows(read):
    table = read({"day": np.arange(N), **NUMBERS})
    assert table.feature_names.tolist() == ["a", "b"]
    table = read({**NUMBERS, "day": np.arange(N)})
    assert table.feature_names.tolist() == ["a", "b", "day"]  # it may be a trend


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("train", RNG.standard_normal(N)),  # such as a sensor on one
        ("id", RNG.standard_normal(N)),
        ("index", np.arange(N) % 5),
        ("label", np.arange(N) % 2),  # no target was named, so it is none of several
        ("fidelity", np.arange(N) * 2),
    ],
)
def test_what_is_not_plain_stays(read, name, values):
    table = read({"a": NUMBERS["a"], name: values})
    assert table.feature_names.tolist() == ["a", name]
    assert table.notes == ()


def test_a_word_of_a_vocabulary_is_no_target(read):
    words = ["key", "keys", "kind", "label", "lambda", "large", "last"]
    counts = dict(zip(words, RNG.poisson(1.0, (len(words), N)), strict=True))
    table = read({"y": SITES, **counts}, target="y")
    assert table.feature_names.tolist() == words
    assert table.notes == ()


def test_drop(read, tmp_path):
    table = read({**NUMBERS, "site": SITES, "other": SITES}, drop=["site", "other", "b"])
    assert table.feature_names.tolist() == ["a"]
    np.savez(tmp_path / "x.npz", X=np.eye(3), names=["p", "q", "r"])
    table = read_table(tmp_path / "x.npz", drop="q")
    assert table.feature_names.tolist() == ["p", "r"]
    with pytest.raises(ValueError, match="there is no feature 'pp': did you mean 'p'"):
        read_table(tmp_path / "x.npz", drop="pp")


def test_categories(read):
    columns = {"site": SITES, **NUMBERS, "grade": np.array(["1", "2", "x", "2"])[np.arange(N) % 4]}
    table = read(columns, categorical="onehot")
    sites, grades = ["colon", "lung", "skin"], ["1", "2", "x"]
    levels = [f"site={each}" for each in sites] + [f"grade={each}" for each in grades]
    assert table.feature_names.tolist() == ["a", "b", *levels]
    assert table.groups.tolist() == ["a", "b", *["site"] * 3, *["grade"] * 3]
    np.testing.assert_array_equal(table.X[:, 2:5], SITES[:, np.newaxis] == np.array(sites))
    expected = columns["grade"][:, np.newaxis] == np.array(grades)
    np.testing.assert_array_equal(table.X[:, 5:], expected)
    assert "2 text columns one-hot encoded as 6 columns" in table.notes[-1]


def test_categories_with_gaps(read):
    sites = [None, *SITES[1:]]
    table = read({**NUMBERS, "site": sites}, categorical="onehot", missing="drop-samples")
    assert table.X.shape == (N - 1, 5)
    with pytest.raises(ValueError, match=r"1 value missing, in 1 feature \('site'\)"):
        read({**NUMBERS, "site": sites}, categorical="onehot")
    table = read({**NUMBERS, "site": sites}, categorical="onehot", missing="drop-features")
    assert table.groups.tolist() == ["a", "b"]


def test_categories_alone(read):
    table = read({"site": SITES, "arm": SITES[::-1]}, categorical="onehot")
    assert table.groups.tolist() == ["site"] * 3 + ["arm"] * 3


def test_free_text_is_no_category(read):
    words = [f"word {i % 23}" for i in range(N)]
    with pytest.raises(ValueError, match="column 'words' has 23 distinct values in 24 samples"):
        read({**NUMBERS, "words": words}, categorical="onehot")


def test_without_categories_a_feature_is_its_own_group(read):
    assert read(NUMBERS).groups.tolist() == ["a", "b"]
