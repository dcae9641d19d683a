# SPDX-License-Identifier: BSD-3-Clause
"""Real data through two formats each, by processes as users start them: the same result."""

import csv
import gzip
import json

import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from ridgewise.datasets import read_techtc_folder

pytestmark = pytest.mark.shared_data


def load(folder):
    """Data, target and names of a set in the shared layout; names that repeat get numbers."""
    try:
        X = sp.load_npz(folder / "X.npz")
    except ValueError:
        with np.load(folder / "X.npz") as archive:
            X = archive["X"]
    y = (folder / "y.txt").read_text().split()
    if not (folder / "features.txt").exists():
        return X, y, [f"x{place}" for place in range(X.shape[1])]
    lines = (folder / "features.txt").read_text().splitlines()
    return X, y, [f"{name} ({place})" for place, name in enumerate(lines)]


def as_frame(X, y, names):
    return pl.DataFrame({name: X[:, place] for place, name in enumerate(names)}).with_columns(
        pl.Series("target", y)
    )


def write_names(path, names):
    path.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def golub(source, folder):
    frame = as_frame(*load(source / "golub"))
    frame.write_csv(folder / "one.csv")
    frame.write_parquet(folder / "two.parquet")
    yield "one.csv", "-t", "target"
    yield "two.parquet", "-t", "target"


def all_leukemia(source, folder):
    """As the archive is, with the names beside it; and as a table of genes in rows, compressed."""
    X, _, names = load(source / "ALL")
    write_names(folder / "names.txt", names)
    lines = ["\t".join(["gene", *(f"P{place}" for place in range(X.shape[0]))])]
    lines += [
        "\t".join([name, *map(repr, values)])
        for name, values in zip(names, X.T.tolist(), strict=True)
    ]
    (folder / "two.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode(), 1))
    yield source / "ALL" / "X.npz", "--names", "names.txt", "-t", source / "ALL" / "y.txt"
    yield "two.tsv.gz", "--features-in", "rows", "-t", source / "ALL" / "y.txt"


def riboflavin(source, folder):
    frame = as_frame(*load(source / "riboflavin"))
    frame.with_columns(pl.col("target").cast(pl.Float64)).write_ipc(folder / "one.feather")
    frame.write_csv(folder / "two.tsv", separator="\t")
    yield "one.feather", "-t", "target"
    yield "two.tsv", "-t", "target"


def dexter(source, folder):
    X, y, names = load(source / "dexter")
    dump_svmlight_file(
        sp.csr_matrix(X), np.array(y, dtype=float), str(folder / "two.svm"), zero_based=False
    )
    n_used = int(sp.csr_array(X).indices.max()) + 1
    write_names(folder / "names.txt", names[:n_used])
    write_names(folder / "all.txt", names)
    yield source / "dexter" / "X.npz", "--names", "all.txt", "-t", source / "dexter" / "y.txt"
    yield "two.svm", "--names", "names.txt", "--one-based"


def techtc(source, folder):
    path = source / "techtc" / "Exp_10341_14525"
    found = read_techtc_folder(path, min_word_length=1)
    scipy.io.mmwrite(folder / "two.mtx", sp.coo_matrix(found.data))
    write_names(folder / "names.txt", found.words)
    yield (path,)
    yield "two.mtx", "--names", "names.txt"


def newsgroups(source, folder):
    path = source / "newsgroup_pairs" / "sci.space__sci.med"
    found = read_techtc_folder(path, min_word_length=1)
    sp.save_npz(folder / "two.npz", sp.csr_array(found.data))
    write_names(folder / "names.txt", found.words)
    yield (path,)
    yield "two.npz", "--names", "names.txt"


@pytest.mark.parametrize(
    ("write", "n_features"),
    [
        (techtc, 300),
        *(
            pytest.param(*more, marks=pytest.mark.slow)
            for more in [
                (golub, 120),
                (all_leukemia, 300),
                (riboflavin, 150),
                (dexter, 500),
                (newsgroups, 400),
            ]
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_two_formats_select_the_same(start, shared_data, tmp_path, write, n_features):
    processes = [
        start("select", *arguments, "-n", n_features, "-o", f"out{place}", "--json", cwd=tmp_path)
        for place, arguments in enumerate(write(shared_data, tmp_path))
    ]
    results = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], results
    assert [err for _, err in results] == ["", ""]
    one, two = (json.loads(out) for out, _ in results)
    assert one["n_selected"] > n_features / 2
    assert one["features"] == two["features"]
    for name in ("lower", "upper", "promised_lower", "promised_upper"):
        assert one["certificate"][name] == pytest.approx(two["certificate"][name], rel=1e-4)
    weights = [
        [float(row["weight"]) for row in csv.DictReader((tmp_path / out / "selected.csv").open())]
        for out in ("out0", "out1")
    ]
    np.testing.assert_allclose(*weights, rtol=1e-3)


def test_comparison_of_a_regression(start, shared_data, tmp_path):
    arguments, _ = riboflavin(shared_data, tmp_path)
    options = ("-n", "40", "-m", "bss,random", "--repeats", "1", "--json")
    process = start("compare", *arguments, *options, cwd=tmp_path)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    errors = {}
    for row in json.loads(out)["results"]:
        errors.setdefault(row["method"], []).append(row["error_mean"])
    assert min(errors["all features"]) < min(errors["bss"]) < min(errors["random"])
