# SPDX-License-Identifier: BSD-3-Clause
"""Subsets of groups: the plain algorithm's groups, and a bound on all sets of groups."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from ridgewise._groups import resolve_groups
from ridgewise.spectrum import compute_spectrum
from ridgewise.subset import (
    TARGETS,
    Limits,
    Problem,
    _state,
    greedy_path,
    lower_bound,
    plain_greedy,
    plain_objective,
    target_matrix,
)
from ridgewise.subset import _grouped as grouped


def instance(rng, n, n_groups, most=6):
    """Groups of 1 to ``most`` features, of ranks below their sizes, not next to each other."""
    sizes = rng.integers(1, most + 1, n_groups)
    sizes[0] = 2
    parts = [
        rng.standard_normal((n, int(rng.integers(1, size + 1)))) * np.exp(rng.standard_normal())
        for size in sizes
    ]
    parts = [
        part @ rng.standard_normal((part.shape[1], size))
        for part, size in zip(parts, sizes, strict=True)
    ]
    order = rng.permutation(int(sizes.sum()))
    X = np.hstack(parts)[:, order]
    return X, resolve_groups(np.repeat(np.arange(n_groups), sizes)[order], X.shape[1])


def check_same(X, groups, target, share, size, Y, rtol=1e-7):
    alpha = share * float(np.sum(X**2)) / len(X)
    M = target_matrix(X, target, alpha, Y)
    problem = Problem.of(compute_spectrum(X), target, alpha, Y, groups)
    path = greedy_path(problem, Limits.count(len(groups), size))
    assert_array_equal(path.selected, plain_greedy(X, M, alpha, size, groups))
    objectives = [
        plain_objective(X, M, alpha, groups.members(path.selected[:k])) for k in range(size + 1)
    ]
    assert_allclose(path.objectives, objectives, rtol=rtol)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("share", [0.001, 0.1, 10.0])
def test_same_groups_as_the_plain_algorithm(target, share):
    rng = np.random.default_rng(0)
    X, groups = instance(rng, 20, 150)
    check_same(X, groups, target, share, 40, rng.standard_normal((20, 2)))


@pytest.mark.parametrize("target", TARGETS)
def test_steps_that_were_wrong_are_undone(target, monkeypatch):
    """A pool of a few groups, and small margins: the path is the same."""
    undone, forget = [], grouped.GroupState.forget

    def counted(self, steps=0):
        undone.append(steps)
        forget(self, steps)

    monkeypatch.setattr(grouped.GroupState, "forget", counted)
    monkeypatch.setattr(grouped, "POOL", 8)
    monkeypatch.setattr(grouped, "POOL_FEATURES", (8, 8, 8))
    monkeypatch.setattr(grouped, "MARGIN", 0.1)
    monkeypatch.setattr(grouped, "FALL", 0.25)
    rng = np.random.default_rng(1)
    X, groups = instance(rng, 15, 60)
    X = X + 2 * rng.standard_normal((15, 1))
    check_same(X, groups, target, 0.05, 30, rng.standard_normal((15, 1)))
    assert max(undone) > 0


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("large", [0, 2**30])
def test_more_groups_than_a_pool_holds(target, large, monkeypatch):
    """In single precision too."""
    monkeypatch.setattr(_state, "LARGE", large)
    monkeypatch.setattr(grouped, "POOL_FEATURES", (128, 128, 128))
    rng = np.random.default_rng(3)
    X, groups = instance(rng, 30, 400)
    rtol = 1e-7 if large else 1e-5  # of single precision, summed over the steps in a pool
    check_same(X, groups, target, 0.1, 100, rng.standard_normal((30, 1)), rtol)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("large", [0, 2**30])
@pytest.mark.parametrize("center", [False, True])
def test_sparse_features(target, large, center, monkeypatch):
    """Groups of equal and of different sizes; guesses of gains know g, but for few targets."""
    monkeypatch.setattr(_state, "LARGE", large)
    rng = np.random.default_rng(4)
    X = rng.standard_normal((60, 750)) * (rng.random((60, 750)) < 0.05)
    Y = rng.standard_normal((60, 1))
    Y -= Y.mean()
    for groups in (resolve_groups(3, 750), resolve_groups(rng.integers(0, 250, 750), 750)):
        spectrum = compute_spectrum(sp.csr_array(X), center=center)
        problem = Problem.of(spectrum, target, 2.0, Y, groups)
        state = grouped.GroupState(problem, Limits.count(len(groups), 40))
        assert state.knows_g == (target != "y")
        assert state.R.dtype == (np.float64 if large else np.float32)
        selected = greedy_path(problem, Limits.count(len(groups), 40)).selected
        dense = X - X.mean(axis=0) if center else X
        M = target_matrix(dense, target, problem.alpha, Y)
        assert_array_equal(selected, plain_greedy(dense, M, problem.alpha, 40, groups))


@pytest.mark.shared_data
@pytest.mark.slow
def test_same_groups_on_all_sets(shared_data, load_techtc, monkeypatch):
    """As from one pool of all groups in double precision; near-ties may be in another order."""
    for folder in sorted((shared_data / "techtc").glob("Exp_*")):
        X = load_techtc(folder.name.removeprefix("Exp_"))
        d = X.shape[1]
        groups = resolve_groups(np.random.default_rng(0).permutation(d) // 5, d)
        alpha = 0.1 * float(X.power(2).sum()) / X.shape[0]
        problem = Problem.of(compute_spectrum(X), "data", alpha, groups=groups)
        limits = Limits.count(len(groups), 400)
        path = greedy_path(problem, limits)
        with monkeypatch.context() as patched:
            patched.setattr(grouped, "POOL", len(groups))
            patched.setattr(_state, "LARGE", 2**40)
            expected = greedy_path(problem, limits)
        assert set(path.selected) == set(expected.selected), folder.name
        assert_allclose(path.objectives, expected.objectives, rtol=1e-3)


def test_gains_outside_fall_less_than_those_of_a_pool():
    """In the first pool, where all fall by half."""
    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 750)) * (rng.random((60, 750)) < 0.05)
    groups = resolve_groups(rng.integers(0, 250, 750), 750)
    problem = Problem.of(compute_spectrum(sp.csr_array(X)), "data", 2.0, groups=groups)
    selected = greedy_path(problem, Limits.count(len(groups), 40)).selected
    M = target_matrix(X, "data", problem.alpha, None)
    assert_array_equal(selected, plain_greedy(X, M, problem.alpha, 40, groups))


def test_sparse_features_far_from_0(monkeypatch):
    """Some columns without zeros: they are centred before they are rounded."""
    monkeypatch.setattr(_state, "LARGE", 0)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 750)) * (rng.random((60, 750)) < 0.05)
    X[:, ::50] = 1000 + rng.standard_normal((60, 15))
    groups, dense = resolve_groups(3, 750), X - X.mean(axis=0)
    spectrum = compute_spectrum(sp.csr_array(X), center=True)
    problem = Problem.of(spectrum, "data", 2.0, groups=groups)
    state = grouped.GroupState(problem, Limits.count(250, 40))
    assert state.R.dtype == np.float32
    M = state.F @ state.F.T / problem.alpha**2  # N before the first step; R is I / alpha
    parts = [dense[:, groups.members(np.array([one]))] for one in state.pool.ids]
    expected = [
        np.trace(np.linalg.solve(np.eye(3) + x.T @ x / problem.alpha, x.T @ M @ x)) for x in parts
    ]
    assert_allclose(state.pool.low, expected, rtol=1e-4)


def test_gains_that_have_drifted(monkeypatch):
    """Steps in single precision are undone, and made in double precision."""
    monkeypatch.setattr(_state, "LARGE", 0)
    monkeypatch.setattr(grouped, "DRIFT", -1.0)
    rng = np.random.default_rng(3)
    X, groups = instance(rng, 30, 400)
    problem = Problem.of(compute_spectrum(X), "data", 0.1 * float(np.sum(X**2)) / 30, groups=groups)
    state = grouped.GroupState(problem, Limits.count(400, 40))
    assert state.R.dtype == np.float32
    assert state.choose(-np.inf)
    assert state.selected == []
    assert state.R.dtype == state.N.dtype == np.float64
    check_same(X, groups, "data", 0.1, 40, None)


@pytest.mark.parametrize("share", [1e-3, 1e-6, 1e-9, 1e-12])
def test_large_data_with_a_small_alpha(share, monkeypatch):
    """As good as in double precision."""
    rng = np.random.default_rng(5)
    X, groups = instance(rng, 30, 300)
    problem = Problem.of(
        compute_spectrum(X), "data", share * float(np.sum(X**2)) / 30, groups=groups
    )
    limits, found = Limits.count(300, 60), []
    for large in (0, 2**30):
        monkeypatch.setattr(_state, "LARGE", large)
        found.append(greedy_path(problem, limits).objectives)
    assert_allclose(*found, rtol=1e-5, atol=1e-7 * problem.of_none)


def test_equal_groups_tie():
    """The one that comes first is taken."""
    X = np.random.default_rng(0).standard_normal((20, 600))
    groups = resolve_groups(3, 1200)
    problem = Problem.of(compute_spectrum(np.hstack([X, X])), "data", 50.0, groups=groups)
    selected = greedy_path(problem, Limits.count(400, 120)).selected
    assert len(np.unique(selected)) == 120
    for step, group in enumerate(selected):
        assert group < 200 or group - 200 in selected[:step]


def test_groups_without_a_gain_are_selected_once():
    X = np.zeros((6, 60))
    X[:, :4] = np.random.default_rng(0).standard_normal((6, 4))
    problem = Problem.of(compute_spectrum(X), "data", 1.0, groups=resolve_groups(2, 60))
    selected = greedy_path(problem, Limits.count(30, 30)).selected
    assert_array_equal(np.sort(selected), np.arange(30))


@pytest.mark.parametrize("seed", range(30))
def test_same_groups_for_any_shape(seed):
    rng = np.random.default_rng(seed)
    X, groups = instance(rng, int(rng.integers(2, 40)), int(rng.integers(2, 15)), most=20)
    size, Y = int(rng.integers(1, len(groups) + 1)), rng.standard_normal((len(X), 1))
    check_same(X, groups, TARGETS[seed % 3], 0.1, size, Y)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("center", [False, True])
def test_blocks_of_columns_may_cut_groups(make, center, monkeypatch):
    """Groups within a block, and across blocks, of any container."""
    monkeypatch.setattr("ridgewise.spectrum._columns.BLOCK_BYTES", 8 * 20 * 7)
    rng = np.random.default_rng(2)
    X, mixed = instance(rng, 20, 50)
    X[rng.random(X.shape) < 0.8] = 0
    Y = rng.standard_normal((20, 1))
    Y -= Y.mean()
    means = X.mean(axis=0) if center else 0
    for groups in (mixed, resolve_groups(np.arange(X.shape[1]) // 3, X.shape[1])):
        problem = Problem.of(compute_spectrum(make(X), center=center), "y", 5.0, Y, groups)
        path = greedy_path(problem, Limits.count(len(groups), 12))
        expected = plain_greedy(X - means, Y @ Y.T, problem.alpha, 12, groups)
        assert_array_equal(path.selected, expected)


@pytest.mark.parametrize("seed", range(40))
def test_bound_best_greedy_in_this_order(seed):
    """All sets of groups tried: with costs, include and exclude."""
    rng = np.random.default_rng(seed)
    n_groups = int(rng.integers(3, 10))
    X, groups = instance(rng, int(rng.integers(2, 9)), n_groups, most=4)
    target, Y = TARGETS[seed % 3], rng.standard_normal((len(X), 2))
    alpha = float(np.sum(X**2) / len(X) * 10.0 ** rng.uniform(-3, 1))
    limits = Limits.count(n_groups, int(rng.integers(1, n_groups + 1)))
    if seed % 2:
        costs, chosen = rng.uniform(0.5, 3, n_groups), rng.permutation(n_groups)
        fixed = chosen[: 1 + seed % 3 // 2]
        budget = costs[fixed].sum() + rng.uniform(0.5, 6)
        limits = Limits(costs, budget, fixed, chosen[2:3])
    problem = Problem.of(compute_spectrum(X), target, alpha, Y, groups)
    path = greedy_path(problem, limits)
    bound = lower_bound(problem, limits, path.selected)
    M = target_matrix(X, target, alpha, Y)
    best = np.inf
    for choice in product([0, 1], repeat=n_groups):
        chosen, held = np.flatnonzero(choice), np.array(choice)
        fits = limits.costs @ held <= limits.budget * (1 + 1e-12)
        if fits and held[limits.include].all() and not held[limits.exclude].any():
            best = min(best, plain_objective(X, M, alpha, groups.members(chosen)))
    greedy = plain_objective(X, M, alpha, groups.members(path.selected))
    assert bound <= best * (1 + 1e-12) <= greedy * (1 + 2e-12)
    assert_allclose(problem.objective(path.selected), greedy, rtol=1e-9)
    assert_array_equal(path.selected[: len(limits.include)], limits.include)
    assert not np.isin(limits.exclude, path.selected).any()


def test_the_bound_is_close():
    gaps = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, groups = instance(rng, 15, 40)
        alpha = 0.3 * float(np.sum(X**2)) / len(X)
        problem = Problem.of(compute_spectrum(X), "data", alpha, groups=groups)
        limits = Limits.count(40, 12)
        selected = greedy_path(problem, limits).selected
        gaps.append(problem.objective(selected) / lower_bound(problem, limits, selected) - 1)
    assert np.median(gaps) < 0.05


@pytest.mark.parametrize("target", ["data", "y"])
def test_nothing_of_the_size_of_x_is_made_dense(target, peak_memory):
    n, d = 400, 50_000
    X = sp.random_array((n, d), density=0.001, random_state=0, format="csc")
    groups, Y = resolve_groups(5, d), np.eye(n)[:, :2] - 1 / n
    problem = Problem.of(compute_spectrum(X, center=True), target, 0.1, Y, groups)
    peak = peak_memory(lambda: greedy_path(problem, Limits.count(d // 5, 30)))
    assert peak < n * d * 8 / 2


def test_enough_stops_early():
    X, groups = instance(np.random.default_rng(3), 20, 60)
    problem = Problem.of(compute_spectrum(X), "data", 10.0, groups=groups)
    path = greedy_path(problem, Limits.count(60, 60), enough=0.9)
    shares = problem.share(path.objectives)
    assert shares[-1] >= 0.9 > shares[-2]


@pytest.mark.parametrize("share", [1e-7, 1e-12])
def test_rounding_errors_do_not_grow(share):
    """A tiny alpha: R and N are computed anew after the steps of a pool."""
    rng = np.random.default_rng(4)
    X, groups = instance(rng, 25, 80)
    y = X @ rng.standard_normal((X.shape[1], 1))
    problem = Problem.of(compute_spectrum(X), "y", share * float(np.sum(X**2)) / 25, y, groups)
    path = greedy_path(problem, Limits.count(80, 60))
    again = replace(problem).objective(path.selected)
    assert_allclose(path.objectives[-1], again, rtol=1e-4, atol=1e-9 * problem.of_none)
