# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise select`: what it writes, what it refuses, and that nothing is ever half-written."""

import csv
import gzip
import json
import os
import signal
import time
from hashlib import sha256

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from ridgewise import BSSSelector
from ridgewise.report import write_folder

FILES = {"selected.csv", "certificate.json", "report.html"}
STEPS = {
    *("reading", "spectrum", "selection", "certificate"),
    *("correlations", "held-out error", "report"),
}
SELECT = ("-t", "outcome", "--ids", "patient", "--ids", "dose")


def read_selected(folder):
    with (folder / "selected.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def without_page(monkeypatch):
    """The page takes most of the time, and has tests of its own."""
    monkeypatch.setattr("ridgewise.report.selection_page", lambda *_, **__: "<!DOCTYPE html>")


def test_columns_that_are_no_features(run_here, tmp_path):
    lines = ["id,train,site,a,b,c"]
    sites = ["lung", "skin", "colon"]
    lines += [f"{i},{i % 2},{sites[i % 3]},{i % 5},{i % 7},{i % 11}" for i in range(1, 31)]
    (tmp_path / "x.csv").write_text("\n".join(lines))
    code, out, err = run_here("select", "x.csv", "-n", "3", "--categorical", "onehot")
    assert (code, err) == (0, "")
    flat = " ".join(out.split())
    assert "'id' numbers the rows; 'train' marks training and test samples. --keep id would" in flat
    assert " of 6 features" in flat
    code, out, err = run_here("select", "x.csv", "-n", "3", "--drop", "site", "--keep", "id", "-f")
    assert (code, err) == (0, "")
    assert " of 4 features" in " ".join(out.split())


def test_files(run_here, table, tmp_path):
    code, out, err = run_here("select", "small.csv", *SELECT, "-n", "120", "--save", "r.parquet")
    assert (code, err) == (0, "")
    folder = tmp_path / "small-selected"
    assert {path.name for path in folder.iterdir()} == FILES
    assert {path.name for path in tmp_path.iterdir()} == {"small.csv", folder.name, "r.parquet"}
    assert "of 200 features, selected by BSS" in out
    assert "\x1b" not in out

    X = pl.read_csv(table).drop("patient", "outcome", "dose").to_numpy()
    expected = BSSSelector(120, center=True, rule="slack").fit(X)
    rows = read_selected(folder)
    assert [int(row["index"]) for row in rows] == expected.selected_.tolist()
    assert [row["feature"] for row in rows] == [f"gene{i}" for i in expected.selected_]
    assert [int(row["order"]) for row in rows] == list(range(1, len(rows) + 1))
    weights = [float(row["weight"]) for row in rows]
    np.testing.assert_allclose(weights, expected.weights_, rtol=1e-6)
    scores = [float(row["leverage"]) for row in rows]
    np.testing.assert_allclose(scores, expected.leverage_scores_[expected.selected_], rtol=1e-6)

    record = json.loads((folder / "certificate.json").read_text())
    assert record["certificate"]["lower"] == pytest.approx(expected.certificate_.lower, rel=1e-6)
    assert record["certificate"]["verified"] is True
    assert record["input"]["files"][0]["sha256"] == sha256(table.read_bytes()).hexdigest()
    assert record["input"]["files"][0]["path"] == "small.csv"
    digest = sha256((folder / "selected.csv").read_bytes()).hexdigest()
    assert record["selected_sha256"] == digest
    assert record["parameters"]["n_features_to_select"] == 120
    assert set(record["versions"]) >= {"ridgewise", "python", "numpy", "scipy", "scikit-learn"}

    reduced = pl.read_parquet(tmp_path / "r.parquet")
    assert reduced.columns[0] == "sample"
    assert reduced.columns[-1] == "outcome"
    small = reduced.drop("sample", "outcome").to_numpy()
    np.testing.assert_allclose(small, X[:, np.sort(expected.selected_)], rtol=1e-6)


def test_again_gives_the_same_files(run_here, table, tmp_path):
    for folder in ("one", "two"):
        assert run_here("select", table, *SELECT, "-n", "90", "-o", folder, "-q") == (0, "", "")
    for name in FILES:
        one, two = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert one == two


@pytest.mark.parametrize(
    ("options", "n_selected"),
    [
        (["-n", "60"], 60),
        (["-n", "10%", "-m", "rrqr"], 20),
        (["-n", "0.25", "-m", "random"], 50),
        (["-n", "30", "-m", "leverage-top"], 30),
        (["-n", "30", "-m", "information-gain"], 30),
        (["-n", "20", "--alpha", "1e6", "--no-center"], None),
        (["-n", "90", "--rule", "slack", "--polish", "--no-rescale"], None),
        (["--epsilon", "0.7"], None),
        (["-m", "leverage", "-n", "80", "--seed", "3"], None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options(run_here, table, without_page, options, n_selected):
    code, out, err = run_here("select", table, *SELECT, *options, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert len(record["features"]) == record["n_selected"]
    assert n_selected in (None, record["n_selected"])
    assert set(record["seconds"]) == STEPS
    assert record["certificate"]["lower"] <= record["certificate"]["upper"]
    if "--epsilon" in options:
        assert record["certificate"]["epsilon"] <= 0.7 + 1e-9


@pytest.mark.parametrize("suffix", ["csv", "tsv", "feather", "npz", "npy", "parquet"])
def test_saved_data_is_read_again(run_here, table, without_page, tmp_path, suffix):
    """Everything of what was saved can be selected again, with the same features."""
    saved = tmp_path / f"saved.{suffix}"
    assert run_here("select", table, *SELECT, "-n", "60", "--save", saved, "-q")[0] == 0
    options = () if suffix == "npy" else ("-t", "y" if suffix == "npz" else "outcome")
    code, out, err = run_here("select", saved, *options, "-n", "1.0", "--json")
    assert (code, err) == (0, "")
    if suffix != "npy":
        indices = sorted(int(row["index"]) for row in read_selected(tmp_path / "small-selected"))
        assert json.loads(out)["features"] == [f"gene{index}" for index in indices]


def test_sparse_stays_sparse(run_here, without_page, tmp_path):
    X = sp.random_array((30, 500), density=0.2, random_state=0, format="csr")
    sp.save_npz(tmp_path / "counts.npz", X)
    (tmp_path / "words.txt").write_text("".join(f"word{place}\n" for place in range(500)))
    options = ("--vocabulary", "words.txt", "-n", "90", "--save", "small.npz", "--json")
    code, out, _ = run_here("select", "counts.npz", *options)
    assert code == 0
    assert json.loads(out)["features"][0].startswith("word")
    reduced = sp.load_npz(tmp_path / "small.npz")
    assert reduced.shape == (30, json.loads(out)["n_selected"])


def test_held_out_error_before_and_after(run_here, table):
    code, out, _ = run_here("select", table, *SELECT, "-n", "30", "--json")
    held_out = json.loads(out)["held_out"]
    assert code == 0
    assert (held_out["n_splits"], held_out["classify"]) == (5, True)
    assert 0 <= held_out["everything"] <= 1
    page = (table.parent / "small-selected" / "report.html").read_text()
    outcomes = pl.read_csv(table)["outcome"].value_counts()["count"]
    assert held_out["constant"] == pytest.approx(1 - outcomes.max() / outcomes.sum())
    for value in (held_out["selected"], held_out["everything"], held_out["constant"]):
        assert f"{value:.1%}" in page
    assert "ridgewise select small.csv -t outcome --ids patient --ids dose -n 30" in page


def test_scale_and_units(run_here, table, without_page):
    """Issue 19: features were taken for their units, and nothing said so."""
    frame = pl.read_csv(table).drop("patient", "outcome", "dose")
    frame.with_columns(gene3=1e6 * pl.col("gene3"), gene5=1e7 * pl.col("gene5")).write_csv("u.csv")
    _, out, _ = run_here("select", "u.csv", "-n", "20")
    assert "(gene5, gene3) dominate" in " ".join(out.split())
    _, out, _ = run_here("select", "u.csv", "-n", "20", "--scale", "standard", "-f", "--json")
    scaled = json.loads(out)
    frame.write_csv("plain.csv")
    _, out, _ = run_here("select", "plain.csv", "-n", "20", "--scale", "standard", "--json")
    assert scaled["features"] == json.loads(out)["features"]
    assert scaled["notes"] == json.loads(out)["notes"]


def test_log1p(run_here, without_page, tmp_path):
    counts = np.random.default_rng(0).poisson(3, size=(20, 60))
    np.save(tmp_path / "counts.npy", counts)
    np.save(tmp_path / "logs.npy", np.log1p(counts))
    found = []
    for name, option in (("counts.npy", ["--log1p"]), ("logs.npy", [])):
        code, out, _ = run_here("select", name, "-n", "30", "--json", *option)
        assert code == 0
        found.append(json.loads(out)["features"])
    assert found[0] == found[1]


def test_tall_data_is_not_selected_whole(run_here, without_page, tmp_path):
    """Issue 19: with more samples than features, the default was all of them."""
    np.save(tmp_path / "tall.npy", np.random.default_rng(0).normal(size=(200, 11)))
    code, out, _ = run_here("select", "tall.npy")
    assert code == 0
    assert "6 of 11 features" in out
    assert "Chosen by default: 6 features (half of 11)" in out


def test_fewer_than_asked_for_is_said(run_here, table, without_page):
    """Issue 19: 300 gave 147, in silence."""
    _, out, _ = run_here("select", table, *SELECT, "-n", "180", "-m", "leverage", "--folds", "0")
    out = " ".join(out.split())
    assert "180 features were requested, " in out
    assert "sampling is with replacement" in out


def test_rank(run_here, table, without_page):
    options = ("-n", "30", "--folds", "0", "--json")
    code, out, _ = run_here("select", table, *SELECT, *options, "--rank", "90%")
    assert code == 0
    assert json.loads(out)["parameters"]["rank"] == 0.9
    assert json.loads(out)["rank"] < 39
    one_line_about(run_here("select", table, *SELECT, "-f", "--rank", "x"), "--rank takes")


def test_subset_says_how_good_any_other_could_be(run_here, table):
    code, out, _ = run_here("select", table, *SELECT, "-m", "subset", "-n", "8")
    assert code == 0
    sentence = "No other 8 of the 200 features would fit this target more than"
    assert sentence in " ".join(out.split())
    page = (table.parent / "small-selected" / "report.html").read_text()
    assert sentence in page
    assert "How far the first features get" in page
    assert 'class="verdict plain"' in page  # not judged by what it keeps of other targets
    _, out, _ = run_here("select", table, *SELECT[2:], "--ids", "outcome", "-m", "subset", "-f")
    assert "selected by best subset, no labels" in out
    assert "as many features as reach 95 %" in " ".join(out.split())


def test_marks_in_anndata(run_here, without_page, tmp_path):
    anndata = pytest.importorskip("anndata")
    X = np.random.default_rng(0).normal(size=(20, 50))
    data = anndata.AnnData(X)
    data.var["chromosome"] = "1"
    data.write_h5ad(tmp_path / "cells.h5ad")
    code, out, _ = run_here("select", "cells.h5ad", "-n", "12", "--write", "marked.h5ad", "--json")
    assert code == 0
    marked = anndata.read_h5ad(tmp_path / "marked.h5ad")
    assert marked.var_names[marked.var["selected"]].tolist() == sorted(
        json.loads(out)["features"], key=int
    )
    assert (marked.var["selected_weight"] > 0).sum() == 12
    assert list(marked.var.columns) == ["chromosome", "selected", "selected_weight"]
    np.testing.assert_array_equal(marked.X, X)
    one_line_about(run_here("select", "cells.h5ad", "-n", "5", "--write", "cells.h5ad", "-f"))
    np.save(tmp_path / "X.npy", X)
    one_line_about(run_here("select", "X.npy", "--write", "new.h5ad"), "is not one")


# --- what is refused: one line, exit code 2, and nothing written


def one_line_about(result, *words):
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.startswith("ridgewise: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err


def write_bad(folder):
    """Files of every kind of trouble."""
    (folder / "empty.csv").write_text("")
    (folder / "ragged.csv").write_text("a,b,c\n1,2,3\n4,5\n6,7,8\n")
    (folder / "text.csv").write_text("a,city,b\n1,Rome,3\n4,Oslo,6\n6,Rome,8\n")
    (folder / "gaps.csv").write_text("a,b,c\n1,,3\n4,5,NaN\n6,7,8\n")
    whole = gzip.compress(b"a,b,c\n" + b"1.5,2.25,3.125\n" * 9999)
    (folder / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    (folder / "words.txt").write_text("one\ntwo\n")
    np.save(folder / "matrix.npy", np.eye(4, 9))
    np.save(folder / "objects.npy", np.array([{}, {}], dtype=object), allow_pickle=True)
    np.save(folder / "zero.npy", np.zeros((4, 9)))
    (folder / "folder").mkdir()


BAD = {
    "missing file": (["none.csv"], ["none.csv does not exist"]),
    "directory": (["folder"], ["folder is a folder"]),
    "empty": (["empty.csv"], ["empty"]),
    "ragged": (["ragged.csv"], ["ragged.csv"]),
    "wrong target": (
        ["small.csv", "-t", "dos", "--ids", "patient", "--ids", "outcome"],
        ["'dos'", "did you mean 'dose'"],
    ),
    "text column": (["text.csv"], ["'city'", "'Rome'", "--categorical drop"]),
    "gaps": (["gaps.csv"], ["2 ", "--missing drop-features"]),
    "truncated gzip": (["cut.csv.gz"], ["cut.csv.gz"]),
    "sizes": (["matrix.npy", "--vocabulary", "words.txt"], ["2", "9"]),
    "objects": (["objects.npy"], ["unpickle"]),
    "zeros": (["zero.npy", "-n", "2"], ["every feature of X is constant"]),
    "no method": (["matrix.npy", "-m", "bs"], ["'bs'", "bss, subset"]),
    "no number": (["matrix.npy", "-n", "many"], ["-n takes", "'many'"]),
    "no share": (["matrix.npy", "-n", "1.5"], ["-n takes", "'1.5'"]),
    "number and epsilon": (["matrix.npy", "-n", "5", "--epsilon", "0.5"], ["not both"]),
    "another's option": (["matrix.npy", "-m", "rrqr", "--rule", "norm"], ["--rule", "rrqr"]),
    "wrong rule": (["matrix.npy", "--rule", "best"], ["'best'"]),
    "wrong alpha": (["matrix.npy", "--alpha", "x"], ["--alpha"]),
    "no target": (["matrix.npy", "-m", "information-gain"], ["--target"]),
    "no folder": (["matrix.npy", "-o", "a/b"], ["there is no folder a"]),
    "a file": (["matrix.npy", "-o", "words.txt"], ["words.txt", "not a folder"]),
    "save format": (["matrix.npy", "--save", "x.doc"], [".parquet"]),
    "save over input": (["matrix.npy", "--save", "matrix.npy", "-f"], ["it is the input file"]),
    "no such option": (["matrix.npy", "--colour"], ["No such option"]),
    "no file at all": ([], ["FILE"]),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD)
def test_bad_input(run_here, table, tmp_path, arguments, words):
    write_bad(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    one_line_about(run_here("select", *arguments), *words)
    assert sorted(tmp_path.rglob("*")) == before


def test_one_class(run_here, tmp_path):
    (tmp_path / "one.csv").write_text("a,b,y\n1,2,ill\n3,4,ill\n5,7,ill\n")
    result = run_here("select", "one.csv", "-t", "y", "-m", "information-gain", "-n", "1")
    one_line_about(result, "one class only", "ill")


def test_existing_results_stay(run_here, table, without_page, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "report.html").write_text("of somebody")
    (folder / "notes.txt").write_text("of somebody")
    arguments = ("select", table, *SELECT, "-n", "60", "-o", "out", "-q")
    one_line_about(run_here(*arguments), "out/report.html exists already", "--force")
    assert (folder / "report.html").read_text() == "of somebody"
    assert run_here(*arguments, "--force") == (0, "", "")
    assert {path.name for path in folder.iterdir()} == {*FILES, "notes.txt"}
    assert "<!DOCTYPE html>" in (folder / "report.html").read_text()


def test_saved_file_stays(run_here, table, tmp_path):
    (tmp_path / "r.csv").write_text("of somebody")
    result = run_here("select", table, *SELECT, "-n", "60", "--save", "r.csv")
    one_line_about(result, "r.csv exists already")
    assert (tmp_path / "r.csv").read_text() == "of somebody"


@pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="needs a folder that nobody may write to"
)
def test_no_permission(run_here, table):
    one_line_about(run_here("select", table, *SELECT, "-o", "/proc/out"), "cannot write")


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere: see the test above"
)
def test_no_permission_in_a_folder(run_here, table, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o555)
    one_line_about(run_here("select", table, *SELECT, "-o", "locked/out"), "cannot write")


def test_full_disk(start, table, tmp_path):
    """A limit on the size of files stands in for a full disk: both fail while writing."""
    resource = pytest.importorskip("resource", reason="limits of processes are POSIX's")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    process = start("select", table, *SELECT, "-n", "60", cwd=tmp_path, preexec_fn=limit)
    out, err = process.communicate(timeout=120)
    one_line_about((process.returncode, out, err), "cannot write", "small-selected")
    assert [path.name for path in tmp_path.iterdir()] == ["small.csv"]


def test_folder_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(OSError, match="cannot write"):
        write_folder(tmp_path / "out", {"a.txt": b"a", "no/such/b.txt": b"b"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("delay", [0.3, None], ids=["early", "while writing"])
def test_killed_at_any_time(start, table, tmp_path, delay):
    """After SIGKILL the folder is complete or absent."""
    process = start("select", table, *SELECT, "-n", "60", "--save", "r.csv", cwd=tmp_path)
    deadline = time.monotonic() + 60
    while delay is None and not (tmp_path / "r.csv").exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(delay or 0)
    process.kill()
    process.communicate(timeout=60)
    folder = tmp_path / "small-selected"
    if folder.exists():
        assert {path.name for path in folder.iterdir()} == FILES
        assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    if (tmp_path / "r.csv").exists():
        assert len((tmp_path / "r.csv").read_text().splitlines()) == 41


def test_interrupted(run_here, table, tmp_path, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("ridgewise.evaluation.run_selection", interrupt)
    code, out, err = run_here("select", table, *SELECT)
    assert (code, out) == (130, "")
    assert err.strip() == "ridgewise: interrupted"
    assert [path.name for path in tmp_path.iterdir()] == ["small.csv"]


def test_hostile_names_in_a_terminal(run_here, tmp_path):
    names = ["\x1b[2J\x1b]0;hostile\x07", "<script>x</script>", "a\u202eb"]
    rows = np.random.default_rng(0).normal(size=(5, 3))
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "names.csv").write_text("\n".join(lines) + "\n")
    code, out, err = run_here("select", "names.csv", "-n", "3")
    assert (code, err) == (0, "")
    assert not set(out) & {"\x1b", "\x07", "\u202e"}
    assert "<script>x" not in (tmp_path / "names-selected" / "report.html").read_text()


def test_help(run_here):
    code, out, err = run_here("select", "--help")
    assert (code, err) == (0, "")
    assert "ridgewise select expression.csv --target outcome -n 400" in out
    for option in ("--features-in", "--missing", "--epsilon", "--save", "--json", "--force"):
        assert option in out
