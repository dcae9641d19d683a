# SPDX-License-Identifier: BSD-3-Clause
"""How many features an epsilon takes, and what a number of features promises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.guarantees.helpers import bss_promise

from ridgewise.guarantees._sample_size import (
    alpha_for_dimension,
    effective_dimension,
    features_for_epsilon,
    leverage_promise,
)

epsilons = st.floats(1e-3, 0.999)
ranks = st.one_of(st.integers(1, 5000), st.floats(0.05, 5000.0))

EPSILON_OF_S = {
    "bss": lambda s: 2 * s + s**2,
    "bss-paper": lambda s: 3 * s,
    "bss-rescaled": lambda s: 2 * s / (1 + s**2),
}


@pytest.mark.parametrize("method", EPSILON_OF_S)
@given(epsilon=epsilons, rank=ranks)
def test_bss_takes_the_smallest_number_that_suffices(method, epsilon, rank):
    r = features_for_epsilon(epsilon, rank, method=method)
    achieved = EPSILON_OF_S[method]
    assert r > rank
    assert achieved(math.sqrt(rank / r)) <= epsilon * (1 + 1e-9)
    if r - 1 > rank:
        assert achieved(math.sqrt(rank / (r - 1))) > epsilon * (1 - 1e-9)


@given(epsilon=epsilons, rank=ranks)
def test_the_default_is_the_epsilon_of_the_promised_interval(epsilon, rank):
    lower, upper = bss_promise(rank, features_for_epsilon(epsilon, rank))
    assert max(1 - lower, upper - 1) <= epsilon * (1 + 1e-9)


@given(epsilon=epsilons, rank=ranks)
def test_sharper_readings_of_the_same_promise_need_fewer_features(epsilon, rank):
    paper, default, rescaled = (
        features_for_epsilon(epsilon, rank, method=method)
        for method in ("bss-paper", "bss", "bss-rescaled")
    )
    assert paper >= default >= rescaled


@pytest.mark.parametrize(
    ("method", "times_the_rank"), [("bss-paper", 36), ("bss", 19.798), ("bss-rescaled", 13.929)]
)
def test_one_half_takes_many_times_the_rank(method, times_the_rank):
    r = features_for_epsilon(0.5, 1000, method=method)
    assert r / 1000 == pytest.approx(times_the_rank, abs=1e-3)


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.25, 0.3, 0.5])
def test_whole_numbers_are_not_lifted_by_rounding(epsilon):
    for rank in range(1, 200):
        exact = 9 * rank * round(1e4 / round(100 * epsilon) ** 2, 9)
        assert features_for_epsilon(epsilon, rank, method="bss-paper") == math.ceil(exact - 1e-6)


@given(epsilon=epsilons, rank=st.integers(1, 5000), delta=st.floats(1e-6, 0.5))
def test_leverage_takes_the_smallest_number_that_suffices(epsilon, rank, delta):
    r = features_for_epsilon(epsilon, rank, method="leverage", delta=delta)
    lower, upper = leverage_promise(rank, r, delta)
    assert upper <= 1 + epsilon * (1 + 1e-7)
    assert lower >= 1 - epsilon * (1 + 1e-7)
    assert leverage_promise(rank, r - 1, delta)[1] >= 1 + epsilon * (1 - 1e-7)


@given(rank=st.integers(1, 500), n_draws=st.integers(1, 100_000), delta=st.floats(1e-6, 0.9))
def test_leverage_promise_inverts_the_chernoff_bound(rank, n_draws, delta):
    lower, upper = leverage_promise(rank, n_draws, delta)

    def failure(edge):
        h = edge * math.log(edge) - edge + 1
        return rank * math.exp(-n_draws / rank * h)

    assert failure(upper) == pytest.approx(delta / 2, rel=1e-5)
    if lower > 0:
        assert failure(lower) == pytest.approx(delta / 2, rel=1e-5)
    else:
        assert rank * math.exp(-n_draws / rank) >= delta / 2


@pytest.mark.parametrize(("rank", "n_draws"), [(27, 80), (27, 90), (135, 500), (250, 500)])
def test_in_the_regimes_of_the_paper_leverage_promises_nothing_from_below(rank, n_draws):
    assert leverage_promise(rank, n_draws, delta=0.05)[0] == 0


def test_leverage_sampling_fails_no_more_often_than_it_may():
    rng = np.random.default_rng(0)
    rank, epsilon, delta, n_runs = 4, 0.5, 0.1, 2000
    U = np.linalg.qr(rng.normal(size=(200, rank)) * rng.pareto(2, size=(200, 1)))[0]
    p = np.sum(U**2, axis=1) / rank
    r = features_for_epsilon(epsilon, rank, method="leverage", delta=delta)
    counts = rng.multinomial(r, p / p.sum(), size=n_runs)
    grams = np.einsum("ti,ij,ik->tjk", counts / (r * p), U, U, optimize=True)
    eigenvalues = np.linalg.eigvalsh(grams)
    assert eigenvalues.mean() == pytest.approx(1, abs=0.01)
    failed = (eigenvalues[:, 0] < 1 - epsilon) | (eigenvalues[:, -1] > 1 + epsilon)
    assert failed.mean() <= delta


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: features_for_epsilon(0.0, 10), "epsilon"),
        (lambda: features_for_epsilon(1.0, 10), "epsilon"),
        (lambda: features_for_epsilon(0.5, 0), "rank"),
        (lambda: features_for_epsilon(0.5, 10, method="magic"), "'bss-rescaled', 'leverage'"),
        (lambda: features_for_epsilon(0.5, 10, method="leverage", delta=0), "delta"),
        (lambda: leverage_promise(10, 0), "n_draws"),
        (lambda: leverage_promise(10, 100, delta=1.0), "delta"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("method", ["bss", "bss-paper", "bss-rescaled", "leverage"])
def test_an_epsilon_whose_square_underflows(method):
    numbers = [features_for_epsilon(10.0**-k, 5, method=method) for k in (1, 3, 6, 100, 200, 300)]
    assert numbers == sorted(numbers)
    assert len(str(numbers[-2])) in range(400, 404)
    # for small epsilon, halving it takes four times as many
    few, many = (features_for_epsilon(epsilon, 5, method=method) for epsilon in (1e-9, 5e-10))
    assert many / few == pytest.approx(4, rel=1e-6)


# The effective dimension, and the alpha that brings it down to a target

# Eigenvalues over 200 orders of magnitude, which no real kernel has, and some of them zero.
spectra = st.lists(
    st.one_of(st.just(0.0), st.floats(-100, 100).map(lambda power: 10.0**power)),
    min_size=1,
    max_size=12,
)


def test_the_effective_dimension_is_the_trace_of_the_hat_matrix():
    X = np.random.default_rng(0).normal(size=(6, 4))
    K = X @ X.T
    hat = K @ np.linalg.inv(K + 0.7 * np.eye(6))
    found = effective_dimension(np.linalg.eigvalsh(K), 0.7)
    assert found == pytest.approx(np.trace(hat))


@given(eigenvalues=spectra, alpha=st.floats(0, 1e100))
def test_the_effective_dimension_is_at_most_the_rank_and_falls_with_alpha(eigenvalues, alpha):
    rank = np.count_nonzero(eigenvalues)
    assert effective_dimension(eigenvalues, 0.0) == rank
    larger = effective_dimension(eigenvalues, 2 * alpha)
    assert larger <= effective_dimension(eigenvalues, alpha) <= rank


@given(eigenvalues=spectra, target=st.floats(0.01, 15))
def test_alpha_is_the_smallest_that_suffices(eigenvalues, target):
    alpha = alpha_for_dimension(eigenvalues, target)
    assert effective_dimension(eigenvalues, alpha) <= target
    if np.count_nonzero(eigenvalues) <= target:
        assert alpha == 0
    else:
        # d_eff may be so flat that its own rounding hides the difference.
        below = effective_dimension(eigenvalues, alpha * (1 - 1e-11))
        assert below > target * (1 - 1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_alpha_scales_with_the_kernel(scale):
    eigenvalues = np.array([5.0, 2.0, 1.0, 0.1])
    found = alpha_for_dimension(eigenvalues * scale, 2.0) / scale
    assert found == pytest.approx(alpha_for_dimension(eigenvalues, 2.0), rel=1e-11)


def test_equal_eigenvalues_have_a_closed_form():
    assert alpha_for_dimension(np.full(10, 3.0), 4.0) == pytest.approx(3 * (10 / 4 - 1), rel=1e-12)


def test_tiny_negative_eigenvalues_of_a_computed_kernel_count_for_nothing():
    assert effective_dimension([1.0, -1e-17], 0.0) == 1
    assert alpha_for_dimension([1.0, -1e-17], 1.0) == 0


@pytest.mark.parametrize("target", [0.0, -1.0, np.inf, np.nan])
def test_a_target_must_be_positive(target):
    with pytest.raises(ValueError, match="target"):
        alpha_for_dimension([1.0, 2.0], target)


def test_eigenvalues_must_be_finite():
    with pytest.raises(ValueError, match="finite"):
        effective_dimension([1.0, np.nan], 1.0)
    with pytest.raises(ValueError, match="alpha"):
        effective_dimension([1.0], -1.0)
