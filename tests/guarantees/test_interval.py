# SPDX-License-Identifier: BSD-3-Clause
"""Measured and verified intervals against arithmetic with 80 digits."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from mpmath import mp
from numpy.testing import assert_allclose

from ridgewise import BSSSelector
from ridgewise.guarantees import Selection, measured_certificate
from ridgewise.guarantees._interval import Interval, measured_interval, verified_interval
from ridgewise.spectrum import compute_spectrum

POWERS = [2, 4, 6, 8, 10, 12, 13, 14, 15]
LEVELS = ["measured", "verified"]


def ill_conditioned(power, seed, n=6, d=40):
    """X with condition number 10^power, and a weighted selection of its features."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    U = np.linalg.qr(rng.normal(size=(d, n)) * np.exp(rng.normal(size=(d, 1))))[0]
    X = V * np.logspace(0, -power, n) @ U.T
    return X, rng.permutation(d)[:15], np.exp(2 * rng.normal(size=15))


def exact_interval(X, selected, weights, alpha=0.0, center=False):
    """The spectrum of K~ + alpha against K + alpha, to 80 digits less the condition of K."""
    with mp.workdps(80):
        W = mp.diag([mp.mpf(float(w)) for w in weights])
        full = mp.matrix(X.tolist()) / mp.mpf(np.abs(X).max() if alpha == 0 else 1)
        if center:  # n - 1 samples that have the same kernel
            n = len(X)
            H = mp.matrix(n - 1, n)
            for i in range(n - 1):
                for j in range(i + 2):
                    H[i, j] = (1 if j <= i else -(i + 1)) / mp.sqrt((i + 1) * (i + 2))
            full = H * full
        part = mp.matrix([[full[i, int(j)] for j in selected] for i in range(full.rows)])
        identity = mp.mpf(alpha) * mp.eye(full.rows)
        inverse = mp.inverse(mp.cholesky(full * full.T + identity))
        M = inverse * (part * W * part.T + identity) * inverse.T
        eigenvalues = mp.eigsy((M + M.T) / 2, eigvals_only=True)
        return eigenvalues[0], eigenvalues[full.rows - 1]


def interval(level, X, selected, weights, alpha=0.0, **settings):
    spectrum = compute_spectrum(X, **settings)
    if level == "measured":
        return measured_interval(spectrum, spectrum.take(selected), weights, alpha)
    selection = Selection.of(selected, weights, n_features=X.shape[1])
    return verified_interval(spectrum, selection, alpha)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("power", POWERS)
def test_it_is_true_and_tight_where_digits_are_left(power, level):
    for seed in range(6):
        X, selected, weights = ill_conditioned(power, seed)
        exact_a, exact_b = exact_interval(X, selected, weights)
        found = interval(level, X, selected, weights)
        if compute_spectrum(X).is_whole:
            assert found.lower <= exact_a
            assert exact_b <= found.upper
        if power <= 10:
            assert found.says_something
        if power <= 8:
            assert_allclose(found, [float(exact_a), float(exact_b)], rtol=1e-3)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("power", [2, 4, 5])
def test_what_follows_from_the_kernel_is_true(power, level):
    for seed in range(6):
        X, selected, weights = ill_conditioned(power, seed)
        exact_a, exact_b = exact_interval(X, selected, weights)
        found = interval(level, X, selected, weights, solver="gram")
        assert found.lower <= exact_a
        assert exact_b <= found.upper
        assert found.says_something


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("alpha", [1e-8, 1e-3])
def test_with_regularization_it_is_true_and_never_vacuous(power, alpha, level):
    X, selected, weights = ill_conditioned(power, 0)
    exact_a, exact_b = exact_interval(X, selected, weights, alpha)
    for data in (X, X.T @ X):  # wide and square
        exact_a, exact_b = exact_interval(data, selected, weights, alpha)
        found = interval(level, data, selected, weights, alpha)
        assert found.lower <= exact_a
        assert exact_b <= found.upper
        assert found.says_something


@pytest.mark.parametrize("alpha", [1e-6, 1e-2])
def test_tall_data(alpha):
    X, selected, weights = ill_conditioned(6, 0, n=12, d=12)
    X = np.vstack([X, X[::-1] * 2, X[::2]])
    exact_a, exact_b = exact_interval(X, selected[:5] % 12, weights[:5], alpha)
    for level in LEVELS:
        found = interval(level, X, selected[:5] % 12, weights[:5], alpha)
        assert found.lower <= exact_a
        assert exact_b <= found.upper
        assert found.says_something


@pytest.mark.parametrize("rank", [3, 4])
def test_verified_with_alpha_it_is_about_all_of_x_even_where_the_rank_is_cut(rank):
    X, selected, weights = ill_conditioned(6, 0)
    exact_a, exact_b = exact_interval(X, selected, weights, 1e-3)
    found = interval("verified", X, selected, weights, 1e-3, rank=rank)
    assert found.lower <= exact_a
    assert exact_b <= found.upper


def test_the_plain_interval_is_false_where_the_verified_one_is_true():
    X, selected, weights = ill_conditioned(13, 0)
    exact_a, exact_b = exact_interval(X, selected, weights)
    spectrum = compute_spectrum(X)
    rows = np.sqrt(weights)[:, None] * spectrum.take(selected)
    a, *_, b = np.linalg.eigvalsh(rows.T @ rows)
    assert a > exact_a or exact_b > b


def test_where_rounding_leaves_nothing_it_says_so():
    assert Interval(0.5, 1.5).widened(selected_error=0.1, kernel_error=1.0) == (0.0, math.inf)
    found = Interval(0.5, 1.5).widened(selected_error=0.6, kernel_error=0.0)
    assert found.lower == 0
    assert not found.says_something


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200])
def test_subnormal_and_huge_numbers(scale, center):
    """Means were taken before numbers were scaled: a verified interval was short by 1e-12."""
    X, selected, weights = ill_conditioned(2, 0)
    X = (X + 3) * scale
    exact = exact_interval(X, selected, weights, center=center)
    found = interval("verified", X, selected, weights, center=center)
    assert found.lower <= exact[0]
    assert exact[1] <= found.upper
    assert found.lower > exact[0] * 0.999


@pytest.mark.parametrize("offset", [1.0, 1e3, 1e5, 1e6, 1e7, 1e8, 1e9])
@pytest.mark.parametrize("center", [False, True])
def test_an_offset_hides_no_direction(offset, center):
    """At 1e7 a fit saw one direction of 30, and certified 4 features."""
    rng = np.random.default_rng(0)
    X = offset + rng.normal(size=(12, 200))
    selector = BSSSelector(30, center=center).fit(X)
    assert selector.rank_ == 12 - center
    certificate = selector.certificate_
    exact_a, exact_b = exact_interval(X, selector.selected_, selector.weights_, center=center)
    assert certificate.lower <= exact_a
    assert exact_b <= certificate.upper
    assert certificate.lower > 0
    assert not certificate.note


def test_a_kernel_that_is_asked_for_is_said_to_hide_directions():
    X = 1e7 + np.random.default_rng(0).normal(size=(12, 200))
    certificate = BSSSelector(30, solver="gram").fit(X).certificate_
    assert "more than the 1 singular values" in certificate.note
    assert "not certified" in str(certificate)
    assert certificate.promised_lower is None
    with_rank = BSSSelector(30, rank=3).fit(X[:, :100]).certificate_
    assert "about the leading 3 singular vectors of X only" in str(with_rank)


def test_sparse_data_is_verified_by_its_kernel():
    X = sp.random_array((30, 500), density=0.1, rng=0, format="csr")
    selection = Selection.of(np.arange(200), n_features=500)
    for data in (X, X.toarray()):
        spectrum = compute_spectrum(data)
        found = verified_interval(spectrum, selection, 0.0)
        rows = spectrum.take(selection.indices)
        assert_allclose(found, np.linalg.svd(rows)[1][[-1, 0]] ** 2, rtol=1e-6)


def test_a_broken_promise_is_not_repeated():
    spectrum = compute_spectrum(np.random.default_rng(0).normal(size=(4, 20)))
    kept = measured_certificate(spectrum, np.arange(15), promised=(0.01, 2.0))
    broken = measured_certificate(spectrum, np.arange(15), promised=(0.99, 2.0))
    likely = measured_certificate(spectrum, np.arange(15), promised=(0.99, 2.0), confidence=0.9)
    assert (kept.promised_lower, broken.promised_lower) == (0.01, None)
    assert likely.promised_lower == 0.99
