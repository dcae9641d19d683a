# SPDX-License-Identifier: BSD-3-Clause
"""Polished weights are the best there are, and never worse than those given."""

import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.barrier.helpers import extremes, gaussian_rows, rows_of

from ridgewise._groups import sums
from ridgewise.barrier import RULES, ArrayVectors, sparsify, weighted_spectrum
from ridgewise.barrier import _polish as polish_module
from ridgewise.barrier._polish import (
    Rows,
    barrier_value,
    best_scale,
    decompose,
    epsilon,
    gradient,
    minimize_epsilon,
    minimize_over_largest,
    newton_direction,
    polish,
)
from ridgewise.spectrum import compute_spectrum

ROUNDING = 1e-12

# what the best weights are within, of their epsilon
NEARLY_BEST = 1e-2


def single(V, Z):
    """Rows of a weight each."""
    return Rows(V, np.ones(len(V), dtype=int), Z)


def some_penalty(rng, ell):
    """alpha / s^2 over many magnitudes, zeros among them."""
    return np.where(rng.random(ell) < 0.2, 0.0, 10.0 ** rng.uniform(-4, 3, size=ell))


@pytest.mark.parametrize("seed", range(10))
def test_weighted_spectrum(seed, family):
    rng = np.random.default_rng([seed, *family.encode()])
    U = rows_of(family, rng)
    rows = U[rng.permutation(len(U))[: rng.integers(1, len(U))]]
    weights = rng.lognormal(size=len(rows))
    for penalty in (None, np.zeros(U.shape[1]), some_penalty(rng, U.shape[1])):
        found = weighted_spectrum(rows, weights, penalty)
        np.testing.assert_allclose(found, extremes(rows, weights, penalty), atol=ROUNDING)
    assert weighted_spectrum(rows[: U.shape[1] - 1], weights[: U.shape[1] - 1])[0] == 0


# never looser


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(6))
def test_never_looser_than_the_selection(rule, seed, family):
    rng = np.random.default_rng([seed, *family.encode()])
    U = rows_of(family, rng)
    ell = U.shape[1]
    found = sparsify(ArrayVectors(U), ell + int(rng.integers(1, 4 * ell)), rule)
    rows = U[found.selected]
    for penalty in (None, some_penalty(rng, ell)):
        polished = polish(rows, found.weights, penalty=penalty)
        assert np.all(polished > 0)
        assert epsilon(rows, polished, penalty) <= epsilon(rows, found.weights, penalty)
        if penalty is None:  # the selection's a is positive, and a scale is for free
            a, b = found.lower, found.upper
            assert epsilon(rows, polished) <= (b - a) / (b + a) + ROUNDING


@settings(max_examples=60, deadline=None)
@given(
    entries=st.lists(st.integers(-3, 3), min_size=3, max_size=60),
    ell=st.integers(1, 3),
    exponents=st.lists(st.floats(-10, 10), min_size=60, max_size=60),
    alpha=st.none() | st.floats(0, 1e6),
)
def test_never_looser_on_small_integers(entries, ell, exponents, alpha):
    """Small integers are full of ties, zero rows and repeated rows; their weights are wild."""
    rows = np.reshape(entries[: len(entries) // ell * ell], (-1, ell)).astype(float)
    weights = 10.0 ** np.array(exponents[: len(rows)])
    penalty = None if alpha is None else alpha * np.linspace(1, 2, ell)
    polished = polish(rows, weights, penalty=penalty)
    assert np.all(polished > 0)
    assert np.all(np.isfinite(polished))
    assert epsilon(rows, polished, penalty) <= epsilon(rows, weights, penalty)


@pytest.mark.parametrize("spread", [1, 5, 10])
@pytest.mark.parametrize("regularized", [False, True])
def test_extreme_weights_do_not_matter(spread, regularized):
    """Whatever the weights given, the same epsilon is reached."""
    rng = np.random.default_rng(spread)
    rows = gaussian_rows(40, 6)[:20]
    penalty = rng.lognormal(size=6) if regularized else None
    weights = 10.0 ** rng.uniform(-spread, spread, size=20)
    best = epsilon(rows, polish(rows, np.ones(20), penalty=penalty), penalty)
    reached = epsilon(rows, polish(rows, weights, penalty=penalty), penalty)
    assert reached == pytest.approx(best, rel=NEARLY_BEST)


# the optimum


@pytest.mark.parametrize(("d", "ell"), [(1, 1), (2, 2), (7, 7), (30, 5), (100, 9)])
def test_hidden_tight_frame(d, ell):
    """All rows of an orthonormal basis, scaled: weights with epsilon 0 exist, and are found."""
    rng = np.random.default_rng(d)
    lengths = rng.uniform(0.1, 3, size=d)
    rows = lengths[:, None] * gaussian_rows(d, ell, seed=d)
    polished = polish(rows, rng.lognormal(size=d))
    assert epsilon(rows, polished) <= 1e-5
    if d == ell:
        np.testing.assert_allclose(polished, 1 / lengths**2, rtol=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    between=st.lists(st.floats(0, 1), max_size=6),
    spread=st.floats(0.025, np.pi / 2 - 0.025),
    turn=st.floats(0, np.pi),
    seed=st.integers(0, 100),
)
@example(between=[0.625, 0.125, 1.0, 1.0, 0.0078125], spread=1.0, turn=0.0, seed=53)
def test_optimum_in_the_plane(between, spread, turn, seed):
    """Of rows within an angle below 90 degrees, the best epsilon is that angle's cosine.

    G of unit rows at angles theta_i, with weights of sum 2, has the eigenvalues 1 +- |m|, m the
    weighted mean of the points (cos 2 theta_i, sin 2 theta_i). Nearest to 0 in their convex hull is
    the middle of the chord between the outermost two.
    """
    angles = turn + spread * np.array([0.0, 1.0, *between])
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.1, 1, size=len(angles))
    rows = lengths[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    polished = polish(rows, rng.lognormal(size=len(angles)))
    best = np.cos(spread)
    assert best - ROUNDING <= epsilon(rows, polished) <= (1 + NEARLY_BEST) * best


def test_optimum_below_the_rank():
    """Of axis-aligned rows, the axes that no row has keep 1 - Z; nothing can better the worst."""
    rows = np.diag([0.9, 0.8, 0.7, 0.6])[:2]
    penalty = np.array([0.1, 0.5, 2.0, 9.0])
    polished = polish(rows, np.ones(2), penalty=penalty)
    assert epsilon(rows, polished, penalty) == pytest.approx(1 / 3, rel=1e-9)


@pytest.mark.parametrize("sizes", [np.ones(24, int), np.array([1, 5, 2, 1, 3, 6, 2, 1, 1, 1, 1])])
@pytest.mark.parametrize("regularized", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_duality_proves_the_optimum(seed, regularized, sizes):
    """No weights are better than a dual bound, which the polished ones nearly attain.

    For a symmetric D whose eigenvalues have absolute values of sum at most 1 and with
    v_i^T D v_i >= 0, added up over rows of one weight, any weights have epsilon >= tr(E D) >=
    -tr(Z D). The minimum of f gives such a D.
    """
    rng = np.random.default_rng(seed)
    U, start = gaussian_rows(60, 8, seed)[:24], np.ones(len(sizes))
    penalty = rng.lognormal(size=8) if regularized else np.zeros(8)
    Z = np.diag(1 / (1 + penalty))
    rows, tau = Rows(U @ np.sqrt(Z), sizes, Z), 1e5
    point = decompose(rows, minimize_epsilon(rows, start))
    for _ in range(60):  # come closer to the minimum of f than polishing needs
        direction, _ = newton_direction(point, tau)
        step = 1 / (1 + 2 * np.abs(direction).max())
        point = decompose(rows, point.weights * (1 + step * direction))
    E = rows.gram(point.weights) - Z
    _, t = barrier_value(point, tau)
    D = (np.linalg.inv(t * np.eye(8) - E) - np.linalg.inv(t * np.eye(8) + E)) / tau
    assert np.abs(np.linalg.eigvalsh(D)).sum() <= 1 + 1e-6
    assert sums(np.einsum("ij,jk,ik->i", rows.V, D, rows.V), sizes).min() >= 0
    bound = -float(np.sum(Z * D))
    polished = polish(U, start, penalty=penalty, sizes=sizes)
    reached = epsilon(U, np.repeat(polished, sizes), penalty)
    assert bound * (1 - 1e-6) <= reached <= (1 + NEARLY_BEST) * bound


def test_some_of_many_rows(monkeypatch):
    """Of more rows than there is room for, the lighter ones keep equal weights; it still helps."""
    monkeypatch.setattr(polish_module, "MOST_ROWS", 25)
    rows = gaussian_rows(100, 6)[:40]
    polished = minimize_over_largest(single(rows, np.eye(6)), np.ones(40))
    lightest = np.argsort((rows**2).sum(axis=1))[:15]
    np.testing.assert_array_equal(polished[lightest], 1.0)
    a, b = weighted_spectrum(rows, np.ones(40))
    assert epsilon(rows, polish(rows, np.ones(40))) < 0.8 * (b - a) / (b + a)


# derivatives


@pytest.fixture(params=[True, False], ids=["rows", "groups"])
def problem(request):
    """Rows and weights of a regularized problem."""
    rng = np.random.default_rng(3)
    Z = np.diag(1 / (1 + rng.lognormal(size=5)))
    V = gaussian_rows(40, 5)[:12] @ np.sqrt(Z)
    sizes = np.ones(12, int) if request.param else np.array([1, 4, 2, 5])
    return Rows(V, sizes, Z), rng.lognormal(size=len(sizes))


@pytest.mark.parametrize("tau", [10.0, 1e3])
def test_derivatives_against_finite_differences(tau, problem):
    """The gradient of f; along the Newton direction it falls at the rate of itself."""
    rows, weights = problem
    point, h = decompose(rows, weights), 1e-6
    g, (direction, promise) = gradient(point, tau), newton_direction(point, tau)

    def value(x):
        return barrier_value(decompose(rows, weights * np.exp(x)), tau)[0]

    def derivatives(h):
        factor = 1 + h * direction
        return gradient(decompose(rows, weights * factor), tau) / factor

    differences = [(value(h * e) - value(-h * e)) / (2 * h) for e in np.eye(len(weights))]
    np.testing.assert_allclose(g, differences, rtol=1e-5, atol=1e-5)
    rate = (derivatives(h) - derivatives(-h)) / (2 * h)
    np.testing.assert_allclose(rate, -g, rtol=1e-4, atol=1e-4 * np.abs(g).max())
    assert promise == pytest.approx(-g @ direction)


@pytest.mark.parametrize("tau", [1e-2, 10.0, 1e6])
def test_barrier_value_is_the_least_over_t(tau, problem):
    point = decompose(*problem)
    value, t = barrier_value(point, tau)
    assert t > point.epsilon
    slope = np.sum(1 / (t - point.eigenvalues) + 1 / (t + point.eigenvalues))
    assert slope == pytest.approx(tau, rel=1e-9)
    logs = np.log(t**2 - point.eigenvalues**2).sum() + np.log(point.weights).sum()
    assert value == pytest.approx(tau * t - logs, rel=1e-9)


# invariances and edges


@pytest.mark.parametrize("seed", range(3))
def test_invariant_under_rotation_and_order(seed):
    rng = np.random.default_rng(seed)
    rows, weights = gaussian_rows(50, 6, seed)[:20], rng.lognormal(size=20)
    kept, polished = weights.copy(), polish(rows, weights)
    turned, order = rows @ gaussian_rows(6, 6, seed + 1), rng.permutation(20)
    np.testing.assert_allclose(polish(turned[order], weights[order]), polished[order], rtol=1e-6)
    np.testing.assert_array_equal(polish(rows, weights), polished)
    np.testing.assert_array_equal(weights, kept)


def test_best_scale():
    rng = np.random.default_rng(0)
    rows, weights = gaussian_rows(50, 6)[:20], rng.lognormal(10, size=20)
    a, b = weighted_spectrum(rows, weights)
    np.testing.assert_allclose(best_scale(single(rows, np.eye(6)), weights), weights * 2 / (a + b))
    penalty = rng.lognormal(size=6)
    Z = np.diag(1 / (1 + penalty))
    scaled = best_scale(single(rows @ np.sqrt(Z), Z), weights)
    around = [epsilon(rows, scaled * c, penalty) for c in (0.99, 1.0, 1.01)]
    assert np.argmin(around) == 1


def test_duplicates_and_rows_of_zeros():
    """Copies of a row share its weight, zeros keep theirs, and all else is as without them."""
    rows = gaussian_rows(30, 4)[:10]
    best = epsilon(rows, polish(rows, np.ones(10)))
    more = np.vstack([rows, np.zeros((2, 4)), rows])
    polished = polish(more, np.full(22, 2.0))
    assert epsilon(more, polished) == pytest.approx(best, rel=NEARLY_BEST)
    np.testing.assert_allclose(polished[:10], polished[12:], rtol=1e-6)
    np.testing.assert_array_equal(polished[10:12], 2.0)


@pytest.mark.parametrize(
    "rows",
    [np.eye(4)[:3], np.eye(4)[[0, 1, 2, 2, 1]], np.zeros((3, 2)), np.empty((0, 2))],
    ids=["fewer than columns", "a direction missed", "zeros", "none"],
)
def test_weights_stay_where_nothing_can_be_certified(rows):
    weights = np.linspace(1, 5, len(rows))
    np.testing.assert_array_equal(polish(rows, weights), weights)


@pytest.mark.parametrize(
    ("weights", "penalty", "sizes", "message"),
    [
        (np.ones(2), None, None, "one weight a row"),
        (np.ones(2), None, np.array([1, 1]), "one weight a row, or a group of rows"),
        (np.array([1.0, 0.0, 1.0]), None, None, "positive"),
        (np.array([1.0, np.nan, 1.0]), None, None, "positive"),
        (np.ones(3), np.ones(3), None, "2 numbers"),
        (np.ones(3), np.array([1.0, -1.0]), None, ">= 0"),
    ],
)
def test_bad_input(weights, penalty, sizes, message):
    with pytest.raises(ValueError, match=message):
        polish(np.eye(3)[:, :2], weights, penalty=penalty, sizes=sizes)


# real text


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["10539_10567", "14271_312035", "6920_8366"])
def test_techtc(name, load_techtc):
    """Sets from the better half of 24, whose median at 300 features is to be 0.45 at most."""
    spectrum = compute_spectrum(load_techtc(name))
    found = sparsify(spectrum, 300, "slack")
    rows = spectrum.take(found.selected)
    assert epsilon(rows, polish(rows, found.weights)) <= 0.45 < epsilon(rows, found.weights)


@pytest.mark.shared_data
@pytest.mark.slow
def test_techtc_median(load_techtc, shared_data):
    """Slack and polish at 300 features: at most 0.45 in the median over all 24 sets."""
    reached, seconds = [], []
    for folder in sorted((shared_data / "techtc").glob("Exp_*")):
        spectrum = compute_spectrum(load_techtc(folder.name.removeprefix("Exp_")))
        start = time.perf_counter()
        found = sparsify(spectrum, 300, "slack")
        rows, drawn = spectrum.take(found.selected), time.perf_counter()
        reached.append(epsilon(rows, polish(rows, found.weights)))
        seconds.append((time.perf_counter() - drawn) / (drawn - start))
    assert len(reached) == 24
    assert np.median(reached) <= 0.45
    assert np.median(seconds) <= 3  # times what the selection took
