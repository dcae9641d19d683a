# SPDX-License-Identifier: BSD-3-Clause
"""LeverageSelector: unbiased weights, the same draws everywhere, the largest scores."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from ridgewise import LeverageSelector, features_for_epsilon, make_ridge_synthetic
from ridgewise.guarantees import leverage_promise
from ridgewise.selectors import FewerFeaturesWarning
from ridgewise.selectors._leverage import draw_each_once, draw_with_replacement

SAMPLINGS = ("iid", "bernoulli", "top")
# scores of 1/2, 1/2, 1/5, 4/5, 1/2, 1/2 and rank 3
TINY = np.array([[1.0, 1, 0, 0, 0, 0], [0, 0, 1, 2, 0, 0], [0, 0, 0, 0, 3, -3]])


def gaussian(n=5, d=20, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def orthonormal_rows(X, rank=None):
    _, s, Ut = np.linalg.svd(np.asarray(X, dtype=np.float64), full_matrices=False)
    return Ut[: np.count_nonzero(s > 1e-10 * s[0])][:rank].T


def probabilities(X, rank=None):
    U = orthonormal_rows(X, rank)
    return (U**2).sum(axis=1) / U.shape[1]


def weights_of_all(selector):
    """A weight for every feature: 0 where it is not selected."""
    weights = np.zeros(selector.n_features_in_)
    weights[selector.selected_] = selector.weights_
    return weights


# what the weights are


@pytest.mark.parametrize("seed", range(5))
def test_iid_weights(seed):
    """A draw of j adds 1 / (r p_j), and there are r draws."""
    X = gaussian()
    selector = LeverageSelector(30, random_state=seed).fit(X)
    draws = selector.weights_ * 30 * probabilities(X)[selector.selected_]
    assert_allclose(draws, np.round(draws), atol=1e-10)
    assert np.round(draws).sum() == 30
    assert len(np.unique(selector.selected_)) == selector.n_selected_ <= 30


@pytest.mark.parametrize("seed", range(5))
def test_bernoulli_weights(seed):
    """Each feature once, by 1 / min(1, r p_j), in descending order of its score."""
    X = gaussian()
    X[:, 3] *= 100  # a score near 1: surely drawn
    p = probabilities(X)
    selector = LeverageSelector(12, sampling="bernoulli", random_state=seed).fit(X)
    chances = np.minimum(1, 12 * p)
    assert chances[3] == 1
    assert selector.selected_[0] == 3
    assert_allclose(selector.weights_, 1 / chances[selector.selected_])
    assert_array_equal(np.argsort(-p[selector.selected_]), np.arange(selector.n_selected_))


def test_top_weights():
    X = gaussian()
    for n_features in (1, 7, 20, 100):
        selector = LeverageSelector(n_features, sampling="top").fit(X)
        expected = np.argsort(-probabilities(X))[:n_features]
        assert_array_equal(selector.selected_, expected)
        assert_array_equal(selector.weights_, np.ones(min(n_features, 20)))
        assert_array_equal(selector.transform(X), X[:, np.sort(expected)])


def test_top_ties_are_taken_by_index():
    X = np.hstack([np.eye(4)] * 5)
    selector = LeverageSelector(10, sampling="top").fit(X)
    assert_array_equal(selector.selected_, np.arange(10))
    assert_array_equal(LeverageSelector(4, sampling="top").fit(TINY).selected_, [3, 0, 1, 4])


# unbiased: E[weights] = 1


@pytest.mark.parametrize("sampling", ["iid", "bernoulli"])
@pytest.mark.parametrize("n_draws", [8, 40])
def test_weights_are_one_on_average(sampling, n_draws):
    X = gaussian()
    X[:, 5:] *= 0.5
    p = probabilities(X)
    random_state = np.random.RandomState(0)
    runs = 800
    mean = np.zeros(20)
    for _ in range(runs):
        selector = LeverageSelector(n_draws, sampling=sampling, random_state=random_state).fit(X)
        mean += weights_of_all(selector) / runs
    chances = np.minimum(1, n_draws * p)
    variance = (1 - p) / (n_draws * p) if sampling == "iid" else 1 / chances - 1
    deviations = np.abs(mean - 1) / np.sqrt(variance / runs + 1e-18)
    assert deviations.max() < 4.5
    assert np.sqrt(np.mean(deviations**2)) < 1.6


@pytest.mark.parametrize("draw", [draw_with_replacement, draw_each_once])
def test_draws_are_unbiased_for_uneven_probabilities(draw):
    p = np.geomspace(1, 1e-4, 12)
    p /= p.sum()
    random_state = np.random.RandomState(1)
    runs, mean = 12_000, np.zeros(12)
    for _ in range(runs):
        selected, weights = draw(p, 20, random_state)
        mean[selected] += weights / runs
    deviations = np.abs(mean - 1) * np.sqrt(runs * 20 * p)
    assert deviations.max() < 4.5


def test_bernoulli_draws_as_many_as_asked_for_on_average():
    X = gaussian(5, 200)
    numbers = [
        LeverageSelector(30, sampling="bernoulli", random_state=seed).fit(X).n_selected_
        for seed in range(200)
    ]
    expected = np.minimum(1, 30 * probabilities(X)).sum()
    assert abs(np.mean(numbers) - expected) < 4 * np.sqrt(30 / 200)


# the same draws everywhere


def test_expected_features():
    """Fixed once and for all: a change here changes everybody's results."""
    iid = LeverageSelector(4, random_state=0).fit(TINY)
    assert_array_equal(iid.selected_, [3, 4])
    assert_allclose(iid.weights_, [3 / (4 * 0.8 / 3), 1 / (4 * 0.5 / 3)])
    bernoulli = LeverageSelector(4, sampling="bernoulli", random_state=0).fit(TINY)
    assert_array_equal(bernoulli.selected_, [3, 0, 4, 5])
    assert_allclose(bernoulli.weights_, [1, 1.5, 1.5, 1.5])


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_the_same_random_state_gives_the_same_features(sampling):
    X = gaussian(10, 300)
    fits = [LeverageSelector(40, sampling=sampling, random_state=7).fit(X) for _ in range(2)]
    assert_array_equal(fits[0].selected_, fits[1].selected_)
    assert_array_equal(fits[0].weights_, fits[1].weights_)
    generator = np.random.RandomState(7)
    again = LeverageSelector(40, sampling=sampling, random_state=generator).fit(X)
    assert_array_equal(again.selected_, fits[0].selected_)
    if sampling != "top":
        other = LeverageSelector(40, sampling=sampling, random_state=generator).fit(X)
        assert not np.array_equal(other.selected_, again.selected_)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_threads_do_not_matter(sampling):
    X = gaussian(60, 3000)
    found = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            found.append(LeverageSelector(300, sampling=sampling, random_state=0).fit(X))
    assert_array_equal(found[0].selected_, found[1].selected_)
    assert_allclose(found[0].weights_, found[1].weights_, rtol=1e-10)


@pytest.mark.parametrize("draw", [draw_with_replacement, draw_each_once])
@pytest.mark.parametrize("seed", range(5))
def test_rounding_does_not_matter(draw, seed):
    """Scores differ in the last digits from machine to machine."""
    p = probabilities(gaussian(30, 2000))
    noise = 1 + 1e-14 * gaussian(1, 2000, seed)[0]
    expected, _ = draw(p, 200, np.random.RandomState(seed))
    found, _ = draw(p * noise, 200, np.random.RandomState(seed))
    assert_array_equal(found, expected)


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize(
    "container", [np.asfortranarray, sp.csr_array, sp.csc_matrix, pd.DataFrame, np.float32]
)
def test_the_container_does_not_matter(container, sampling):
    X = np.random.default_rng(0).poisson(0.4, (15, 200)).astype(np.float64)
    expected = LeverageSelector(50, sampling=sampling, random_state=0).fit(X)
    found = LeverageSelector(50, sampling=sampling, random_state=0).fit(container(X))
    assert_array_equal(found.selected_, expected.selected_)
    assert_allclose(found.weights_, expected.weights_, rtol=1e-9)


def test_the_order_is_that_of_the_draws():
    """More draws begin as fewer do."""
    X = gaussian(10, 300)
    few = LeverageSelector(20, random_state=3).fit(X).selected_
    many = LeverageSelector(90, random_state=3).fit(X).selected_
    assert_array_equal(many[: len(few)], few)


# the certificate


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("n_draws", [3, 30, 150])
def test_certificate_is_what_the_weights_give(sampling, n_draws):
    X = gaussian(8, 200)
    selector = LeverageSelector(n_draws, sampling=sampling, random_state=0).fit(X)
    rows = orthonormal_rows(X)[selector.selected_]
    eigenvalues = np.linalg.eigvalsh(rows.T @ (selector.weights_[:, None] * rows))
    certificate = selector.certificate_
    assert_allclose(certificate.lower, max(eigenvalues[0], 0), atol=1e-12)
    assert_allclose(certificate.upper, eigenvalues[-1])
    if sampling == "top":
        assert certificate.promised_lower is None
        assert certificate.promised_upper is None
    else:
        promised = certificate.promised_lower, certificate.promised_upper
        assert promised == leverage_promise(8, n_draws, 0.1)
        assert certificate.confidence == 0.9


@pytest.mark.parametrize("sampling", ["iid", "bernoulli"])
def test_the_promise_is_kept_often_enough(sampling):
    X = gaussian(4, 2000)
    random_state, kept = np.random.RandomState(0), 0
    for _ in range(100):
        selector = LeverageSelector(
            epsilon=0.8, delta=0.2, sampling=sampling, random_state=random_state
        ).fit(X)
        certificate = selector.certificate_
        assert certificate.confidence == 0.8
        assert certificate.promised_upper == pytest.approx(1.8, abs=0.01)
        assert certificate.promised_lower >= 0.2
        kept += (certificate.lower >= certificate.promised_lower) and (
            certificate.upper <= certificate.promised_upper
        )
    assert kept >= 80


def test_epsilon_finds_the_number():
    X = gaussian(3, 1000)
    n_draws = features_for_epsilon(0.7, 3, method="leverage", delta=0.05)
    found = LeverageSelector(epsilon=0.7, delta=0.05, random_state=0).fit(X)
    counted = LeverageSelector(n_draws, delta=0.05, random_state=0).fit(X)
    assert_array_equal(found.selected_, counted.selected_)
    assert found.certificate_ == counted.certificate_


# how many, and of what


def test_default_number():
    X = gaussian(8, 200)
    assert LeverageSelector(sampling="top").fit(X).n_selected_ == 32
    assert LeverageSelector(sampling="top").fit(X.T).n_selected_ == 8
    assert LeverageSelector(sampling="top").fit(X[:, :20]).n_selected_ == 20


def test_share():
    X = gaussian(8, 200)
    for share, number in ((0.5, 100), (0.001, 1), (1.0, 200)):
        assert LeverageSelector(share, sampling="top").fit(X).n_selected_ == number


def test_draws_may_exceed_the_number_of_features():
    X = gaussian()
    selector = LeverageSelector(5000, random_state=0).fit(X)
    assert selector.n_selected_ == 20
    assert selector.certificate_.epsilon < 0.2
    selector = LeverageSelector(5000, sampling="bernoulli", random_state=0).fit(X)
    assert_array_equal(selector.weights_, np.ones(20))


def test_fewer_draws_than_the_rank():
    certificate = LeverageSelector(3, random_state=0).fit(gaussian(8, 200)).certificate_
    assert certificate.lower == 0
    assert certificate.promised_lower == 0


@pytest.mark.parametrize("rank", [1, 3])
def test_rank(rank):
    X = gaussian(8, 200)
    selector = LeverageSelector(20, sampling="top", rank=rank).fit(X)
    assert selector.rank_ == rank
    assert_allclose(selector.leverage_scores_, rank * probabilities(X, rank))
    assert_array_equal(selector.selected_, np.argsort(-probabilities(X, rank))[:20])


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("alpha", [1.0, 100])
def test_alpha(alpha, sampling):
    """Ridge leverage scores: x_j^T (K + alpha)^-1 x_j; the certificate is that of K + alpha."""
    X = gaussian(8, 200)
    selector = LeverageSelector(30, sampling=sampling, alpha=alpha, random_state=0).fit(X)
    K = X @ X.T + alpha * np.eye(8)
    scores = np.sum(X * np.linalg.solve(K, X), axis=0)
    assert_allclose(selector.leverage_scores_, scores)
    chosen = X[:, selector.selected_]
    K_selected = (chosen * selector.weights_) @ chosen.T + alpha * np.eye(8)
    eigenvalues = scipy.linalg.eigh(K_selected, K, eigvals_only=True)
    certificate = selector.certificate_
    assert certificate.alpha == selector.alpha_ == alpha
    assert_allclose([certificate.lower, certificate.upper], eigenvalues[[0, -1]])
    assert certificate.promised_lower is certificate.promised_upper is None
    if sampling == "top":
        assert_array_equal(selector.selected_, np.argsort(-scores)[:30])
    if sampling == "bernoulli":
        chances = np.minimum(1, 30 * scores / scores.sum())[selector.selected_]
        assert_allclose(selector.weights_, 1 / chances)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_center(container):
    X = np.random.default_rng(0).poisson(0.5, (12, 90)).astype(np.float64)
    implicit = LeverageSelector(40, center=True, random_state=0).fit(container(X))
    explicit = LeverageSelector(40, random_state=0).fit(X - X.mean(axis=0))
    assert_array_equal(implicit.selected_, explicit.selected_)
    assert_allclose(implicit.weights_, explicit.weights_)


def test_features_of_leverage_zero_are_never_drawn():
    X = gaussian(5, 60)
    X[:, ::2] = 0
    for sampling in ("iid", "bernoulli"):
        for seed in range(10):
            selector = LeverageSelector(100, sampling=sampling, random_state=seed).fit(X)
            assert np.all(selector.selected_ % 2 == 1)
            assert np.isfinite(selector.weights_).all()


def test_an_empty_draw_is_an_error_that_says_what_to_do():
    X = np.ones((1, 500))
    message = 'sampling="bernoulli" happened to draw no feature of 1 expected; draw more'
    for seed in range(100):
        selector = LeverageSelector(1, sampling="bernoulli", random_state=seed)
        try:
            selector.fit(X)
        except ValueError as error:
            assert message in str(error)  # noqa: PT017
            break
    else:
        pytest.fail("a third of these draws should be empty")


# transform


@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_round_trip(container, sampling, rescale):
    X = np.random.default_rng(0).poisson(0.4, (15, 200)).astype(np.float32)
    selector = LeverageSelector(50, sampling=sampling, rescale=rescale, random_state=0)
    Z = selector.fit_transform(container(X))
    back = selector.inverse_transform(Z)
    assert Z.dtype == back.dtype == np.float32
    Z, back = (A.toarray() if sp.issparse(A) else A for A in (Z, back))
    scale = np.sqrt(weights_of_all(selector)) if rescale else np.ones(200)
    support = selector.get_support()
    assert_allclose(Z, (X * scale)[:, support], rtol=1e-6)
    assert_allclose(back, X * support, rtol=1e-6)


def test_pickle_and_repr():
    X, _ = make_ridge_synthetic(random_state=0)
    selector = LeverageSelector(5, sampling="top").fit(X)
    data = pickle.dumps(selector)
    assert len(data) < X.nbytes / 15
    assert_array_equal(pickle.loads(data).selected_, selector.selected_)
    assert repr(selector).startswith("<LeverageSelector(n_features_to_select=5, sampling='top'): 5")
    first = ", ".join(str(feature) for feature in selector.selected_[:3])
    assert f"5 of 1000 features: {first}, ..." in repr(selector)


@pytest.mark.parametrize("parameters", [{"n_features_to_select": 2**70}, {"epsilon": 1e-200}])
@pytest.mark.parametrize("sampling", ["iid", "bernoulli"])
def test_more_draws_than_memory_holds_are_refused(parameters, sampling):
    X = np.random.default_rng(0).normal(size=(4, 30))
    with pytest.raises(ValueError, match="at most 100,000,000 draws"):
        LeverageSelector(**parameters, sampling=sampling).fit(X)
    assert LeverageSelector(2**70, sampling="top").fit(X).n_selected_ == 30


def test_an_alpha_beyond_floats_is_refused():
    with pytest.raises(ValueError, match="alpha must be a finite number >= 0"):
        LeverageSelector(2, alpha=10**400).fit(np.eye(3))


def test_fewer_features_than_asked_for_are_said():
    X = np.random.default_rng(0).standard_normal((20, 200))
    with pytest.warns(FewerFeaturesWarning, match='of 100 asked for: .* sampling="top"'):
        LeverageSelector(100, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewerFeaturesWarning)
        assert LeverageSelector(100, sampling="top").fit(X).n_selected_ == 100
        LeverageSelector(random_state=0).fit(X)  # no number was asked for
