# SPDX-License-Identifier: BSD-3-Clause
"""Certified intervals against arithmetic with 80 digits."""

import math

import numpy as np
import pytest
from mpmath import mp

from ridgewise.guarantees.rounding import CertifiedInterval, certified_interval

POWERS = [2, 4, 6, 8, 10, 12, 13, 14, 15]


def ill_conditioned(power, seed, n=6, d=40):
    """X with condition number 10^power, and a weighted selection of its features."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    U = np.linalg.qr(rng.normal(size=(d, n)) * np.exp(rng.normal(size=(d, 1))))[0]
    X = V * np.logspace(0, -power, n) @ U.T
    return X, rng.permutation(d)[:15], np.exp(2 * rng.normal(size=15))


def exact_interval(X, selected, weights, alpha=0.0):
    """The spectrum of K~ + alpha against K + alpha, to 80 digits less the condition of K."""
    mp.dps = 80
    W = mp.diag([mp.mpf(float(w)) for w in weights])
    full, part = mp.matrix(X.tolist()), mp.matrix(X[:, selected].tolist())
    identity = mp.mpf(alpha) * mp.eye(len(X))
    L = mp.cholesky(full * full.T + identity)
    inverse = mp.inverse(L)
    M = inverse * (part * W * part.T + identity) * inverse.T
    eigenvalues = mp.eigsy((M + M.T) / 2, eigvals_only=True)
    return eigenvalues[0], eigenvalues[len(X) - 1]


def by_svd(X):
    V, S, Ut = np.linalg.svd(X, full_matrices=False)
    return V, S, Ut.T


def by_gram(X):
    k, V = np.linalg.eigh(X @ X.T)
    S = np.sqrt(k[::-1])
    return V[:, ::-1], S, X.T @ V[:, ::-1] / S


def measured(X, selected, weights, decomposition, alpha=0.0):
    """What a selector measures: the plain interval, and the certified one."""
    V, S, U = decomposition(X)
    D = np.sqrt(S**2 + alpha)
    rows = np.sqrt(weights)[:, None] * U[selected] * (S / D)
    eigenvalues = np.linalg.eigvalsh(rows.T @ rows + np.diag(alpha / D**2))
    a, b = max(float(eigenvalues[0]), 0.0), float(eigenvalues[-1])
    certified = certified_interval(
        a,
        b,
        rank=len(S),
        n_samples=len(X),
        max_weight=float(weights.max()),
        min_singular_value=float(S[-1]),
        residual_norm=float(np.linalg.norm(X - V * S @ U.T)),
        data_norm=float(np.linalg.norm(X)),
        orthogonality_error=float(np.linalg.norm(U.T @ U - np.eye(len(S)), 2)),
        alpha=alpha,
    )
    return a, b, certified


@pytest.mark.parametrize("power", POWERS)
def test_what_is_certified_is_true(power):
    for seed in range(6):
        X, selected, weights = ill_conditioned(power, seed)
        exact_a, exact_b = exact_interval(X, selected, weights)
        a, b, certified = measured(X, selected, weights, by_svd)
        assert certified.lower <= exact_a
        assert exact_b <= certified.upper
        if power <= 10:
            assert certified.verified
        if power <= 8:
            assert certified.lower >= a * (1 - 1e-3)
            assert certified.upper <= b * (1 + 1e-3)


@pytest.mark.parametrize("power", [2, 4, 6, 7])
def test_what_is_certified_from_the_kernel_is_true(power):
    for seed in range(6):
        X, selected, weights = ill_conditioned(power, seed)
        exact_a, exact_b = exact_interval(X, selected, weights)
        certified = measured(X, selected, weights, by_gram)[2]
        assert certified.lower <= exact_a
        assert exact_b <= certified.upper
        assert certified.verified or power == 7


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("alpha", [1e-8, 1e-3])
def test_what_is_certified_with_regularization_is_true_and_never_vacuous(power, alpha):
    X, selected, weights = ill_conditioned(power, 0)
    exact_a, exact_b = exact_interval(X, selected, weights, alpha)
    certified = measured(X, selected, weights, by_svd, alpha)[2]
    assert certified.lower <= exact_a
    assert exact_b <= certified.upper
    assert certified.verified


@pytest.mark.parametrize(
    ("rank", "alpha", "verified"), [(4, 1e-8, True), (3, 1e-3, True), (2, 1e-10, False)]
)
def test_a_cut_rank_is_made_up_for_by_alpha_as_far_as_that_goes(rank, alpha, verified):
    def cut(X):
        V, S, U = by_svd(X)
        return V[:, :rank], S[:rank], U[:, :rank]

    for seed in range(10):
        X, selected, weights = ill_conditioned(12, seed)
        exact_a, exact_b = exact_interval(X, selected, weights, alpha)
        certified = measured(X, selected, weights, cut, alpha)[2]
        assert certified.lower <= exact_a
        assert exact_b <= certified.upper
        assert certified.verified == verified


def test_directions_left_out_count_as_unchanged():
    numbers = {"n_samples": 2, "max_weight": 1.0, "min_singular_value": 1.0, "residual_norm": 0.0,
               "data_norm": 1.0, "orthogonality_error": 0.0, "alpha": 1.0}  # fmt: skip
    whole, part = (certified_interval(0.6, 0.8, rank=rank, **numbers) for rank in (2, 1))
    assert whole.upper == pytest.approx(0.8)
    assert part.upper == pytest.approx(1.0)


def test_the_plain_interval_is_false_where_the_certified_one_is_true():
    X, selected, weights = ill_conditioned(13, 0)
    exact_a, exact_b = exact_interval(X, selected, weights)
    a, b, _ = measured(X, selected, weights, by_svd)
    assert a > exact_a or exact_b > b


def test_where_rounding_leaves_nothing_it_says_so():
    X, selected, weights = ill_conditioned(15, 0)
    certified = measured(X, selected, weights, by_svd)[2]
    assert certified == CertifiedInterval(0.0, math.inf)
    assert not certified.verified


def test_fewer_features_than_the_rank_certify_an_upper_end_only():
    X, selected, weights = ill_conditioned(2, 0)
    certified = measured(X, selected[:4], weights[:4], by_svd)[2]
    assert certified.lower == 0
    assert certified.upper < math.inf
    assert not certified.verified


def test_a_singular_value_of_zero_is_refused():
    with pytest.raises(ValueError, match="min_singular_value"):
        certified_interval(
            0.5,
            1.5,
            rank=1,
            n_samples=1,
            max_weight=1.0,
            min_singular_value=0.0,
            residual_norm=0.0,
            data_norm=1.0,
            orthogonality_error=0.0,
        )
