# SPDX-License-Identifier: BSD-3-Clause
"""What experiments give, as it is written."""

import pytest

from ridgewise.paper import EXPERIMENTS, Settings, Study, Table


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


def test_full_and_quick_protocols():
    assert (Settings().n_splits, Settings().n_repeats) == (10, 10)
    assert Settings(quick=True).n_repeats == 1


def test_without_techtc_the_text_is_pythons(tmp_path):
    study = Study(Settings(data_home=tmp_path))
    assert not study.is_techtc
    assert "NOT TechTC" in study.data
    assert "ridgewise data fetch" in study.data
    assert len(study.load("any").target_names) == 2
