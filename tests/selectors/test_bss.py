# SPDX-License-Identifier: BSD-3-Clause
"""BSSSelector: the promise, the certificate, the invariances, and what becomes of the data."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ridgewise import BSSSelector, features_for_epsilon, make_ridge_synthetic
from ridgewise.selectors import FewerFeaturesWarning

RULES = ("norm", "slack", "ratio")


def gaussian(n=8, d=120, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def word_counts(n=20, d=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(2 / (1 + np.arange(d)) ** 0.7, (n, d)).astype(np.float64)
    X[np.arange(n), d - 1 - np.arange(n)] += 1  # of full rank
    return X


DATA = {
    "gaussian": gaussian(),
    "heavy tails": np.random.default_rng(1).standard_t(1.5, (10, 150)),
    "word counts": word_counts(),
    "axis-aligned": np.eye(6)[:, np.arange(90) % 6] * np.geomspace(1, 30, 90),
    "repeated columns": gaussian(8, 20)[:, np.arange(100) % 20],
    "repeated rows": gaussian(5, 90)[np.arange(12) % 5],
    "zero rows and columns": gaussian(12, 90)
    * (np.arange(90) % 3 > 0)
    * (np.arange(12)[:, None] % 4 > 0),
    "low rank": gaussian(20, 3) @ gaussian(3, 80, seed=2),
    "tall": gaussian(60, 15, seed=3),
    "tall, of low rank": gaussian(60, 4) @ gaussian(4, 45, seed=2),
    "tall, repeated columns": gaussian(60, 6)[:, np.arange(50) % 6],
    "one sample": gaussian(1, 30),
    "float32": gaussian(8, 100).astype(np.float32),
    "int8": np.random.default_rng(4).integers(-128, 128, (9, 100), dtype=np.int8),
    "bool": np.random.default_rng(4).random((9, 100)) < 0.2,
    "synthetic": make_ridge_synthetic(27, 400, random_state=0)[0],
}


def orthonormal_rows(X, rank=None, center=False):
    """U of X = V S U^T by numpy's SVD: a row for every feature."""
    X = np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float64)
    _, s, Ut = np.linalg.svd(X - X.mean(axis=0) if center else X, full_matrices=False)
    return Ut[: np.count_nonzero(s > 1e-10 * s[0])][:rank].T


def measured(X, selector, **options):
    """Extreme eigenvalues of U^T R^T R U, from the weights and X alone."""
    rows = orthonormal_rows(X, **options)[selector.selected_]
    eigenvalues = np.linalg.eigvalsh(rows.T @ (selector.weights_[:, None] * rows))
    return eigenvalues[0], eigenvalues[-1]


def check_promise(X, selector, n_draws, **options):
    certificate = selector.certificate_
    s = np.sqrt(selector.rank_ / n_draws)
    assert selector.n_draws_ >= n_draws
    later = s * n_draws / selector.n_draws_
    assert certificate.promised_lower == pytest.approx((1 - s) * (1 - later))
    assert certificate.promised_upper == pytest.approx((1 + s) * (1 + later))
    assert certificate.confidence == 1
    lower, upper = measured(X, selector, **options)
    assert_allclose([certificate.lower, certificate.upper], [lower, upper], rtol=1e-7, atol=1e-9)
    assert lower >= (1 - s) * (1 - later) - 1e-9
    assert upper <= (1 + s) * (1 + later) + 1e-9
    assert certificate.epsilon == max(1 - certificate.lower, certificate.upper - 1)
    assert len(np.unique(selector.selected_)) == selector.n_selected_ <= n_draws
    assert len(selector.weights_) == selector.n_selected_
    assert np.all(selector.weights_ > 0)


# the promise


@pytest.mark.filterwarnings("ignore:60 .*features were selected")  # the others are zero
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", DATA)
def test_promise_and_certificate(name, rule):
    X = DATA[name]
    rank = orthonormal_rows(X).shape[1]
    for n_draws in sorted({rank + 1, int(1.5 * rank) + 1, 4 * rank, 9 * rank}):
        if rank < n_draws < X.shape[1]:
            # of low rank but for rounding: nothing is promised unless the rank is said
            said = rank if "low rank" in name else None
            selector = BSSSelector(n_draws, rule=rule, rank=said).fit(X)
            assert selector.rank_ == rank
            check_promise(X, selector, n_draws)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 8),
    extra=st.integers(1, 60),
    share=st.floats(0, 1),
    rule=st.sampled_from(RULES),
    center=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_promise_on_any_shape(seed, n, extra, share, rule, center):
    n = n + center
    X = np.random.default_rng(seed).standard_normal((n, n + 1 + extra))
    rank = n - center
    n_draws = rank + 1 + int(share * (X.shape[1] - rank - 2))
    selector = BSSSelector(n_draws, rule=rule, center=center).fit(X)
    check_promise(X, selector, n_draws, center=center)


@pytest.mark.parametrize("name", ["gaussian", "word counts", "repeated rows", "low rank"])
def test_kernel_of_what_transform_gives(name):
    """lower K <= K~ <= upper K, with K~ from transform alone."""
    X = DATA[name]
    rank = orthonormal_rows(X).shape[1]
    selector = BSSSelector(4 * rank).fit(X)
    Z = selector.transform(X)
    V, s, _ = np.linalg.svd(X, full_matrices=False)
    half = V[:, :rank] / s[:rank]
    eigenvalues = np.linalg.eigvalsh(half.T @ (Z @ Z.T) @ half)
    assert eigenvalues[0] == pytest.approx(selector.certificate_.lower, rel=1e-7)
    assert eigenvalues[-1] == pytest.approx(selector.certificate_.upper, rel=1e-7)


def test_as_a_generalized_eigenvalue_problem():
    X = DATA["gaussian"]
    selector = BSSSelector(40).fit(X)
    Z = selector.transform(X)
    eigenvalues = scipy.linalg.eigh(Z @ Z.T, X @ X.T, eigvals_only=True)
    assert_allclose(eigenvalues[0], selector.certificate_.lower)
    assert_allclose(eigenvalues[-1], selector.certificate_.upper)


def test_more_draws_keep_more():
    X = DATA["synthetic"]
    gaps = [BSSSelector(r).fit(X).certificate_ for r in (40, 80, 160, 320)]
    ratios = [gap.upper / gap.lower for gap in gaps]
    assert ratios == sorted(ratios, reverse=True)


def test_slack_gives_the_tighter_certificate():
    X = DATA["synthetic"]
    norm, slack = (BSSSelector(90, rule=rule).fit(X).certificate_ for rule in ("norm", "slack"))
    assert slack.upper / slack.lower < norm.upper / norm.lower


# how many


@pytest.mark.parametrize("n_features", [120, 121, 10_000, 1.0])
def test_all_features_are_kept_with_weight_one(n_features):
    X = DATA["gaussian"]
    selector = BSSSelector(n_features).fit(X)
    assert_array_equal(selector.selected_, np.arange(120))
    assert_array_equal(selector.weights_, np.ones(120))
    certificate = selector.certificate_
    assert (certificate.lower, certificate.upper, certificate.epsilon) == (1, 1, 0)
    assert (certificate.promised_lower, certificate.promised_upper) == (1, 1)
    assert_array_equal(selector.transform(X), X)


@pytest.mark.parametrize("n_features", [2, 5, 7, 8, 0.05])
def test_no_more_than_the_rank_is_an_error_that_says_what_to_do(n_features):
    X = DATA["gaussian"]
    n_draws = n_features if isinstance(n_features, int) else 6
    message = f"BSS needs more features than the rank of X, 8: got {n_draws} to select"
    with pytest.raises(ValueError, match=message) as error:
        BSSSelector(n_features, alpha=0).fit(X)
    assert "Select at least 9" in str(error.value)
    # each piece of advice is good
    check_promise(X, BSSSelector(9, alpha=0).fit(X), 9)
    alpha = float(re.search(r"alpha >= (.*), for ridge", str(error.value))[1])
    check_ridge_promise(X, BSSSelector(n_features, alpha=1.01 * alpha).fit(X), n_draws)
    rank = int(str(error.value).rsplit("rank=", 1)[1])
    check_promise(X, BSSSelector(n_features, alpha=0, rank=rank).fit(X), n_draws, rank=rank)


@pytest.mark.parametrize(("shape", "n_draws"), [((8, 120), 32), ((60, 15), 7), ((8, 20), 10)])
def test_default_number(shape, n_draws):
    """Four times the rank, and not more than half of the features."""
    X = gaussian(*shape)
    selector = BSSSelector().fit(X)
    assert selector.n_draws_ == n_draws
    if n_draws > min(shape):
        check_promise(X, selector, n_draws)
    else:
        check_ridge_promise(X, selector, n_draws)


@pytest.mark.parametrize(("share", "n_draws"), [(0.5, 60), (0.101, 12), (np.float64(0.25), 30)])
def test_share(share, n_draws):
    X = DATA["gaussian"]
    selector, counted = BSSSelector(share).fit(X), BSSSelector(np.int32(n_draws)).fit(X)
    check_promise(X, selector, n_draws)
    assert_array_equal(selector.selected_, counted.selected_)


@pytest.mark.parametrize("epsilon", [0.05, 0.2, 0.5, 0.9])
def test_epsilon_finds_the_number(epsilon):
    """Hardly more draws than the fewest that measure as much, and never more than promise it."""
    X = DATA["gaussian"]
    selector = BSSSelector(epsilon=epsilon).fit(X)
    assert selector.certificate_.epsilon <= epsilon
    lower, upper = measured(X, selector)
    assert lower >= 1 - epsilon - 1e-9
    assert upper <= 1 + epsilon + 1e-9
    n_draws = selector.n_draws_
    assert 8 < n_draws <= features_for_epsilon(epsilon, 8)
    counted = BSSSelector(n_draws, rule="ratio", polish=True).fit(X)
    assert_array_equal(counted.selected_, selector.selected_)
    few = [BSSSelector(r, rule="ratio", polish=True).fit(X) for r in range(9, n_draws)]
    enough = [found.n_draws_ for found in few if found.certificate_.epsilon <= epsilon]
    assert min(enough, default=n_draws) >= 0.7 * n_draws


def test_an_epsilon_that_cannot_be_met():
    message = "epsilon=0.01 cannot be met by selecting: 11 of 12 features reach"
    with pytest.raises(ValueError, match=message):
        BSSSelector(epsilon=0.01).fit(gaussian(8, 12))
    with pytest.raises(ValueError, match="epsilon=1e-200 cannot be met by selecting"):
        BSSSelector(epsilon=1e-200).fit(gaussian(8, 12))


# fewer than the rank: ridge models


def check_ridge_promise(X, selector, n_draws):
    """lower (K + alpha) <= K~ + alpha <= upper (K + alpha), by scipy alone."""
    alpha, certificate = selector.alpha_, selector.certificate_
    assert certificate.alpha == alpha > 0
    X = np.asarray(X, dtype=np.float64)
    identity = np.eye(len(X))
    chosen = X[:, selector.selected_]
    K, K_selected = X @ X.T, (chosen * selector.weights_) @ chosen.T
    eigenvalues = scipy.linalg.eigh(
        K_selected + alpha * identity, K + alpha * identity, eigvals_only=True
    )
    assert_allclose([certificate.lower, certificate.upper], eigenvalues[[0, -1]], rtol=1e-7)
    sigma2 = np.linalg.eigvalsh(K)
    s = np.sqrt(np.sum(sigma2 / (sigma2 + alpha)) / n_draws)
    assert s < 1
    assert eigenvalues[0] >= (1 - s) ** 2
    assert eigenvalues[-1] <= (1 + s) ** 2
    assert selector.n_selected_ <= n_draws <= selector.n_draws_


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["gaussian", "word counts", "heavy tails", "synthetic", "int8"])
def test_fewer_features_than_the_rank(name, rule):
    X = DATA[name]
    for n_draws in {1, 2, len(X) // 2, len(X)}:
        selector = BSSSelector(n_draws, rule=rule).fit(X)
        assert selector.rank_ == len(X)
        check_ridge_promise(X, selector, n_draws)
        sigma2 = selector.singular_values_**2
        dimension = np.sum(sigma2 / (sigma2 + selector.alpha_))
        assert dimension == pytest.approx(n_draws / 4, rel=1e-6)


@pytest.mark.parametrize("alpha", [10, 100.0, np.float32(1000)])
@pytest.mark.parametrize("n_draws", [8, 20, 60])
def test_alpha(n_draws, alpha):
    X = DATA["gaussian"]
    selector = BSSSelector(n_draws, alpha=alpha).fit(X)
    assert selector.alpha_ == alpha
    check_ridge_promise(X, selector, n_draws)


def test_alpha_is_0_where_it_can_be():
    X = DATA["gaussian"]
    for alpha in ("auto", 0, 0.0):
        selector = BSSSelector(20, alpha=alpha).fit(X)
        assert selector.alpha_ == selector.certificate_.alpha == 0
        check_promise(X, selector, 20)
    assert BSSSelector(120, alpha=5.0).fit(X).alpha_ == 0


# polish


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["gaussian", "word counts", "heavy tails", "repeated columns"])
def test_polish_tightens_the_certificate_of_the_same_features(name, rule):
    X = DATA[name]
    n_draws = 3 * len(X)
    plain = BSSSelector(n_draws, rule=rule).fit(X)
    polished = BSSSelector(n_draws, rule=rule, polish=True).fit(X)
    assert_array_equal(polished.selected_, plain.selected_)
    assert polished.certificate_.epsilon <= plain.certificate_.epsilon + 1e-12
    check_promise(X, polished, n_draws)


# options


@pytest.mark.parametrize("rank", [1, 3, 8, 50])
def test_rank(rank):
    X = DATA["gaussian"]
    selector = BSSSelector(30, rank=rank).fit(X)
    assert selector.rank_ == len(selector.singular_values_) == min(rank, 8)
    assert selector.leverage_scores_.sum() == pytest.approx(min(rank, 8))
    check_promise(X, selector, 30, rank=rank)


def test_rank_as_a_share_of_the_energy():
    X = DATA["synthetic"]
    selector = BSSSelector(10, rank=0.9).fit(X)
    assert selector.rank_ == 1  # one direction carries the signal
    check_promise(X, selector, 10, rank=1)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(12, 90), (60, 15)])
def test_center(shape, container):
    X = np.random.default_rng(0).poisson(0.5, shape).astype(np.float64)
    n_draws = 2 * min(shape) if shape[0] < shape[1] else 14
    rank = None if shape[0] < shape[1] else 7
    implicit = BSSSelector(n_draws, center=True, rank=rank).fit(container(X))
    explicit = BSSSelector(n_draws, rank=rank).fit(X - X.mean(axis=0))
    assert_array_equal(implicit.selected_, explicit.selected_)
    assert_allclose(implicit.weights_, explicit.weights_, rtol=1e-8)
    check_promise(X, implicit, n_draws, center=True, rank=rank)
    # transform does not centre
    places = np.sort(implicit.selected_)
    scale = np.sqrt(implicit.weights_[np.argsort(implicit.selected_)])
    assert_allclose(implicit.transform(X), X[:, places] * scale)


@pytest.mark.parametrize("rule", RULES)
def test_solvers_agree_on_ordinary_data(rule):
    for name in ("gaussian", "word counts", "repeated rows", "tall"):
        X = DATA[name]
        rank = 6 if name == "tall" else None
        fits = [
            BSSSelector(14 if rank else 50, rule=rule, solver=solver, rank=rank).fit(X)
            for solver in ("auto", "gram", "qr")
        ]
        for other in fits[1:]:
            assert_array_equal(other.selected_, fits[0].selected_)
            assert_allclose(other.weights_, fits[0].weights_, rtol=1e-6)


def test_ill_conditioned_data_keep_their_small_directions():
    V, U = (np.linalg.qr(gaussian(size, 6))[0] for size in (6, 80))
    X = V * np.geomspace(1, 1e-9, 6) @ U.T
    selector = BSSSelector(24).fit(X)
    assert selector.rank_ == 6
    rows = U[selector.selected_]
    eigenvalues = np.linalg.eigvalsh(rows.T @ (selector.weights_[:, None] * rows))
    assert eigenvalues[0] >= 0.25 - 1e-4
    assert eigenvalues[-1] <= 2.25 + 1e-4


# the same again


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "container",
    [
        np.array,
        np.asfortranarray,
        sp.csr_array,
        sp.csc_matrix,
        sp.coo_array,
        pd.DataFrame,
        pl.DataFrame,
        np.ndarray.tolist,
        lambda X: X.astype(np.int8),
        lambda X: X.astype(np.float32),
    ],
)
def test_the_container_does_not_matter(container, rule):
    X = DATA["word counts"]
    expected = BSSSelector(60, rule=rule).fit(X)
    found = BSSSelector(60, rule=rule).fit(container(X))
    assert_array_equal(found.selected_, expected.selected_)
    assert_allclose(found.weights_, expected.weights_, rtol=1e-8)


def test_a_fit_is_deterministic():
    X = DATA["word counts"]
    first, second = BSSSelector(60).fit(X), BSSSelector(60).fit(X)
    assert_array_equal(first.selected_, second.selected_)
    assert_array_equal(first.weights_, second.weights_)
    assert_array_equal(first.fit(X).weights_, second.weights_)


# invariances


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_permuted_columns(seed, rule):
    X = gaussian(7, 100, seed)
    order = np.random.default_rng(seed).permutation(100)
    plain, permuted = BSSSelector(30, rule=rule).fit(X), BSSSelector(30, rule=rule).fit(X[:, order])
    assert_array_equal(order[permuted.selected_], plain.selected_)
    assert_allclose(permuted.weights_, plain.weights_, rtol=1e-6)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", ["gaussian", "word counts", "heavy tails", "synthetic"])
def test_mixed_samples(name, rule):
    """U does not change when samples are mixed, by any invertible matrix."""
    X = DATA[name]
    n = len(X)
    plain = BSSSelector(3 * n, rule=rule).fit(X)
    Q = np.linalg.qr(gaussian(n, n, seed=5))[0]
    M = Q * np.linspace(1, 3, n)
    for mixed in (Q @ X, M @ X, X[::-1]):
        found = BSSSelector(3 * n, rule=rule).fit(mixed)
        assert_array_equal(found.selected_, plain.selected_)
        assert_allclose(found.weights_, plain.weights_, rtol=1e-5)


@pytest.mark.parametrize("factor", [1e-200, 1e-6, 0.1, 3.7, 1e6, 1e200])
def test_scaled_data(factor):
    X = DATA["word counts"]
    plain, scaled = BSSSelector(60).fit(X), BSSSelector(60).fit(factor * X)
    assert_array_equal(scaled.selected_, plain.selected_)
    assert_allclose(scaled.weights_, plain.weights_, rtol=1e-8)


def test_repeated_and_zero_rows_do_not_matter():
    X = gaussian(6, 80)
    plain = BSSSelector(25).fit(X)
    for more in (np.vstack([X, X]), np.vstack([X, np.zeros((5, 80))]), np.vstack([X, X[:2]])):
        found = BSSSelector(25).fit(more)
        assert found.rank_ == 6
        assert_array_equal(found.selected_, plain.selected_)
        assert_allclose(found.weights_, plain.weights_, rtol=1e-6)


def test_zero_columns_are_never_selected():
    X = np.zeros((6, 100))
    X[:, 1::3] = gaussian(6, 33)
    for rule in RULES:
        with pytest.warns(
            FewerFeaturesWarning, match="33 features .* 60 asked for: the others are zero"
        ):
            selector = BSSSelector(60, rule=rule).fit(X)
        assert selector.n_draws_ == 240
        assert np.all(selector.selected_ % 3 == 1)
        check_promise(X, selector, 60)


@pytest.mark.parametrize("rule", RULES)
def test_of_equal_columns_the_first_is_taken_first(rule):
    X = np.hstack([gaussian(6, 40)] * 3)
    selector = BSSSelector(60, rule=rule).fit(X)
    check_promise(X, selector, 60)
    order = {feature: step for step, feature in enumerate(selector.selected_)}
    for feature in selector.selected_:
        if feature >= 40:
            assert order[feature - 40] < order[feature]


# hard instances


@pytest.mark.parametrize("d", [30, 1000, 5000])
@pytest.mark.parametrize("rule", RULES)
def test_n_features_are_n_distinct_features(rule, d):
    """Twenty draws draw the only feature of one direction again: so more draws are made."""
    X = np.zeros((2, d))
    X[0, 0], X[1, 1:] = 1, 1
    selector = BSSSelector(20, rule=rule).fit(X)
    assert selector.n_draws_ > selector.n_selected_ == 20
    assert 0 in selector.selected_
    check_promise(X, selector, 20)
    assert selector.transform(X).shape == (2, 20)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("groups", [None, 2])
def test_n_features_of_very_different_scales(rule, groups):
    """More samples than features, in any units: a few features are drawn again and again."""
    X = np.random.default_rng(0).standard_normal((200, 12)) * np.logspace(4, -1, 12)
    selector = BSSSelector(5, rule=rule, center=True, groups=groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewerFeaturesWarning)
        selector.fit(X)
    assert len(selector.weights_) == 5
    assert selector.n_selected_ == 5 * (groups or 1)
    certificate = selector.certificate_
    assert certificate.promised_lower <= certificate.lower
    assert certificate.upper <= certificate.promised_upper
    assert_array_equal(
        selector.leverage_scores_, BSSSelector(12, center=True).fit(X).leverage_scores_
    )


def test_default_draws_may_repeat():
    """Of one direction one feature has nearly everything: others are drawn too seldom."""
    X = np.zeros((3, 40))
    X[0, 0], X[1, 1], X[2, 2:] = 1, 1, 1e-3
    selector = BSSSelector(20)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewerFeaturesWarning)
        selector.fit(X)
        selector.set_params(n_features_to_select=None, alpha=0).fit(X)  # 12 draws are 12 draws
    assert selector.n_selected_ < selector.n_draws_ == 12


def test_tiny_features_get_huge_weights():
    X = np.full((1, 10), 1e-6)
    X[0, 0] = 1
    selector = BSSSelector(5).fit(X)
    check_promise(X, selector, 5)
    assert selector.weights_.max() > 1e10
    assert_allclose(selector.inverse_transform(selector.transform(X))[0, :5], X[0, :5])


def test_one_draw_more_than_a_large_rank():
    X = gaussian(60, 400)
    check_promise(X, BSSSelector(61).fit(X), 61)


# transform


def expected_transform(X, selector):
    places = np.sort(selector.selected_)
    scale = np.sqrt(selector.weights_[np.argsort(selector.selected_)])
    return X[:, places] * scale


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("layout", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"])
def test_round_trip_sparse(layout, kind):
    X = DATA["word counts"]
    S = getattr(sp, f"{layout}_{kind}")(X)
    selector = BSSSelector(60).fit(S)
    Z = selector.transform(S)
    assert sp.issparse(Z)
    assert isinstance(Z, sp.sparray) == (kind == "array")
    assert_allclose(Z.toarray(), expected_transform(X, selector))
    back = selector.inverse_transform(Z)
    assert sp.issparse(back)
    assert back.shape == X.shape
    assert_allclose(back.toarray(), X * selector.get_support(), atol=1e-14)
    assert_array_equal(S.toarray(), X)  # as it was


@pytest.mark.parametrize("container", [np.array, np.asfortranarray, pd.DataFrame, pl.DataFrame])
def test_round_trip_dense(container):
    X = DATA["word counts"]
    selector = BSSSelector(60).fit(container(X))
    Z = selector.transform(container(X))
    assert isinstance(Z, np.ndarray)
    assert_allclose(Z, expected_transform(X, selector))
    assert_allclose(selector.inverse_transform(Z), X * selector.get_support(), atol=1e-14)
    new = gaussian(5, 300)
    assert_allclose(selector.transform(container(new)), expected_transform(new, selector))


@pytest.mark.parametrize("given", [np.array, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_round_trip_frames(output, frame, given):
    X = DATA["word counts"]
    names = [f"word{j:03}" for j in range(X.shape[1])]
    if given is pd.DataFrame:
        data = pd.DataFrame(X, columns=names, index=np.arange(len(X)) + 100)
    else:
        data = pl.DataFrame(X, schema=names) if given is pl.DataFrame else X
    selector = BSSSelector(60).set_output(transform=output).fit(data)
    Z = selector.transform(data)
    assert isinstance(Z, frame)
    prefix = "x" if given is np.array else "word"
    width = 1 if given is np.array else 3
    places = np.sort(selector.selected_)
    assert list(Z.columns) == [f"{prefix}{place:0{width}}" for place in places]
    assert list(Z.columns) == list(selector.get_feature_names_out())
    if given is pd.DataFrame and output == "pandas":
        assert_array_equal(Z.index, data.index)
    assert_allclose(Z.to_numpy(), expected_transform(X, selector))
    assert_allclose(selector.inverse_transform(Z), X * selector.get_support(), atol=1e-14)


def test_without_rescaling():
    X = DATA["word counts"]
    selector = BSSSelector(60, rescale=False).fit(X)
    assert_array_equal(selector.weights_, BSSSelector(60).fit(X).weights_)
    for container in (np.asarray, sp.csr_array):
        Z = selector.transform(container(X))
        dense = Z.toarray() if sp.issparse(Z) else Z
        assert_array_equal(dense, X[:, selector.get_support()])
        back = selector.inverse_transform(Z)
        dense = back.toarray() if sp.issparse(back) else back
        assert_array_equal(dense, X * selector.get_support())


@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.float32, np.float32), (np.float64, np.float64), (np.int8, None), (bool, None)],
)
def test_types(dtype, expected, rescale):
    """float32 stays float32; integers stay where they are not multiplied."""
    expected = expected or (np.float64 if rescale else dtype)
    X = DATA["word counts"].astype(dtype)
    for container in (np.asarray, sp.csr_array, sp.csc_array):
        selector = BSSSelector(60, rescale=rescale).fit(container(X))
        Z = selector.transform(container(X))
        assert Z.dtype == expected
        back = selector.inverse_transform(Z)
        assert back.dtype == (expected if np.dtype(expected).kind == "f" else np.float64)


def test_integers_are_rescaled_as_floats():
    X = DATA["int8"]
    selector = BSSSelector(30).fit(X)
    assert_allclose(selector.transform(X), expected_transform(X.astype(float), selector))
    assert X.dtype == np.int8


def test_support():
    X = DATA["gaussian"]
    selector = BSSSelector(30).fit(X)
    assert selector.get_support().sum() == selector.n_selected_ == 30
    assert_array_equal(selector.get_support(indices=True), np.sort(selector.selected_))
    assert not np.array_equal(selector.selected_, np.sort(selector.selected_))
    assert selector.n_features_in_ == 120


def test_feature_names():
    X = DATA["gaussian"]
    selector = BSSSelector(30).fit(X)
    places = np.sort(selector.selected_)
    assert list(selector.get_feature_names_out()) == [f"x{place}" for place in places]
    names = np.array([f"gene {j}" for j in range(120)], dtype=object)
    assert_array_equal(selector.get_feature_names_out(names), names[places])
    selector.fit(pd.DataFrame(X, columns=names))
    assert_array_equal(selector.feature_names_in_, names)
    assert_array_equal(selector.get_feature_names_out(), names[places])
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        selector.get_feature_names_out(names[::-1])


# what a fitted one holds


def test_attributes():
    X = DATA["gaussian"]
    selector = BSSSelector(30).fit(X)
    U = orthonormal_rows(X)
    assert_allclose(selector.leverage_scores_, (U**2).sum(axis=1))
    assert_allclose(selector.singular_values_, np.linalg.svd(X, compute_uv=False))
    assert selector.rank_ == 8
    assert selector.selected_.dtype == np.intp


@pytest.mark.parametrize("container", ["dense", "sparse", "memory map"])
def test_pickles_are_small(tmp_path, container):
    X = np.random.default_rng(0).poisson(0.3, (100, 4000)).astype(np.float32)
    if container == "sparse":
        X = sp.csr_array(X)
        size = X.data.nbytes + X.indices.nbytes
    else:
        size = X.nbytes
    if container == "memory map":
        mapped = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=X.shape)
        mapped[:] = X
        X = mapped
    selector = BSSSelector(300).fit(X)
    data = pickle.dumps(selector)
    assert len(data) < 50_000 < size / 15
    again = pickle.loads(data)
    assert_array_equal(again.selected_, selector.selected_)
    assert again.certificate_ == selector.certificate_
    expected, found = selector.transform(X), again.transform(X)
    assert (expected != found).sum() == 0


def test_repr():
    X = DATA["gaussian"]
    selector = BSSSelector(30, rule="slack")
    plain = "BSSSelector(n_features_to_select=30, rule='slack')"
    assert repr(selector) == plain
    selector.fit(X)
    first = ", ".join(str(feature) for feature in selector.selected_[:3])
    assert repr(selector) == f"<{plain}: 30 of 120 features: {first}, ...>"
    selector.fit(pd.DataFrame(X, columns=[f"g{j}" for j in range(120)]))
    first = ", ".join(f"g{feature}" for feature in selector.selected_[:3])
    assert repr(selector) == f"<{plain}: 30 of 120 features: {first}, ...>"
    assert repr(BSSSelector().fit([[1.0, 2.0]])) == "<BSSSelector(): 1 of 2 features: 1>"
    assert "30 of 120 features" in str(selector)
    html = selector._repr_html_()
    assert "BSSSelector" in html
    assert "<style>" in html


def test_fit_leaves_parameters_and_data_alone():
    X = DATA["gaussian"].copy()
    selector = BSSSelector(30, rule="ratio", rank=5, center=True)
    before = selector.get_params()
    assert selector.fit(X) is selector
    assert selector.get_params() == before
    assert_array_equal(X, DATA["gaussian"])


def test_certificate_prints():
    selector = BSSSelector(32).fit(DATA["gaussian"])
    lines = str(selector.certificate_).splitlines()
    assert lines[0].startswith("measured [0.")
    assert lines[1] == "promised [0.2500, 2.2500]"
    assert lines[2] == f"epsilon  {selector.certificate_.epsilon:.4f}"
    assert "<td>0.2500</td><td>2.2500</td>" in selector.certificate_._repr_html_()


@pytest.mark.parametrize("scale", [1e-12, 1e-8, 1e-5, 1e-3])
def test_polish_where_alpha_is_all_there_is(scale):
    """K + alpha is alpha I up to rounding: any weights will do, and nothing breaks."""
    selector = BSSSelector(16, alpha=1.0, polish=True).fit(scale * gaussian(20, 100))
    assert selector.n_selected_ == 16
    assert selector.certificate_.epsilon < 0.1


def test_an_effective_dimension_that_is_the_number_of_features():
    with pytest.raises(ArithmeticError, match="8 draws exceed the effective dimension 8 by too"):
        BSSSelector(8, alpha=1e-10).fit(gaussian(8, 40))
