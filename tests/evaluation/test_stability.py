# SPDX-License-Identifier: BSD-3-Clause
"""Stability: the measures are what their definitions say, pair by pair."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from ridgewise.evaluation import _statistics
from ridgewise.evaluation._statistics import mean_jaccard, nogueira_stability, selection_matrix


@st.composite
def selections(draw):
    """Zeros and ones, a row a selection."""
    n_sets, d = draw(st.integers(2, 8)), draw(st.integers(2, 25))
    return draw(arrays(np.bool_, (n_sets, d))).astype(float)


def pairs_mean(chosen, index):
    sets = [set(np.flatnonzero(row)) for row in chosen]
    return np.mean([index(one, other) for one, other in combinations(sets, 2)])


def jaccard(one, other):
    return len(one & other) / len(one | other) if one | other else 1.0


def is_trivial(chosen):
    return not chosen.any() or chosen.all()


@given(selections())
def test_nogueira_is_its_formula(chosen):
    n_sets, _ = chosen.shape
    share = chosen.mean()
    if is_trivial(chosen):
        assert np.isnan(nogueira_stability(csr_array(chosen)))
        return
    variances = chosen.var(axis=0, ddof=1)  # the unbiased variance of zeros and ones
    expected = 1 - variances.mean() / (share * (1 - share))
    found = nogueira_stability(csr_array(chosen))
    assert found == pytest.approx(expected, abs=1e-12)
    assert -1 / (n_sets - 1) - 1e-12 <= found <= 1


@given(selections())
def test_jaccard_is_its_definition(chosen):
    found = mean_jaccard(csr_array(chosen))
    assert found == pytest.approx(pairs_mean(chosen, jaccard), abs=1e-12)
    assert -1e-15 <= found <= 1


def test_one_feature_of_very_many_is_enough_to_tell():
    chosen = selection_matrix([[7], [7]], n_features=10**6)
    assert nogueira_stability(chosen) == pytest.approx(1)


def test_random_selections_are_not_stable():
    random = np.random.RandomState(0)
    sets = [random.choice(1000, random.randint(50, 150), replace=False) for _ in range(100)]
    assert abs(nogueira_stability(selection_matrix(sets, 1000))) < 0.002


@pytest.mark.parametrize("sets", [[], [[0, 1]]], ids=["none", "one"])
def test_fewer_than_two_cannot_be_told(sets):
    chosen = selection_matrix(sets, n_features=5)
    assert np.isnan(nogueira_stability(chosen))
    assert np.isnan(mean_jaccard(chosen))


def test_blocks_of_selections_give_the_same(monkeypatch):
    chosen = csr_array(np.random.RandomState(0).rand(17, 30) < 0.3, dtype=float)
    expected = mean_jaccard(chosen)
    monkeypatch.setattr(_statistics, "BLOCK", 5)
    assert mean_jaccard(chosen) == pytest.approx(expected, abs=1e-14)


def test_matrix_has_a_row_a_selection():
    chosen = selection_matrix([[2, 0], [], np.array([1], dtype=np.int32)], n_features=4)
    expected = [[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    np.testing.assert_array_equal(chosen.toarray(), expected)
