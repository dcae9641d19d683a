# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise reproduce`: on a small set in TechTC's layout, made here."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from ridgewise.paper import REPRODUCED, Outcome, Table, Verdict
from ridgewise.report import print_outcome, print_summary

REPRODUCE = [sys.executable, "-m", "ridgewise", "reproduce"]
SECONDS = "seconds_mean"


@pytest.fixture(scope="module")
def data_home(tmp_path_factory):
    """A set of 40 documents, 700 words."""
    home = tmp_path_factory.mktemp("techtc")
    rng = np.random.default_rng(0)
    folder = home / "Exp_1_2"
    folder.mkdir()
    words = "\n".join(f"{place} word{place:04d}" for place in range(1, 701))
    (folder / "features.idx").write_text(f"# words\n\n{words}\n")
    lines = ["# documents"]
    for document in range(40):
        label = 1 if document % 2 else -1
        rate = 3 / np.arange(1, 701) + 0.15 + 0.2 * (np.arange(700) % 7 == label + 1)
        counts = rng.poisson(rate)
        entries = " ".join(f"{j + 1}:{counts[j]}" for j in np.flatnonzero(counts))
        lines += [f"{document}.html", f"{label:+d} {entries}"]
    (folder / "vectors.dat").write_text("\n".join(lines) + "\n")
    return home


def run(*arguments, cwd):
    done = subprocess.run(
        [*REPRODUCE, *map(str, arguments)], cwd=cwd, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done


def results(folder):
    """The rows of results.csv, without the seconds."""
    with (folder / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(float(row.pop(SECONDS)) >= 0 for row in rows)
    return rows


@pytest.fixture(scope="module")
def whole(data_home, tmp_path_factory, run_in):
    """One run with one worker, for programs."""
    folder = tmp_path_factory.mktemp("whole")
    options = ["--quick", "--jobs", 1, "--data-home", data_home, "--json", "-o", "out"]
    printed = run_in(folder, "reproduce", "table3", "figures", "words", *options)
    return folder / "out", json.loads(printed)


def test_it_writes_tables_figures_and_a_page(whole):
    folder, found = whole
    for stem in ("table3-r300", "table3-r400", "table3-r500", "table3-tests", "results", "words"):
        assert (folder / f"{stem}.csv").stat().st_size > 0
        assert (folder / f"{stem}.md").read_text().startswith("| ")
    for stem in ("table3", "figure-r300", "figure-r400", "figure-r500"):
        assert (folder / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (folder / f"{stem}.svg").read_bytes()
    page = (folder / "report.html").read_text()
    assert "http-equiv" in page
    assert "src=" not in page
    assert found["page"] == "out/report.html"
    assert list(found["experiments"]) == ["table3", "figures", "words"]


def test_verdicts_are_made_from_numbers(whole):
    _, found = whole
    verdicts = found["experiments"]["table3"]["verdicts"]
    assert len(verdicts) == 3
    for verdict in verdicts:
        assert verdict["status"] in ("reproduced", "same ordering", "not reproduced")
        assert any(letter.isdigit() for letter in verdict["reason"])


def test_results_have_a_row_a_combination(whole):
    folder, _ = whole
    rows = results(folder)
    assert len(rows) == (8 * 3 + 1) * 4
    assert {row["set"] for row in rows} == {"1_2"}
    assert all(0 <= float(row["error_mean"]) <= 1 for row in rows)


@pytest.mark.slow
def test_two_workers_give_the_same(whole, data_home, tmp_path):
    run(
        "figures", "--quick", "--jobs", 2, "--data-home", data_home, "-q", "-o", "out", cwd=tmp_path
    )
    assert results(tmp_path / "out") == results(whole[0])


@pytest.mark.slow
def test_a_killed_run_is_resumed(whole, data_home, tmp_path):
    options = ["figures", "--quick", "--jobs", "2", "--data-home", str(data_home), "-o", "out"]
    process = subprocess.Popen(
        [*REPRODUCE, *options], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    folds = tmp_path / "out" / "folds"
    deadline = time.monotonic() + 60
    while len(list(folds.glob("*/repeat*"))) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "out" / "results.csv").exists()
    kept = {path: path.stat().st_mtime_ns for path in folds.glob("*/repeat*")}
    run(*options, "--quiet", cwd=tmp_path)
    assert results(tmp_path / "out") == results(whole[0])
    assert all(path.stat().st_mtime_ns == changed for path, changed in kept.items())


@pytest.mark.slow
def test_ctrl_c_is_one_line(data_home, tmp_path):
    options = ["figures", "--quick", "--jobs", "2", "--data-home", str(data_home), "-o", "out"]
    process = subprocess.Popen(
        [*REPRODUCE, *options], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not list((tmp_path / "out" / "folds").glob("*/repeat*")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "ridgewise: interrupted\n"
    assert not (tmp_path / "out" / "report.html").exists()


def test_people_get_plain_text_in_a_pipe(whole, data_home, run_in):
    folder, _ = whole
    options = ["--quick", "--jobs", 1, "--data-home", data_home, "-o", "out"]
    text = run_in(folder.parent, "reproduce", "table3", *options)
    assert "\x1b" not in text
    assert "reproduced: BSS has a smaller error" in text.replace("\n", " ")
    assert "BSS against every other method" in text
    assert text.endswith("The page: out/report.html\n")
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["table9"],
            "unknown experiment 'table9': it must be one of table1, table2",
        ),
        (["table1", "--data-home", "nowhere"], "--data-home nowhere is not a folder"),
        (["table1", "-o", "theirs"], "theirs exists and was not made by this command"),
        (["table1", "-o", "file"], "file is a file"),
        (["table1", "--jobs", "0"], "--jobs"),
    ],
)
def test_bad_arguments_are_one_line(run_here, arguments, message, tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "letter.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    code, out, err = run_here("reproduce", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("ridgewise: ")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "letter.txt", "theirs"]


def test_help_has_examples(run_here):
    code, out, _ = run_here("reproduce", "--help")
    assert code == 0
    assert "ridgewise reproduce --quick" in out


def test_tables_fit_the_terminal_and_a_summary_ends_it(monkeypatch):
    """Wide tables were cut to letters in 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    columns = [f"column {place}" for place in range(12)]
    table = Table("wide", "A wide table", columns, [tuple(range(12))])
    claims = [Verdict("The sun rises", REPRODUCED, "it did"), Verdict("It rains", "open", "no")]
    outcome = Outcome("t", "Title", "How", "Data", claims, [table], [])
    text = StringIO()
    print_outcome(outcome, text)
    print_summary([outcome], Path("out/report.html"), text)
    lines = text.getvalue().splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert "column 0" in text.getvalue()
    assert "More columns (column" in text.getvalue()
    assert "wide.csv" in text.getvalue()
    assert "Summary: of 2 claims 1 reproduced, 1 open" in text.getvalue()
    assert lines[-1] == "The page: out/report.html"
