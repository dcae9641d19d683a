# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks against peers and of the choice of a method: what they print and keep."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def peers(*arguments):
    command = [sys.executable, "-m", "benchmarks.peers", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def cells(table, method):
    """The row of a method, without its name."""
    found = [line for line in table.splitlines() if line.startswith(f"| {method} ")]
    assert len(found) == 1, table
    return [cell.strip() for cell in found[0].split("|")[2:-1]]


@pytest.mark.slow
def test_help():
    assert "--prepare" in peers("--help").stdout


def test_unknown_names_are_refused():
    assert "'CURE' is none of: BSS" in peers("--methods", "CURE").stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="its processes are Unix's")
def test_table(tmp_path):
    places = ["--results", tmp_path / "found.jsonl", "--environments", tmp_path / "none"]
    arguments = ["--only", "tiny", "--methods", "BSS,chi2,pivoted QR,CUR", *places]
    done = peers(*arguments)
    assert done.returncode == 0, done.stderr
    assert "tiny: 30 x 200, rank 30, r = 60" in done.stdout
    given, features, _, ratio, *_, kept, polished, error = cells(done.stdout, "**BSS**")
    assert (given, features, ratio, error) == ("X", "60", "1", "")
    assert 1 < float(polished) < float(kept) < 34  # (1 + s)^2 / (1 - s)^2, s^2 = 1/2, is promised
    assert cells(done.stdout, "scipy: pivoted QR")[:2] == ["dense X", "60"]
    assert "ValueError: Input X must be non-negative" in cells(done.stdout, "scikit-learn: chi2")[1]
    assert cells(done.stdout, "skmatter: CUR")[1] == "not installed: see --prepare"
    assert peers("--table", *arguments).stdout == done.stdout


@pytest.mark.slow
def test_a_method_that_takes_too_long_is_stopped(tmp_path):
    places = ["--results", tmp_path / "found.jsonl", "--minutes", 0]
    done = peers("--only", "tiny", "--methods", "BSS", *places)
    assert cells(done.stdout, "**BSS**")[1] == "> 0 min"


def test_choice_replaces_only_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    choice = importlib.import_module("benchmarks.choice")
    path = tmp_path / "choice.csv"

    def line(method, error):
        return {"set": "golub", "method": method, "share": "1", "error": error}

    choice.write([line("BSS", "0.1"), line("RFE", "0.2")], path, keep=False)
    choice.write([line("BSS", "0.3")], path, keep=True)
    rows = [row.split(",") for row in path.read_text().splitlines()]
    places = [rows[0].index(name) for name in ("method", "error")]
    assert [[row[place] for place in places] for row in rows[1:]] == [
        ["BSS", "0.3"],
        ["RFE", "0.2"],
    ]
