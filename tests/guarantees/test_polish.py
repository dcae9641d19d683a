# SPDX-License-Identifier: BSD-3-Clause
"""Polished weights are the best there are, and never worse than those given."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.barrier.helpers import FAMILIES, extremes, gaussian_rows, rows_of

from ridgewise._groups import sums
from ridgewise.barrier import RULES, ArrayVectors, sparsify, weighted_spectrum
from ridgewise.guarantees import _polish as polish_module
from ridgewise.guarantees._polish import Point, epsilon, newton_step, polish
from ridgewise.spectrum import compute_spectrum

ROUNDING = 1e-12

# what the best weights are within, of their epsilon
NEARLY_BEST = 1e-2


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


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
            assert epsilon(rows, polished) <= (1 + NEARLY_BEST) * (b - a) / (b + a) + 1e-6


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


def scaled(U, penalty):
    """The rows V and Z of the statement with this penalty."""
    z = 1 / (1 + penalty)
    return U * np.sqrt(z), np.diag(z)


@pytest.mark.parametrize("sizes", [np.ones(24, int), np.array([1, 5, 2, 1, 3, 6, 2, 1, 1, 1, 1])])
@pytest.mark.parametrize("regularized", [False, True])
@pytest.mark.parametrize("spread", [0, 1, 10])
@pytest.mark.parametrize("seed", range(4))
def test_duality_proves_the_optimum(seed, spread, regularized, sizes):
    """No weights are better than a dual bound, which the polished ones nearly attain.

    Whatever the weights given: these are spread over so many powers of ten, up and down.

    For a symmetric D whose eigenvalues have absolute values of sum at most 1 and with
    v_i^T D v_i >= 0, added up over rows of one weight, any weights have epsilon >= tr(E D) >=
    -tr(Z D). The minimum of f gives such a D, (P - N) / tau.
    """
    rng = np.random.default_rng(seed)
    U, weights = gaussian_rows(60, 8, seed)[:24], 10 ** rng.uniform(-spread, spread, len(sizes))
    penalty = rng.lognormal(size=8) if regularized else np.zeros(8)
    polished = polish(U, weights, penalty=penalty, sizes=sizes)
    V, Z = scaled(U, penalty)
    point, tau = Point(V, sizes, Z, polished), 1e5
    for _ in range(60):  # come closer to the minimum of f than polishing needs
        point = newton_step(point, tau)[0] or point
    E, (_, t) = (V.T * np.repeat(point.weights, sizes)) @ V - Z, point.barrier_value(tau)
    D = (np.linalg.inv(t * np.eye(8) - E) - np.linalg.inv(t * np.eye(8) + E)) / tau
    assert np.abs(np.linalg.eigvalsh(D)).sum() <= 1 + 1e-6
    assert sums(np.einsum("ij,jk,ik->i", V, D, V), sizes).min() >= 0
    bound = -float(np.sum(Z * D))
    reached = epsilon(U, np.repeat(polished, sizes), penalty)
    assert bound * (1 - 1e-6) <= reached <= (1 + NEARLY_BEST) * bound


@pytest.mark.parametrize("sizes", [np.ones(12, int), np.array([1, 4, 2, 5])])
@pytest.mark.parametrize("tau", [1e-2, 10.0, 1e3])
def test_newton_direction(tau, sizes):
    """Along d = -H^-1 g, f has the slope g^T d = -decrement^2 and the curvature decrement^2."""
    rng = np.random.default_rng(3)
    V, Z = scaled(gaussian_rows(40, 5)[:12], rng.lognormal(size=5))
    point = Point(V, sizes, Z, rng.lognormal(size=len(sizes)))
    value, t = point.barrier_value(tau)
    direction, decrement = point.newton_direction(t)
    h = 1e-4 / np.abs(direction).max()
    before, after = (
        Point(V, sizes, Z, point.weights * (1 + s * direction)).barrier_value(tau)[0]
        for s in (-h, h)
    )
    assert (after - before) / (2 * h) == pytest.approx(-(decrement**2), rel=1e-4)
    assert (after + before - 2 * value) / h**2 == pytest.approx(decrement**2, rel=1e-2)


def test_some_of_many_rows(monkeypatch):
    """Of more rows than there is room for, the lighter ones keep equal weights; it still helps."""
    rows = gaussian_rows(100, 6)[:40]
    best = epsilon(rows, polish(rows, np.ones(40)))
    monkeypatch.setattr(polish_module, "MOST_ROWS", 25)
    polished = polish(rows, np.ones(40))
    lightest = np.argsort((rows**2).sum(axis=1))[:15]
    assert len(np.unique(polished[lightest])) == 1
    a, b = weighted_spectrum(rows, np.ones(40))
    assert best < epsilon(rows, polished) < 0.8 * (b - a) / (b + a)


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


def techtc_epsilons(X):
    """Epsilon of 300 features by the rule slack, before and after polishing."""
    spectrum = compute_spectrum(X)
    found = sparsify(spectrum, 300, "slack")
    rows = spectrum.take(found.selected)
    return epsilon(rows, found.weights), epsilon(rows, polish(rows, found.weights))


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["10539_10567", "14271_312035", "6920_8366"])
def test_techtc(name, load_techtc):
    """Sets from the better half of 24, whose median at 300 features is to be 0.45 at most."""
    before, after = techtc_epsilons(load_techtc(name))
    assert after <= 0.45 < before


@pytest.mark.shared_data
@pytest.mark.slow
def test_techtc_median(load_techtc, shared_data):
    """Slack and polish at 300 features: at most 0.45 in the median over all 24 sets."""
    names = [folder.name for folder in (shared_data / "techtc").glob("Exp_*")]
    reached = [techtc_epsilons(load_techtc(name.removeprefix("Exp_")))[1] for name in names]
    assert len(reached) == 24
    assert np.median(reached) <= 0.45
