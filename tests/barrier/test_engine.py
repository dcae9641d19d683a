# SPDX-License-Identifier: BSD-3-Clause
"""The engine gives what the plain algorithm gives, and notices when rounding defeats it."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.barrier.helpers import (
    extremes,
    gaussian_rows,
    orthonormal,
    rows_of,
    same_as_plain,
    scaled_rows,
)

from ridgewise.barrier import (
    RULES,
    ArrayVectors,
    NumericalBreakdownError,
    penalized_norms2,
    sparsify,
    sparsify_plain,
)
from ridgewise.barrier import _compiled as compiled
from ridgewise.barrier import _problem as problem
from ridgewise.spectrum import compute_spectrum

SEEDS = [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))]

either_way = pytest.mark.usefixtures("arithmetic")
all_rules = pytest.mark.parametrize("rule", RULES)


@either_way
@all_rules
@pytest.mark.parametrize("seed", SEEDS)
def test_same_as_plain(rule, seed, family):
    """And as Lemma 1 promises, with the spectrum computed here from the weights."""
    rng = np.random.default_rng([seed, *family.encode()])
    U = rows_of(family, rng)
    ell = U.shape[1]
    n_draws = ell + 1 + int((39 * ell - 1) * rng.random() ** 3)  # to 40 l, small ones more often
    distinct = min(n_draws, len(U)) if seed % 2 else None
    for penalty in (None, 10 ** rng.uniform(-2, 2, size=ell)):
        fast = same_as_plain(U, n_draws, rule, penalty, distinct)
        lower, upper = extremes(U[fast.selected], fast.weights, penalty)
        s = np.sqrt((ell if penalty is None else np.sum(1 / (1 + penalty))) / n_draws)
        assert (1 - s) ** 2 - 1e-9 <= lower <= upper <= (1 + s) ** 2 + 1e-9
        np.testing.assert_allclose([fast.lower, fast.upper], [lower, upper], atol=1e-9)


@either_way
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
    U = orthonormal(np.reshape(entries[: len(entries) // 3 * 3], (-1, 3)).astype(float))
    if U.shape[1] > 0:
        same_as_plain(U, U.shape[1] + extra, rule)


@either_way
@all_rules
def test_same_as_plain_at_larger_rank(rule):
    for U in (gaussian_rows(1500, 60, seed=3), scaled_rows(1500, 61)):
        fast = same_as_plain(U, 150, rule)
        assert fast.counts.get("scans", 0) <= 10
        assert fast.counts.get("decompositions", 0) <= 20


@either_way
@pytest.mark.parametrize("penalized", [False, True])
def test_rows_beyond_a_prefix(penalized, monkeypatch):
    """They are drawn where no unselected row of the prefix is feasible."""
    monkeypatch.setattr(problem, "PREFIX", 0.1)
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.lognormal(size=400)[:, None] * rng.standard_normal((400, 12)))[0]
    penalty = np.logspace(-2, 1, 12) if penalized else None
    fast = same_as_plain(U, 60, "norm", penalty)
    order = problem.scan_order(penalized_norms2(ArrayVectors(U), penalty))
    assert fast.draws[0] == order[0]
    assert len(np.setdiff1d(fast.draws, order[:6])) > 0
    assert fast.counts["scans"] > 0


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
def test_scores_of_few_digits_fill_the_same_pool(rule, error):
    U = scaled_rows(1200, 15)
    same_as_plain(Rounded(U, error), 60, rule, U=U)


def test_columns_that_single_precision_cannot_tell_apart():
    """They share one rounding error, which says nothing of those of other columns."""
    rng = np.random.default_rng(83)
    m = int(rng.integers(8, 20))
    d = 2**20 // m + 2000  # enough for scores in single precision
    c = rng.standard_normal((m, m + int(rng.integers(2, 40))))
    copies = c[:, rng.integers(0, c.shape[1], d)] * rng.choice([1, 0.5], size=d)
    spectrum = compute_spectrum(copies + 1e-9 * rng.standard_normal((m, d)))
    same_as_plain(spectrum, 54, "ratio", U=spectrum.take(np.arange(d)))


@either_way
@pytest.mark.shared_data
@all_rules
def test_same_as_plain_on_gene_expression(rule, shared_data):
    spectrum = compute_spectrum(np.load(shared_data / "golub" / "X.npz")["X"])
    U = spectrum.take(np.arange(spectrum.shape[1]))
    same_as_plain(spectrum, 100, rule, U=U)
    penalty = spectrum.singular_values[10] ** 2 / spectrum.singular_values**2
    assert np.sum(1 / (1 + penalty)) < 30 < spectrum.rank
    same_as_plain(spectrum, 30, rule, penalty, U=U)


@pytest.mark.shared_data
@pytest.mark.slow
@pytest.mark.exhaustive
@all_rules
def test_same_as_plain_on_all_sets(rule, shared_data, load_techtc):
    for i, folder in enumerate(sorted((shared_data / "techtc").glob("Exp_*"))):
        spectrum = compute_spectrum(load_techtc(folder.name.removeprefix("Exp_")))
        n_draws, penalty = (300, 400, 500)[i % 3], None
        if i % 4 == 3:
            squares = spectrum.singular_values**2
            penalty = np.sort(squares)[len(squares) // 3] / squares
            n_draws = 100 + int(np.sum(1 / (1 + penalty)))
        U = spectrum.take(np.arange(spectrum.shape[1]))
        same_as_plain(spectrum, n_draws, rule, penalty, U=U)


@either_way
@all_rules
def test_goes_on_until_so_many_are_distinct(rule):
    """40 draws give fewer than 40 rows, one many times; more draws give 40, and promise more.

    The row needed again has the largest weight then, so that it is drawn less often.
    """
    U = np.zeros((100, 2))  # only u_1 covers its direction
    U[0, 0], U[1:, 1] = 1, 1 / np.sqrt(99)
    some, all_of_them = (same_as_plain(U, 40, rule, None, n) for n in (None, 40))
    assert np.count_nonzero(some.draws == 0) > 1
    assert len(some.selected) < len(all_of_them.selected) == 40
    assert np.count_nonzero(all_of_them.draws[:40] == 0) < np.count_nonzero(some.draws == 0)
    s, later = np.sqrt(2 / 40), np.sqrt(2 / 40) * 40 / len(all_of_them.draws)
    promised = all_of_them.promised_lower, all_of_them.promised_upper
    assert promised == pytest.approx(((1 - s) * (1 - later), (1 + s) * (1 + later)))
    assert len(sparsify(ArrayVectors(U), 90, rule, None, 101).draws) == 4 * 90


@either_way
@all_rules
@pytest.mark.parametrize("seed", range(10))
def test_rows_of_very_different_length(rule, seed):
    """Of rows of length 1e-80, norms can be squared once, and not twice."""
    rng = np.random.default_rng(seed)
    ell = int(rng.integers(1, 6))
    U = np.linalg.qr(rng.standard_normal((3 * ell, ell)))[0]
    short = rng.standard_normal((60, ell)) * 10.0 ** rng.uniform(-82, -78, size=(60, 1))
    same_as_plain(np.vstack([U, short]), int(rng.integers(40, 200)), rule)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 33, 70])
@pytest.mark.parametrize("rank", [0, 2, 140])
def test_tridiagonalize(size, rank):
    rows = np.random.default_rng(0).standard_normal((rank, size))
    A = rows.T @ rows
    found = compiled.tridiagonalize(A)
    Q, diagonal, off = np.eye(size) @ found.Q, found.diagonal, found.off
    many = np.tile(np.eye(size), (compiled.MANY_ROWS + 1, 1)) @ found.Q  # which form Q
    np.testing.assert_allclose(many[-size:], Q, atol=1e-14)
    T = np.diag(diagonal) + np.diag(off[:-1], 1) + np.diag(off[:-1], -1)
    np.testing.assert_allclose(Q @ T @ Q.T, A, atol=1e-12 * max(np.abs(A).max(), 1))
    np.testing.assert_allclose(Q.T @ Q, np.eye(size), atol=1e-13)
    assert off[-1] == 0
    least = np.linalg.eigvalsh(A)[0]
    assert least - 4 * compiled.TOLERANCE <= found.least <= least + 1e-9


# what goes wrong is noticed


@pytest.mark.usefixtures("by_compiled_code")
@all_rules
def test_decomposes_again_where_compiled_draws_fail(rule, monkeypatch):
    """And draws plainly where that does not help."""
    draws, calls = compiled.draws, iter(range(10**6))

    def failing(*given, most, **settings):
        if next(calls) % 5 not in (2, 3):
            return draws(*given, most=min(2, most), **settings)
        nothing = draws(*given, most=0, **settings)
        return nothing._replace(state=compiled.State.LOST_DEFINITENESS)

    monkeypatch.setattr(compiled, "draws", failing)
    fast = same_as_plain(gaussian_rows(400, 10), 120, rule)
    assert fast.counts["early decompositions"] > 0
    assert fast.counts["plain draws"] > 0
    assert fast.counts["compiled draws"] > 0


@all_rules
def test_raises_when_nothing_helps(rule):
    """Rows that do not add up to the identity: the promise cannot be kept, and that is said."""
    U = gaussian_rows(100, 6)
    U[:, 0] *= 1e-3
    for run in (lambda: sparsify(ArrayVectors(U), 12, rule), lambda: sparsify_plain(U, 12, rule)):
        with pytest.raises(NumericalBreakdownError, match=r"orthonormal enough|cannot happen"):
            run()
