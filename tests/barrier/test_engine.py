# SPDX-License-Identifier: BSD-3-Clause
"""The engine gives what the plain algorithm gives, and notices when rounding defeats it."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ridgewise.barrier import (
    RULES,
    ArrayVectors,
    NumericalBreakdownError,
    sparsify,
    sparsify_plain,
)
from ridgewise.barrier import _at_hand as at_hand
from ridgewise.barrier import _engine as engine_module
from ridgewise.barrier import _screen as screen_module
from ridgewise.barrier._resolvent import LostDefinitenessError, Resolvent
from ridgewise.spectrum import compute_spectrum

# draws made on six TechTC sets: the paper's numbers of features
TECHTC = ("10341_14525", "10341_61792", "14630_814096", "10539_300332", "10567_11346", "6920_8366")


def assert_same(fast, plain):
    np.testing.assert_array_equal(fast.draws, plain.draws)
    np.testing.assert_allclose(fast.weights, plain.weights, rtol=1e-9)


def some_draws(rng, ell):
    """From l + 1 to 40 l, small ones more often."""
    return ell + 1 + int((40 * ell - ell - 1) * rng.random() ** 3)


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(16))
def test_same_as_plain(rule, seed, family, make_rows):
    """8 families x 16 seeds x 3 rules: 384 instances."""
    rng = np.random.default_rng([seed, *family.encode()])
    U = make_rows(family, rng)
    n_draws = some_draws(rng, U.shape[1])
    assert_same(sparsify(ArrayVectors(U), n_draws, rule), sparsify_plain(U, n_draws, rule))


@pytest.mark.usefixtures("arithmetic")
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    entries=st.lists(st.integers(-3, 3), min_size=24, max_size=60),
    extra=st.integers(1, 40),
    rule=st.sampled_from(RULES),
)
def test_same_as_plain_on_small_integers(entries, extra, rule):
    """Small integers are full of ties, zero rows and repeated rows."""
    X = np.reshape(entries[: len(entries) // 3 * 3], (-1, 3)).astype(float)
    left, s, _ = np.linalg.svd(X, full_matrices=False)
    U = left[:, s > 1e-9 * max(s[0], 1e-300)]
    if U.shape[1] == 0:
        return
    n_draws = U.shape[1] + extra
    assert_same(sparsify(ArrayVectors(U), n_draws, rule), sparsify_plain(U, n_draws, rule))


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("rule", RULES)
def test_same_as_plain_when_few_rows_are_at_hand(rule, monkeypatch, gaussian_rows):
    """With room for four rows only, the screen decides about nearly all of them."""
    monkeypatch.setattr(at_hand, "FIRST_ROWS", 2)
    monkeypatch.setattr(at_hand, "MOST_ROWS", 4)
    monkeypatch.setattr(at_hand, "MOST_ROWS_SCREENED", 4)
    U = gaussian_rows(300, 12)
    fast = sparsify(ArrayVectors(U), 60, rule)
    assert_same(fast, sparsify_plain(U, 60, rule))
    assert fast.counts["screens"] > 0


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
def test_same_as_plain_at_larger_rank(rule, gaussian_rows):
    U = gaussian_rows(1500, 60, seed=3)
    assert_same(sparsify(ArrayVectors(U), 150, rule), sparsify_plain(U, 150, rule))


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("spare", [1.0, 1.5, 4.0])
@pytest.mark.parametrize("penalized", [False, True])
def test_same_as_plain_when_short_rows_are_left_out(spare, penalized, monkeypatch, scaled_rows):
    """However few rows are kept in sight, those that come to matter are found again."""
    monkeypatch.setattr(engine_module, "SPARE", spare)
    U = scaled_rows(900, 12)
    penalty = np.linspace(0, 3, 12) if penalized else None
    fast = sparsify(ArrayVectors(U), 80, "slack", penalty)
    assert_same(fast, sparsify_plain(U, 80, "slack", penalty))
    assert fast.counts["wider screens"] > 0


@pytest.mark.usefixtures("by_numpy")
def test_short_rows_are_left_out(scaled_rows):
    engine = engine_module.Engine(ArrayVectors(scaled_rows(3000, 40)), 100, "slack")
    engine.run()
    screen = engine.screen
    assert len(screen.members) < 3000 / 2
    outside = np.setdiff1d(np.arange(3000), screen.members)
    assert engine.vectors.norms2[outside].max() == screen.most_outside
    assert screen.most_outside <= engine.vectors.norms2[screen.members].min()
    assert len(screen.h) == len(screen.members) == len(screen.vectors.norms2)


@pytest.mark.usefixtures("by_numpy")
def test_no_more_rows_are_left_in_sight_than_can_be_held(monkeypatch, scaled_rows):
    monkeypatch.setattr(screen_module, "MOST_HELD", 12 * 50)
    U = scaled_rows(900, 12)
    engine = engine_module.Engine(ArrayVectors(U), 80, "slack")
    assert_same(engine.run(), sparsify_plain(U, 80, "slack"))
    assert engine.screen.is_whole or len(engine.screen.members) <= 50


def techtc_basis(load_techtc, name):
    spectrum = compute_spectrum(load_techtc(name))
    U = spectrum.take(np.arange(len(spectrum.leverage_scores)))
    return spectrum, U


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.shared_data
@pytest.mark.parametrize("rule", RULES)
def test_same_as_plain_on_text(rule, load_techtc):
    """Every tenth word of one set; whole runs on six sets in the test below."""
    spectrum, U = techtc_basis(lambda name: load_techtc(name)[:, ::10], "14630_814096")
    n_draws = U.shape[1] + 20
    assert_same(sparsify(spectrum, n_draws, rule), sparsify_plain(U, n_draws, rule))


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.shared_data
@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_draws", [170, 300, 400, 500])
@pytest.mark.parametrize("name", TECHTC)
def test_same_as_plain_on_text_in_full(name, n_draws, rule, load_techtc):
    spectrum, U = techtc_basis(load_techtc, name)
    assert_same(sparsify(spectrum, n_draws, rule), sparsify_plain(U, n_draws, rule))


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("rule", RULES)
def test_same_as_plain_where_the_screen_leaves_nothing(rule, monkeypatch):
    """Only u_1 covers its direction, and the rows past those at hand are of no use."""
    monkeypatch.setattr(at_hand, "FIRST_ROWS", 2)
    monkeypatch.setattr(at_hand, "MOST_ROWS", 4)
    monkeypatch.setattr(at_hand, "MOST_ROWS_SCREENED", 4)
    U = np.zeros((100, 2))
    U[0, 0] = 1
    U[1:, 1] = 1 / np.sqrt(99)
    fast = sparsify(ArrayVectors(U), 20, rule)
    assert_same(fast, sparsify_plain(U, 20, rule))
    assert fast.counts["repeats"] > 0


@pytest.mark.usefixtures("arithmetic")
def test_looks_at_few_rows(gaussian_rows):
    U = gaussian_rows(5000, 20)
    fast = sparsify(ArrayVectors(U), 60)
    assert fast.counts["rows"] < 60 * 5000 / 20
    assert fast.counts["decompositions"] < 20


@pytest.mark.usefixtures("arithmetic")
def test_asks_no_screen_while_nearer_rows_will_do(gaussian_rows):
    """Of 80 orthogonal rows each is drawn once before any other: all 64 rows at hand go first."""
    U = np.vstack([np.eye(80) * 0.9, gaussian_rows(400, 80) * np.sqrt(0.19)])
    fast = sparsify(ArrayVectors(U), 160)
    assert set(fast.draws[:80]) == set(range(80))
    assert "screens" not in fast.counts


# what goes wrong is noticed


@pytest.mark.usefixtures("by_numpy")
def test_decomposes_again_when_a_stale_factor_fails(monkeypatch, gaussian_rows):
    U = gaussian_rows(200, 10)
    factor = Resolvent.low_rank_factor
    calls = iter(range(10**6))

    def failing(self, Z, t_inverse):
        if next(calls) % 7 == 0:
            raise LostDefinitenessError
        return factor(self, Z, t_inverse)

    monkeypatch.setattr(Resolvent, "low_rank_factor", failing)
    fast = sparsify(ArrayVectors(U), 50)
    assert_same(fast, sparsify_plain(U, 50))
    assert fast.counts["early decompositions"] > 0


@pytest.mark.usefixtures("by_numpy")
def test_draws_plainly_when_the_fast_arithmetic_fails(monkeypatch, gaussian_rows):
    def failing(self, tau):
        raise LostDefinitenessError

    monkeypatch.setattr(engine_module.Engine, "move", failing)
    U = gaussian_rows(100, 6)
    for rule in RULES:
        fast = sparsify(ArrayVectors(U), 20, rule)
        assert_same(fast, sparsify_plain(U, 20, rule))
        assert fast.counts["plain draws"] == 20


@pytest.mark.usefixtures("by_numpy")
def test_draws_again_what_was_drawn_with_a_drifted_potential(monkeypatch, gaussian_rows):
    add = Resolvent.add
    calls = iter(range(10**6))

    def drifting(self, t, square, plain):
        add(self, t, square, plain)
        if next(calls) == 31:
            self.potential *= 1 - 1e-5

    monkeypatch.setattr(Resolvent, "add", drifting)
    U = gaussian_rows(200, 10)
    fast = sparsify(ArrayVectors(U), 50)
    assert_same(fast, sparsify_plain(U, 50))
    assert fast.counts["drifts"] == 1


def test_raises_when_nothing_helps(gaussian_rows):
    """Rows that do not add up to the identity: the promise cannot be kept, and that is said."""
    U = gaussian_rows(100, 6)
    U[:, 0] *= 1e-3
    with pytest.raises(NumericalBreakdownError, match=r"orthonormal enough|cannot happen"):
        sparsify(ArrayVectors(U), 12)
    with pytest.raises(NumericalBreakdownError, match=r"orthonormal enough|cannot happen"):
        sparsify_plain(U, 12)
