# SPDX-License-Identifier: BSD-3-Clause
"""The exact change of the predictions, and the bounds that follow from it."""

import numpy as np
import pytest
from scipy.stats import binom

from ridgewise.guarantees._prediction import (
    disagreement_bound,
    uniform_bound,
)

ALPHAS = [0.0, 0.3, 30.0]


def primal_ridge(X, y, alpha):
    """The textbook's X^T (K + alpha)^-1 y."""
    return X.T @ (np.linalg.pinv(X @ X.T + alpha * np.eye(len(X)), rcond=1e-12) @ y)


@pytest.mark.parametrize("alpha", ALPHAS)
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
                coefficient_norms=np.linalg.norm(Q @ problem.U / problem.sigma, axis=1),
                residual_norms=np.linalg.norm(Q - Q @ problem.U @ problem.U.T, axis=1),
            ).total

        assert np.all(np.abs(problem.Q @ difference) <= bound(problem.Q) * (1 + 1e-9) + 1e-12)
        inside = (problem.X @ difference @ problem.X)[None]
        outside = (p_selected - U @ (U.T @ p_selected))[None]
        for worst in (inside, outside):
            assert np.abs(worst @ difference) == pytest.approx(bound(worst), rel=1e-5, abs=1e-9)


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


@pytest.mark.parametrize(("k", "m", "delta"), [(3, 2, 0.1), (-1, 2, 0.1), (0, 0, 0.1), (1, 2, 0.0)])
def test_impossible_counts_are_refused(k, m, delta):
    with pytest.raises(ValueError, match="expected"):
        disagreement_bound(k, m, delta=delta)


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
            coefficient_norms=np.linalg.norm(V @ (inside / s)),
            residual_norms=np.linalg.norm(q - Ut.T @ inside),
        )
        assert abs((p - p_selected) @ q) <= bound.total * (1 + 1e-6)
