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
    penalized_norms2,
    sparsify,
    sparsify_plain,
)
from ridgewise.barrier import _draws as numpy_draws
from ridgewise.barrier import _pool as pool_module
from ridgewise.barrier import _problem as problem
from ridgewise.barrier._draws import Ahead, LostDefinitenessError, State
from ridgewise.spectrum import compute_spectrum

SEEDS = [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))]


def assert_same(fast, plain):
    np.testing.assert_array_equal(fast.draws, plain.draws)
    np.testing.assert_allclose(fast.weights, plain.weights, rtol=1e-9)


def some_draws(rng, ell):
    """From l + 1 to 40 l, small ones more often."""
    return ell + 1 + int((40 * ell - ell - 1) * rng.random() ** 3)


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", SEEDS)
def test_same_as_plain(rule, seed, family, make_rows):
    rng = np.random.default_rng([seed, *family.encode()])
    U = make_rows(family, rng)
    n_draws = some_draws(rng, U.shape[1])
    distinct = min(n_draws, len(U)) if seed % 2 else None
    for penalty in (None, 10 ** rng.uniform(-2, 2, size=U.shape[1])):
        fast = sparsify(ArrayVectors(U), n_draws, rule, penalty, distinct)
        assert_same(fast, sparsify_plain(U, n_draws, rule, penalty, distinct))


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


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
def test_same_as_plain_at_larger_rank(rule, gaussian_rows, scaled_rows):
    for U in (gaussian_rows(1500, 60, seed=3), scaled_rows(1500, 61)):
        fast = sparsify(ArrayVectors(U), 150, rule)
        assert_same(fast, sparsify_plain(U, 150, rule))
        assert fast.counts["scans"] <= 10
        assert fast.counts["decompositions"] <= 20


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("penalized", [False, True])
@pytest.mark.parametrize("size", [5, 100])
def test_rows_beyond_a_prefix(size, penalized, monkeypatch):
    """They are drawn where neither an unselected nor a selected row of the prefix is feasible."""
    monkeypatch.setattr(pool_module, "FIRST_ROWS", 2)
    monkeypatch.setattr(problem, "PREFIX", size * 12)
    monkeypatch.setattr(problem, "LEAST_PREFIX", 0)
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.lognormal(size=400)[:, None] * rng.standard_normal((400, 12)))[0]
    penalty = np.logspace(-2, 1, 12) if penalized else None
    fast = sparsify(ArrayVectors(U), 60, "norm", penalty)
    assert_same(fast, sparsify_plain(U, 60, "norm", penalty))
    order = problem.scan_order(penalized_norms2(ArrayVectors(U), penalty))
    outside = np.setdiff1d(fast.draws, order[:size])
    assert (len(outside) > 0) == ("plain draws" in fast.counts)
    assert (len(outside) > 0) == (size == 5)


class Rounded(ArrayVectors):
    """Whose scores of all rows have few digits."""

    def __init__(self, U, error):
        super().__init__(U)
        self.error = error

    def forms(self, W):
        noise = np.random.default_rng(0).uniform(-self.error, self.error, size=len(self.U))
        return super().forms(W) + noise * np.abs(W).max() * self.norms2


@pytest.mark.parametrize("error", [1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("rule", ["slack", "ratio"])
def test_scores_of_few_digits_fill_the_same_pool(rule, error, scaled_rows):
    U = scaled_rows(1200, 15)
    fast = sparsify(Rounded(U, error), 60, rule)
    assert_same(fast, sparsify_plain(U, 60, rule))


def techtc_basis(load_techtc, name):
    spectrum = compute_spectrum(load_techtc(name))
    return spectrum, spectrum.take(np.arange(len(spectrum.leverage_scores)))


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.shared_data
@pytest.mark.parametrize("rule", RULES)
def test_same_as_plain_on_gene_expression(rule, shared_data):
    spectrum = compute_spectrum(np.load(shared_data / "golub" / "X.npz")["X"])
    U = spectrum.take(np.arange(spectrum.shape[1]))
    assert_same(sparsify(spectrum, 100, rule), sparsify_plain(U, 100, rule))


@pytest.mark.shared_data
@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("rule", RULES)
def test_same_as_plain_on_all_sets(rule, shared_data, load_techtc):
    for i, folder in enumerate(sorted((shared_data / "techtc").glob("Exp_*"))):
        spectrum, U = techtc_basis(load_techtc, folder.name.removeprefix("Exp_"))
        n_draws = (300, 400, 500)[i % 3]
        penalty = None
        if i % 4 == 3:
            n_draws, squares = 100, spectrum.singular_values**2
            penalty = np.sort(squares)[len(squares) // 3] / squares
            n_draws += int(np.sum(1 / (1 + penalty)))
        fast = sparsify(spectrum, n_draws, rule, penalty)
        assert_same(fast, sparsify_plain(U, n_draws, rule, penalty))


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
def test_selected_rows_are_drawn_again_where_no_other_is_feasible(rule):
    """Only u_1 covers its direction."""
    U = np.zeros((100, 2))
    U[0, 0] = 1
    U[1:, 1] = 1 / np.sqrt(99)
    fast = sparsify(ArrayVectors(U), 20, rule)
    assert_same(fast, sparsify_plain(U, 20, rule))
    assert np.count_nonzero(fast.draws == 0) > 1


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
def test_goes_on_until_so_many_are_distinct(rule):
    """40 draws give fewer than 40 rows; more draws give 40, and a tighter promise."""
    U = np.zeros((100, 2))
    U[0, 0] = 1
    U[1:, 1] = 1 / np.sqrt(99)
    some, all_of_them = (sparsify(ArrayVectors(U), 40, rule, None, n) for n in (None, 40))
    assert len(some.selected) < len(all_of_them.selected) == 40
    assert_same(all_of_them, sparsify_plain(U, 40, rule, None, 40))
    np.testing.assert_array_equal(all_of_them.draws[:40], some.draws)
    s, later = np.sqrt(2 / 40), np.sqrt(2 / 40) * 40 / len(all_of_them.draws)
    assert all_of_them.promised_lower == pytest.approx((1 - s) * (1 - later))
    assert all_of_them.promised_upper == pytest.approx((1 + s) * (1 + later))
    assert all_of_them.promised_lower > some.promised_lower
    assert len(sparsify(ArrayVectors(U), 90, rule, None, 101).draws) == 4 * 90


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(10))
def test_rows_of_very_different_length(rule, seed):
    """Of rows of length 1e-80, norms can be squared once, and not twice."""
    rng = np.random.default_rng(seed)
    ell = int(rng.integers(1, 6))
    U = np.linalg.qr(rng.standard_normal((3 * ell, ell)))[0]
    short = rng.standard_normal((60, ell)) * 10.0 ** rng.uniform(-82, -78, size=(60, 1))
    U, n_draws = np.vstack([U, short]), int(rng.integers(40, 200))
    assert_same(sparsify(ArrayVectors(U), n_draws, rule), sparsify_plain(U, n_draws, rule))


# what goes wrong is noticed


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("rule", RULES)
def test_decomposes_again_when_a_stale_factor_fails(rule, monkeypatch, gaussian_rows):
    U = gaussian_rows(200, 10)
    factor = numpy_draws.low_rank_factor
    calls = iter(range(10**6))

    def failing(*given):
        if next(calls) % 7 < 2:
            raise LostDefinitenessError
        return factor(*given)

    monkeypatch.setattr(numpy_draws, "low_rank_factor", failing)
    fast = sparsify(ArrayVectors(U), 50, rule)
    assert_same(fast, sparsify_plain(U, 50, rule))
    assert fast.counts["early decompositions"] > 0


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize("rule", RULES)
def test_draws_plainly_when_the_fast_arithmetic_fails(rule, monkeypatch, gaussian_rows):
    def failing(task):
        nothing = np.empty(0, dtype=int), np.empty(0), task.potentials, 0
        return Ahead(State.LOST_DEFINITENESS, *nothing)

    monkeypatch.setattr(numpy_draws, "draws", failing)
    U = gaussian_rows(100, 6)
    fast = sparsify(ArrayVectors(U), 20, rule)
    assert_same(fast, sparsify_plain(U, 20, rule))
    assert fast.counts["plain draws"] == 20


@pytest.mark.parametrize("rule", RULES)
def test_raises_when_nothing_helps(rule, gaussian_rows):
    """Rows that do not add up to the identity: the promise cannot be kept, and that is said."""
    U = gaussian_rows(100, 6)
    U[:, 0] *= 1e-3
    for run in (lambda: sparsify(ArrayVectors(U), 12, rule), lambda: sparsify_plain(U, 12, rule)):
        with pytest.raises(NumericalBreakdownError, match=r"orthonormal enough|cannot happen"):
            run()
