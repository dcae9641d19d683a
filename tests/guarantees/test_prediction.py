# SPDX-License-Identifier: BSD-3-Clause
"""Prediction bounds: never broken, and the sharp ones reached."""

import math

import numpy as np
import pytest
from scipy.stats import binom
from tests.guarantees.helpers import bss_promise, primal_ridge, theorem1_bound

from ridgewise.guarantees import PredictionReport
from ridgewise.guarantees._prediction_bounds import (
    PredictionBound,
    bilinear,
    c_star,
    cross_norms,
    eta,
    hat_deviations,
    in_span_bound,
    known_tangent,
    known_test_set_bound,
    regularized_eta,
    spectral_eta,
    tau,
    uniform_bound,
)

HOLDS = 1 + 1e-9
REACHED = 0.99


def norm(matrix):
    return float(np.linalg.norm(matrix, 2))


# Each bound under attack: truth / bound of an instance.


def eta_ratio(it):
    return norm(it.hat_difference) / eta(*it.interval)


def spectral_eta_ratio(it):
    return norm(it.hat_difference) / spectral_eta(*it.interval, it.sigma, it.alpha)


def bilinear_ratio(it):
    bound = bilinear(*hat_deviations(*it.interval, it.sigma, it.alpha), it.x[None], it.y)
    return abs(it.x @ it.hat_difference @ it.y) / bound[0]


def relative_ratio(it):
    """Theorem 2, corrected: max(1 - a, b - 1) omega, in units of abs(f)."""
    a, b = it.interval
    H = it.sigma**2 / (it.sigma**2 + it.alpha)
    omega_f = math.sqrt((it.x**2 @ H) * (it.y**2 @ H))
    return abs(it.x @ it.hat_difference @ it.y) / (max(1 - a, b - 1) * omega_f)


def bilinear_to_relative_ratio(it):
    a, b = it.interval
    H = it.sigma**2 / (it.sigma**2 + it.alpha)
    bound = bilinear(*hat_deviations(a, b, it.sigma, it.alpha), it.x[None], it.y)
    return bound[0] / (max(1 - a, b - 1) * math.sqrt((it.x**2 @ H) * (it.y**2 @ H)))


def tau_ratio(it):
    return norm(it.sigma[:, None] * it.resolvent) / tau(*it.interval, it.sigma, it.alpha)


def c_star_ratio(it):
    return norm(it.U.T @ (it.W * it.z)) / (c_star(it.U_S, it.w) * norm(it.z))


def theorem1_ratio(it):
    c_q = cross_norms(it.U_S, it.w, it.q[None, : it.n_selected], it.q[None] @ it.U)
    bound = theorem1_bound(
        *it.interval,
        it.sigma,
        it.alpha,
        coefficient_norms=[norm(it.x)],
        cross_norms=c_q,
        target_norm=norm(it.y),
    )
    out_of_span = it.z @ (it.W[:, None] * it.U * it.sigma) @ it.resolvent @ it.y
    return abs(it.x @ it.hat_difference @ it.y + out_of_span) / bound.total[0]


# Certified with alpha on the diagonal: the model's (mu = alpha), or half of it.


def regularized_eta_ratio(it):
    return norm(it.hat_difference) / regularized_eta(*it.regularized_interval(it.alpha))


def regularized_tau_ratio(it, share=1.0):
    mu = share * it.alpha
    bound = tau(*it.regularized_interval(mu), it.sigma, it.alpha, mu)
    return norm(it.sigma[:, None] * it.resolvent) / bound


def larger_alpha_tau_ratio(it):
    return regularized_tau_ratio(it, share=0.5)


def regularized_in_span_ratio(it, share=1.0):
    mu = share * it.alpha
    interval = it.regularized_interval(mu)
    bound = in_span_bound(*interval, it.sigma, it.alpha, mu, it.x[None], it.y)
    return abs(it.x @ it.hat_difference @ it.y) / bound[0]


def larger_alpha_in_span_ratio(it):
    return regularized_in_span_ratio(it, share=0.5)


def joint_interval(it):
    """The spectrum of B^T W B, B an orthonormal basis of U and the test point."""
    B = np.column_stack([it.U, it.z / np.linalg.norm(it.z)])
    eigenvalues = np.linalg.eigvalsh(B.T @ (it.W[:, None] * B))
    return max(float(eigenvalues[0]), 0.0), float(eigenvalues[-1])


def cross_ratio(it):
    c_q = np.linalg.norm(it.U.T @ (it.W * it.z))
    a, b = joint_interval(it)
    return c_q / ((b - a) / 2 * np.linalg.norm(it.z))


def tangent_ratio(it):
    change = np.linalg.norm(np.linalg.solve(it.G, it.U.T @ (it.W * it.z)))
    return change / (known_tangent(*joint_interval(it)) * np.linalg.norm(it.z))


SHARP = [
    eta_ratio,
    spectral_eta_ratio,
    bilinear_ratio,
    relative_ratio,
    bilinear_to_relative_ratio,
    tau_ratio,
    c_star_ratio,
    theorem1_ratio,
    regularized_eta_ratio,
    regularized_tau_ratio,
    larger_alpha_tau_ratio,
    regularized_in_span_ratio,
    larger_alpha_in_span_ratio,
    cross_ratio,
    tangent_ratio,
]


@pytest.mark.parametrize("ratio", SHARP)
def test_no_attack_breaks_a_sharp_bound_and_some_reach_it(attack, ratio):
    worst = attack(ratio)
    assert REACHED <= worst <= HOLDS


# An attack can reach a bound where its cases coincide. Here each case is attained on its own, by a
# diagonal G, in the middle of a spectrum wide enough to rule the other cases out.


@pytest.mark.parametrize(("alpha", "G"), [(2.0, [3.0, 0.25, 1.0]), (0.0, [3.0, 1.0, 0.25])])
def test_tau_is_attained(alpha, G):
    sigma = np.array([100.0, math.sqrt(2.0 / 0.25), 1e-3])
    attained = np.max(sigma / (np.array(G) * sigma**2 + alpha))
    assert tau(0.25, 3.0, sigma, alpha) == pytest.approx(attained)


@pytest.mark.parametrize("a", [0.2, 0.8])
def test_regularized_tau_is_attained(a):
    alpha, b = 2.0, 1.5
    # At t = 2 a alpha, or where that is below the smallest eigenvalue, alpha, of K~ + alpha: there.
    t = max(2 * a, 1) * alpha
    sigma = np.array([100.0, math.sqrt(t / a - alpha), 1e-3])
    attained = sigma[1] / t
    assert tau(a, b, sigma, alpha, mu=alpha) == pytest.approx(attained)


def test_regularized_eta_is_attained_on_either_side():
    alpha, k = 1.0, 1e-9
    # Nothing selected: a = alpha / (k + alpha). Far too much: K~ + alpha = b (K + alpha).
    assert regularized_eta(alpha / (3 + alpha), 1.0) == pytest.approx(3 / (3 + alpha))
    b = 4.0
    k_selected = b * (k + alpha) - alpha
    attained = k_selected / (k_selected + alpha) - k / (k + alpha)
    assert regularized_eta(1.0, b) == pytest.approx(attained)


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("n_samples", [3, 5])
def test_theorem1_covers_the_models_themselves(random_problem, alpha, n_samples):
    # With 5 samples X has rank 3: its null space must not disturb the bound.
    for seed in range(60):
        problem = random_problem(seed, n_samples=n_samples)
        c_q = cross_norms(problem.U_S, problem.w, problem.Q[:, problem.S], problem.Q @ problem.U)
        bound = theorem1_bound(
            *problem.interval,
            problem.sigma,
            alpha,
            coefficient_norms=problem.coefficient_norms,
            cross_norms=c_q,
            target_norm=norm(problem.V.T @ problem.y),
        )
        assert np.all(np.abs(problem.change(alpha)) <= bound.total * HOLDS + 1e-12)


def test_cross_norms_and_c_star_agree_with_the_explicit_complement(random_problem):
    problem = random_problem(0)
    U, W = problem.U, np.zeros(problem.U.shape[0])
    W[problem.S] = problem.w
    complement = np.linalg.svd(U)[0][:, U.shape[1] :]
    C = complement.T @ (W[:, None] * U)
    assert c_star(problem.U_S, problem.w) == pytest.approx(norm(C), rel=1e-12)
    Z = problem.Q - problem.Q @ U @ U.T
    found = cross_norms(problem.U_S, problem.w, problem.Q[:, problem.S], problem.Q @ U)
    np.testing.assert_allclose(found, np.linalg.norm(Z @ (W[:, None] * U), axis=1), rtol=1e-10)


def test_c_star_of_all_features_is_zero_but_for_rounding():
    U = np.linalg.qr(np.random.default_rng(0).normal(size=(50, 7)))[0]
    assert 0 <= c_star(U, np.ones(50)) < 1e-6


def test_c_star_grows_with_the_weight_of_a_tiny_row_while_the_interval_stays():
    # A feature of tiny leverage can be drawn with a huge weight: [a, b] does not show it, c* does.
    U_S, w = np.array([[1e-6]]), np.array([1e12])
    assert (U_S.T @ (w[:, None] * U_S)).item() == pytest.approx(1)
    assert c_star(U_S, w) == pytest.approx(1e6, rel=1e-6)


@pytest.mark.parametrize(("rank", "n_draws"), [(27, 28), (27, 90), (4, 144), (10.9, 20)])
def test_the_eta_of_the_promise_has_a_closed_form_below_one(rank, n_draws):
    s = math.sqrt(rank / n_draws)
    lower, upper = bss_promise(rank, n_draws)
    scale = math.sqrt(lower * upper)
    promised, rescaled = eta(lower, upper), eta(lower / scale, upper / scale)
    assert promised == pytest.approx(s / (2 - s))
    assert rescaled == pytest.approx((1 - math.sqrt(1 - s**2)) / s)
    assert rescaled <= promised < 1


def test_eta_is_at_most_a_third_or_so_of_epsilon():
    for epsilon in np.linspace(0.01, 0.5, 50):
        assert eta(1 - epsilon, 1 + epsilon) <= 0.3432 * epsilon


def test_spectral_eta_never_exceeds_eta_and_vanishes_without_regularization():
    for alpha in np.logspace(-6, 6, 60):
        assert spectral_eta(0.3, 1.9, [3.0, 1.0, 0.2], alpha) <= eta(0.3, 1.9)
    assert spectral_eta(0.3, 1.9, [3.0, 1.0, 0.2], 0.0) == 0


def test_an_interval_that_excludes_one_is_widened():
    assert eta(1.2, 1.5) == eta(1.0, 1.5)
    assert spectral_eta(0.5, 0.8, [1.0], 1.0) == spectral_eta(0.5, 1.0, [1.0], 1.0)


def test_lost_rank_and_uncertified_ends_give_limits_not_nan():
    assert eta(0.0, math.inf) == 1
    assert spectral_eta(0.0, 1.5, [2.0, 1.0], 0.0) == 1
    at_infinity = spectral_eta(0.5, math.inf, [2.0, 1.0], 1.0)
    assert at_infinity == pytest.approx(spectral_eta(0.5, 1e12, [2.0, 1.0], 1.0))
    assert tau(0.0, 1.5, [2.0, 1.0], 0.0) == math.inf
    assert tau(0.0, 1.5, [2.0, 1.0], 0.5) == 4.0
    bound = theorem1_bound(
        0.0, 1.5, [1.0], 0.0, coefficient_norms=[0, 0], cross_norms=[0, 1], target_norm=1.0
    )
    np.testing.assert_array_equal(bound.out_of_span, [0, math.inf])


def test_a_regularized_interval_holds_for_every_larger_alpha(random_problem):
    for seed in range(50):
        problem = random_problem(seed, n_selected=2)
        a, b = problem.regularized_interval(0.5)
        larger_a, larger_b = problem.regularized_interval(5.0)
        assert larger_a >= min(a, 1) - 1e-12
        assert larger_b <= max(b, 1) + 1e-12


@pytest.mark.parametrize("alpha", [0.1, 1.0, 30.0])
def test_regularized_bounds_cover_models_with_fewer_features_than_the_rank(random_problem, alpha):
    for seed in range(60):
        problem = random_problem(seed, n_selected=2, n_samples=5)
        a, b = problem.regularized_interval(alpha)
        y = norm(problem.V.T @ problem.y)
        c_q = cross_norms(problem.U_S, problem.w, problem.Q[:, problem.S], problem.Q @ problem.U)
        bound = regularized_eta(a, b) * problem.coefficient_norms * y
        bound += tau(a, b, problem.sigma, alpha, mu=alpha) * c_q * y
        assert np.all(np.abs(problem.change(alpha)) <= bound * HOLDS + 1e-12)


# Test points that took part in the selection


@pytest.mark.parametrize("alpha", [0.0, 0.3, 30.0])
def test_known_test_points_are_covered(random_problem, alpha):
    for seed in range(60):
        problem = random_problem(seed, n_selected=6)
        q = problem.Q[:1]
        B = np.linalg.qr(np.column_stack([problem.U, q.T]))[0][problem.S]
        singular = np.linalg.svd(np.sqrt(problem.w)[:, None] * B, compute_uv=False)
        norms = problem.coefficient_norms[:1], problem.residual_norms[:1]
        a, b = singular[-1] ** 2, singular[0] ** 2
        bound = known_test_set_bound(a, b, problem.sigma, alpha, *norms).total * norm(problem.y)
        assert abs(problem.change(alpha)[0]) <= bound[0] * HOLDS + 1e-12


@pytest.mark.parametrize(("rank", "n_draws"), [(5, 6), (10, 100), (8, 288)])
def test_what_bss_promises_for_known_test_points(rank, n_draws):
    a, b = bss_promise(rank, n_draws)
    s = math.sqrt(rank / n_draws)
    assert (b - a) / 2 == pytest.approx(2 * s)
    assert known_tangent(a, b) == pytest.approx(2 * s / (1 - s**2))


def test_the_tangent_does_not_know_the_scale_of_the_weights():
    assert known_tangent(0.3, 1.7) == pytest.approx(known_tangent(3.0, 17.0))


def test_nothing_is_said_of_known_test_points_where_rank_was_lost():
    assert known_tangent(0.0, 1.0) == math.inf
    bound = known_test_set_bound(0.0, 1.0, [1.0], 0.0, np.ones(2), np.array([0.0, 1.0]))
    np.testing.assert_array_equal(bound.total, [1, math.inf])


# For given targets, and for points not yet seen


@pytest.mark.parametrize("alpha", [0.0, 0.3, 30.0])
def test_the_uniform_bound_holds_and_its_parts_are_reached(random_problem, alpha):
    for seed in range(40):
        problem = random_problem(seed, n_samples=5)
        p, p_selected = problem.primal_vectors(alpha)
        difference, U, S = p - p_selected, problem.U, problem.S

        def bound(Q, difference=difference, p_S=p_selected[S], problem=problem):
            return uniform_bound(
                problem.X @ difference,
                problem.U_S,
                p_S,
                np.linalg.norm(Q @ problem.U / problem.sigma, axis=1),
                np.linalg.norm(Q - Q @ problem.U @ problem.U.T, axis=1),
            ).total

        assert np.all(np.abs(problem.Q @ difference) <= bound(problem.Q) * (1 + 1e-9) + 1e-12)
        inside = (problem.X @ difference @ problem.X)[None]
        outside = (p_selected - U @ (U.T @ p_selected))[None]
        for worst in (inside, outside):
            assert np.abs(worst @ difference) == pytest.approx(bound(worst), rel=1e-5, abs=1e-9)


def disagreement_bound(k, m, delta=0.05):
    """The bound of a report on m test points, of which k have another sign."""
    zeros, full = np.zeros(m), np.ones(m)
    selected = np.where(np.arange(m) < k, -1.0, 1.0)
    theorem = PredictionBound(zeros, zeros)
    report = PredictionReport(zeros, zeros, zeros, theorem, full, selected, zeros, 0.0, 0.0)
    return report.disagreement_bound(delta)


@pytest.mark.parametrize(("k", "m"), [(0, 1), (0, 100), (3, 50), (49, 50)])
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.5])
def test_clopper_pearson_leaves_exactly_delta_below(k, m, delta):
    assert binom.cdf(k, m, disagreement_bound(k, m, delta=delta)) == pytest.approx(delta)


@pytest.mark.parametrize("share", [0.001, 0.03, 0.4])
def test_clopper_pearson_covers_the_population(share):
    counts = np.arange(201)
    fails = [disagreement_bound(k, 200) < share for k in counts]
    assert binom.pmf(counts, 200, share)[fails].sum() <= 0.05


def test_all_disagreements_bound_nothing():
    assert disagreement_bound(7, 7) == 1


def test_no_test_points_bound_nothing():
    assert disagreement_bound(0, 0) == 1


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_an_impossible_delta_is_refused(delta):
    with pytest.raises(ValueError, match="expected delta between 0 and 1"):
        disagreement_bound(1, 2, delta=delta)


def test_uniform_bound_of_nearly_all_features():
    """What the bound subtracts cancels when hardly anything was lost: it must not become 0."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        X, y, q = rng.standard_normal((8, 40)), rng.standard_normal(8), rng.standard_normal(40)
        weights = 1 + 1e-8 * rng.random(40)
        p = primal_ridge(X, y, 0.1)
        p_selected = np.sqrt(weights) * primal_ridge(X * np.sqrt(weights), y, 0.1)
        V, s, Ut = np.linalg.svd(X, full_matrices=False)
        inside = Ut @ q
        bound = uniform_bound(
            X @ (p - p_selected),
            Ut.T,
            p_selected,
            np.linalg.norm(V @ (inside / s)),
            np.linalg.norm(q - Ut.T @ inside),
        )
        assert abs((p - p_selected) @ q) <= bound.total * (1 + 1e-6)
