# SPDX-License-Identifier: BSD-3-Clause
"""RRQRSelector: LAPACK's pivots, what comes after them, and the paper's artefact."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from scipy.linalg import qr
from sklearn.model_selection import KFold

from ridgewise import RRQRSelector, make_ridge_synthetic


def gaussian(n=8, d=60, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def greedy_pivots(X, number):
    """Each pivot is the column farthest from the span of those before: by orthogonalization."""
    left, chosen = X.astype(np.float64), []
    for _ in range(number):
        chosen.append(int(np.argmax(np.sum(left**2, axis=0))))
        q = left[:, chosen[-1]] / np.linalg.norm(left[:, chosen[-1]])
        left = left - np.outer(q, q @ left)
        left[:, chosen] = 0
    return chosen


# pivots


@pytest.mark.parametrize("restart", [True, False])
@pytest.mark.parametrize("shape", [(8, 60), (60, 8), (10, 10), (1, 5), (5, 1)])
def test_pivots_are_those_of_lapack(shape, restart):
    X = gaussian(*shape)
    selector = RRQRSelector(restart=restart).fit(X)
    rank = min(shape)
    assert selector.rank_ == rank
    _, order = qr(X, mode="r", pivoting=True)
    assert_array_equal(selector.selected_, order[:rank])
    assert_array_equal(selector.selected_, greedy_pivots(X, rank))
    assert_array_equal(selector.weights_, np.ones(rank))


@pytest.mark.parametrize("n_features", [1, 3, 8, 20, 59, 60, 100])
def test_without_restart_it_is_a_prefix_of_lapacks_permutation(n_features):
    X = gaussian()
    _, order = qr(X, mode="r", pivoting=True)
    selector = RRQRSelector(n_features, restart=False).fit(X)
    assert_array_equal(selector.selected_, order[:n_features])


# restart


@pytest.mark.parametrize("n_features", [9, 16, 17, 40, 59, 60, 100])
def test_restart_goes_on_with_the_columns_left(n_features):
    X = gaussian()
    selector = RRQRSelector(n_features).fit(X)
    assert len(np.unique(selector.selected_)) == selector.n_selected_ == min(n_features, 60)
    expected, left = [], np.arange(60)
    while len(expected) < selector.n_selected_:
        _, order = qr(X[:, left], mode="r", pivoting=True)
        pivots = order[: min(8, len(left))]
        expected += left[pivots].tolist()
        left = np.setdiff1d(left, left[pivots])
    assert_array_equal(selector.selected_, expected[: selector.n_selected_])


@pytest.mark.parametrize("n_features", [3, 4, 7, 12, 20])
def test_low_rank(n_features):
    X = gaussian(9, 3) @ gaussian(3, 20, seed=1)
    selector = RRQRSelector(n_features).fit(X)
    assert selector.rank_ == 3
    assert len(np.unique(selector.selected_)) == n_features
    assert RRQRSelector().fit(X).n_selected_ == 3


def test_zero_columns_come_last():
    X = gaussian(6, 30)
    X[:, ::3] = 0
    selected = RRQRSelector(30).fit(X).selected_
    assert np.all(selected[:20] % 3 > 0)
    assert_array_equal(selected[20:], np.arange(0, 30, 3))
    assert np.all(RRQRSelector(20, restart=True).fit(X).selected_ % 3 > 0)


def test_repeated_columns_wait_for_the_next_round():
    X = np.hstack([np.diag([3.0, 2.0, 1.0])] * 2)
    assert_array_equal(RRQRSelector(6).fit(X).selected_, [0, 1, 2, 3, 4, 5])


def test_all_zeros_are_taken_by_index():
    for restart in (True, False):
        selector = RRQRSelector(3, restart=restart).fit(np.zeros((4, 6)))
        assert selector.rank_ == 0
        assert_array_equal(selector.selected_, [0, 1, 2])
    assert RRQRSelector().fit(np.zeros((4, 6))).n_selected_ == 1


# data


@pytest.mark.parametrize("restart", [True, False])
@pytest.mark.parametrize(
    "container",
    [
        np.asfortranarray,
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_array,
        pd.DataFrame,
        lambda X: X.astype(np.int8),
        lambda X: X.astype(np.float32),
    ],
)
def test_the_container_does_not_matter(container, restart):
    X = np.random.default_rng(0).poisson(0.6, (15, 70)).astype(np.float64)
    expected = RRQRSelector(40, restart=restart).fit(X).selected_
    assert_array_equal(RRQRSelector(40, restart=restart).fit(container(X)).selected_, expected)


@pytest.mark.parametrize("factor", [1e-200, 1e-3, 1e5, 1e200])
def test_scale_does_not_matter(factor):
    X = gaussian()
    expected = RRQRSelector(30).fit(X)
    found = RRQRSelector(30).fit(factor * X)
    assert found.rank_ == expected.rank_
    assert_array_equal(found.selected_, expected.selected_)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_transform(container):
    X = gaussian().astype(np.float32)
    before = X.copy()
    selector = RRQRSelector(20)
    Z = selector.fit_transform(container(X))
    assert_array_equal(X, before)
    assert Z.dtype == np.float32
    back = selector.inverse_transform(Z)
    Z, back = (A.toarray() if sp.issparse(A) else A for A in (Z, back))
    assert_array_equal(Z, X[:, np.sort(selector.selected_)])
    assert_array_equal(back, X * selector.get_support())


def test_share_pickle_and_repr():
    X = gaussian(50, 400)
    selector = RRQRSelector(0.5).fit(X)
    assert selector.n_selected_ == 200
    data = pickle.dumps(selector)
    assert len(data) < X.nbytes / 20
    assert_array_equal(pickle.loads(data).selected_, selector.selected_)
    assert repr(selector).startswith("<RRQRSelector(n_features_to_select=0.5): 200 of 400 features")


# the paper's Table 1


@pytest.mark.parametrize("seed", range(5))
def test_past_the_rank_the_paper_took_columns_in_storage_order(seed):
    X, _ = make_ridge_synthetic(30, 1000, 90, random_state=seed)
    training = X[:27]
    selected = 1 + RRQRSelector(80, restart=False).fit(training).selected_
    assert selected[0] == 90  # the largest column
    # features 28 to 80 are in, whatever they hold: the factorization left them in place
    assert set(range(28, 81)) <= set(selected)
    unmoved = [place for place in range(27, 80) if selected[place] == place + 1]
    assert len(unmoved) > 40
    ours = 1 + RRQRSelector(80).fit(training).selected_
    assert not set(range(28, 81)) <= set(ours)


@pytest.mark.parametrize(
    ("n_relevant", "n_features", "printed"),
    [
        (90, 80, [90, 80, 79, 78, 77]),
        (90, 90, [90, 89, 88, 87, 86]),
        (100, 80, [100, 80, 79, 78, 77]),
        (100, 90, [100, 90, 89, 88, 87]),
    ],
)
def test_table_1_is_an_artefact_of_storage_order(n_relevant, n_features, printed):
    """The features that are selected most often in ten folds, ties by descending index."""
    X, _ = make_ridge_synthetic(30, 1000, n_relevant, random_state=1)
    times = np.zeros(1000, dtype=int)
    for training, _ in KFold(10, shuffle=True, random_state=1).split(X):
        selector = RRQRSelector(n_features, restart=False).fit(X[training])
        times[selector.selected_] += 1
    order = np.lexsort((-np.arange(1000), -times))
    assert_array_equal(1 + order[:5], printed)
