# SPDX-License-Identifier: BSD-3-Clause
"""The target from anywhere, and what is missing."""

import numpy as np
import pytest
import scipy.sparse as sp

from ridgewise.datasets.readers import check_classes, read_table

GAPS = "who,a,b,c,y\np1,1,NA,3,u\np2,2,5,,v\np3,6,7,?,u\np4,3,9,nan,v\n"


@pytest.mark.parametrize(
    ("values", "expected", "kind"),
    [
        (["1", "-1", "1"], [1, -1, 1], "i"),
        (["1.0", "2.0", "3"], [1, 2, 3], "i"),
        (["1.5", "2", "1e3"], [1.5, 2, 1000], "f"),
        (["a", "1", "b"], ["a", "1", "b"], "U"),
        (["True", "False", "True"], ["True", "False", "True"], "U"),
        (["none", "drug A", "none"], ["none", "drug A", "none"], "U"),
    ],
)
@pytest.mark.parametrize("where", ["column", ".txt", ".csv", ".npy", "heading"])
def test_types_of_target(tmp_path, read, values, expected, kind, where):
    if where == "column":
        rows = "".join(f"{i},{value}\n" for i, value in enumerate(values))
        table = read("a,y\n" + rows, target="y")
    else:
        path = tmp_path / ("y.csv" if where == "heading" else f"y{where}")
        lines = ["label", *values] if where == "heading" else values
        np.save(path, np.array(values)) if where == ".npy" else path.write_text("\n".join(lines))
        table = read("a\n0\n1\n2\n", target=path)
    assert table.y.dtype.kind == kind
    assert table.y.tolist() == expected


def test_a_file_with_names_is_put_into_order(tmp_path, read):
    (tmp_path / "y.csv").write_text('"","x"\n"p3","c"\n"p1","a"\n"p2","b"\n')
    text = "who,a,b\np1,1,2\np2,3,4\np3,5,6\n"
    table = read(text, target=tmp_path / "y.csv")
    assert table.y.tolist() == ["a", "b", "c"]
    assert "The target was matched to the samples by the names in y.csv." in table.notes
    (tmp_path / "y.csv").write_text("p3,c\np1,a\np4,b\n")
    with pytest.raises(ValueError, match=r"y\.csv has no line for 'p2'"):
        read(text, target=tmp_path / "y.csv")
    with pytest.raises(ValueError, match="has sample names, and the data has none"):
        read("a,b\n1,2\n3,4\n5,6\n", target=tmp_path / "y.csv")


def test_lengths_that_differ(tmp_path, read):
    (tmp_path / "y.txt").write_text("1\n2\n")
    with pytest.raises(ValueError, match=r"y\.txt has 2 values, and there are 5 samples"):
        read("a\n" + "1\n" * 5, target=tmp_path / "y.txt")
    np.save(tmp_path / "y.npy", np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"y\.npy has the shape \(2, 2\)"):
        read("a\n1\n2\n", target=tmp_path / "y.npy")


def test_wrong_names_of_the_target(tmp_path, read):
    with pytest.raises(ValueError, match=r"no column 'Outcom'.*did you mean 'outcome'\?"):
        read("a,outcome\n1,2\n", target="Outcom")
    with pytest.raises(ValueError, match=r"no column 'stat'.*did you mean 'state'\?"):
        read("age,state\n61,ill\n55,well\n", target="stat")  # not that 'state' is text
    with pytest.raises(ValueError, match="2 columns are named 'y': rename all but one"):
        read("y,y,a\n1,2,3\n", target="y")
    np.save(tmp_path / "x.npy", np.eye(3))
    with pytest.raises(ValueError, match=r"must be a file .* there is no file 'y'"):
        read_table(tmp_path / "x.npy", target="y")


def test_classes():
    assert check_classes(np.array([1, -1, 1])).tolist() == [-1, 1]
    with pytest.raises(ValueError, match="target 'state' has one class only, 'ill', for all 3 sam"):
        check_classes(np.array(["ill"] * 3), "state")


def test_missing_is_refused_with_where(read):
    with pytest.raises(ValueError, match="4 values missing") as error:
        read(GAPS, target="y")
    assert str(error.value).endswith(
        "x.csv: 4 values missing, in 2 features ('b', 'c') and 4 samples, the first in sample "
        "'p1', feature 'b': missing='mean' imputes the mean, missing='drop-features' and "
        "missing='drop-samples' drop them"
    )


def test_missing_is_let_in(read):
    table = read(GAPS, target="y", missing="drop-features")
    assert table.feature_names.tolist() == ["a"]
    assert "2 features with missing values dropped." in table.notes
    table = read(GAPS, target="y", missing="mean")
    np.testing.assert_array_equal(table.X, [[1, 7, 3], [2, 5, 3], [6, 7, 3], [3, 9, 3]])
    table = read(GAPS, ids=["who", "c"], target="y", missing="drop-samples")
    np.testing.assert_array_equal(table.X, [[2, 5], [6, 7], [3, 9]])
    assert table.y.tolist() == ["v", "u", "v"]
    assert table.sample_names.tolist() == ["p2", "p3", "p4"]
    with pytest.raises(ValueError, match="every sample has missing values"):
        read(GAPS, target="y", missing="drop-samples")
    with pytest.raises(ValueError, match="every feature has missing values"):
        read("a,b\n,1\n1,\n", missing="drop-features")


def test_a_feature_that_is_all_missing_has_no_mean(read):
    table = read("a,b\n1,NA\n2,NA\n", missing="mean")
    assert table.feature_names.tolist() == ["a"]
    assert "1 feature with missing values only dropped." in table.notes


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("missing", ["mean", "drop-features", "drop-samples"])
def test_missing_in_sparse_is_as_in_dense(tmp_path, container, missing):
    X = np.array([[0, 2, np.nan, 0], [1, 0, 3, 0], [0, np.nan, 1, 7], [0, 1, 0, 1]])
    np.save(tmp_path / "x.npy", X)
    sp.save_npz(tmp_path / "x.npz", container(X))
    dense = read_table(tmp_path / "x.npy", missing=missing)
    sparse = read_table(tmp_path / "x.npz", missing=missing)
    np.testing.assert_array_equal(sparse.X.toarray(), dense.X)
    assert sparse.notes[:1] == dense.notes  # sparse has one more, on samples of zeros
    with pytest.raises(ValueError, match=r"2 values missing.*sample 1, feature 3"):
        read_table(tmp_path / "x.npz")


def test_missing_in_the_target(read):
    text = "who,a,y\np1,1,0.5\np2,2,NA\np3,3,2\n"
    with pytest.raises(ValueError, match="target 'y' is missing for 1 sample, the first 'p2'"):
        read(text, target="y", missing="mean")
    assert read(text, target="y", missing="drop-samples").y.tolist() == [0.5, 2]
    table = read("a,y\n1,u\n2,\n3,v\n", target="y", missing="drop-samples")
    assert table.y.tolist() == ["u", "v"]
    table = read("a,y\n1,1\n2,\n3,2\n", target="y", missing="drop-samples")
    assert table.y.dtype == np.int64


def test_the_largest_numbers_are_finite(read):
    table = read("a,b\n1.7e308,1.7e308\n1.7e308,-1.7e308\n")
    assert np.isfinite(table.X).all()
