# SPDX-License-Identifier: BSD-3-Clause
"""What experiments give, as it is written."""

import pytest

from ridgewise.paper import EXPERIMENTS, Settings, Study, Table, _study
from ridgewise.paper._study import STANDARD_LIBRARY


def test_a_table_writes_its_values():
    table = Table(
        "t", "T", ["name", "n", "x"], [("a", 1, 0.126), ("b", None, float("nan"))], {"x": ".2f"}
    )
    assert table.text_rows() == [["a", "1", "0.13"], ["b", "-", "-"]]


def test_rows_must_fit_the_columns():
    with pytest.raises(ValueError, match="shorter"):
        Table("t", "T", ["a", "b"], [(1, 2, 3)]).text_rows()


def test_experiments_have_the_commands_names():
    assert list(EXPERIMENTS) == ["table1", "table2", "table3", "figures", "words", "risk"]


@pytest.mark.parametrize(("quick", "n_splits", "n_repeats"), [(False, 10, 10), (True, 5, 1)])
def test_full_and_quick_protocols(monkeypatch, quick, n_splits, n_repeats):
    monkeypatch.setattr(_study, "compare", lambda *data, **options: options)
    options = Study(Settings(quick=quick)).compare({}, None, None, "nothing")
    assert (options["n_splits"], options["n_repeats"]) == (n_splits, n_repeats)


def test_without_techtc_the_text_is_pythons(tmp_path):
    study = Study(Settings(data_home=tmp_path))
    assert study.names == []
    assert "NOT TechTC" in study.data
    assert "ridgewise data fetch" in study.data
    assert len(study.load(STANDARD_LIBRARY).target_names) == 2
