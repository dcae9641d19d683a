# SPDX-License-Identifier: BSD-3-Clause
"""RandomSelector: uniform, without replacement."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from scipy.stats import chisquare

from ridgewise import RandomSelector

X = np.random.default_rng(0).standard_normal((4, 12))


@pytest.mark.parametrize("n_features", [1, 5, 12])
def test_without_replacement(n_features):
    for seed in range(50):
        selector = RandomSelector(n_features, random_state=seed).fit(X)
        assert len(np.unique(selector.selected_)) == selector.n_selected_ == n_features
        assert_array_equal(selector.weights_, np.ones(n_features))


def test_uniform():
    """Each feature equally often, at each place, and each pair too."""
    random_state = np.random.RandomState(0)
    runs = 3000
    drawn = np.array(
        [RandomSelector(3, random_state=random_state).fit(X).selected_ for _ in range(runs)]
    )
    for place in range(3):
        assert chisquare(np.bincount(drawn[:, place], minlength=12)).pvalue > 1e-3
    pairs = np.sort(drawn[:, :2], axis=1) @ [12, 1]
    assert chisquare(np.unique(pairs, return_counts=True)[1]).pvalue > 1e-3
    assert len(np.unique(pairs)) == 66


def test_number():
    assert RandomSelector().fit(X).n_selected_ == 6
    assert RandomSelector().fit(X[:, :1]).n_selected_ == 1
    assert RandomSelector(0.25).fit(X).n_selected_ == 3
    assert RandomSelector(0.01).fit(X).n_selected_ == 1
    assert RandomSelector(1000).fit(X).n_selected_ == 12


def test_random_state():
    """Fixed once and for all, and whatever the data."""
    expected = [6, 11, 4, 10, 2]
    assert_array_equal(RandomSelector(5, random_state=0).fit(X).selected_, expected)
    for other in (np.zeros((9, 12)), sp.csr_array(X), X.astype(np.float32), (X > 0)):
        assert_array_equal(RandomSelector(5, random_state=0).fit(other).selected_, expected)
    more = RandomSelector(9, random_state=0).fit(X).selected_
    assert_array_equal(more[:5], expected)
    generator = np.random.RandomState(0)
    first = RandomSelector(12, random_state=generator).fit(X).selected_
    second = RandomSelector(12, random_state=generator).fit(X).selected_
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_transform(container):
    data = X.astype(np.float32)
    selector = RandomSelector(5, random_state=0)
    Z = selector.fit_transform(container(data))
    back = selector.inverse_transform(Z)
    assert Z.dtype == back.dtype == np.float32
    Z, back = (A.toarray() if sp.issparse(A) else A for A in (Z, back))
    assert_array_equal(Z, data[:, np.sort(selector.selected_)])
    assert_array_equal(back, data * selector.get_support())


def test_pickle_and_repr():
    selector = RandomSelector(5, random_state=0).fit(np.ones((100, 12)))
    assert len(pickle.dumps(selector)) < 1500
    assert repr(RandomSelector(5)) == "RandomSelector(n_features_to_select=5)"
    assert "5 of 12 features: 6, 11, 4, ..." in repr(selector)
