# SPDX-License-Identifier: BSD-3-Clause
"""The greedy path: the plain algorithm's features, whatever the pool, the limits, the shape."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ridgewise.spectrum import compute_spectrum
from ridgewise.subset import (
    TARGETS,
    Limits,
    Problem,
    _state,
    greedy_path,
    plain_greedy,
    plain_objective,
    target_matrix,
)
from ridgewise.subset import _greedy as greedy


def low_rank(n, d, seed=0, rank=5):
    """Features that share a few directions, so that gains change their order often."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n, rank)) * 3.0 ** -np.arange(rank)
    return shared @ rng.standard_normal((rank, d)) + 0.1 * rng.standard_normal((n, d))


def check_same(X, target, share, size, Y):
    alpha = share * float(np.sum(X**2)) / len(X)
    M = target_matrix(X, target, alpha, Y)
    expected = plain_greedy(X, M, alpha, size)
    problem = Problem.of(compute_spectrum(X), target, alpha, Y)
    path = greedy_path(problem, Limits.count(X.shape[1], size))
    objectives = [plain_objective(X, M, alpha, path.selected[:k]) for k in range(size + 1)]
    assert_allclose(path.objectives, objectives, rtol=1e-7)
    assert_array_equal(path.selected, expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("share", [0.001, 0.1, 10.0])
def test_same_features_as_the_plain_algorithm(target, share):
    rng = np.random.default_rng(0)
    check_same(rng.standard_normal((20, 600)), target, share, 60, rng.standard_normal((20, 2)))


@pytest.mark.parametrize("target", TARGETS)
def test_same_features_where_gains_change_their_order(target):
    """A pool is left where its best gain falls below those outside."""
    rng = np.random.default_rng(1)
    check_same(low_rank(30, 1000), target, 0.1, 50, rng.standard_normal((30, 1)))


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_same_features_for_any_shape(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 12)), int(rng.integers(1, 40))
    X = rng.standard_normal((n, d)) * 2.0 ** rng.integers(-3, 4, d)
    check_same(X, TARGETS[seed % 3], 0.1, int(rng.integers(1, d + 1)), rng.standard_normal((n, 1)))


def test_rounding_errors_do_not_grow():
    """A tiny alpha and hundreds of steps: everything is computed anew where digits are lost."""
    X = low_rank(25, 400)
    y = X @ np.random.default_rng(2).standard_normal((400, 1))
    alpha = 1e-7 * float(np.sum(X**2)) / 25
    problem = Problem.of(compute_spectrum(X), "y", alpha, y)
    path = greedy_path(problem, Limits.count(400, 300))
    for size in (10, 100, 300):
        expected = plain_objective(X, y @ y.T, alpha, path.selected[:size])
        assert_allclose(path.objectives[size], expected, rtol=1e-4)


def test_drift_is_noticed(monkeypatch):
    X = np.random.default_rng(0).standard_normal((10, 300))
    problem = Problem.of(compute_spectrum(X), "data", 1.0)
    expected = greedy_path(problem, Limits.count(300, 80))
    anew = []
    state = greedy.FeatureState
    compute = state.compute_anew
    monkeypatch.setattr(state, "compute_anew", lambda self: (anew.append(1), compute(self)))
    monkeypatch.setattr(greedy, "DRIFT", -1.0)
    found = greedy_path(problem, Limits.count(300, 80))
    assert len(anew) >= 4
    assert_array_equal(found.selected, expected.selected)
    assert_allclose(found.objectives, expected.objectives, rtol=1e-9)


def test_ties_go_to_the_lower_index():
    X = np.hstack([np.eye(4)] * 100)
    path = greedy_path(Problem.of(compute_spectrum(X), "data", 1.0), Limits.count(400, 6))
    assert_array_equal(path.selected, np.arange(6))


def test_include_and_exclude():
    X = np.random.default_rng(0).standard_normal((10, 100))
    problem = Problem.of(compute_spectrum(X), "data", 1.0)
    exclude = greedy_path(problem, Limits.count(100, 3)).selected
    include = np.arange(90, 55, -1)
    include = include[~np.isin(include, exclude)][:30]
    selected = greedy_path(problem, Limits(np.ones(100), 40, include, exclude)).selected
    assert_array_equal(selected[:30], include)
    assert len(set(selected)) == 40
    assert not set(selected) & set(exclude)


def test_costs():
    """Each is the best for its cost among those that fit, until none does."""
    rng = np.random.default_rng(0)
    X, costs, include, exclude = rng.standard_normal((10, 60)), rng.uniform(1, 5, 60), [5, 4], [7]
    problem = Problem.of(compute_spectrum(X), "data", 1.0)
    path = greedy_path(problem, Limits(costs, 30.0, np.array(include), np.array(exclude)))
    M = target_matrix(X, "data", 1.0, None)
    for k in range(2, len(path.selected) + 1):
        before = path.selected[:k]
        left = 30 - costs[before].sum()
        fits = [j for j in range(60) if j not in {*before, *exclude} and costs[j] <= left]
        if k == len(path.selected):
            assert not fits
            break
        gains = [
            path.objectives[k] - plain_objective(X, M, 1.0, np.append(before, j)) for j in fits
        ]
        assert path.selected[k] == fits[int(np.argmax(gains / costs[fits]))]


def test_free_features_come_first():
    X = np.random.default_rng(0).standard_normal((10, 50))
    costs = np.ones(50)
    costs[[7, 33]] = 0
    problem = Problem.of(compute_spectrum(X), "data", 1.0)
    none = np.empty(0, dtype=np.intp)
    path = greedy_path(problem, Limits(costs, 3.0, none, none))
    assert set(path.selected[:2]) == {7, 33}
    assert len(path.selected) == 5


def test_enough():
    X = low_rank(20, 300)
    problem = Problem.of(compute_spectrum(X), "data", 0.1 * float(np.sum(X**2)) / 20)
    path = greedy_path(problem, Limits.count(300, 300), enough=0.8)
    shares = problem.share(path.objectives)
    assert shares[-1] >= 0.8 > shares[-2]


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_tall_data(target, center):
    """More samples than features: the same, in coordinates of the span of X."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 12)) + 2.0, rng.standard_normal((300, 1))
    y = y - y.mean() if center else y
    centred = X - X.mean(axis=0) if center else X
    M = target_matrix(centred, target, 5.0, y)
    problem = Problem.of(compute_spectrum(X, center=center), target, 5.0, y)
    assert problem.columns.shape[0] <= 12
    path = greedy_path(problem, Limits.count(12, 5))
    assert_array_equal(path.selected, plain_greedy(centred, M, 5.0, 5))
    expected = plain_objective(centred, M, 5.0, path.selected)
    assert_allclose(path.objectives[-1], expected, rtol=1e-10)
    assert_allclose(problem.of_all, plain_objective(centred, M, 5.0, np.arange(12)), rtol=1e-9)


@pytest.mark.parametrize("shape", [(6, 40), (40, 6)])
@pytest.mark.parametrize("size", [1e-150, 1e-100, 1e100, 1e150])
def test_extreme_values(size, shape):
    """Squares over- or underflow: columns are scaled by a power of two."""
    X = np.random.default_rng(0).standard_normal(shape)
    limits = Limits.count(shape[1], 5)
    expected = greedy_path(Problem.of(compute_spectrum(X), "data", 0.5), limits)
    problem = Problem.of(compute_spectrum(X * size), "data", 0.5 * size**2)
    assert problem.columns.scale != 1.0
    found = greedy_path(problem, limits)
    assert_array_equal(found.selected, expected.selected)
    assert_allclose(found.objectives, expected.objectives, rtol=1e-10)


def test_nothing_of_the_size_of_x_is_made_dense(peak_memory):
    n, d = 400, 50_000
    X = sp.random_array((n, d), density=0.001, random_state=0, format="csc")
    problem = Problem.of(compute_spectrum(X, center=True), "y", 0.1, np.eye(n)[:, :2] - 1 / n)
    peak = peak_memory(lambda: greedy_path(problem, Limits.count(d, 30)))
    assert peak < n * d * 8 / 2


@pytest.mark.parametrize("target", ["data", "y"])
@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
def test_single_precision_changes_nothing(make, target, monkeypatch):
    """Products with a large X are in single precision; choices are made in double."""
    rng = np.random.default_rng(0)
    X = np.hstack([low_rank(40, 1500), rng.standard_normal((40, 1500))])
    X[rng.random(X.shape) < (0.9 if make is sp.csc_array else 0)] = 0
    problem = Problem.of(compute_spectrum(make(X)), target, 20.0, rng.standard_normal((40, 1)))
    expected = greedy_path(problem, Limits.count(3000, 120))
    monkeypatch.setattr(_state, "LARGE", 0)
    products = []
    of = type(problem.columns).products
    monkeypatch.setattr(
        type(problem.columns),
        "products",
        lambda self, B: (products.append(B.dtype), of(self, B))[1],
    )
    found = greedy_path(problem, Limits.count(3000, 120))
    assert np.float32 in products
    assert_array_equal(found.selected, expected.selected)
    assert_allclose(found.objectives, expected.objectives, rtol=1e-9)


def test_duplicates_in_single_precision(monkeypatch):
    """Equal features tie: the lower index is taken."""
    monkeypatch.setattr(_state, "LARGE", 0)
    X = np.random.default_rng(0).standard_normal((30, 997))
    problem = Problem.of(compute_spectrum(np.hstack([X, X])), "data", 5.0)
    selected = greedy_path(problem, Limits.count(2 * 997, 60)).selected
    for k, j in enumerate(selected):
        assert j < 997 or j - 997 in selected[:k]


def test_features_without_a_gain_are_selected_once():
    """Rounding makes gains slightly negative where nothing is left to gain."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6, 24))
    X[3:] = X[:3] + 1e-8 * rng.standard_normal((3, 24))
    for alpha in (1e-7, 1e-10):
        problem = Problem.of(compute_spectrum(X, center=True), "data", alpha)
        selected = greedy_path(problem, Limits.count(24, 18)).selected
        assert len(np.unique(selected)) == 18
