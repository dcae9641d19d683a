# SPDX-License-Identifier: BSD-3-Clause
"""The bound holds for every subset: all of them tried, in double precision and in rationals."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog, minimize

from ridgewise._run import listening
from ridgewise.spectrum import compute_spectrum
from ridgewise.subset import (
    TARGETS,
    Limits,
    Problem,
    greedy_path,
    lower_bound,
    plain_objective,
    target_matrix,
)
from ridgewise.subset._bound import Bounded, largest_sum, projected

CASES = [pytest.param(seed, marks=[] if seed % 3 == 0 else pytest.mark.slow) for seed in range(200)]


def random_case(seed):
    """X, target, alpha, Y and limits; with equal, useless and correlated features."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 9)), int(rng.integers(3, 16 if seed % 10 == 0 else 11))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1, d)
    if seed % 4 == 0:
        X[:, 0] = X[:, -1]
    if seed % 5 == 0:
        X[:, 1] = 0
    if seed % 7 == 0:
        X += 3 * rng.standard_normal((n, 1))
    target = TARGETS[int(rng.integers(3))]
    Y = rng.standard_normal((n, int(rng.integers(1, 4))))
    alpha = float(np.sum(X**2) / n * 10.0 ** rng.uniform(-3, 1))
    chosen = rng.permutation(d)
    n_include, n_exclude = rng.integers(0, 3, 2) if d > 6 else (0, 0)
    include = chosen[:n_include]
    exclude = chosen[n_include : n_include + n_exclude]
    if seed % 2 == 0:
        size = int(rng.integers(max(1, n_include), d - n_exclude + 1))
        limits = Limits(np.ones(d), size, include, exclude)
    else:
        costs = rng.uniform(0.5, 3, d) * (rng.random(d) > 0.1)
        limits = Limits(costs, costs[include].sum() + rng.uniform(0.5, 6), include, exclude)
    return X, target, alpha, Y, limits


def allowed_subsets(limits, d):
    """Masks of all subsets within the limits, shape (number, d)."""
    masks = (np.arange(2**d)[:, None] >> np.arange(d)) % 2 == 1
    fits = masks @ limits.costs <= limits.budget * (1 + 1e-12)
    return masks[fits & masks[:, limits.include].all(1) & ~masks[:, limits.exclude].any(1)]


def all_objectives(X, M, alpha, masks):
    outer = np.einsum("ij,mj->jim", X, X).reshape(X.shape[1], -1)
    kernels = (masks.astype(float) @ outer).reshape(len(masks), len(X), len(X))
    return alpha * np.trace(np.linalg.solve(kernels + alpha * np.eye(len(X)), M[None]), 0, 1, 2)


@pytest.mark.parametrize("seed", CASES)
def test_bound_best_greedy_in_this_order(seed):
    X, target, alpha, Y, limits = random_case(seed)
    problem = Problem.of(compute_spectrum(X), target, alpha, Y)
    path = greedy_path(problem, limits)
    bound = lower_bound(problem, limits, path.selected)
    M = target_matrix(X, target, alpha, Y)
    best = all_objectives(X, M, alpha, allowed_subsets(limits, X.shape[1])).min()
    greedy = plain_objective(X, M, alpha, path.selected)
    assert bound <= best * (1 + 1e-12) <= greedy * (1 + 2e-12)
    assert_allclose(problem.objective(path.selected), greedy, rtol=1e-9)
    assert_allclose(path.objectives[-1], greedy, rtol=1e-8)


def test_the_bound_is_close():
    """A bound of 0 would pass the test above."""
    gaps = []
    for seed in range(0, 60, 2):
        X, target, alpha, Y, limits = random_case(seed)
        problem = Problem.of(compute_spectrum(X), target, alpha, Y)
        selected = greedy_path(problem, limits).selected
        gaps.append(problem.objective(selected) / lower_bound(problem, limits, selected) - 1)
    assert np.median(gaps) < 0.05


@pytest.mark.parametrize("target", ["y", "data"])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_true_in_exact_rationals(target, seed):
    rng = np.random.default_rng(seed)
    n, d, size, alpha = 3, 7, 2, 5
    X, y = rng.integers(-4, 5, (n, d)), rng.integers(-3, 4, n)
    problem = Problem.of(compute_spectrum(X), target, float(alpha), y[:, None].astype(float))
    limits = Limits.count(d, size)
    bound = lower_bound(problem, limits, greedy_path(problem, limits).selected)
    M = exact(np.outer(y, y))
    if target == "data":
        K = exact(X @ X.T)
        M = [[K[i][j] / alpha + (i == j) for j in range(n)] for i in range(n)]
    best = min(exact_objective(X[:, subset], M, alpha) for subset in combinations(range(d), size))
    assert Fraction(float(bound)) <= best


def exact(A):
    return [[Fraction(int(value)) for value in row] for row in A]


def exact_objective(X_S, M, alpha):
    """alpha tr (X_S X_S^T + alpha)^-1 M by Gauss-Jordan elimination."""
    A = exact(X_S @ X_S.T)
    n = len(A)
    rows = [[A[i][j] + alpha * (i == j) for j in range(n)] + list(M[i]) for i in range(n)]
    for i in range(n):
        pivot = rows[i][i]
        rows[i] = [value / pivot for value in rows[i]]
        for k in set(range(n)) - {i}:
            factor = rows[k][i]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return alpha * sum(rows[i][n + i] for i in range(n))


def test_any_matrix_gives_a_bound():
    """The bound holds whatever the method did: also for a matrix that has nothing to do with it."""
    X, target, alpha, Y, limits = random_case(3)
    problem = Problem.of(compute_spectrum(X), target, alpha, Y)
    M, subsets = target_matrix(X, target, alpha, Y), allowed_subsets(limits, X.shape[1])
    best = all_objectives(X, M, alpha, subsets).min()
    rng = np.random.default_rng(0)
    for size in (1e-8, 1.0, 1e8):
        B = size * rng.standard_normal(problem.factor.shape)
        assert Bounded(problem, limits).certified(B)[0] <= best


def test_no_other_subset_no_gap():
    X = np.random.default_rng(0).standard_normal((4, 6))
    problem = Problem.of(compute_spectrum(X), "data", 1.0)
    everything = Limits.count(6, 6)
    path = greedy_path(problem, everything)
    assert_allclose(path.objectives[-1], problem.of_all)
    assert_allclose(lower_bound(problem, everything, path.selected), problem.of_all, rtol=1e-9)
    fixed = Limits(np.ones(6), 2, np.array([4, 1]), np.array([0]))
    assert greedy_path(problem, fixed).selected.tolist() == [4, 1]
    objective = problem.objective(np.array([4, 1]))
    assert_allclose(lower_bound(problem, fixed, np.array([4, 1])), objective, rtol=1e-9)


def test_progress_is_reported():
    X = np.random.default_rng(0).standard_normal((10, 200))
    problem, limits = Problem.of(compute_spectrum(X), "data", 1.0), Limits.count(200, 12)
    selected, seen = greedy_path(problem, limits).selected, []
    with listening(lambda *report: seen.append(report)):
        lower_bound(problem, limits, selected)
    assert {unit for _, _, unit in seen} >= {"iterations of the bound, at most"}
    assert all(done <= total for done, total, _ in seen)


@pytest.mark.parametrize("seed", range(20))
def test_knapsack_and_projection(seed):
    """Against a linear and a quadratic program."""
    limits = random_case(2 * seed + 1)[-1]
    d = len(limits.costs)
    rng = np.random.default_rng(seed)
    q, z = rng.random(d), rng.uniform(-1, 2, d)
    bounds = [(float(j in limits.include), float(j not in limits.exclude)) for j in range(d)]
    found = linprog(-q, limits.costs[None], [limits.budget], bounds=bounds)
    assert_allclose(largest_sum(q, limits), -found.fun, rtol=1e-9)
    s = projected(z, limits)  # within a pool nothing is excluded
    nearest = minimize(
        lambda s: np.sum((s - z) ** 2),
        s,
        jac=lambda s: 2 * (s - z),
        bounds=[(low, 1.0) for low, _ in bounds],
        constraints={"type": "ineq", "fun": lambda s: limits.budget - limits.costs @ s},
        method="SLSQP",
    )
    assert limits.costs @ s <= limits.budget * (1 + 1e-9)
    assert np.sum((s - z) ** 2) <= nearest.fun + 1e-6


@pytest.mark.parametrize("name", ["golub", "riboflavin", "ALL"])
def test_gaps_on_gene_expression(shared_data, name):
    """In percent, at a tenth of the mean diagonal and r = 10, 50, 150."""
    X = np.load(shared_data / name / "X.npz")["X"].astype(np.float64)
    lines = (shared_data / name / "y.txt").read_text(encoding="utf-8").split("\n")
    words = [line.split()[0] for line in lines if line.strip()]
    y = np.array(words, float) if name == "riboflavin" else np.unique(words, return_inverse=True)[1]
    y = y - y.mean()
    spectrum = compute_spectrum(X, center=True)
    alpha = 0.1 * np.sum(spectrum.singular_values**2) / len(X)
    for target, most in {"y": (3, 1, 0.5), "data": (7, 3, 1)}.items():
        problem = Problem.of(spectrum, target, alpha, y[:, None])
        path = greedy_path(problem, Limits.count(X.shape[1], 150))
        for size, limit in zip((10, 50, 150), most, strict=True):
            selected = path.selected[:size]
            bound = lower_bound(problem, Limits.count(X.shape[1], size), selected)
            assert 0 <= problem.objective(selected) / bound - 1 <= limit / 100
