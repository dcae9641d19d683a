# SPDX-License-Identifier: BSD-3-Clause
"""Table 3's verdicts follow from the numbers, whatever these are."""

import numpy as np
import pytest

from ridgewise.evaluation import wilcoxon_test
from ridgewise.paper import NOT_REPRODUCED, REPRODUCED, SAME_ORDERING, _table3
from ridgewise.paper._study import BSS, LEVERAGE, PAPERS, RRQR, TEXT_ALPHAS, TEXT_COUNTS


def as_printed(shift=0.0):
    """Errors of every set as the paper prints their mean, with a shift."""

    def error(number, method, count, alpha):
        if method not in PAPERS:
            return 0.28
        return _table3.PRINTED[count, method][TEXT_ALPHAS.index(alpha)][0] / 100 + shift * number

    return error


def verdicts(study):
    return [verdict.status for verdict in _table3.run(study).verdicts]


def test_the_printed_errors_reproduce_the_table(study_with):
    assert verdicts(study_with(as_printed())) == [SAME_ORDERING, REPRODUCED, REPRODUCED]


def test_other_levels_with_the_same_order(study_with):
    assert verdicts(study_with(as_printed(shift=0.01))) == [
        SAME_ORDERING,
        SAME_ORDERING,
        REPRODUCED,
    ]


def test_where_bss_does_not_lead_it_says_so(study_with):
    def error(number, method, count, alpha):
        return 0.2 if method == RRQR else as_printed()(number, method, count, alpha)

    outcome = _table3.run(study_with(error))
    assert outcome.verdicts[0].status == NOT_REPRODUCED
    assert "in 0 of 12 cells" in outcome.verdicts[0].reason


def test_a_lead_by_chance_is_no_lead(study_with):
    """Of three sets nothing follows: the smallest p of the signed-rank test is 0.25."""
    outcome = _table3.run(study_with(as_printed(), n_sets=3))
    assert "in 12 of 12 cells" in outcome.verdicts[0].reason
    assert outcome.verdicts[0].status == NOT_REPRODUCED


def test_where_errors_rise_with_r_it_says_so(study_with):
    def error(number, method, count, alpha):
        return as_printed()(number, method, count, alpha) + 0.1 * (count == 500)

    assert verdicts(study_with(error))[2] == NOT_REPRODUCED


def test_paired_tests_are_over_sets(study_with):
    rng = np.random.default_rng(0)
    noise = rng.normal(scale=0.02, size=(8, 2))

    def error(number, method, count, alpha):
        return 0.3 + noise[number, int(method == BSS)]

    table = _table3.run(study_with(error)).tables[-1]
    row = next(row for row in table.rows if row[:2] == (300, LEVERAGE))
    expected = wilcoxon_test(noise[:, 1], noise[:, 0])
    assert row[2] == pytest.approx(100 * expected.difference)
    assert row[-1] == pytest.approx(expected.p_value)
    assert row[3] + row[4] == 8


def test_tables_have_what_was_printed_beside_what_came_out(study_with):
    outcome = _table3.run(study_with(as_printed()))
    assert len(outcome.tables) == len(TEXT_COUNTS) + 1
    for row in outcome.tables[0].rows:
        if row[0] in PAPERS:
            assert row[2] == pytest.approx(row[4])
        else:
            assert row[2] is None
    assert outcome.tables[0].text_rows()[0][:5] == ["BSS", "0.1", "31.76", "0.68", "31.76"]


def test_figures_count_the_cells_in_which_bss_is_best(study_with):
    def error(number, method, count, alpha):
        return 0.5 if method == BSS and number == 0 else as_printed()(number, method, count, alpha)

    (verdict,) = _table3.run_figures(study_with(error)).verdicts
    assert verdict.status == NOT_REPRODUCED
    assert "84 of 96 cells" in verdict.reason
