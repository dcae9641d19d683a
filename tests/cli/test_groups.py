# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise select` with groups: categories, prefixes, a file."""

import csv
import json
from collections import Counter

import numpy as np
import pytest

CATEGORIES = ("city", "shop", "colour")


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """120 samples with three categories of 30 levels and 500 numbers; the city counts."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 25)) @ rng.standard_normal((25, 500)) / 10
    levels = rng.permuted(np.tile(np.arange(30), (3, 4)), axis=1).T
    effect = rng.standard_normal(30)
    y = 3 * effect[levels[:, 0]] + X[:, 0] + 0.1 * rng.standard_normal(120)
    names = [f"probe{j // 10}_{j % 10}" for j in range(500)]
    lines = [",".join(["spent", *CATEGORIES, *names])]
    for target, (city, shop, colour), row in zip(y, levels, X, strict=True):
        numbers = ",".join(f"{value:.5f}" for value in row)
        lines.append(f"{target:.5f},c{city},s{shop},k{colour},{numbers}")
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def without_page(monkeypatch):
    """The page takes most of the time."""
    monkeypatch.setattr("ridgewise.report.selection_page", lambda *_, **__: "<!DOCTYPE html>")


def selected(folder):
    with (folder / "selected.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.parametrize("method", ["subset", "bss"])
def test_a_category_is_kept_or_left_out_as_a_whole(method, visits, run_here, tmp_path):
    code, out, err = run_here(
        *("select", visits, "-t", "spent", "--categorical", "onehot", "-n", "20", "-m", method),
        *("--folds", "2", "-o", tmp_path / "out"),
    )
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    rows = selected(tmp_path / "out")
    sizes = Counter(row["group"] for row in rows)
    kept = [name for name in CATEGORIES if name in sizes]
    assert all(sizes[name] == 30 for name in kept)
    assert len(sizes) == 20
    assert f"20 of 503 groups ({len(rows)} of 590 features)" in text
    assert "3 of the 503 groups have several features, and are kept or left out as a whole" in text
    for what, names in (("kept", kept), ("left out", [n for n in CATEGORIES if n not in kept])):
        if names:
            verb = "was" if len(names) == 1 else "were"
            assert f"{', '.join(names)} {verb} {what}" in text
    if method == "subset":
        assert "city" in kept
        assert "No other 20 of the 503 groups would" in text
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "The groups" in page
    assert ("How far the first groups get" in page) == (method == "subset")
    assert all(name in page for name in ("city=c0", "city=c29")) == ("city" in kept)
    record = json.loads((tmp_path / "out" / "certificate.json").read_text(encoding="utf-8"))
    assert sorted(record["groups"]) == sorted(sizes)
    assert record["parameters"]["groups"] == "503 groups"


@pytest.mark.usefixtures("without_page")
def test_prefix(visits, run_here, tmp_path):
    code, out, err = run_here(
        *("select", visits, "-t", "spent", "--categorical", "drop", "--groups", "prefix:_"),
        *("-n", "8", "--folds", "0", "-o", tmp_path / "out"),
    )
    assert (code, err) == (0, "")
    assert "8 of 50 groups (80 of 500 features)" in " ".join(out.split())
    for row in selected(tmp_path / "out"):
        assert row["feature"].startswith(f"{row['group']}_")


@pytest.mark.usefixtures("without_page")
def test_file(visits, run_here, tmp_path):
    """Features that the file does not name are groups of their own; a header is no feature."""
    lines = ["feature\tgroup", *(f"probe0_{j}\tlow" for j in range(10)), "unknown\thigh"]
    (tmp_path / "groups.tsv").write_text("\n".join(lines) + "\n")
    code, out, err = run_here(
        *("select", visits, "-t", "spent", "--categorical", "onehot", "--groups", "groups.tsv"),
        *("-m", "leverage-top", "--folds", "0", "-o", tmp_path / "out"),
    )
    assert (code, err) == (0, "")
    assert "of 494 groups" in " ".join(out.split())
    sizes = Counter(row["group"] for row in selected(tmp_path / "out"))
    assert all(sizes[name] in (0, 30) for name in CATEGORIES)
    assert sizes["low"] in (0, 10)


@pytest.mark.usefixtures("without_page")
def test_a_method_without_groups_says_so(visits, run_here, tmp_path):
    code, out, _ = run_here(
        *("select", visits, "-t", "spent", "--categorical", "onehot", "-m", "rrqr", "-n", "20"),
        *("--folds", "0", "-o", tmp_path / "out"),
    )
    assert code == 0
    assert "rrqr selects the levels of a category one by one, not as a whole." in " ".join(
        out.split()
    )


@pytest.mark.parametrize(
    ("content", "option", "message"),
    [
        (None, "prefix:", "--groups prefix: needs a separator"),
        (None, "prefix:#", "no two features have the same name before '#'"),
        (None, "absent.csv", "absent.csv"),
        ("probe0_0", "g.csv", "line 1 should have a feature and its group"),
        ("probe0_0,a\nprobe0_0,b", "g.csv", "line 2 has feature 'probe0_0' in group 'b', and an"),
        ("a,b\nc,d", "g.csv", "none of its 2 features is one of the data"),
        ("probe0_0,", "g.csv", "line 1 should have a feature and its group"),
    ],
)
def test_errors(content, option, message, visits, run_here, tmp_path):
    if content is not None:
        (tmp_path / "g.csv").write_text(content)
    settings = ("select", visits, "-t", "spent", "--categorical", "drop", "-n", "5")
    code, _, err = run_here(*settings, "--groups", option)
    assert code == 2
    assert message in " ".join(err.split())
    code, _, err = run_here(*settings, "--groups", option, "-m", "rrqr")
    assert code != 0
    assert "--groups is not an option of rrqr" in " ".join(err.split())


def test_more_groups_than_there_are(visits, run_here):
    code, _, err = run_here(
        *("select", visits, "-t", "spent", "--categorical", "drop", "--groups", "prefix:_"),
        *("-n", "51"),
    )
    assert code == 2
    assert "counts groups: got 51, and there are 50 groups" in " ".join(err.split())
