# SPDX-License-Identifier: BSD-3-Clause
"""Bounds for test points that took part in the selection."""

import math

import numpy as np
import pytest

from ridgewise.guarantees._prediction import (
    known_cross_factor,
    known_tangent,
    known_test_set_bound,
)
from ridgewise.guarantees._sample_size import bss_promise

HOLDS = 1 + 1e-9
REACHED = 0.99


def joint_interval(it):
    """The spectrum of B^T W B, B an orthonormal basis of U and the test point."""
    B = np.column_stack([it.U, it.z / np.linalg.norm(it.z)])
    eigenvalues = np.linalg.eigvalsh(B.T @ (it.W[:, None] * B))
    return max(float(eigenvalues[0]), 0.0), float(eigenvalues[-1])


def cross_ratio(it):
    c_q = np.linalg.norm(it.U.T @ (it.W * it.z))
    return c_q / (known_cross_factor(*joint_interval(it)) * np.linalg.norm(it.z))


def tangent_ratio(it):
    change = np.linalg.norm(np.linalg.solve(it.G, it.U.T @ (it.W * it.z)))
    return change / (known_tangent(*joint_interval(it)) * np.linalg.norm(it.z))


@pytest.mark.parametrize("ratio", [cross_ratio, tangent_ratio])
def test_no_attack_breaks_a_factor_and_some_reach_it(attack, ratio):
    assert REACHED <= attack(ratio) <= HOLDS


@pytest.mark.parametrize("alpha", [0.0, 0.3, 30.0])
def test_the_bound_covers_the_models_themselves(random_problem, alpha):
    for seed in range(60):
        problem = random_problem(seed, n_selected=6)
        q = problem.Q[:1]
        B = np.linalg.qr(np.column_stack([problem.U, q.T]))[0][problem.S]
        singular = np.linalg.svd(np.sqrt(problem.w)[:, None] * B, compute_uv=False)
        bound = known_test_set_bound(
            singular[-1] ** 2,
            singular[0] ** 2,
            problem.sigma,
            alpha,
            coefficient_norms=problem.coefficient_norms[:1],
            residual_norms=problem.residual_norms[:1],
            target_norm=float(np.linalg.norm(problem.y)),
        )
        assert abs(problem.change(alpha)[0]) <= bound.total[0] * HOLDS + 1e-12


@pytest.mark.parametrize(("rank", "n_draws"), [(5, 6), (10, 100), (8, 288)])
def test_what_bss_promises_for_known_test_points(rank, n_draws):
    a, b = bss_promise(rank, n_draws)
    s = math.sqrt(rank / n_draws)
    assert known_cross_factor(a, b) == pytest.approx(2 * s)
    assert known_tangent(a, b) == pytest.approx(2 * s / (1 - s**2))


def test_the_tangent_does_not_know_the_scale_of_the_weights():
    assert known_tangent(0.3, 1.7) == pytest.approx(known_tangent(3.0, 17.0))


def test_nothing_is_said_where_rank_was_lost():
    assert known_tangent(0.0, 1.0) == math.inf
    bound = known_test_set_bound(
        0.0, 1.0, [1.0], 0.0, coefficient_norms=[1, 1], residual_norms=[0, 1], target_norm=1.0
    )
    np.testing.assert_array_equal(bound.total, [1, math.inf])
