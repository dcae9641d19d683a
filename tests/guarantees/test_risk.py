# SPDX-License-Identifier: BSD-3-Clause
"""The risk of ridge regression, and how far a selection can inflate it."""

import math

import numpy as np
import pytest
from mpmath import mp
from tests.guarantees.helpers import fixed_beta_risk_bound, phi_B

from ridgewise.guarantees._risk import (
    Risk,
    average_bias_inflation,
    bias_inflation_bound,
    fixed_beta_bias,
    ridge_risk,
    variance_inflation,
)

HOLDS = 1 + 1e-9
REACHED = 0.99


def kernels(it):
    """K and K~ in the basis of V."""
    return np.diag(it.sigma**2), it.sigma[:, None] * it.G * it.sigma


@pytest.mark.parametrize("alpha", [0.0, 0.5, 20.0])
def test_risk_is_the_mean_error_of_simulated_ridge_regression(alpha):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 4)) @ np.diag([3, 2, 1, 0.3])
    K, z = X @ X.T, X @ rng.normal(size=4)
    y = z + rng.normal(scale=math.sqrt(0.7), size=(200_000, 6))
    hat = K @ np.linalg.pinv(K + alpha * np.eye(6), hermitian=True, rcond=1e-10)
    errors = np.sum((y @ hat - z) ** 2, axis=1) / 6
    risk = ridge_risk(K, z, 0.7, alpha)
    standard_error = errors.std() / math.sqrt(len(errors))
    assert abs(errors.mean() - risk.total) <= 4 * standard_error
    assert np.sum((hat @ z - z) ** 2) / 6 == pytest.approx(risk.bias, abs=1e-12)


def test_risk_has_the_normalisation_of_the_paper():
    rng = np.random.default_rng(1)
    n, lam = 5, 0.3
    X, z = rng.normal(size=(n, 9)), rng.normal(size=n)
    K = X @ X.T
    inverse = np.linalg.inv(K + n * lam * np.eye(n))
    risk = ridge_risk(K, z, 2.0, alpha=n * lam)
    assert risk.bias == pytest.approx(n * lam**2 * z @ inverse @ inverse @ z)
    assert risk.variance == pytest.approx(2.0 / n * np.trace(K @ K @ inverse @ inverse))
    assert risk.total == risk.bias + risk.variance


def test_without_regularization_the_bias_is_what_k_cannot_reach():
    x = np.array([1.0, 2.0, 2.0]) / 3
    risk = ridge_risk(np.outer(x, x), [3.0, 0.0, 0.0], 1.0, alpha=0.0)
    assert risk.bias == pytest.approx((9 - 1) / 3)
    assert risk.variance == pytest.approx(1 / 3)


def test_risk_goes_over_to_the_unregularized_one():
    X = np.random.default_rng(2).normal(size=(6, 3))
    K, z = X @ X.T, np.arange(6.0)
    limit, near = ridge_risk(K, z, 1.0, 0.0), ridge_risk(K, z, 1.0, 1e-9)
    assert near.total == pytest.approx(limit.total, rel=1e-6)


def test_a_kernel_in_single_precision_is_taken_as_it_is():
    X = np.random.default_rng(3).normal(size=(40, 5)).astype(np.float32)
    K = X @ X.T
    assert ridge_risk(K, np.ones(40), 1.0, 0.0).variance == pytest.approx(5 / 40)


def test_scales_do_not_matter():
    K, z = np.diag([3.0, 1.0]), [2.0, 2.0]
    for scale in (1e-150, 1e150):
        assert ridge_risk(K * scale, z, 1.0, scale).total == pytest.approx(1.03125)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": np.ones((2, 3))}, "square"),
        ({"K": np.ones(2)}, "square"),
        ({"K": np.empty((0, 0))}, "square"),
        ({"K": [[1.0, 2.0], [0.0, 1.0]]}, "symmetric"),
        ({"K": [[1.0, np.nan], [np.nan, 1.0]]}, "NaN"),
        ({"K": [[1.0, 2.0], [2.0, 1.0]]}, "semi-definite"),
        ({"K": [[-1.0, 0.0], [0.0, -2.0]]}, "semi-definite"),
        ({"z": [1.0]}, "z to be 2 finite numbers"),
        ({"z": [1.0, np.inf]}, "z to be 2 finite numbers"),
        ({"noise_variance": -1.0}, "noise_variance"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": np.nan}, "alpha"),
    ],
)
def test_input_is_checked(changes, message):
    given = {"K": np.eye(2), "z": [1.0, 1.0], "noise_variance": 1.0, "alpha": 1.0}
    with pytest.raises(ValueError, match=message):
        ridge_risk(**(given | changes))


def test_a_zero_kernel_predicts_zero():
    assert ridge_risk(np.zeros((2, 2)), [1.0, 3.0], 1.0, 0.0) == Risk(5.0, 0.0)


# Inflation: what is claimed, under attack.


def bias_ratio(it):
    K, K_selected = kernels(it)
    before, after = (ridge_risk(kernel, it.x, 0.0, it.alpha).bias for kernel in (K, K_selected))
    return after / (before * phi_B(it.G, it.sigma, it.alpha))


def variance_ratio(it):
    K, K_selected = kernels(it)
    before, after = (ridge_risk(M, it.x, 1.0, it.alpha).variance for M in (K, K_selected))
    return after / (before * variance_inflation(it.interval[1], it.sigma, it.alpha))


def bias_bound_ratio(it):
    bound = bias_inflation_bound(*it.interval, it.sigma, it.alpha)
    return phi_B(it.G, it.sigma, it.alpha) / bound


def regularized_bias_bound_ratio(it):
    interval = it.regularized_interval(it.alpha)
    bound = bias_inflation_bound(*interval, it.sigma, it.alpha, mu=it.alpha)
    return phi_B(it.G, it.sigma, it.alpha) / bound


def larger_alpha_bias_bound_ratio(it):
    """Certified at half of the model's alpha."""
    mu = it.alpha / 2
    bound = bias_inflation_bound(*it.regularized_interval(mu), it.sigma, it.alpha, mu)
    return phi_B(it.G, it.sigma, it.alpha) / bound


def fixed_beta_ratio(it):
    K, K_selected = kernels(it)
    z, noise = it.sigma * it.x, it.y[0] ** 2
    bound = fixed_beta_risk_bound(
        ridge_risk(K, z, noise, it.alpha),
        *it.interval,
        alpha=it.alpha,
        n_samples=it.ell,
        coefficient_norm=float(np.linalg.norm(it.x)),
    )
    return ridge_risk(K_selected, z, noise, it.alpha).total / bound


def average_ratio(it):
    before = np.sum((it.sigma / (it.sigma**2 + it.alpha)) ** 2)
    after = np.sum((it.resolvent * it.sigma) ** 2)
    return after / (before * average_bias_inflation(*it.interval))


def worst_case_ratio(it):
    _, K_selected = kernels(it)
    bias = ridge_risk(K_selected, it.sigma * it.x, 0.0, it.alpha).bias
    size = float(np.linalg.norm(it.x))
    return bias / fixed_beta_bias(math.inf, *it.interval, it.alpha / it.ell, size)


SHARP = [
    bias_ratio,
    variance_ratio,
    bias_bound_ratio,
    regularized_bias_bound_ratio,
    larger_alpha_bias_bound_ratio,
    fixed_beta_ratio,
    average_ratio,
    worst_case_ratio,
]


@pytest.mark.parametrize("ratio", SHARP)
def test_no_attack_breaks_a_sharp_inflation_and_some_reach_it(attack, ratio):
    worst = attack(ratio)
    assert REACHED <= worst <= HOLDS


def test_bias_inflation_is_the_norm_it_is_defined_by_and_a_singular_vector_attains_it(
    random_problem,
):
    for seed in range(40):
        problem, alpha = random_problem(seed, n_samples=5), 0.5
        G = problem.U_S.T @ (problem.w[:, None] * problem.U_S)
        phi = phi_B(G, problem.sigma, alpha)
        K, K_selected, identity = problem.X @ problem.X.T, problem.K_selected, np.eye(5)
        ratio = np.linalg.solve(K_selected + alpha * identity, K + alpha * identity)
        # Outside the range of K nothing changes, which adds a factor 1 to the whole norm.
        assert max(phi, 1) == pytest.approx(np.linalg.norm(ratio, 2) ** 2, rel=1e-6)

        worst = np.linalg.svd(ratio @ problem.V)[2][0]
        z = (K + alpha * identity) @ problem.V @ worst
        before, after = (ridge_risk(M, z, 0.0, alpha).bias for M in (K, K_selected))
        assert after == pytest.approx(phi * before, rel=1e-6)


def test_no_risk_inflates_by_more_than_the_larger_of_the_two_factors(random_problem):
    for seed in range(100):
        problem, alpha = random_problem(seed, n_samples=5), 3.0 ** (seed % 9 - 4)
        G = problem.U_S.T @ (problem.w[:, None] * problem.U_S)
        phi_V = variance_inflation(problem.interval[1], problem.sigma, alpha)
        phi = max(phi_V, phi_B(G, problem.sigma, alpha))
        z = problem.X @ problem.Q[0]
        before = ridge_risk(problem.X @ problem.X.T, z, 1.0, alpha).total
        assert ridge_risk(problem.K_selected, z, 1.0, alpha).total <= phi * before * HOLDS


def test_bias_inflation_keeps_its_digits_when_x_is_ill_conditioned():
    G, sigma, alpha = [[1.0, 0.5], [0.5, 1.0]], [1e6, 1e-6], 1e-10
    mp.dps = 60
    S, identity = mp.diag([mp.mpf(value) for value in sigma]), mp.mpf(alpha) * mp.eye(2)
    ratio = mp.inverse(S * mp.matrix(G) * S + identity) * (S * S + identity)
    exact = mp.svd_r(ratio, compute_uv=False)[0] ** 2
    assert phi_B(G, sigma, alpha) == pytest.approx(float(exact), rel=1e-12)


def test_the_bound_on_the_bias_inflation_is_reached_as_the_condition_number_grows():
    a, b, sigma = 0.5, 2.0, np.array([1e4, 1e-4])
    alpha = 1e-2
    T = np.array([[1 / a + 1 / b, 1 / a - 1 / b], [1 / a - 1 / b, 1 / a + 1 / b]]) / 2
    N = np.sqrt(sigma**2 + alpha)
    attained = np.linalg.norm(T * N / N[:, None], 2) ** 2
    bound = bias_inflation_bound(a, b, sigma, alpha, mu=alpha)
    assert 0.99 * bound <= attained <= bound


def test_a_smaller_kernel_has_an_infinite_bias_inflation_without_regularization():
    assert phi_B([[1.0, 1.0], [1.0, 1.0]], [2.0, 1.0], 0.0) == math.inf
    assert phi_B([[1.0, 1.0], [1.0, 1.0]], [2.0, 1.0], 1.0) < math.inf


def test_nothing_selected_still_has_a_bound_where_there_is_regularization():
    trivial = ((4 + 1) / 1) ** 2  # K~ = 0: the bias of predicting zero against B(K)
    assert phi_B(np.zeros((2, 2)), [2.0, 1.0], 1.0) == pytest.approx(trivial)
    assert trivial <= bias_inflation_bound(0.0, 1.0, [2.0, 1.0], 1.0) < math.inf
    for unbounded in (
        bias_inflation_bound(0.0, 1.0, [2.0, 1.0], 0.0),
        average_bias_inflation(0.0, 1.0),
        fixed_beta_bias(0.0, 0.0, 1.0, 0.5, 1.0),
        fixed_beta_bias(0.0, 0.0, 1.0, 0.5, 1.0, regularized=True),
    ):
        assert unbounded == math.inf


def test_an_uncertified_upper_end_gives_limits():
    assert variance_inflation(math.inf, [2.0, 1.0], 1.0) == pytest.approx(4)
    at_infinity = bias_inflation_bound(0.5, math.inf, [2.0, 1.0], 1.0)
    assert at_infinity == pytest.approx(bias_inflation_bound(0.5, 1e9, [2.0, 1.0], 1.0))


def test_selecting_everything_inflates_nothing():
    assert variance_inflation(1.0, [2.0, 1.0], 1.0) == 1
    assert phi_B(np.eye(2), [2.0, 1.0], 1.0) == pytest.approx(1)
    assert bias_inflation_bound(1.0, 1.0, [2.0, 1.0], 1.0) == 1
    assert average_bias_inflation(1.0, 1.0) == 1
