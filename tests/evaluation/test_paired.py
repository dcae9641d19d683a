# SPDX-License-Identifier: BSD-3-Clause
"""Paired tests: the formulas as published, and every way to flip signs counted."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from ridgewise.evaluation._statistics import corrected_t_test, wilcoxon_test

TESTS = {
    "t": lambda first, second: corrected_t_test(first, second, test_share=1 / 9),
    "wilcoxon": wilcoxon_test,
}


@pytest.fixture(params=TESTS.values(), ids=TESTS.keys())
def paired_test(request):
    return request.param


def test_t_is_nadeau_and_bengios():
    random = np.random.RandomState(0)
    first, second = random.rand(100), random.rand(100) + 0.02
    found = corrected_t_test(first, second, test_share=1 / 9)
    x = first - second
    t = x.mean() / np.sqrt((1 / 100 + 1 / 9) * x.var(ddof=1))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), df=99))
    assert found.difference == pytest.approx(x.mean())
    assert found.n == 100


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1.47e-209, 5e-324, 1e300])
def test_squares_of_differences_neither_underflow_nor_overflow(paired_test, scale):
    expected = paired_test([0.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    found = paired_test([0.0, 0.0, scale], [0.0, scale, 0.0])
    assert found.p_value == expected.p_value


def test_t_keeps_its_level_where_the_plain_one_does_not():
    """Differences that share a part, as those of overlapping training sets do."""
    random = np.random.RandomState(0)
    n_splits, n_repeats = 10, 5
    plain, corrected = [], []
    for _ in range(300):
        # Correlation n_test / (n_test + n_train) between any two, as the correction assumes
        shared = random.normal() * np.sqrt(1 / n_splits)
        own = random.normal(size=n_splits * n_repeats) * np.sqrt(1 - 1 / n_splits)
        x = shared + own
        zeros = np.zeros_like(x)
        plain.append(corrected_t_test(x, zeros, test_share=0).p_value < 0.05)
        share = 1 / (n_splits - 1)
        corrected.append(corrected_t_test(x, zeros, test_share=share).p_value < 0.05)
    assert np.mean(plain) > 0.2
    assert np.mean(corrected) < 0.08


def test_t_of_differences_that_are_all_alike():
    found = corrected_t_test([0.5, 0.25, 0.125], [0.25, 0.0, -0.125], test_share=0.1)
    assert (found.difference, found.p_value) == (0.25, 0)


def signed_rank_p_value(differences):
    """Every way to give the ranks signs, counted one by one; zeros are ranked, then dropped."""
    differences = np.asarray(differences, dtype=float)
    ranks = stats.rankdata(np.abs(differences))[differences != 0]
    observed = ranks[differences[differences != 0] > 0].sum()
    sums = np.array([np.dot(signs, ranks) for signs in product((0, 1), repeat=len(ranks))])
    tails = np.mean(sums <= observed + 1e-9), np.mean(sums >= observed - 1e-9)
    return min(1.0, 2 * min(tails))


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_wilcoxon_is_exact_with_ties_and_zeros(differences):
    found = wilcoxon_test(differences, [0] * len(differences))
    assert found.p_value == pytest.approx(signed_rank_p_value(differences), abs=1e-12)


@pytest.mark.parametrize("n", [3, 10, 24, 50])
def test_wilcoxon_is_scipys_without_ties(n):
    random = np.random.RandomState(n)
    first, second = random.rand(n), random.rand(n)
    expected = stats.wilcoxon(first, second, method="exact").pvalue
    assert wilcoxon_test(first, second).p_value == pytest.approx(expected)


def test_wilcoxon_sees_ties_through_rounding():
    """0.3 - 0.2, 0.2 - 0.1 and 0.1 - 0.2 are 0.1, to one side or the other."""
    by_tenths = wilcoxon_test([0.3, 0.2, 0.1, 0.9], [0.2, 0.1, 0.2, 0.4])
    assert by_tenths.p_value == wilcoxon_test([3, 2, 1, 9], [2, 1, 2, 4]).p_value


def test_no_difference_is_no_evidence(paired_test):
    found = paired_test([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    assert (found.difference, found.p_value, found.n) == (0, 1, 3)


def test_rounding_is_no_difference(paired_test):
    errors = np.array([0.1, 0.2, 0.3, 0.7])
    assert paired_test(errors, errors * (1 + 4e-16)).p_value == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30))
@example([(0.0, 0.0), (0.0, 1.47e-209)])  # its square underflows: the variance was 0
def test_both_are_symmetric(pairs):
    first, second = np.transpose(pairs)
    for paired in TESTS.values():
        one, other = paired(first, second), paired(second, first)
        assert one.difference == -other.difference
        assert one.p_value == pytest.approx(other.p_value, abs=1e-12)
        assert 0 <= one.p_value <= 1


def test_one_difference_has_no_variance():
    found = corrected_t_test([0.1], [0.2], test_share=1)
    assert np.isnan(found.p_value)
    assert found.difference == pytest.approx(-0.1)


def test_nothing_to_tell_from(paired_test):
    found = paired_test([], [])
    assert found.n == 0
    assert np.isnan([found.difference, found.p_value]).all()


def test_what_is_missing_is_no_evidence(paired_test):
    found = paired_test([0.1, np.nan, 0.3], [0.3, 0.2, 0.1])
    assert np.isnan(found.p_value)


def test_unpaired_errors_are_refused(paired_test):
    with pytest.raises(ValueError, match=r"must have equal shapes; got \(3,\) and \(1,\)"):
        paired_test([0.1, 0.2, 0.3], [0.1])
