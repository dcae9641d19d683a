# SPDX-License-Identifier: BSD-3-Clause
"""A path is every alpha's own fit, whichever side is decomposed and however small alpha is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from ridgewise.models import DualPath, RLSClassifier
from ridgewise.models._path import positive_part

ALPHAS = [0.0, 1e-6, 0.1, 1.0, 30.0, 1e6]
SHAPES = [(20, 60), (25, 25), (60, 20)]


def make_data(shape, *, n_targets=2, rank=None, seed=0):
    rng = np.random.default_rng(seed)
    n_samples, n_features = shape
    X = rng.normal(size=shape)
    if rank is not None:
        X = rng.normal(size=(n_samples, rank)) @ rng.normal(size=(rank, n_features))
    X_test = rng.normal(size=(7, n_samples)) @ X if rank else rng.normal(size=(7, n_features))
    return X, rng.normal(size=(n_samples, n_targets)), X_test


def by_kernel(K):
    return DualPath(*positive_part(K, size=len(K)))


def both_paths(X):
    return [by_kernel(X @ X.T), DualPath.from_features(X)]


def close(actual, desired, rtol=1e-8):
    assert_allclose(actual, desired, rtol=0, atol=rtol * np.abs(desired).max())


@pytest.mark.parametrize("shape", SHAPES)
def test_equals_ridge_for_every_alpha(shape):
    X, Y, X_test = make_data(shape)
    for path in both_paths(X):
        predictions = path.predict(X_test @ X.T, Y, ALPHAS)
        assert predictions.shape == (7, len(ALPHAS), 2)
        for i, alpha in enumerate(ALPHAS):
            ridge = Ridge(alpha=alpha, fit_intercept=False, solver="svd").fit(X, Y)
            close(predictions[:, i], ridge.predict(X_test))


@pytest.mark.parametrize("shape", SHAPES)
def test_dual_coef_equals_kernel_ridge(shape):
    X, Y, _ = make_data(shape)
    alphas = ALPHAS[2:]  # KernelRidge has no pseudo-inverse
    for path in both_paths(X):
        dual_coef = path.dual_coef(Y, alphas)
        for i, alpha in enumerate(alphas):
            close(dual_coef[:, i], KernelRidge(alpha=alpha).fit(X, Y).dual_coef_)


@pytest.mark.parametrize("shape", SHAPES)
def test_alpha_zero_is_the_pseudo_inverse(shape):
    X, Y, X_test = make_data(shape, rank=9)
    for path in both_paths(X):
        assert path.eigenvalues.size == 9
        close(path.dual_coef(Y, [0.0])[:, 0], np.linalg.pinv(X @ X.T, rcond=1e-12) @ Y)
        close(path.predict(X_test @ X.T, Y, [0.0])[:, 0], X_test @ np.linalg.pinv(X) @ Y)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_classifier(shape, fit_intercept):
    X, Y, X_test = make_data(shape, n_targets=1)
    labels = np.sign(Y[:, 0])
    mean = X.mean(axis=0) if fit_intercept else np.zeros(shape[1])
    offset = labels.mean() if fit_intercept else 0.0
    path = DualPath.from_features(X - mean)
    K_test = (X_test - mean) @ (X - mean).T
    predictions = path.predict(K_test, labels - offset, ALPHAS) + offset
    for i, alpha in enumerate(ALPHAS):
        model = RLSClassifier(alpha=alpha, fit_intercept=fit_intercept).fit(X, labels)
        close(predictions[:, i], model.decision_function(X_test))


def test_one_target_drops_the_last_axis():
    X, Y, X_test = make_data((20, 60))
    path = DualPath.from_features(X)
    K_test = X_test @ X.T
    assert_allclose(path.dual_coef(Y[:, 0], ALPHAS), path.dual_coef(Y, ALPHAS)[..., 0])
    assert_allclose(path.predict(K_test, Y[:, 0], ALPHAS), path.predict(K_test, Y, ALPHAS)[..., 0])
    assert path.predict(K_test[:0], Y[:, 0], ALPHAS).shape == (0, len(ALPHAS))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", [1e-18, 1e-15, 1e-12])
def test_tiny_alpha_predicts_as_zero_does(shape, alpha):
    # Rank-deficient: a plain solve would divide rounding by alpha
    X, Y, X_test = make_data(shape, rank=9)
    X, X_test = X / np.linalg.norm(X, 2), X_test / np.linalg.norm(X, 2)
    for path in both_paths(X):
        predictions = path.predict(X_test @ X.T, Y, [0.0, alpha])
        close(predictions[:, 1], predictions[:, 0], rtol=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    n_samples=st.integers(1, 8),
    n_features=st.integers(1, 8),
    alpha=st.floats(1e-3, 1e3),
    seed=st.integers(0, 2**32 - 1),
)
def test_solves_its_equation(n_samples, n_features, alpha, seed):
    # Small integers: zero, repeated and dependent rows are common
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n_samples, n_features)).astype(float)
    K, y = X @ X.T, rng.normal(size=n_samples)
    for path in both_paths(X):
        dual_coef = path.dual_coef(y, [alpha, 0.0])
        residual = K @ dual_coef[:, 0] + alpha * dual_coef[:, 0] - y
        assert np.abs(residual).max() <= 1e-9 * (1 + K.max() / alpha)
        # K^+ y: what is left is outside the range of K, the solution inside
        assert np.abs(X.T @ (K @ dual_coef[:, 1] - y)).max() <= 1e-8
        projected = np.linalg.pinv(K, rcond=1e-12) @ K @ dual_coef[:, 1]
        assert_allclose(projected, dual_coef[:, 1], atol=1e-8)


def test_zero_kernel():
    path = by_kernel(np.zeros((3, 3)))
    assert_array_equal(path.dual_coef([1, 2, 3], [0.0, 2.0]), [[0, 0.5], [0, 1], [0, 1.5]])
    assert_array_equal(path.predict(np.zeros((1, 3)), [1, 2, 3], [0.0, 2.0]), [[0, 0]])


@pytest.mark.parametrize("n_selected", [0, 5, 20, 40])
def test_a_path_of_selected_features_is_ridge_on_the_rescaled_ones(n_selected):
    X, Y, X_test = make_data((20, 60))
    rng = np.random.default_rng(1)
    selected, weights = rng.permutation(60)[:n_selected], rng.uniform(0.5, 3, n_selected)
    A, A_test = X[:, selected] * np.sqrt(weights), X_test[:, selected] * np.sqrt(weights)
    path, K_test = DualPath.from_features(A), A_test @ A.T
    assert path.basis.shape == (20, min(20, n_selected))
    predictions = path.predict(K_test, Y, ALPHAS)
    if n_selected == 0:
        assert not predictions.any()
        return
    for i, alpha in enumerate(ALPHAS):
        ridge = Ridge(alpha=alpha, fit_intercept=False, solver="svd").fit(A, Y)
        close(predictions[:, i], ridge.predict(A_test))


def test_a_kernel_must_be_positive_semi_definite():
    with pytest.raises(ValueError, match="positive semi-definite"):
        by_kernel(np.diag([1.0, -1.0]))
