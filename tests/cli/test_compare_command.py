# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise compare`: what it writes, and what it refuses."""

import csv
import json

import numpy as np
import pytest

from ridgewise import BSSSelector, RandomSelector, compare

COLUMNS = [
    *("method", "n_features", "alpha", "error_mean", "error_std", "seconds_mean", "stability"),
    *("alpha_relative", "alpha_edge"),
]
COMPARE = ("-t", "outcome", "--ids", "patient", "--ids", "dose")
QUICK = ("--folds", "3", "--repeats", "2")

GAIN = "information-gain"


def read_results(folder):
    with (folder / "results.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def without_page(monkeypatch):
    """The page takes most of the time, and has tests of its own."""
    monkeypatch.setattr("ridgewise.report.comparison_page", lambda *_, **__: "<!DOCTYPE html>")


def test_files(run_here, table, tmp_path):
    options = ("-n", "60,10%", "--alpha", "0.1,10", "-m", "bss,random", *QUICK)
    code, out, err = run_here("compare", "small.csv", *COMPARE, *options)
    assert (code, err) == (0, "")
    folder = tmp_path / "small-compared"
    assert {path.name for path in folder.iterdir()} == {"results.csv", "report.html"}
    assert {path.name for path in tmp_path.iterdir()} == {"small.csv", folder.name}
    rows = read_results(folder)
    assert list(rows[0]) == COLUMNS
    methods = [(row["method"], int(row["n_features"]), float(row["alpha"])) for row in rows]
    assert len(set(methods)) == len(methods) == 2 * (1 + 2 * 2)
    assert ("bss", 20, 10.0) in methods
    assert " ".join(out.split("\n")[0].split()) in (folder / "report.html").read_text()


def test_is_what_the_library_gives(run_here, small, without_page):
    options = (
        "-n",
        "30,90",
        "--alpha",
        "100",
        "--alpha-scale",
        "absolute",
        "-m",
        "bss,random",
        "--seed",
        "5",
        *QUICK,
    )
    arguments = ("compare", small / "small.npz", "-t", "y", *options, "--json")
    code, out, err = run_here(*arguments)
    assert (code, err) == (0, "")
    with np.load(small / "small.npz") as data:
        X, y = data["X"], data["y"]
    expected = compare(
        {"bss": BSSSelector(center=True, rule="slack"), "random": RandomSelector()},
        X,
        y,
        alphas=[100.0],
        n_features=[30, 90],
        n_splits=3,
        n_repeats=2,
        random_state=5,
    )
    record = json.loads(out)
    errors = [row["error_mean"] for row in record["results"]]
    assert errors == [row.error_mean for row in expected.rows]
    assert record["best"]["row"]["method"] == expected.best().method
    assert "features" in record["headline"]


def test_defaults(run_here, table, without_page):
    code, out, err = run_here(
        "compare", table, *COMPARE, "--folds", "2", "--repeats", "1", "--json"
    )
    assert (code, err) == (0, "")
    rows = json.loads(out)["results"]
    methods = [
        "bss",
        "subset",
        "leverage",
        "rrqr",
        "f-test",
        "l1",
        "rfe",
        "information-gain",
        "random",
    ]
    assert list(dict.fromkeys(row["method"] for row in rows)) == ["all features", *methods]
    assert sorted({row["n_features"] for row in rows}) == [5, 12, 25, 50, 200]
    assert "leave-one-out" in json.loads(out)["alpha"]


def test_scales_and_logarithms(run_here, tmp_path, without_page):
    rng = np.random.default_rng(0)
    counts = rng.poisson(3, size=(40, 30)) * np.logspace(0, 4, 30)
    np.savez(tmp_path / "counts.npz", X=counts, y=rng.integers(2, size=40))
    start = ("compare", "counts.npz", "-t", "y", "-n", "5", "-m", "bss", *QUICK, "--json", "-f")
    runs = [(), ("--scale", "standard"), ("--log1p",), ("--no-intercept",)]
    found = []
    for options in runs:
        code, out, err = run_here(*start, *options)
        assert (code, err) == (0, "")
        found.append(json.loads(out))
    assert len({tuple(row["error_mean"] for row in record["results"]) for record in found}) == 4
    assert "Scales differ" in found[0]["notes"][0]
    assert not any("Scales differ" in note for note in found[1]["notes"])


def test_rfe_is_left_out_where_it_takes_long(run_here, table, without_page, monkeypatch):
    monkeypatch.setattr("ridgewise.cli._compare.MOST_RFE_WORK", 10)
    code, out, _ = run_here("compare", table, *COMPARE, *QUICK, "-n", "9", "--json")
    assert code == 0
    assert "rfe" not in {row["method"] for row in json.loads(out)["results"]}
    assert any("RFE is left out" in note for note in json.loads(out)["notes"])


def test_one_feature(run_here, without_page, tmp_path):
    X = np.random.default_rng(0).standard_normal((30, 1))
    np.savez(tmp_path / "one.npz", X=X, y=np.where(X[:, 0] > 0, "high", "low"))
    code, out, err = run_here("compare", "one.npz", "-t", "y", "--folds", "3", "--repeats", "1")
    assert (code, err) == (0, "")
    assert "RFE is left out, because it needs at least two features" in " ".join(out.split())


def test_regression(run_here, table, without_page):
    options = ("-t", "dose", "--ids", "patient", "--ids", "outcome", "-n", "40", *QUICK, "--json")
    code, out, err = run_here("compare", table, *options)
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert "mean squared error" in record["answer"]
    assert "information-gain" not in {row["method"] for row in record["results"]}


def test_goes_on_where_it_was(run_here, table, without_page, tmp_path):
    options = ("-n", "40", "--alpha", "1", "-m", "bss", *QUICK, "--cache", tmp_path / "folds", "-f")
    results = []
    for _ in range(2):
        assert run_here("compare", table, *COMPARE, *options, "-q") == (0, "", "")
        results.append((tmp_path / "small-compared" / "results.csv").read_text())
    assert results[0] == results[1]  # even the times


BAD = {
    "missing file": (["none.csv", "-t", "y"], ["none.csv does not exist"]),
    "no target": (["small.csv", "--ids", "patient", "--ids", "outcome"], ["--target"]),
    "wrong target": (["small.csv", "-t", "outcom"], ["outcom", "outcome"]),
    "one class": (["one.csv", "-t", "y"], ["one class only"]),
    "small class": (["few.csv", "-t", "y"], ["folds need as many samples"]),
    "no method": (["small.csv", *COMPARE, "-m", "bss,lasso"], ["'lasso'", "bss, subset"]),
    "no number": (["small.csv", *COMPARE, "-n", "40,x"], ["-n takes", "'x'"]),
    "no alpha": (["small.csv", *COMPARE, "--alpha", "1,-1"], ["--alpha takes"]),
    "no option": (["small.csv", *COMPARE, "-m", "rrqr", "--center"], ["--center", "rrqr"]),
    "no scale": (["small.csv", *COMPARE, "--scale", "z"], ["scale must be one of", "'z'"]),
    "one fold": (["small.csv", *COMPARE, "--folds", "1"], ["--folds"]),
    "words to regress": (["small.csv", *COMPARE, "--task", "regression"], ["numbers"]),
    "classes to measure": (
        [
            "small.csv",
            "-t",
            "dose",
            "--ids",
            "patient",
            "--ids",
            "outcome",
            "-m",
            "information-gain",
        ],
        ["information-gain"],
    ),
    "no folder": (["small.csv", *COMPARE, "-o", "a/b"], ["there is no folder a"]),
    "exists": (["small.csv", *COMPARE, "-o", "there"], ["there/results.csv exists already"]),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD)
def test_bad_input(run_here, table, tmp_path, arguments, words):
    (tmp_path / "one.csv").write_text("a,b,y\n1,2,ill\n3,4,ill\n5,7,ill\n")
    (tmp_path / "few.csv").write_text("a,b,y\n1,2,ill\n3,4,ill\n5,7,well\n")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "results.csv").write_text("of somebody")
    before = sorted(tmp_path.rglob("*"))
    code, out, err = run_here("compare", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ridgewise: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "there" / "results.csv").read_text() == "of somebody"
