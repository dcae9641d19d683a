# SPDX-License-Identifier: BSD-3-Clause
"""The pages' code runs as it stands, and prints what the pages show."""

import csv
import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from ridgewise import cli, make_ridge_synthetic
from ridgewise.selectors import METHODS

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = (
    "index.md",
    "guide.md",
    "guarantees.md",
    "additive.md",
    "how-it-works.md",
    "paper-corrected.md",
    "paper-reproduced.md",
    "performance.md",
    "scaling.md",
    "developing.md",
)
NEEDS = {"scaling.md": ("distributed", "pyarrow", "zarr")}
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """A code block of a page: "python" is run, "pycon" is run and its output compared."""

    language: str
    code: str
    line: int


def read(page):
    return (DOCS / page).read_text(encoding="utf-8")


def blocks(page):
    text = read(page)
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start(2)))
        for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)
    ]


def run(block, page, names):
    """Run a block among the names that the blocks before it left."""
    if block.language == "python":
        code = "\n" * block.line + block.code  # so that a traceback has the page's line
        exec(compile(code, page, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.code, names, page, page, block.line)
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert runner.failures == 0, "".join(report)


@pytest.fixture
def registry():
    """Restores the registry of methods, to which a page adds one."""
    before = dict(METHODS)
    yield METHODS
    METHODS.clear()
    METHODS.update(before)


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("page", PAGES)
def test_code(page):
    for module in NEEDS.get(page, ()):
        pytest.importorskip(module, reason=f"{module} is not installed")
    names = {"__name__": page}
    for block in blocks(page):
        if block.language != "text":
            run(block, page, names)
    for expression in table_expressions(page):
        eval(expression, names)


def table_expressions(page):
    """The code in the column "How to get it" of the table of guarantees."""
    rows = [line.split(" | ") for line in read(page).splitlines() if line.startswith("| ")]
    how = [row[2] for row in rows if page == "guarantees.md" and len(row) == 4]
    return [expression for cell in how for expression in re.findall(r"`(.*)`", cell)]


def test_every_claim_has_its_line_of_code():
    assert len(table_expressions("guarantees.md")) == 22


@pytest.mark.slow
@pytest.mark.exhaustive
def test_what_the_guide_says_of_slack_was_measured():
    errors = {}
    with (DOCS / "measured" / "choice.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kind"] != "text" and row["method"] in ("BSS", "BSS, slack"):
                errors.setdefault((row["set"], row["share"]), []).append(float(row["error"]))
    gains = [100 * (norm - slack) for norm, slack in errors.values()]  # in the CSV's order
    better, worse = sum(gain > 1 for gain in gains), sum(gain < -1 for gain in gains)
    text = " ".join((DOCS / "guide.md").read_text(encoding="utf-8").split())
    assert f"in {better} of {len(gains)} cases (sets and sizes), and worse in {worse}," in text


@pytest.mark.slow
@pytest.mark.exhaustive
def test_a_newcomer_who_follows_start_gets_what_it_shows():
    """In this environment; `.ci/run` does the same in a new one, with its "pip install"."""
    follow = [sys.executable, str(DOCS / "follow.py"), str(DOCS / "start.md"), "--installed"]
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(follow, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_selector_of_the_tutorial_keeps_the_contract(tmp_path, monkeypatch):
    """What "Developing" adds in 40 lines passes scikit-learn's checks of estimators."""
    code = next(block.code for block in blocks("developing.md") if "class " in block.code)
    assert len(code.splitlines()) <= 40
    (tmp_path / "the_tutorial.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    check_estimator(importlib.import_module("the_tutorial").VarianceSelector())


def test_one_entry_adds_the_tutorials_selector_to_the_command(tmp_path, monkeypatch, registry):
    names = {}
    for block in blocks("developing.md"):
        if "class VarianceSelector" in block.code or "METHODS[" in block.code:
            exec(block.code, names)
    X, y = make_ridge_synthetic(40, 120, n_relevant=5, random_state=0)
    np.savez(tmp_path / "data.npz", X=X, y=y)
    monkeypatch.chdir(tmp_path)
    select = ["select", "data.npz", "-t", "y", "-n", "9", "-m", "variance", "-q"]
    assert cli.run(select) == 0
    assert "largest variance" in Path("data-selected/report.html").read_text(encoding="utf-8")
    options = ["-n", "9,30", "-m", "variance,bss", "--folds", "3", "--repeats", "1", "-q"]
    assert cli.run(["compare", "data.npz", "-t", "y", *options]) == 0
    assert "largest variance" in Path("data-compared/report.html").read_text(encoding="utf-8")
    assert "variance,30" in Path("data-compared/results.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_blocks_are_of_known_languages(page):
    found = blocks(page)
    assert 2 * len(found) == len(re.findall("^```", read(page), re.M))
    assert {block.language for block in found} <= {"python", "pycon", "text"}
    assert all(">>> " in block.code for block in found if block.language == "pycon")


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", read(page)):
        path, _, anchor = target.partition("#")
        if path.startswith(("_generated/", "gallery/")):  # made, and checked, by Sphinx
            continue
        file = DOCS / path if path else DOCS / page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def anchors(file):
    """The anchors of a page's headings, as code hosts and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_erratum_is_there():
    numbers = {int(number) for number in re.findall(r"\bE(\d+)\b", read("paper-corrected.md"))}
    assert numbers == set(range(1, 38))
