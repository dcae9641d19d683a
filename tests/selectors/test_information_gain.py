# SPDX-License-Identifier: BSD-3-Clause
"""InformationGainSelector: the gain by brute force, on dense and sparse data alike."""

import math
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import mutual_info_classif

from ridgewise import InformationGainSelector, make_ridge_synthetic

THRESHOLDS = (0.0, 1.5, "median")


def entropy(labels):
    """In bits, from the definition."""
    return -sum(k / len(labels) * math.log2(k / len(labels)) for k in Counter(labels).values())


def gain(column, labels, threshold):
    """H(class) - sum over presence of P(presence) H(class | presence), one value at a time."""
    if threshold == "median":
        median = float(np.median(column))
        present = [float(value) > median for value in column]
    else:
        present = [abs(float(value)) > threshold for value in column]
    groups = [[c for c, p in zip(labels, present, strict=True) if p is s] for s in (True, False)]
    return entropy(labels) - sum(
        len(group) / len(labels) * entropy(group) for group in groups if group
    )


def gains(X, y, threshold=0.0):
    labels = [str(label) for label in y]
    return np.array([gain(column, labels, threshold) for column in np.asarray(X).T])


def small_numbers(shape=(30, 40), seed=0, low=-4):
    """Whole numbers, half of them zero, ties everywhere."""
    rng = np.random.default_rng(seed)
    return rng.integers(low, 5, shape) * (rng.random(shape) < 0.5).astype(np.float64)


# the gain


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("n_classes", [1, 2, 3, 7])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_matrix])
def test_gain_by_brute_force(container, n_classes, threshold):
    X = small_numbers()
    y = np.random.default_rng(1).integers(0, n_classes, 30)
    selector = InformationGainSelector(10, threshold=threshold).fit(container(X), y)
    expected = gains(X, y, threshold)
    assert_allclose(selector.scores_, expected, atol=1e-12)
    order = np.lexsort((np.arange(40), -np.round(expected, 10)))
    assert_array_equal(selector.selected_, order[:10])
    assert_array_equal(selector.weights_, np.ones(10))
    assert_array_equal(selector.classes_, np.unique(y))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_gain_is_scikit_learns_mutual_information(container, n_classes):
    """On 0/1 data: theirs is in nats, ours in bits."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 80)
    X = (rng.random((80, 50)) < 0.2 + 0.1 * y[:, None] * (np.arange(50) % 2)).astype(int)
    theirs = mutual_info_classif(X, y, discrete_features=True)
    ours = InformationGainSelector().fit(container(X), y).scores_
    assert_allclose(ours, theirs / math.log(2), atol=1e-12)


@given(
    X=hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 9), st.integers(1, 4)),
        elements=st.integers(-3, 3) | st.floats(-5, 5, width=16),
    ),
    labels=st.lists(st.integers(0, 2), min_size=9, max_size=9),
    threshold=st.sampled_from(THRESHOLDS),
)
@settings(max_examples=150, deadline=None)
def test_gain_of_anything(X, labels, threshold):
    y = np.array(labels[: len(X)])
    expected = gains(X, y, threshold)
    for container in (np.asarray, sp.csr_array):
        selector = InformationGainSelector(1, threshold=threshold).fit(container(X), y)
        assert_allclose(selector.scores_, expected, atol=1e-12)
        assert selector.scores_.min() >= 0
        assert selector.scores_.max() <= entropy(list(y)) + 1e-12


@pytest.mark.parametrize("y", [["tea", "ale"] * 15, [True, False] * 15, [-1.0, 1.0] * 15])
def test_labels_of_any_kind(y):
    X = small_numbers()
    expected = InformationGainSelector().fit(X, [0, 1] * 15)
    found = InformationGainSelector().fit(X, y)
    assert_allclose(found.scores_, expected.scores_, atol=1e-14)
    assert_array_equal(found.selected_, expected.selected_)
    assert_array_equal(found.classes_, np.unique(y))


def test_ties_are_taken_by_index():
    X = np.tile(small_numbers((30, 5)), 4)
    selector = InformationGainSelector(20).fit(X, [0, 1] * 15)
    assert_array_equal(selector.selected_ % 5, np.repeat(selector.selected_[::4] % 5, 4))
    for start in range(0, 20, 4):
        assert_array_equal(np.diff(selector.selected_[start : start + 4]), [5, 5, 5])


# thresholds


def test_threshold_is_on_the_absolute_value():
    X, y = np.array([[-2.0], [2.0], [1.0], [-1.0]]), [0, 0, 1, 1]
    assert InformationGainSelector(threshold=1.5).fit(X, y).scores_ == [1]
    assert InformationGainSelector(threshold=2).fit(X, y).scores_ == [0]  # not "at least"
    assert InformationGainSelector(threshold=np.float32(1)).fit(X, y).scores_ == [1]


@pytest.mark.parametrize("low", [-9, -4, 0])
@pytest.mark.parametrize("n", [29, 30])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_sparse_is_as_dense(threshold, n, low):
    """With medians that are negative, zero and positive, and of even and odd numbers."""
    X = small_numbers((n, 60), low=low)
    X[:, :10] = -np.abs(X[:, :10])
    X[:, 10:20] = np.abs(X[:, 10:20]) + 1
    X[:, 20:30] -= 1
    y = np.random.default_rng(1).integers(0, 3, n)
    dense = InformationGainSelector(threshold=threshold).fit(X, y)
    for layout in ("bsr", "coo", "csc", "csr", "dok", "lil"):
        for kind in ("array", "matrix"):
            S = getattr(sp, f"{layout}_{kind}")(X)
            sparse = InformationGainSelector(threshold=threshold).fit(S, y)
            assert_allclose(sparse.scores_, dense.scores_, atol=1e-14)
            assert_array_equal(sparse.selected_, dense.selected_)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_zeros_that_are_stored(threshold):
    X = small_numbers()
    rows, places = np.indices(X.shape).reshape(2, -1)
    S = sp.csr_array((X.ravel(), (rows, places)), shape=X.shape)
    assert S.nnz == X.size
    y = [0, 1, 2] * 10
    expected = InformationGainSelector(threshold=threshold).fit(X, y)
    assert_allclose(
        InformationGainSelector(threshold=threshold).fit(S, y).scores_, expected.scores_, atol=1e-14
    )


@pytest.mark.parametrize("threshold", [0.0, 1.5])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, bool, np.float32])
def test_types(dtype, threshold):
    X = small_numbers(low=0).astype(dtype)
    y = [0, 1, 2] * 10
    for container in (np.asarray, sp.csr_array, pd.DataFrame):
        selector = InformationGainSelector(threshold=threshold).fit(container(X), y)
        assert_allclose(selector.scores_, gains(X, y, threshold), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_median_of_types(dtype):
    X = small_numbers().astype(dtype)
    y = [0, 1, 2] * 10
    for container in (np.asarray, sp.csr_array, pd.DataFrame):
        selector = InformationGainSelector(threshold="median").fit(container(X), y)
        assert_allclose(selector.scores_, gains(X, y, "median"), atol=1e-12)


def test_sparse_data_is_never_made_dense():
    """As a dense array this would take 8 GB."""
    rng = np.random.default_rng(0)
    rows, places = rng.integers(0, 1000, 20_000), rng.integers(0, 1_000_000, 20_000)
    X = sp.coo_array((np.ones(20_000), (rows, places)), shape=(1000, 1_000_000)).tocsr()
    selector = InformationGainSelector(5).fit(X, rows[:1000] % 2)
    assert selector.n_selected_ == 5


# the paper


@pytest.mark.parametrize("n_features", [80, 90])
def test_where_every_value_is_present_nothing_is_gained(n_features):
    """The paper's Table 1: features in the order of storage."""
    X, y = make_ridge_synthetic(30, 1000, 90, random_state=0)
    assert np.all(X != 0)
    for container in (np.asarray, sp.csr_array):
        selector = InformationGainSelector(n_features).fit(container(X), y)
        assert_array_equal(selector.scores_, np.zeros(1000))
        assert_array_equal(selector.selected_, np.arange(n_features))


def test_the_median_finds_what_the_paper_missed():
    X, y = make_ridge_synthetic(200, 1000, 90, random_state=0)
    selector = InformationGainSelector(20, threshold="median").fit(X, y)
    assert np.all(selector.selected_ < 90)


# how many, transform, state


def test_number():
    X, y = small_numbers(), [0, 1] * 15
    assert InformationGainSelector().fit(X, y).n_selected_ == 20
    assert InformationGainSelector().fit(X[:, :1], y).n_selected_ == 1
    assert InformationGainSelector(0.1).fit(X, y).n_selected_ == 4
    assert InformationGainSelector(1000).fit(X, y).n_selected_ == 40


def test_pickle_repr_and_tags():
    X, y = small_numbers((100, 2000)), [0, 1] * 50
    selector = InformationGainSelector(7).fit(X, y)
    data = pickle.dumps(selector)
    assert len(data) < X.nbytes / 50
    assert_array_equal(pickle.loads(data).selected_, selector.selected_)
    plain = "InformationGainSelector(n_features_to_select=7)"
    assert repr(selector).startswith(f"<{plain}: 7 of 2000 features: {selector.selected_[0]}, ")
    assert selector.__sklearn_tags__().target_tags.required
