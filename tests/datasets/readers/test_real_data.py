# SPDX-License-Identifier: BSD-3-Clause
"""Real data through several formats, with the same result."""

import gzip

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from ridgewise import BSSSelector
from ridgewise.datasets.readers import read_table

pytestmark = pytest.mark.shared_data


def assert_same(first, second):
    assert sp.issparse(first.X) == sp.issparse(second.X)
    if sp.issparse(first.X):
        assert abs(first.X - second.X).max() == 0
    else:
        np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert first.feature_names.tolist() == second.feature_names.tolist()


@pytest.mark.parametrize("name", ["golub", pytest.param("riboflavin", marks=pytest.mark.slow)])
def test_expression(shared_data, tmp_path, name):
    folder = shared_data / name
    files = {"vocabulary": folder / "features.txt", "target": folder / "y.txt"}
    first = read_table(folder / "X.npz", **files)
    assert first.y.dtype.kind == ("U" if name == "golub" else "f")
    frame = pd.DataFrame(first.X.astype(float), columns=first.feature_names)
    frame.index = [f"s{i}" for i in range(len(frame))]

    frame.T.to_csv(tmp_path / "genes.tsv.gz", sep="\t")
    rows = read_table(tmp_path / "genes.tsv.gz", features_in="rows", target=folder / "y.txt")
    assert rows.sample_names.tolist() == frame.index.tolist()
    frame.assign(outcome=first.y).to_csv(tmp_path / "x.csv")
    pl.from_pandas(frame.assign(outcome=first.y)).write_parquet(tmp_path / "x.parquet")
    for other in (
        rows,
        read_table(tmp_path / "x.csv", target="outcome"),
        read_table(tmp_path / "x.parquet", target="outcome"),
    ):
        assert_same(first, other)
    selected = [BSSSelector(50).fit(table.X).selected_.tolist() for table in (first, rows)]
    assert selected[0] == selected[1]


def test_dexter(shared_data, tmp_path):
    first = read_table(shared_data / "dexter" / "X.npz", target=shared_data / "dexter" / "y.txt")
    assert first.y.dtype == np.int64
    assert first.X.shape == (300, 20000)
    names = tmp_path / "names.txt"
    names.write_text("\n".join(first.feature_names))
    dump_svmlight_file(first.X, first.y, str(tmp_path / "x.svm"), zero_based=False)
    scipy.io.mmwrite(tmp_path / "x.mtx", first.X.T)
    target = shared_data / "dexter" / "y.txt"
    assert_same(first, read_table(tmp_path / "x.svm", vocabulary=names))
    assert_same(first, read_table(tmp_path / "x.mtx", features_in="rows", target=target))


def test_newsgroups(shared_data, tmp_path):
    folder = shared_data / "newsgroup_pairs" / "sci.space__sci.med"
    first = read_table(folder)
    assert first.format == "techtc"
    assert set(first.y) == {-1, 1}
    names, target = tmp_path / "words.txt", tmp_path / "y.npy"
    names.write_text("\n".join(first.feature_names), encoding="utf-8")
    np.save(target, first.y)
    plain = folder / "vectors.dat"
    (tmp_path / "x.svm.gz").write_bytes(gzip.compress(plain.read_bytes()))
    sp.save_npz(tmp_path / "x.npz", first.X)
    assert_same(first, read_table(plain, format="svmlight", vocabulary=names))
    assert_same(first, read_table(tmp_path / "x.svm.gz", vocabulary=names))
    assert_same(first, read_table(tmp_path / "x.npz", vocabulary=names, target=target))
