# SPDX-License-Identifier: BSD-3-Clause
"""Names that a spreadsheet would run as a formula."""

import csv
import io
from types import SimpleNamespace

import pytest

from ridgewise.report import results_csv, selected_csv, to_json

HOSTILE = ["=cmd|' /C calc'!A0", "@SUM(1+1)*9", "+1+cmd", "-2+3", "\t=1", "\r=1", "'=1", "''@x"]
HARMLESS = ["TP53", "-1.5", "+2e-3", "a=b", "'tis", "", "x@y"]


def cells(content, column):
    return [row[column] for row in csv.DictReader(io.StringIO(content.decode(), newline=""))]


def written(names):
    run = SimpleNamespace(rows=[(name, -1, 1, -0.5, 0.25) for name in names], groups=[])
    assert {*cells(selected_csv(run), "weight")} == {"-0.5"}
    row = {"n_features": 3, "alpha": 0.1, "error_mean": 0.2, "error_std": 0.0}
    row |= {"alpha_relative": 0.1, "alpha_edge": ""}
    rows = [SimpleNamespace(method=name, seconds_mean=1.0, stability=-0.5, **row) for name in names]
    results = cells(results_csv(SimpleNamespace(rows=rows)), "method")
    assert results == cells(selected_csv(run), "feature")
    return results


@pytest.mark.parametrize("name", HOSTILE)
def test_formulas_get_an_apostrophe(name):
    assert written([name]) == [f"'{name}"]
    assert to_json(name)[1:2] != "'" or name.startswith("'")


def test_other_names_stay():
    assert written(HARMLESS) == HARMLESS


def test_no_two_names_become_one():
    names = HOSTILE + HARMLESS + [f"'{name}" for name in HOSTILE]
    assert len(set(written(names))) == len(set(names))
