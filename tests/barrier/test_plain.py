# SPDX-License-Identifier: BSD-3-Clause
"""The plain algorithm: what its mathematics promises, and where the paper's print does not hold."""

import numpy as np
import pytest
from tests.barrier.helpers import extremes, gaussian_rows, lone_row, rows_of

from ridgewise.barrier import RULES, sparsify_plain, weighted_spectrum
from ridgewise.barrier import _plain as plain
from ridgewise.barrier._problem import Barriers


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_promise(rule, seed, family):
    """Lemma 1, with the spectrum computed here from the weights."""
    rng = np.random.default_rng([seed, *family.encode()])
    U = rows_of(family, rng)
    ell = U.shape[1]
    n_draws = ell + 1 + int(rng.integers(0, 6 * ell))
    found = sparsify_plain(U, n_draws, rule)
    lower, upper = extremes(U[found.selected], found.weights)
    s = np.sqrt(ell / n_draws)
    assert (1 - s) ** 2 - 1e-9 <= lower <= upper <= (1 + s) ** 2 + 1e-9
    assert (found.lower, found.upper) == pytest.approx((lower, upper), abs=1e-9)
    assert len(found.selected) == len(set(found.selected)) <= n_draws


def test_barrier_invariants_at_every_draw(family, monkeypatch):
    """L < lambda_min, lambda_max < U, potentials never rise, sum U(u) <= 1 - s <= sum L(u)."""
    U = rows_of(family, np.random.default_rng(1))
    ell = U.shape[1]
    n_draws = 3 * ell
    s = np.sqrt(ell / n_draws)
    barriers = Barriers(ell, n_draws)
    lower, upper = plain.lower_shift, plain.upper_shift
    seen = []

    def check_lower(u, delta, A, L):
        assert np.linalg.eigvalsh(A)[0] > L + delta
        assert plain.lower_potential(L, A) <= s + 1e-9
        lv, term = lower(u, delta, A, L)
        assert lv.sum() >= 1 - s - 1e-9
        return lv, term

    def check_upper(u, delta, A, limit):
        assert np.linalg.eigvalsh(A)[-1] < limit
        assert plain.upper_potential(limit, A) <= s / barriers.delta_U + 1e-9
        uv = upper(u, delta, A, limit)
        assert uv.sum() <= 1 - s + 1e-9
        seen.append(limit)
        return uv

    monkeypatch.setattr(plain, "lower_shift", check_lower)
    monkeypatch.setattr(plain, "upper_shift", check_upper)
    sparsify_plain(U, n_draws)
    assert len(seen) == n_draws


def test_weights_of_the_print_break_the_promise():
    """As printed, D = 1/sqrt(t): then the weights are 1/t, and the spectrum is nowhere near 1."""
    U = gaussian_rows(200, 5)
    found = sparsify_plain(U, 40)
    barriers = Barriers(5, 40)
    t = found.weights / barriers.weight_scale(40)
    lower, upper = extremes(U[found.selected], barriers.weight_scale(40) / t)
    assert lower < barriers.promised(40)[0]
    assert upper < 0.1


def test_stall_is_answered_by_a_repeat():
    """Only u_1 covers its direction: the paper's rule, unselected rows only, has nowhere to go."""
    found = sparsify_plain(lone_row(1000), 20)
    assert np.count_nonzero(found.draws == 0) > 1
    assert (found.lower, found.upper) == pytest.approx((0.799, 0.969), abs=1e-3)


def test_tiny_row_may_get_a_huge_weight_within_the_promise():
    """Feasibility is a matter of direction: w ~ 1 / ||u||^2, and the certificate still holds."""
    U = np.zeros((3, 2))
    U[0, 0], U[1, 0], U[2, 1] = np.sqrt(1 - 1e-12), 1e-6, 1
    found = sparsify_plain(U, 8)
    assert found.weights.max() > 1e10
    assert found.promised_lower <= found.lower <= found.upper <= found.promised_upper


def test_zero_rows_are_never_selected():
    U = np.vstack([np.zeros((5, 4)), gaussian_rows(30, 4), np.zeros((5, 4))])
    for rule in RULES:
        selected = sparsify_plain(U, 25, rule).selected
        assert selected.min() >= 5
        assert selected.max() < 35


@pytest.mark.parametrize("n_draws", [1, 4])
def test_needs_more_draws_than_the_rank(n_draws):
    with pytest.raises(ValueError, match=f"got {n_draws} draws for vectors of rank 4"):
        sparsify_plain(gaussian_rows(30, 4), n_draws)


def test_one_more_draw_than_the_rank():
    found = sparsify_plain(gaussian_rows(300, 27), 28)
    assert found.lower >= found.promised_lower == pytest.approx(3.2e-4, rel=0.05)


def test_unknown_rule():
    with pytest.raises(
        ValueError, match="rule must be one of 'norm', 'slack', 'ratio'; got 'best'"
    ):
        sparsify_plain(gaussian_rows(30, 4), 10, "best")


@pytest.mark.parametrize("rule", RULES)
def test_invariances(rule):
    """A rotation of the columns changes nothing, a permutation of the rows only their names."""
    U, rng = gaussian_rows(80, 5), np.random.default_rng(0)
    found = sparsify_plain(U, 20, rule)
    rotation = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    rotated = sparsify_plain(U @ rotation, 20, rule)
    np.testing.assert_array_equal(rotated.draws, found.draws)
    np.testing.assert_allclose(rotated.weights, found.weights, rtol=1e-9)
    permutation = rng.permutation(80)
    permuted = sparsify_plain(U[permutation], 20, rule)
    np.testing.assert_array_equal(permutation[permuted.draws], found.draws)


def test_weighted_spectrum_of_fewer_rows_than_columns():
    lower, upper = weighted_spectrum(gaussian_rows(30, 4)[:3], np.ones(3))
    assert lower == 0
    assert 0 < upper < 1
