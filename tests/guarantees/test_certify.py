# SPDX-License-Identifier: BSD-3-Clause
"""certify: any selector, any container, and never a false claim."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    VarianceThreshold,
    f_classif,
)
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.preprocessing import StandardScaler
from tests.guarantees.helpers import Chosen

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
    make_ridge_synthetic,
)
from ridgewise.guarantees import certify, measured_certificate, random_features
from ridgewise.spectrum import compute_spectrum

SELECTORS = [
    BSSSelector(25),
    BSSSelector(25, rule="slack", center=True),
    LeverageSelector(40, random_state=0),
    LeverageSelector(30, sampling="top", center=True),
    RRQRSelector(30),
    InformationGainSelector(30, threshold="median"),
    RandomSelector(30, random_state=0),
    SelectKBest(f_classif, k=30),
    VarianceThreshold(0.9),
    RFE(Ridge(), n_features_to_select=30, step=10),
    SelectFromModel(Ridge(), max_features=30, threshold=-np.inf),
]


class Masked:
    """The least that somebody's selector can be."""

    def __init__(self, mask):
        self.mask = mask

    def get_support(self):
        return self.mask


def data(seed=0, n=12, d=60):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.exp(rng.normal(size=d) / 2), np.tile([0, 1], n // 2)


def brute_force(X, selected, weights, alpha=0.0):
    """The generalized eigenvalues of K~ + alpha against K + alpha, by the textbook."""
    K, K_selected = X @ X.T, (X[:, selected] * weights) @ X[:, selected].T
    V = np.linalg.svd(X, full_matrices=alpha > 0)[0]
    if alpha == 0:
        V = V[:, : np.linalg.matrix_rank(X)]
    shift = alpha * np.eye(V.shape[1])
    eigenvalues = eigh(V.T @ K_selected @ V + shift, V.T @ K @ V + shift, eigvals_only=True)
    return eigenvalues[[0, -1]]


def parts(selector):
    if hasattr(selector, "selected_"):
        return selector.selected_, selector.weights_
    selected = np.flatnonzero(selector.get_support())
    return selected, np.ones(len(selected))


@pytest.mark.parametrize("alpha", [0.0, 5.0])
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)
def test_any_selector_is_certified_by_what_brute_force_finds(selector, alpha):
    X, y = data()
    selector.fit(X, y)
    certificate = certify(X, selector, alpha=alpha)
    if getattr(selector, "center", False):
        X = X - X.mean(axis=0)
    assert_allclose(
        [certificate.lower, certificate.upper], brute_force(X, *parts(selector), alpha), rtol=1e-9
    )
    assert certificate.verified
    assert certificate.note == ""


@pytest.mark.parametrize("selector", SELECTORS[:4], ids=lambda selector: type(selector).__name__)
def test_ours_measure_the_same_and_their_promise_is_kept(selector):
    X, y = data()
    measured = selector.fit(X, y).certificate_
    certificate = certify(X, selector)
    assert_allclose([certificate.lower, certificate.upper], [measured.lower, measured.upper])
    exact = brute_force(X - X.mean(axis=0) * selector.center, *parts(selector))
    if not selector.center:
        assert measured.lower < exact[0] < exact[1] < measured.upper
    assert certificate.promised_lower == measured.promised_lower
    assert certificate.confidence == measured.confidence
    larger = certify(X, selector, alpha=1.0)
    assert larger.promised_upper == measured.promised_upper


def test_a_promise_is_about_the_data_it_was_made_for():
    X, _ = data()
    selector = BSSSelector(25).fit(X)
    assert certify(data(seed=1)[0], selector).promised_lower is None


def test_the_selectors_own_alpha_is_the_default():
    X, _ = data()
    chosen = Chosen(np.arange(5), np.ones(5), 60, alpha_=3.0)
    assert certify(X, chosen).alpha == 3.0
    assert certify(X, chosen, alpha=0).alpha == 0.0


def test_a_mask_is_enough():
    X, _ = data()
    mask = np.arange(60) % 2 == 0
    certificate = certify(X, Masked(mask))
    ends = brute_force(X, np.flatnonzero(mask), np.ones(30))
    assert_allclose([certificate.lower, certificate.upper], ends, rtol=1e-9)


# Rounding


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("center", [False, True])
def test_duplicates_and_zeros_explain_a_lower_rank(container, center):
    X = np.vstack([data(n=6)[0], np.zeros((2, 60)), data(n=6)[0][[0, 0, 3]]])
    certificate = certify(container(X), Chosen(np.arange(30), np.ones(30), 60, center=center))
    assert certificate.verified
    tall = np.hstack([X[:6, :4].T, X[:6, :4].T]).T
    chosen = Chosen(np.arange(4), 2 * np.ones(4), 4)
    assert certify(container(tall), chosen).verified


def test_sums_of_rows_do_not():
    X = data(n=6)[0]
    X = np.vstack([X, X.sum(axis=0)])
    certificate = certify(X, Chosen(np.arange(30), np.ones(30), 60))
    assert certificate.verified
    assert "about the leading 6 singular vectors of X only" in str(certificate)
    with_rank = certify(X, Chosen(np.arange(30), np.ones(30), 60, rank=6))
    assert (with_rank.lower, with_rank.upper) == (certificate.lower, certificate.upper)
    assert certify(X, Chosen(np.arange(30), np.ones(30), 60), alpha=0.1).verified


# What may be asked


def test_fewer_features_than_the_rank_are_certified_with_alpha_only():
    X, _ = data()
    chosen = Chosen(np.arange(8), np.full(8, 3.0), 60)
    certificate = certify(X, chosen)
    assert (certificate.lower, certificate.verified) == (0.0, False)
    assert "alpha > 0" in str(certificate)
    assert certify(X, chosen, alpha=10.0).verified


def test_an_interval_with_alpha_holds_for_larger_ones():
    X, _ = data()
    chosen = Chosen(np.arange(8), np.full(8, 3.0), 60)
    certificate = certify(X, chosen, alpha=2.0)
    for alpha in (2.0, 3.0, 10.0, 1e4):
        ends = brute_force(X, chosen.selected_, chosen.weights_, alpha)
        assert certificate.lower <= ends[0] <= ends[1] <= max(certificate.upper, 1.0)


def test_what_the_samples_do_not_span_is_in_the_interval():
    X = np.repeat(data(n=4)[0], 2, axis=0)
    chosen = Chosen(np.arange(30), np.full(30, 0.1), 60)
    certificate = certify(X, chosen, alpha=1.0)
    assert certificate.upper >= 1
    assert_allclose(
        [certificate.lower, certificate.upper],
        brute_force(X, chosen.selected_, chosen.weights_, 1.0),
        rtol=1e-9,
    )


@pytest.mark.parametrize("weights", [1.0, 2.5])
def test_everything_selected_is_everything_kept(weights):
    X, _ = data()
    certificate = certify(X, Chosen(np.arange(60), np.full(60, weights), 60))
    assert certificate.verified
    assert_allclose([certificate.lower, certificate.upper], weights)
    if weights == 1:
        assert certificate.lower == certificate.upper == 1
        assert certificate.epsilon == 0


def test_nothing_selected_is_nothing_certified():
    X, y = data()
    nothing = SelectKBest(f_classif, k=0).fit(X, y)
    certificate = certify(X, nothing)
    assert (certificate.lower, certificate.upper, certificate.verified) == (0, 0, False)
    k = np.linalg.svd(X, compute_uv=False)[0] ** 2
    assert certify(X, nothing, alpha=1.0).lower == pytest.approx(1 / (1 + k))


CONTAINERS = {
    "float64": np.asarray,
    "Fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "coo": sp.coo_array,
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
    "int": lambda X: X.astype(np.int32),
    "float32": lambda X: X.astype(np.float32),
}


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("name", CONTAINERS)
@pytest.mark.parametrize("shape", [(9, 50), (50, 9)])
def test_every_container_gives_the_same(name, center, shape):
    X = np.random.default_rng(0).poisson(1.0, size=shape).astype(float)
    d = shape[1]
    chosen = Chosen(np.arange(min(d, 20)), np.full(min(d, 20), 1.5), d, center=center)
    expected, found = (certify(Y, chosen, alpha=0.0) for Y in (X, CONTAINERS[name](X)))
    assert_allclose([found.lower, found.upper], [expected.lower, expected.upper], rtol=1e-8)
    assert found.verified


def test_extreme_scales_change_nothing():
    X, _ = data()
    chosen = Chosen(np.arange(30), np.ones(30), 60)
    expected = certify(X, chosen)
    for scale in (2.0**-450, 2.0**450):
        found = certify(X * scale, chosen)
        assert found.verified
        assert_allclose([found.lower, found.upper], [expected.lower, expected.upper], rtol=1e-9)


def test_a_spectrum_and_a_selection_are_measured_without_verification():
    X, _ = data()
    spectrum = compute_spectrum(X, center=True)
    certificate = measured_certificate(spectrum, [3, 1, 2], alpha=4.0, promised=(0.0, 2.0))
    assert (certificate.promised_lower, certificate.promised_upper) == (0.0, 2.0)
    assert not certificate.verified
    assert certificate.selection.selected == (3, 1, 2)
    assert certificate.selection.center
    assert_allclose(
        [certificate.lower, certificate.upper],
        brute_force(X - X.mean(axis=0), [3, 1, 2], np.ones(3), 4.0),
    )


def test_sparse_data_of_extended_precision():
    X, _ = data()
    X_long = sp.csr_array(X.astype(np.longdouble))
    chosen = Chosen(np.arange(30), np.ones(30), 60)
    assert certify(X_long, chosen).lower == pytest.approx(certify(X, chosen).lower, rel=1e-9)
    assert BSSSelector(30).fit(X_long).n_selected_ == BSSSelector(30).fit(X).n_selected_


# Errors


def test_an_unfitted_selector_is_refused():
    with pytest.raises(NotFittedError):
        certify(data()[0], BSSSelector(20))
    with pytest.raises(NotFittedError):
        certify(data()[0], SelectKBest(k=3))


@pytest.mark.parametrize("wrong", [StandardScaler(), LinearRegression(), "bss", None])
def test_what_is_no_selector_is_refused(wrong):
    with pytest.raises(TypeError, match="get_support"):
        certify(data()[0], wrong)


def test_other_features_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="59 features, and SelectKBest was fitted on 60"):
        certify(X[:, 1:], SelectKBest(k=3).fit(X, y))
    frame = pd.DataFrame(X).rename(columns=str)
    selector = RandomSelector(30).fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        certify(frame[frame.columns[::-1]], selector)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_values_that_are_not_finite_are_refused(value, container):
    X, _ = data()
    chosen = Chosen(np.arange(30), np.ones(30), 60)
    X[3, 4] = value
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        certify(container(X), chosen)


@pytest.mark.parametrize("alpha", [-1.0, math.nan, math.inf])
def test_alpha_must_be_a_number_of_at_least_zero(alpha):
    with pytest.raises(ValueError, match="alpha"):
        certify(data()[0], Chosen(np.arange(30), np.ones(30), 60), alpha=alpha)


def test_data_without_a_feature_that_varies_is_refused():
    with pytest.raises(ValueError, match="zero"):
        certify(np.zeros((3, 60)), Chosen(np.arange(3), np.ones(3), 60))
    with pytest.raises(ValueError, match="constant"):
        certify(np.ones((3, 60)), Chosen(np.arange(3), np.ones(3), 60, center=True))


@pytest.mark.parametrize("alpha", [0.0, 5.0])
@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(k=20),
        LeverageSelector(30, random_state=0),
        LeverageSelector(20, sampling="top"),
        RRQRSelector(20),
        RandomSelector(20, random_state=0),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_polish_gives_the_features_of_any_selector_better_weights(selector, alpha):
    X = np.random.default_rng(0).standard_normal((6, 60))
    best = selector.fit(X, [0, 1] * 3)
    plain, better = certify(X, best, alpha=alpha), certify(X, best, alpha=alpha, polish=True)
    assert better.epsilon < plain.epsilon
    assert better.verified
    selected = X[:, list(better.selection.selected)]
    ridge = alpha * np.eye(6)
    K, kept = X @ X.T + ridge, (selected * better.selection.weights) @ selected.T + ridge
    ends = np.linalg.eigvals(np.linalg.solve(K, kept)).real
    assert better.lower <= ends.min() + 1e-9
    assert better.upper >= ends.max() - 1e-9


# Random features, to compare with


@pytest.mark.parametrize("alpha", [0.0, 50.0])
@pytest.mark.parametrize("center", [False, True])
def test_one_random_draw_is_what_certify_finds(alpha, center):
    X, _ = make_ridge_synthetic(20, 200, random_state=0)
    X -= X.mean(axis=0) * center
    found = random_features(X, 60, alpha=alpha, center=center, n_draws=1, random_state=3)
    certificate = certify(X, RandomSelector(60, random_state=3).fit(X), alpha=alpha)
    if center and alpha == 0:  # centred by hand, certify cannot tell that the rank is 19
        return
    assert_allclose(found.interval, (certificate.lower, certificate.upper), rtol=1e-7)


def test_rescaling_random_features_multiplies_the_kernel():
    X, _ = make_ridge_synthetic(20, 200, random_state=0)
    found = random_features(X, 50)
    assert_allclose(found.rescaled_interval, np.multiply(found.interval, 4))
    assert found.epsilon == min(1 - found.interval[0], max(found.rescaled_interval[1] - 1, 0))


def test_random_features_of_a_spectrum_give_the_same_and_a_seed_repeats():
    X, _ = make_ridge_synthetic(20, 200, random_state=0)
    spectrum = compute_spectrum(X, center=True)
    assert random_features(spectrum, 50) == random_features(X, 50, center=True)
    assert random_features(X, 50) == random_features(X, 50)
    assert random_features(X, 50) != random_features(X, 50, random_state=1)


def test_bss_is_better_than_random_features():
    X, _ = make_ridge_synthetic(20, 400, random_state=0)
    assert (
        BSSSelector(80, rule="slack").fit(X).certificate_.epsilon < random_features(X, 80).epsilon
    )


def test_impossible_numbers_of_random_features_are_refused():
    X = np.eye(3)
    with pytest.raises(ValueError, match="n_features from 1 to 3"):
        random_features(X, 4)
    with pytest.raises(ValueError, match="every feature of X is constant"):
        random_features(np.ones((3, 4)), 2, center=True)
