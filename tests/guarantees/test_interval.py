# SPDX-License-Identifier: BSD-3-Clause
"""Measured, verified and certified intervals against exact arithmetic."""

import math
import re

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.preprocessing import StandardScaler
from tests.guarantees.helpers import Chosen, assert_holds, exact_interval, ill_conditioned

from ridgewise import BSSSelector, certify
from ridgewise.guarantees import Selection, measured_certificate
from ridgewise.guarantees._interval import Interval, measured_interval, verified_interval
from ridgewise.spectrum import compute_spectrum

LEVELS = ["measured", "verified", "certified"]


def interval(level, X, selected, weights, alpha=0.0, **settings):
    """The interval; of `certify`, [0, infinity] where it certifies nothing and says so."""
    if level == "certified":
        certificate = certify(X, Chosen(selected, weights, X.shape[1]), alpha=alpha)
        assert certificate.verified or "not certified" in str(certificate)
        ends = certificate.lower, certificate.upper
        return Interval(*ends) if certificate.verified else Interval(0.0, math.inf)
    spectrum = compute_spectrum(X, **settings)
    if level == "measured":
        return measured_interval(spectrum, spectrum.take(selected), weights, alpha)
    selection = Selection.of(spectrum, selected, weights)
    return verified_interval(spectrum, selection, alpha)


@pytest.mark.parametrize("power", range(2, 16))
def test_it_is_true_and_tight_where_digits_are_left(power):
    for seed in range(4):
        X, selected, weights = ill_conditioned(power, seed)
        exact = exact_interval(X, selected, weights)
        is_whole = compute_spectrum(X).is_whole
        for level in LEVELS:
            found = interval(level, X, selected, weights)
            if is_whole or level == "certified":
                assert_holds(found, exact)
            if power <= 10:
                assert found.says_something
            if power <= 8:
                assert_allclose(found, [float(exact[0]), float(exact[1])], rtol=1e-3)


@pytest.mark.parametrize("power", [2, 4, 5])
def test_what_follows_from_the_kernel_is_true(power):
    for seed in range(6):
        X, selected, weights = ill_conditioned(power, seed)
        exact = exact_interval(X, selected, weights)
        for level in LEVELS[:2]:
            found = interval(level, X, selected, weights, solver="gram")
            assert_holds(found, exact)
            assert found.says_something


@pytest.mark.parametrize("power", [2, 5, 8, 11, 13, 15])
@pytest.mark.parametrize("alpha", [1e-12, 1e-8, 1e-6, 1e-2])
def test_with_regularization_it_is_true_and_rarely_vacuous(power, alpha):
    X, selected, weights = ill_conditioned(power, 0)
    for count in (15, 4):
        few = selected[:count], weights[:count]
        exact = exact_interval(X, *few, alpha)
        for level in LEVELS:
            found = interval(level, X, *few, alpha)
            assert_holds(found, exact)
            assert found.says_something or alpha < (1e-8 if count == 15 else 1e-6)


@pytest.mark.parametrize("power", [2, 8, 15])
@pytest.mark.parametrize("alpha", [1e-8, 1e-3])
def test_square_data_of_low_rank(power, alpha):
    X, selected, weights = ill_conditioned(power, 0, d=16)
    X = X.T @ X
    exact = exact_interval(X, selected, weights, alpha)
    for level in LEVELS:
        found = interval(level, X, selected, weights, alpha)
        assert_holds(found, exact)
        assert found.says_something


@pytest.mark.parametrize("alpha", [1e-6, 1e-2])
def test_tall_data(alpha):
    X, selected, weights = ill_conditioned(6, 0, n=12, d=12)
    X = np.vstack([X, X[::-1] * 2, X[::2]])
    few = selected[:5] % 12, weights[:5]
    exact = exact_interval(X, *few, alpha)
    for level in LEVELS:
        found = interval(level, X, *few, alpha)
        assert_holds(found, exact)
        assert found.says_something


@pytest.mark.parametrize("power", [2, 6, 9, 12])
@pytest.mark.parametrize("alpha", [0.0, 1e-4])
def test_all_features_of_tall_data_with_weights(power, alpha):
    X = np.ascontiguousarray(ill_conditioned(power, 3, n=4, d=9)[0].T)
    weights = np.exp(np.random.default_rng(0).normal(size=4))
    found = interval("certified", X, np.arange(4), weights, alpha)
    assert found.says_something or (power > 9 and alpha == 0)
    exact = min(weights), max(weights)
    assert_holds(found, exact if alpha == 0 else exact_interval(X, range(4), weights, alpha))


@pytest.mark.parametrize("power", [2, 6, 10, 14])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_what_is_certified_of_centred_data_is_true(power, offset):
    X, selected, weights = ill_conditioned(power, 1)
    X = X + offset
    exact = exact_interval(X, selected, weights, center=True)
    for container in (np.asarray, sp.csr_array):
        certificate = certify(container(X), Chosen(selected, weights, 40, center=True))
        assert certificate.verified or power > 6
        if certificate.verified:
            assert_holds(certificate, exact)


@pytest.mark.parametrize("power", [3, 9, 14])
def test_with_a_rank_the_claim_is_about_the_leading_vectors(power):
    X, selected, weights = ill_conditioned(power, 2)
    certificate = certify(X, Chosen(selected, weights, 40, rank=3))
    V = compute_spectrum(X, rank=3, solver="auto").V
    assert certificate.verified
    assert_holds(certificate, exact_interval(X, selected, weights, basis=V))


@pytest.mark.parametrize("rank", [3, 4])
def test_verified_with_alpha_it_is_about_all_of_x_even_where_the_rank_is_cut(rank):
    X, selected, weights = ill_conditioned(6, 0)
    found = interval("verified", X, selected, weights, 1e-3, rank=rank)
    assert_holds(found, exact_interval(X, selected, weights, 1e-3))


def test_singular_values_lost_by_the_kernel_are_found_by_qr():
    X = np.diag([1.0, 1e-3, 1e-10]) @ np.random.default_rng(0).normal(size=(3, 20))
    assert compute_spectrum(X, solver="gram").rank == 2
    found = interval("certified", X, np.arange(10), np.ones(10))
    assert found.says_something
    assert_holds(found, exact_interval(X, range(10), np.ones(10)))


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
    assert_holds(found, exact)
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
    exact = exact_interval(X, selector.selected_, selector.weights_, center=center)
    assert_holds(certificate, exact)
    assert certificate.lower > 0
    assert not certificate.note


@pytest.mark.parametrize("shape", [(20, 300), (60, 25)])
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_data_centred_by_hand_is_certified_like_centred_data(shape, offset):
    """StandardScaler leaves a singular value of rounding size, and the certificate says so."""
    X = StandardScaler().fit_transform(offset + np.random.default_rng(0).normal(size=shape))
    by_hand, centred = (BSSSelector(60, center=center).fit(X) for center in (False, True))
    for found, reference in (
        (by_hand.certificate_, centred.certificate_),
        (certify(X, by_hand), certify(X, centred)),
    ):
        assert_allclose([found.lower, found.upper], [reference.lower, reference.upper], rtol=1e-8)
        assert found.promised_lower == reference.promised_lower
        assert found.verified == reference.verified
        if shape[0] < shape[1]:  # tall data has full rank, also where it was centred
            assert f"about the leading {shape[0] - 1} singular vectors of X only" in str(found)
            assert found.prediction_bound(X, X[:, 0], X[:2], 0.0).sign_certain.tolist() == [0, 0]


def test_a_cut_that_is_not_clear_claims_nothing():
    """Singular values go on below the cut-off, so the leading ones are not known."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(m, 20)))[0] for m in (20, 500))
    X = left * np.logspace(0, -14, 20) @ right.T
    selector = BSSSelector(100).fit(X)
    for certificate in (selector.certificate_, certify(X, selector)):
        assert "not certified: X is too ill-conditioned" in str(certificate)
        assert "promised" not in str(certificate)


def test_a_kernel_that_is_asked_for_is_said_to_hide_directions():
    X = 1e7 + np.random.default_rng(0).normal(size=(12, 200))
    certificate = BSSSelector(30, solver="gram").fit(X).certificate_
    assert re.search(
        r"leading 1 singular vectors of X only: singular values below \S+ are taken for rounding",
        str(certificate),
    )
    assert certificate.selection.rank == 1
    assert certificate.eta == 1  # a model uses all of X
    with_rank = BSSSelector(30, rank=3).fit(X[:, :100]).certificate_
    assert "about the leading 3 singular vectors of X only" in str(with_rank)


def test_sparse_data_is_verified_by_its_kernel():
    X = sp.random_array((30, 500), density=0.1, random_state=0, format="csr")
    for data in (X, X.toarray()):
        spectrum = compute_spectrum(data)
        selection = Selection.of(spectrum, np.arange(200))
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
