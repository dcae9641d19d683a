# SPDX-License-Identifier: BSD-3-Clause
"""What the paper prints and is not so: each example breaks the print and obeys what stands here.

The numbers E... are those of the errata in "The paper, corrected" in the documentation. In the
paper X is d x n, and lambda is on K's diagonal for classification, n lambda for ridge regression.
"""

import math

import numpy as np
import pytest
from tests.guarantees.helpers import (
    bss_promise,
    fixed_beta_risk_bound,
    phi_B,
    primal_ridge,
    theorem1_bound,
)

from ridgewise.barrier import sparsify_plain
from ridgewise.guarantees._prediction_bounds import (
    c_star,
    cross_norms,
    eta,
    spectral_eta,
    tau,
)
from ridgewise.guarantees._risk import (
    average_bias_inflation,
    bias_inflation_bound,
    ridge_risk,
    variance_inflation,
)
from ridgewise.guarantees._sample_size import features_for_epsilon, leverage_promise

ROOT_HALF = math.sqrt(0.5)
# Equality, up to rounding, where a bound is attained.
HOLDS = 1 + 1e-12


def orthonormal(d, ell, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, ell)))[0]


def test_e1_the_printed_weights_break_the_promise():
    # Printed: D = 1 / sqrt(t), so that the weights are 1 / t. They are t.
    U, scale = orthonormal(200, 5), (1 - math.sqrt(5 / 40)) / 40
    found = sparsify_plain(U, 40)
    t = found.weights / scale
    printed = np.linalg.eigvalsh((U[found.selected].T * (scale / t)) @ U[found.selected])
    assert printed[-1] < bss_promise(5, 40)[0] <= found.lower


def test_e6_where_the_printed_rule_stalls_a_row_is_drawn_again():
    # Only u_1 covers its direction: of unselected rows, none is feasible at the third draw.
    U = np.zeros((1000, 2))
    U[0, 0], U[1:, 1] = 1, 1 / math.sqrt(999)
    found = sparsify_plain(U, 20)
    assert np.count_nonzero(found.draws == 0) > 1
    assert (found.lower, found.upper) == pytest.approx((0.799, 0.969), abs=1e-3)


def test_e7_a_tiny_row_may_get_a_huge_weight_within_the_promise():
    # Feasibility is a matter of direction alone: w is about 1 / ||u||^2.
    U = np.zeros((3, 2))
    U[0, 0], U[1, 0], U[2, 1] = math.sqrt(1 - 1e-12), 1e-6, 1
    found = sparsify_plain(U, 8)
    assert found.weights.max() > 1e10
    assert found.promised_lower <= found.lower <= found.upper <= found.promised_upper


def test_e8_one_draw_more_than_the_rank_is_enough():
    found = sparsify_plain(orthonormal(300, 27), 28)
    assert found.lower >= found.promised_lower == pytest.approx(3.2e-4, rel=0.05)


def test_e9_lemma_2_has_the_wrong_sign():
    # Printed: lmin(I - G) >= 1 - (1 + s)^2 >= 3 s. The middle is negative.
    lower, upper = bss_promise(1, 36)
    s = 1 / 6
    assert not 1 - upper >= 3 * s
    assert -3 * s <= 1 - upper
    assert 1 - lower <= 3 * s


def test_e10_one_half_is_out_of_reach_in_the_experiments_of_the_paper():
    # n = 27 training points of 1000 features, 80 or 90 of them selected.
    assert features_for_epsilon(0.5, 27, method="bss-paper") == 972
    assert features_for_epsilon(0.5, 27) == 535
    assert features_for_epsilon(0.5, 27, method="bss-rescaled") == 377


def test_e11_the_printed_probabilities_do_not_sum_to_one():
    n, rank = 30, 4
    U = orthonormal(50, rank)
    assert np.sum(U**2) / n == pytest.approx(rank / n)
    assert np.sum(U**2) / rank == pytest.approx(1)


def test_e12_the_printed_scale_of_leverage_sampling_lacks_the_number_of_draws():
    rng = np.random.default_rng(0)
    U, r = orthonormal(300, 5), 60
    p = np.sum(U**2, axis=1) / 5
    counts = rng.multinomial(r, p / p.sum(), size=300)
    printed, ours = (np.einsum("ti,ij,ik->tjk", counts / scale, U, U, optimize=True)
                     for scale in (p, r * p))  # fmt: skip
    np.testing.assert_allclose(printed.mean(axis=0), r * np.eye(5), atol=4)
    np.testing.assert_allclose(ours.mean(axis=0), np.eye(5), atol=0.07)
    lower, upper = leverage_promise(5, r)
    kept = np.linalg.eigvalsh(ours)
    assert np.mean((kept[:, 0] >= lower) & (kept[:, -1] <= upper)) >= 0.9
    assert np.linalg.eigvalsh(printed)[:, 0].min() > upper


def test_e15_the_series_of_an_invertible_matrix_may_diverge():
    # Lemma 4: I + E = 3 I is invertible, but the partial sums of I + sum (-E)^i do not settle.
    partial = np.cumsum((-2.0) ** np.arange(40))
    assert np.all(np.abs(partial[3:] - 1 / 3) > 1)
    within = np.cumsum((-0.9) ** np.arange(400))
    assert within[-1] == pytest.approx(1 / 1.9)


def test_e16_two_features_break_the_cross_term_lemma():
    # U = (1, 1)/sqrt 2, W = diag(2, 0): G = 1, so epsilon = 0, and yet the cross term is 1.
    rows, weights = np.array([[ROOT_HALF]]), np.array([2.0])
    assert (rows.T @ (weights[:, None] * rows)).item() == pytest.approx(1)
    q = np.array([ROOT_HALF, -ROOT_HALF])
    cross = cross_norms(rows, weights, q[None, :1], np.zeros((1, 1)))[0]
    assert cross == pytest.approx(1)
    assert cross <= c_star(rows, weights) == pytest.approx(1)


def test_e16_bss_breaks_the_cross_term_lemma_at_one_half():
    U = orthonormal(1000, 4)
    run = sparsify_plain(U, 144)
    epsilon = 3 * math.sqrt(4 / 144)
    assert max(1 - run.lower, run.upper - 1) <= epsilon == pytest.approx(0.5)
    assert c_star(U[run.selected], run.weights) > 2 * epsilon


def test_e16_no_selection_of_few_flat_features_can_obey_the_cross_term_lemma():
    # tr U^T W^2 U >= (tr G)^2 / (the leverage selected), so c*^2 >= a^2 d / r - b^2.
    d, r, ell = 256, 40, 3
    grid = (np.arange(d) + 0.5) * np.pi / d
    U = np.column_stack([f(k * grid * 2) for k in (1, 2) for f in (np.cos, np.sin)])[:, :2]
    U = np.column_stack([np.ones(d) * ROOT_HALF, U]) * math.sqrt(2 / d)
    np.testing.assert_allclose(np.sum(U**2, axis=1), ell / d)
    rng = np.random.default_rng(0)
    for _ in range(50):
        S = rng.permutation(d)[:r]
        w = d / r * np.exp(rng.normal(size=r) * rng.choice([0, 0.3, 1.0]))
        eigenvalues = np.linalg.eigvalsh(U[S].T @ (w[:, None] * U[S]))
        assert c_star(U[S], w) ** 2 >= (eigenvalues[0] ** 2 * d / r - eigenvalues[-1] ** 2) / HOLDS
    assert c_star(U[S], np.full(r, d / r)) > 2


def test_e18_the_printed_bound_on_phi():
    # ||lambda Phi|| <= epsilon lambda is printed; Phi = G^-1 - I.
    epsilon = 0.5
    phi = 1 / (1 - epsilon) - 1
    assert phi > epsilon
    assert phi <= epsilon / (1 - epsilon)


def test_e20_the_printed_in_span_bound():
    # n = 1, sigma = 1, G = 1 - epsilon: the equation before the theorem's simplification.
    epsilon, lam = 0.4, 0.1
    change = 1 / (1 + lam) - (1 - epsilon) / (1 - epsilon + lam)
    printed = epsilon * lam / (1 + (1 - epsilon) * lam) / (1 + lam)
    assert change == pytest.approx(0.0519, abs=1e-4)
    assert printed == pytest.approx(0.0343, abs=1e-4)
    assert change > printed
    assert change == pytest.approx(spectral_eta(1 - epsilon, 1.0, [1.0], lam))
    assert change <= eta(1 - epsilon, 1.0)


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.5])
def test_e21_theorem_1_without_regularization_even_where_the_cross_term_lemma_holds(epsilon):
    # U = (1, 1)/sqrt 2, w = (1, 1 - 2 epsilon), sigma = 1, y = 1, q orthogonal to U.
    U, w = np.full((2, 1), ROOT_HALF), np.array([1, 1 - 2 * epsilon])
    q = np.array([ROOT_HALF, -ROOT_HALF])
    G = (U.T @ (w[:, None] * U)).item()
    assert c_star(U, w) <= epsilon * (1 + 1e-6)
    change = abs(q @ (w[:, None] * U) / G).item()
    assert change == pytest.approx(epsilon / (1 - epsilon))
    assert change > epsilon  # printed: epsilon kappa / smax ||beta|| ||y||
    bound = theorem1_bound(
        G, G, [1.0], 0.0,
        coefficient_norms=[0.0], cross_norms=cross_norms(U, w, q[None], np.zeros((1, 1))),
        target_norm=1.0,
    )  # fmt: skip
    assert bound.total[0] == pytest.approx(change)


@pytest.mark.parametrize(("lam", "printed"), [(0.0, 0.5), (0.3, 1.0)])
@pytest.mark.parametrize("labels", [None, [1.0, 1.0, -1.0, 1.0]])
def test_e24_bss_itself_breaks_theorem_1(lam, printed, labels):
    # 5000 features, 4 training points, all singular values 1, r = 144: epsilon = 1/2.
    U = orthonormal(5000, 4)
    run = sparsify_plain(U, 144)
    S, w = run.selected, run.weights
    q, y = worst_outside(U, S, w, lam)
    X, target = U.T, y
    if labels is not None:
        # Turn the training points until the worst targets are labels of +-1.
        target = np.array(labels)
        X = reflection(2 * y, target) @ U.T
    p, p_selected = primal_ridge(X, target, lam), np.zeros(5000)
    p_selected[S] = np.sqrt(w) * primal_ridge(X[:, S] * np.sqrt(w), target, lam)
    change, y_norm = abs(q @ (p_selected - p)), float(np.linalg.norm(target))
    assert change > 2 * printed * y_norm

    bound = theorem1_bound(
        run.lower, run.upper, np.ones(4), lam,
        coefficient_norms=[np.linalg.norm(q @ U)],
        cross_norms=cross_norms(U[S], w, q[None, S], q[None] @ U),
        target_norm=y_norm,
    )  # fmt: skip
    assert change <= bound.total[0] * HOLDS
    uniform = tau(run.lower, run.upper, np.ones(4), lam) * c_star(U[S], w) * y_norm
    assert change <= uniform * HOLDS


def worst_outside(U, S, w, lam):
    """The unit q outside the span and the unit y at which p~ = W U (G + lambda)^-1 y errs most."""
    reduced = np.zeros_like(U)
    reduced[S] = w[:, None] * U[S]
    G = U.T @ reduced
    outside = (reduced - U @ G) @ np.linalg.inv(G + lam * np.eye(len(G)))
    left, _, right = np.linalg.svd(outside, full_matrices=False)
    return left[:, 0], right[0]


def reflection(x, y):
    """An orthogonal V with V x = y, for two vectors of one norm."""
    mirror = y - x
    return np.eye(len(x)) - 2 * np.outer(mirror, mirror) / (mirror @ mirror)


def test_e28_the_printed_delta_claims_that_risk_drops():
    # Delta = C rho / epsilon^2 is a number of samples: 108 for C = 1, rho = 27, epsilon = 1/2.
    printed = (1 - 27 / 0.5**2) ** -2.0
    assert printed == pytest.approx(8.7e-5, rel=0.01)
    K, z = np.diag([3.0, 1.0]), np.ones(2)
    risk = ridge_risk(K, z, 1.0, 1.0).total
    assert risk > printed * risk  # the selection of all features: K~ = K
    assert bias_inflation_bound(1.0, 1.0, np.sqrt([3.0, 1.0]), 1.0) == 1


def test_e30_the_bias_does_not_fall_as_the_kernel_grows():
    smaller = np.diag([100.0, 1.0])
    larger = smaller + 9 * np.ones((2, 2))
    z = [1.0, 0.0]
    before, after = (ridge_risk(K, z, 0.0, alpha=1.0).bias for K in (smaller, larger))
    assert np.linalg.eigvalsh(larger - smaller).min() >= -1e-12
    assert before == pytest.approx(4.90e-5, rel=1e-3)
    assert after == pytest.approx(7.92e-5, rel=1e-3)
    G = np.diag([0.1, 1.0]) @ larger @ np.diag([0.1, 1.0])
    assert after <= phi_B(G, [10.0, 1.0], 1.0) * before * HOLDS


@pytest.fixture
def four_features():
    """Four features, two points, Delta = 1/2: K, K~, G and the singular values."""
    U = np.array([[1, 1], [1, 1], [1, -1], [1, -1]]) / 2
    w = np.array([1.5, 1.5, 0.5, 0.5])
    sigma = np.array([100.0, 1.0])
    G = U.T @ (w[:, None] * U)
    return np.diag(sigma**2), sigma[:, None] * G * sigma, G, sigma


@pytest.mark.parametrize(("beta", "ratio", "bound"), [(10.0, 7.428, 8.02), (30.0, 55.8, 60.9)])
def test_e30_the_risk_theorems_fail_for_a_fixed_mean(four_features, beta, ratio, bound):
    K, K_selected, G, sigma = four_features
    a, b = np.linalg.eigvalsh(G)
    assert (a, b) == pytest.approx((0.5, 1.5))
    n, alpha = 2, 2 * 0.5
    z = [100.0 * beta, 0.0]
    full, selected = (ridge_risk(M, z, 1.0, alpha) for M in (K, K_selected))
    printed = (1 - 0.5) ** -2.0
    assert selected.total / full.total == pytest.approx(ratio, abs=0.05)
    assert selected.total / full.total > printed

    inflation = max(variance_inflation(b, sigma, alpha), phi_B(G, sigma, alpha))
    assert selected.total <= inflation * full.total
    corrected = fixed_beta_risk_bound(full, a, b, alpha=alpha, n_samples=n, coefficient_norm=beta)
    assert corrected == pytest.approx(bound, abs=0.05)
    assert selected.total <= corrected


def test_e30_the_risk_theorems_hold_on_average(four_features):
    K, K_selected, _, sigma = four_features
    rng = np.random.default_rng(0)
    means = sigma * rng.normal(size=(2000, 2))
    before, after = (
        np.mean([ridge_risk(M, z, 1.0, 1.0).bias for z in means]) for M in (K, K_selected)
    )
    assert after <= average_bias_inflation(0.5, 1.5) * before
    assert average_bias_inflation(0.5, 1.5) == (1 - 0.5) ** -2.0


def test_e30_bss_itself_breaks_the_risk_theorem():
    # r = 36 n, so Delta = 3 sqrt(n / r) = 1/2 and the printed factor is 4.
    n, alpha = 4, 1.0
    U = orthonormal(5000, n)
    run = sparsify_plain(U, 36 * n)
    sigma = np.array([1000.0, 10.0, 3.0, 1.0])
    rows = U[run.selected]
    G = rows.T @ (run.weights[:, None] * rows)
    K, K_selected = np.diag(sigma**2), sigma[:, None] * G * sigma
    z = [1000.0 * 20, 0.0, 0.0, 0.0]
    noise = 1e-3
    before, after = (ridge_risk(M, z, noise, alpha).total for M in (K, K_selected))
    assert after > 4 * before
    phi = max(variance_inflation(run.upper, sigma, alpha), phi_B(G, sigma, alpha))
    assert after <= phi * before * HOLDS
