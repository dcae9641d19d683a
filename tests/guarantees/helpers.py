# SPDX-License-Identifier: BSD-3-Clause
"""Selections, ill-conditioned data, and exact values to compare with."""

import math

import numpy as np
from mpmath import mp

from ridgewise.guarantees._prediction_bounds import PredictionBound, scaled, spectral_eta, tau
from ridgewise.guarantees._risk import bias_inflation, fixed_beta_bias


def bss_promise(rank, n_draws):
    """What BSS guarantees beforehand: (1 - s)^2 and (1 + s)^2, s = sqrt(rank / n_draws)."""
    s = math.sqrt(rank / n_draws)
    return (1 - s) ** 2, (1 + s) ** 2


def fixed_beta_risk_bound(risk, lower, upper, alpha, n_samples, coefficient_norm):
    """The risk theorems, corrected: b^2 V(K), and the bound on the bias."""
    bias = fixed_beta_bias(risk.bias, lower, upper, alpha / n_samples, coefficient_norm)
    return max(upper, 1.0) ** 2 * risk.variance + bias


def phi_B(G, sigma, alpha):
    """The largest factor of the bias, from G = U^T W U: any R with R^T R = G is W^1/2 U."""
    g, Q = np.linalg.eigh(G)
    return bias_inflation(np.sqrt(g.clip(0))[:, None] * Q.T, np.asarray(sigma), alpha)[0]


class Chosen:
    """A selector that was told what to select."""

    def __init__(self, selected, weights, n_features, **parameters):
        self.selected_, self.weights_, self.n_features_in_ = selected, weights, n_features
        vars(self).update(parameters)


def ill_conditioned(power, seed, n=6, d=40):
    """X with condition number 10^power, and a weighted selection of its features."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    U = np.linalg.qr(rng.normal(size=(d, n)) * np.exp(rng.normal(size=(d, 1))))[0]
    X = V * np.logspace(0, -power, n) @ U.T
    return X, rng.permutation(d)[:15], np.exp(2 * rng.normal(size=15))


def exact_interval(X, selected, weights, alpha=0.0, *, center=False, basis=None):
    """The extreme eigenvalues of K~ + alpha against K + alpha, on the span of a basis.

    With 110 digits, of which the worst condition number leaves 60.
    """
    with mp.workdps(110):
        full, n = mp.matrix(X.tolist()), len(X)
        if alpha == 0:  # mpmath's tolerances are absolute
            full /= mp.mpf(float(np.abs(X).max()))
        if center:
            full = (mp.eye(n) - mp.ones(n) / n) * full
            basis = np.eye(n)[:, 1:] if alpha == 0 else None
        part = mp.matrix([[full[i, int(j)] for j in selected] for i in range(n)])
        W, shift = mp.diag([mp.mpf(float(w)) for w in weights]), mp.mpf(alpha) * mp.eye(n)
        B = mp.eye(n) if basis is None else mp.matrix(basis.tolist())
        inverse = mp.inverse(mp.cholesky(B.T * (full * full.T + shift) * B))
        M = inverse * (B.T * (part * W * part.T + shift) * B) * inverse.T
        eigenvalues = mp.eigsy((M + M.T) / 2, eigvals_only=True)
        return min(eigenvalues), max(eigenvalues)


def assert_holds(interval, exact):
    """Check that lower <= the exact ends <= upper, of a certificate or an interval."""
    assert interval.lower <= exact[0]
    assert exact[1] <= interval.upper


def primal_ridge(X, y, alpha):
    """The textbook's X^T (K + alpha)^-1 y."""
    return X.T @ (np.linalg.pinv(X @ X.T + alpha * np.eye(len(X)), rcond=1e-12) @ y)


def theorem1_bound(a, b, S, alpha, *, coefficient_norms, cross_norms, target_norm):
    """The paper's Theorem 1, corrected: eta ||c|| ||y|| + tau c_q ||y||."""
    return PredictionBound(
        spectral_eta(a, b, S, alpha) * target_norm * np.asarray(coefficient_norms),
        scaled(tau(a, b, S, alpha), target_norm * np.asarray(cross_norms, dtype=float)),
    )
