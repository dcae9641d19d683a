# SPDX-License-Identifier: BSD-3-Clause
"""Tables 1, 2 and the risk, on the paper's synthetic data, with few folds."""

import pytest

from ridgewise.paper import NOT_REPRODUCED, REPRODUCED, Settings, Study, _risk, _table1, _table2
from ridgewise.paper._study import BSS, GAIN, LEVERAGE, RRQR


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """No TechTC: an empty folder for it."""
    folder = tmp_path_factory.mktemp("nothing")
    return Study(Settings(data_home=folder, quick=True, cache=tmp_path_factory.mktemp("folds")))


@pytest.fixture(scope="module")
def outcome(quick):
    return _table1.run(quick)


def test_rrqr_and_information_gain_come_out_exactly_as_printed(outcome):
    rows = [row for row in outcome.tables[0].rows if row[2] in (RRQR, GAIN)]
    assert len(rows) == 8
    for row in rows:
        assert row[3] == row[4], row


def test_the_error_is_zero(outcome):
    assert all(row[-1] == 0 for row in outcome.tables[0].rows)


def test_verdicts_of_table1(outcome):
    by_claim = {verdict.claim: verdict for verdict in outcome.verdicts}
    assert by_claim[f"the row of {RRQR}"].status == REPRODUCED
    assert by_claim[f"the row of {GAIN}"].status == REPRODUCED
    assert by_claim[f"the row of {BSS}"].status == NOT_REPRODUCED
    assert by_claim["the mean out-of-sample error is 0 for all methods"].status == REPRODUCED


def test_two_singular_vectors_resemble_the_printed_row(outcome):
    listed = {row[:3]: row for row in outcome.tables[0].rows}
    for r in _table1.COUNTS:
        for k in _table1.RELEVANT:
            assert listed[r, k, _table1.TWO_VECTORS][6] == 5  # all relevant, on the first data set
            assert listed[r, k, BSS][6] < 5


def test_ties_are_reported(outcome):
    listed = {row[:3]: row for row in outcome.tables[0].rows}
    assert listed[80, 90, GAIN][7] == 80  # every feature that is selected is always selected
    assert listed[90, 100, GAIN][7] == 90


@pytest.mark.slow
@pytest.mark.exhaustive
def test_rows_as_printed_with_all_folds(tmp_path):
    rows = _table1.run(Study(Settings(data_home=tmp_path, n_jobs=2))).tables[0].rows
    assert all(row[3] == row[4] and row[-1] == 0 for row in rows if row[2] in (RRQR, GAIN))


@pytest.fixture(scope="module")
def risk(quick):
    return _risk.run(quick)


def test_risk_without_techtc_is_marked_as_such(risk):
    assert "NOT TechTC" in risk.data
    assert {row[0] for row in risk.tables[0].rows} == {
        "synthetic, k = 90",
        "synthetic, k = 100",
        "Python's standard library",
    }
    for row in risk.tables[0].rows:
        _, _, _, whole, bss, _, ratio, _, certified_here, certified = row
        assert ratio == pytest.approx(bss / whole)
        assert ratio <= certified_here * (1 + 1e-9)
        assert ratio <= certified * (1 + 1e-9)


def test_risk_grows_with_lambda_as_in_the_paper(risk):
    by_claim = {verdict.claim: verdict for verdict in risk.verdicts}
    claim = "on synthetic data selection costs more for larger lambda"
    assert by_claim[claim].status == REPRODUCED


def test_running_times_are_ratios_to_leverage(quick, study_with):
    study = study_with(lambda *place: 0.3, quick=True, cache=quick.settings.cache)
    study.load = quick.load
    table = _table2.run(study).tables[0]
    rows = {row[:2]: row for row in table.rows}
    assert rows["TechTC", BSS][2] == 75.7624
    assert rows["TechTC", BSS][4] == pytest.approx(75.7624 / 0.4054)
    assert rows["TechTC", LEVERAGE][5] == 1
    assert rows["synthetic", BSS][3] > 0
