# SPDX-License-Identifier: BSD-3-Clause
"""Rows of matrices with orthonormal columns, of many kinds; the engine beside its oracle."""

import numpy as np

from ridgewise.barrier import ArrayVectors, sparsify, sparsify_plain

FAMILIES = (
    "gaussian",
    "heavy-tailed",
    "counts",
    "axis-aligned",
    "duplicates",
    "tiny rows",
    "zero rows",
    "rank-deficient",
)


def orthonormal(X):
    """An orthonormal basis of the columns of X, at its numerical rank."""
    left, s, _ = np.linalg.svd(X, full_matrices=False)
    return left[:, s > 1e-9 * max(s[0], 1e-300)]


def rows_of(family, rng):
    """A matrix U of the family, U^T U = I."""
    ell = int(rng.integers(2, 9))
    d = int(rng.integers(2 * ell, 90))
    X = rng.standard_normal((d, ell))
    if family == "heavy-tailed":
        X = rng.standard_t(1.2, size=(d, ell))
    elif family == "counts":
        X = rng.poisson(0.3, size=(d, ell)) * (1.0 + rng.integers(0, 4, size=(d, 1)))
        X[:ell] += np.eye(ell)
    elif family == "axis-aligned":
        X = np.zeros((d, ell))
        X[np.arange(d), np.arange(d) % ell] = rng.uniform(0.1, 1, size=d)
    elif family == "duplicates":
        X = np.vstack([X[: d // 2], X[: d // 2]])
    elif family == "tiny rows":
        X[d // 2 :] *= 10.0 ** rng.uniform(-9, 0, size=(d - d // 2, 1))
    elif family == "zero rows":
        X[rng.random(d) < 0.4] = 0
        X[:ell] = np.eye(ell)
    elif family == "rank-deficient":
        X = np.hstack([X, X @ rng.standard_normal((ell, 2))])
    return orthonormal(X)


def gaussian_rows(d, ell, seed=0):
    """An orthonormal basis of Gaussian data, d x l."""
    return orthonormal(np.random.default_rng(seed).standard_normal((d, ell)))


def scaled_rows(d, ell, seed=0):
    """An orthonormal basis of data whose columns differ much in length, as words do, d x l."""
    rng = np.random.default_rng(seed)
    return orthonormal(rng.standard_normal((d, ell)) * rng.lognormal(0, 2, size=(d, 1)))


def extremes(U, weights, penalty=None):
    """Smallest and largest eigenvalue of the (regularized) statement, by explicit matrices."""
    z = np.ones(U.shape[1]) if penalty is None else 1 / (1 + penalty)
    V = U * np.sqrt(z)
    return np.linalg.eigvalsh((V.T * weights) @ V + np.diag(1 - z))[[0, -1]]


def same_as_plain(vectors, *settings, U=None, rtol=1e-9, **more):
    """What the engine gives, which must be what the oracle gives for the same rows U."""
    if U is None:
        vectors, U = ArrayVectors(vectors), vectors
    fast, plain = (
        run(rows, *settings, **more) for run, rows in ((sparsify, vectors), (sparsify_plain, U))
    )
    np.testing.assert_array_equal(fast.draws, plain.draws)
    np.testing.assert_allclose(fast.weights, plain.weights, rtol=rtol)
    return fast
