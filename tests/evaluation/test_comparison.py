# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison tells is what its folds say."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ridgewise.evaluation import (
    ALL_FEATURES,
    Comparison,
    Entry,
)
from ridgewise.evaluation._statistics import corrected_t_test, selection_matrix

N_SPLITS, N_REPEATS, D = 4, 3, 6
ALPHAS = (0.1, 1.0)
SETS = {"good": [[0, 1], [0, 1], [0, 2]] * 4, "bad": [[3], [4], [5]] * 4}


def make_entry(method, n_features, level, sets=()):
    noise = np.random.RandomState(n_features).rand(len(ALPHAS), N_REPEATS, N_SPLITS)
    errors = level + 0.01 * noise
    seconds = np.full((N_REPEATS, N_SPLITS), level)
    tuning = np.ones((len(ALPHAS), 3, N_REPEATS, N_SPLITS))
    return Entry(method, n_features, errors, tuning, seconds, selection_matrix(list(sets), D))


def make_comparison(entries=None, n_repeats=N_REPEATS, feature_names=None):
    if entries is None:
        entries = [
            make_entry(ALL_FEATURES, D, 0.2),
            make_entry("good", 2, 0.1, SETS["good"]),
            make_entry("good", 3, 0.1, SETS["good"]),
            make_entry("bad", 2, 0.4, SETS["bad"]),
        ]
    return Comparison(
        entries=entries,
        alphas=ALPHAS,
        classify=True,
        n_samples=20,
        n_features_in=D,
        n_splits=N_SPLITS,
        n_repeats=n_repeats,
        feature_names=feature_names,
    )


@pytest.fixture
def comparison():
    return make_comparison()


def test_rows_are_means_over_folds_and_deviations_over_repeats(comparison):
    row = comparison.row("good", 2, 1.0)
    errors = comparison.entry("good", 2).errors[1]
    assert row.error_mean == pytest.approx(errors.mean())
    assert row.error_std == pytest.approx(np.std(errors.mean(axis=1), ddof=1))
    assert row.seconds_mean == pytest.approx(0.1)
    assert row.n_selected == 2
    assert row in comparison.rows


def test_one_repeat_has_no_deviation():
    errors = np.zeros((len(ALPHAS), 1, N_SPLITS))
    tuning = np.ones((len(ALPHAS), 3, 1, N_SPLITS))
    entry = Entry("one", 2, errors, tuning, np.zeros((1, N_SPLITS)), selection_matrix([[0]], D))
    assert np.isnan(make_comparison([entry], n_repeats=1).row("one", alpha=0.1).error_std)


def test_stability_of_sets(comparison):
    good, bad = comparison.row("good", 2, 0.1), comparison.row("bad", 2, 0.1)
    assert good.stability > 0.5 > bad.stability
    assert good.jaccard > 0.5 > bad.jaccard


def test_all_features_are_all_and_always_the_same(comparison):
    row = comparison.row(ALL_FEATURES, alpha=0.1)
    assert (row.n_features, row.n_selected, row.stability, row.jaccard) == (D, D, 1, 1)
    assert comparison.entry(ALL_FEATURES, 2) is comparison.entry(ALL_FEATURES)
    assert comparison.top_features(ALL_FEATURES) == []


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_table_makes_a_frame(comparison, frame):
    table = frame(comparison.table())
    assert table.shape == (len(comparison.rows), 11)
    assert list(table["method"]) == [row.method for row in comparison.rows]


def test_best_is_of_the_smallest_error():
    entries = [
        make_entry(ALL_FEATURES, D, 0.0),  # is not in question
        make_entry("good", 3, 0.1, SETS["good"]),
        make_entry("bad", 2, 0.4, SETS["bad"]),
    ]
    assert make_comparison(entries).best().method == "good"


def test_best_is_the_fewest_features_within_one_standard_error():
    entries = [make_entry("many", 5, 0.1), make_entry("few", 3, 0.1), make_entry("fewer", 2, 0.1)]
    deviations = np.linspace(-0.1, 0.1, N_REPEATS * N_SPLITS).reshape(N_REPEATS, N_SPLITS)
    for entry, above in zip(entries, (0.0, 0.03, 0.1), strict=True):
        entry.errors[:] = 0.3 + above + deviations
    assert entries[0].standard_error == pytest.approx(deviations.std(ddof=1) / np.sqrt(N_SPLITS))
    assert 0.03 < entries[0].standard_error < 0.1
    assert make_comparison(entries).best().method == "few"


def test_paired_is_the_corrected_test_on_the_folds(comparison):
    found = comparison.paired("good", "bad", n_features=2, alpha=0.1)
    first, second = (comparison.entry(name, 2).errors[0].ravel() for name in ("good", "bad"))
    assert found == corrected_t_test(first, second, test_share=1 / (N_SPLITS - 1))
    assert found.n == N_SPLITS * N_REPEATS
    assert found.difference < 0
    assert found.p_value < 0.001


def test_top_features_by_share_then_index(comparison):
    found = comparison.top_features("good", 2)
    assert [(one.index, one.share) for one in found] == [
        (0, 1.0),
        (1, pytest.approx(2 / 3)),
        (2, pytest.approx(1 / 3)),
    ]
    assert [one.feature for one in found] == [0, 1, 2]
    assert [one.index for one in comparison.top_features("bad", count=2)] == [3, 4]


def test_top_features_have_names():
    names = np.array([f"word{place}" for place in range(D)])
    found = make_comparison(feature_names=names).top_features("good", 2, count=1)
    assert found[0].feature == "word0"
    assert type(found[0].feature) is str


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gold", 2, 0.1), "unknown method 'gold': use one of all features, good, bad"),
        (("good", 7, 0.1), "good was compared with 2, 3 features; got 7"),
        (("good", None, 0.1), "good was compared with 2, 3 features; got None"),
        (("bad", 3, 0.1), "bad was compared with 2 features; got 3"),
        (("good", 2, 0.5), "alpha must be one of 0.1, 1; got 0.5"),
        (("good", 2, None), "alpha must be one of 0.1, 1; got None"),
    ],
)
def test_what_was_not_compared(comparison, arguments, message):
    with pytest.raises(ValueError, match=message):
        comparison.row(*arguments)


def test_prints_a_line_a_row(comparison):
    lines = str(comparison).splitlines()
    assert len(lines) == 1 + len(comparison.rows)
    assert len({len(line) for line in lines}) == 1


def test_can_be_kept(comparison):
    again = pickle.loads(pickle.dumps(comparison))
    assert again.rows == comparison.rows
