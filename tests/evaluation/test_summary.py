# SPDX-License-Identifier: BSD-3-Clause
"""How methods do against all features and scikit-learn's, and what they agree on."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from ridgewise.evaluation import (
    ALL_FEATURES,
    Comparison,
    Entry,
    agreed_features,
    contest,
    recommended,
    summarize,
)

SETS = {  # of four folds
    "steady": [[0, 1, 2]] * 4,
    "nearly": [[0, 1, 3]] * 3 + [[0, 2, 3]],
    "at random": [[0, 5, 6], [7, 8, 9], [10, 11, 3], [4, 1, 2]],
}


@pytest.fixture
def comparison():
    """Two alphas, two repeats of two folds, twelve features."""
    entries = [entry(ALL_FEATURES, 12, [0.30, 0.20], [])]
    for (method, sets), errors in zip(
        SETS.items(), [(0.21, 0.4), (0.1, 0.4), (0.9, 0.8)], strict=True
    ):
        entries.append(entry(method, 3, errors, sets))
    return Comparison(
        entries=entries,
        alphas=(1.0, 10.0),
        classify=True,
        n_samples=8,
        n_features_in=12,
        n_splits=2,
        n_repeats=2,
        feature_names=np.array([f"gene{place}" for place in range(12)]),
    )


def entry(method, n_features, means, sets):
    noise = np.array([[0.01, -0.01], [0.02, -0.02]]) * (1 if sets else 2)
    chosen = np.zeros((len(sets), 12))
    for row, places in zip(chosen, sets, strict=True):
        row[places] = 1
    return Entry(
        method=method,
        n_features=n_features,
        errors=np.array([mean + noise for mean in means]),
        tuning=np.ones((len(means), 3, 2, 2)),
        seconds=np.ones((2, 2)),
        chosen=sp.csr_array(chosen),
    )


def test_each_method_at_its_best_alpha(comparison):
    found = summarize(comparison)
    assert [one.row.method for one in found] == [ALL_FEATURES, *SETS]
    assert [one.row.alpha for one in found] == [10.0, 1.0, 1.0, 10.0]
    assert [one.row.error_mean for one in found] == pytest.approx([0.2, 0.21, 0.1, 0.8])
    assert [one.test.difference for one in found] == pytest.approx([0, 0.01, -0.1, 0.6])
    assert recommended(comparison, found).row.method == "nearly"


def test_better_worse_and_as_good(comparison):
    whole, steady, nearly, random = summarize(comparison)
    assert (whole.is_worse, whole.is_better, whole.is_as_good) == (False, False, True)
    assert (steady.is_worse, steady.is_as_good) == (False, True)
    assert nearly.is_better
    assert (random.is_worse, random.is_as_good) == (True, False)
    # no difference that chance could not make, and yet too large to call as good
    unclear = replace(steady, test=replace(steady.test, difference=0.06, p_value=0.4))
    assert (unclear.is_worse, unclear.is_better, unclear.is_as_good) == (False, False, False)


def test_the_best_of_ours_and_of_scikit_learns(comparison):
    assert contest(comparison) is None
    names = {"steady": "bss", "nearly": "f-test", "at random": "random"}
    entries = [replace(one, method=names.get(one.method, one.method)) for one in comparison.entries]
    found = contest(replace(comparison, entries=entries))
    assert (found.ours.method, found.theirs.method) == ("bss", "f-test")
    assert found.test.difference == pytest.approx(0.11)
    assert found.winner is found.theirs


def test_agreement_leaves_chance_out(comparison):
    agreed = agreed_features(comparison, 3)
    assert [one.feature for one in agreed] == ["gene0", "gene1", "gene2"]
    assert agreed[0].shares == {"steady": 1.0, "nearly": 1.0}
    assert agreed[1].shares == {"steady": 1.0, "nearly": 0.75}
    assert agreed_features(replace(comparison, entries=comparison.entries[:2]), 3) == []
