# SPDX-License-Identifier: BSD-3-Clause
"""RLSC is scikit-learn's ridge on labels of -1 and +1, in the dual, and defined at alpha = 0."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgewise.models import RLSClassifier

ALPHAS = [0.0, 1e-9, 1e-3, 0.1, 1.0, 1e3, 1e6]
SHAPES = [(20, 60), (60, 20)]
CONTAINERS = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array]


def make_data(shape, *, n_classes=2, seed=0):
    """Half of the entries zero, and columns whose means are not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(loc=0.5, size=shape) * (rng.random(shape) < 0.5)
    y = np.arange(shape[0]) % n_classes
    return X, rng.permutation(y), rng.normal(size=(9, shape[1]))


def close(actual, desired, rtol=1e-8):
    assert_allclose(actual, desired, rtol=0, atol=rtol * np.abs(desired).max())


@parametrize_with_checks(
    [
        RLSClassifier(alpha=alpha, fit_intercept=fit_intercept)
        for alpha in (0, 1.0)
        for fit_intercept in (False, True)
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def reference(alpha, fit_intercept):
    """Scikit-learn's most accurate solver, for dense X: only it is defined for every alpha."""
    if alpha == 0:
        return LinearRegression(fit_intercept=fit_intercept)
    return Ridge(alpha=alpha, fit_intercept=fit_intercept, solver="svd")


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_equals_ridge(alpha, shape, container, fit_intercept, n_classes):
    X, y, X_test = make_data(shape, n_classes=n_classes)
    Y = np.where(y[:, None] == np.unique(y)[n_classes == 2 :], 1.0, -1.0)
    ridge = reference(alpha, fit_intercept).fit(X, Y)
    model = RLSClassifier(alpha=alpha, fit_intercept=fit_intercept).fit(container(X), y)
    close(model.coef_, np.atleast_2d(ridge.coef_))
    close(model.intercept_, ridge.intercept_ * np.ones(Y.shape[1]))
    scores = model.decision_function(container(X_test))
    close(scores.reshape(9, -1), ridge.predict(X_test).reshape(9, -1))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", ALPHAS[2:])
def test_equals_ridge_classifier(alpha, shape, fit_intercept, n_classes):
    X, y, X_test = make_data(shape, n_classes=n_classes)
    model = RLSClassifier(alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
    ridge = RidgeClassifier(alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
    close(model.decision_function(X_test), ridge.decision_function(X_test))
    assert_array_equal(model.predict(X_test), ridge.predict(X_test))


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", ALPHAS[2:])
def test_dual_coef_equals_kernel_ridge(alpha, shape, container):
    X, y, _ = make_data(shape, n_classes=3)
    model = RLSClassifier(alpha=alpha).fit(container(X), y)
    Y = np.where(y[:, None] == model.classes_, 1.0, -1.0)
    close(model.dual_coef_.T, KernelRidge(alpha=alpha).fit(X, Y).dual_coef_)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", ALPHAS)
def test_duality(alpha, shape, container, fit_intercept):
    X, y, _ = make_data(shape)
    model = RLSClassifier(alpha=alpha, fit_intercept=fit_intercept).fit(container(X), y)
    # What the last digit of the dual coefficients, as large as 1 / alpha, is worth
    last_digit = 100 * np.finfo(float).eps * np.linalg.norm(X, 2) * np.linalg.norm(model.dual_coef_)
    assert_allclose(model.dual_coef_ @ X, model.coef_, rtol=1e-8, atol=last_digit)
    if fit_intercept:
        assert abs(model.dual_coef_.sum()) <= 1e-12 * np.abs(model.dual_coef_).sum()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("alpha", [0.0, 1e-18, 1e-15])
def test_minimum_norm_on_data_without_full_rank(alpha, shape, container, fit_intercept):
    # Ridge's own solvers divide by rounding here
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, size=(shape[0], 7)) @ rng.integers(-2, 3, size=(7, shape[1]))
    y = np.where(np.arange(shape[0]) % 3, 1.0, -1.0)
    mean, offset = (X.mean(axis=0), y.mean()) if fit_intercept else (0.0, 0.0)
    model = RLSClassifier(alpha=alpha, fit_intercept=fit_intercept).fit(container(X), y)
    close(model.coef_[0], np.linalg.pinv(X - mean, rcond=1e-10) @ (y - offset))
    if alpha == 0:
        K = (X - mean) @ (X - mean).T
        close(model.dual_coef_[0], np.linalg.pinv(K, rcond=1e-10) @ (y - offset))


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0])
def test_badly_scaled_dense_features(alpha, fit_intercept):
    # One feature in millions beside one in thousandths: X X^T alone would lose the small one
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1e6, 1.0, 1e-3]
    y = X[:, 2] > 0
    model = RLSClassifier(alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
    ridge = Ridge(alpha=alpha, fit_intercept=fit_intercept, solver="svd").fit(X, 2.0 * y - 1)
    assert_allclose(model.coef_[0], ridge.coef_, rtol=1e-7)


def test_data_far_from_the_origin():
    rng = np.random.default_rng(0)
    X, y, _ = make_data((20, 60))
    shift = rng.normal(size=60) * 1e6
    near = RLSClassifier(fit_intercept=True).fit(X, y)
    far = RLSClassifier(fit_intercept=True).fit(X + shift, y)
    close(far.coef_, near.coef_)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_invariances(alpha):
    X, y, X_test = make_data((20, 60))
    rng = np.random.default_rng(1)
    scores = RLSClassifier(alpha).fit(X, y).decision_function(X_test)

    Q, _ = np.linalg.qr(rng.normal(size=(60, 60)))
    close(RLSClassifier(alpha).fit(X @ Q, y).decision_function(X_test @ Q), scores)
    order = rng.permutation(20)
    close(RLSClassifier(alpha).fit(X[order], y[order]).decision_function(X_test), scores)
    close(RLSClassifier(9 * alpha).fit(3 * X, y).decision_function(3 * X_test), scores)
    close(RLSClassifier(alpha).fit(X, 1 - y).decision_function(X_test), -scores)


def test_alpha_zero_interpolates():
    X, y, _ = make_data((20, 60), n_classes=3)
    assert RLSClassifier(alpha=0).fit(X, y).score(X, y) == 1.0


def test_zero_is_the_first_class():
    model = RLSClassifier().fit([[1.0, 0.0], [0.0, 1.0]], ["yes", "no"])
    assert_array_equal(model.classes_, ["no", "yes"])
    origin = [[0.0, 0.0]]
    assert_array_equal(model.decision_function(origin), [0.0])
    assert_array_equal(model.predict(origin), ["no"])
    assert_array_equal(RLSClassifier().fit(np.eye(3), [3, 1, 2]).predict([[0.0] * 3]), [1])


def test_all_features_zero():
    model = RLSClassifier(alpha=0).fit(np.zeros((3, 2)), [0, 1, 1])
    assert_array_equal(model.coef_, [[0.0, 0.0]])
    assert_array_equal(model.dual_coef_, [[0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1, 1],
        [7.0, 8.0],
        [False, True],
        ["b", "a"],
        np.array(["spam", "ham"], dtype=object),
        pd.Series(["spam", "ham"]),
        pd.Series(["spam", "ham"], dtype="category"),
        pl.Series(["spam", "ham"]),
        pl.Series([True, False]),
    ],
)
def test_kinds_of_labels(labels):
    X = np.eye(2)
    model = RLSClassifier().fit(X, labels)
    assert_array_equal(model.predict(X), np.asarray(labels))
    assert_array_equal(model.classes_, np.unique(np.asarray(labels)))
    assert model.dual_coef_[0, list(labels).index(model.classes_[1])] > 0


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame):
    X, y, X_test = make_data((20, 4))
    names = ["a", "b", "c", "d"]
    table, test_table = (frame(dict(zip(names, Z.T, strict=True))) for Z in (X, X_test))
    model = RLSClassifier().fit(table, y)
    assert_array_equal(model.feature_names_in_, names)
    scores = RLSClassifier().fit(X, y).decision_function(X_test)
    assert_allclose(model.decision_function(test_table), scores, rtol=1e-10)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_dtypes_are_solved_in_float64(container, dtype):
    X, y, X_test = make_data((20, 60))
    X, X_test = (10 * X).astype(dtype), X_test.astype(dtype)
    model = RLSClassifier().fit(container(X), y)
    exact = RLSClassifier().fit(container(X.astype(np.float64)), y)
    assert model.coef_.dtype == np.float64
    assert_array_equal(model.coef_, exact.coef_)
    scores = exact.decision_function(X_test.astype(np.float64))
    assert_allclose(model.decision_function(X_test), scores, rtol=1e-10)


def test_input_is_left_alone():
    X, y, _ = make_data((20, 60))
    for data in (X, sparse.csr_array(X)):
        before = data.copy()
        for alpha in (0.0, 1.0):
            RLSClassifier(alpha, fit_intercept=True).fit(data, y)
        assert abs(before - data).max() == 0


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("shape", [(50, 1_000_000), (1_000_000, 50)])
def test_sparse_stays_sparse(shape, alpha, peak_memory):
    rng = np.random.default_rng(0)
    rows, columns = (rng.integers(size, size=3000) for size in shape)
    X = sparse.csr_array((np.ones(3000), (rows, columns)), shape=shape)
    y = rng.integers(2, size=shape[0])
    model = RLSClassifier(alpha, fit_intercept=True)
    # 400 MB when dense; a few vectors of a million are 8 MB each
    assert peak_memory(lambda: model.fit(X, y)) < 150e6


def test_no_warnings():
    X, y, _ = make_data((20, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in (X, sparse.csr_array(X), np.vstack([X, X])):
            labels = np.resize(y, data.shape[0])
            for alpha in (*ALPHAS, 1e-12, 1e-15):
                for fit_intercept in (False, True):
                    RLSClassifier(alpha, fit_intercept=fit_intercept).fit(data, labels)


def test_pickle_is_small_and_complete():
    X, y, X_test = make_data((50, 2000))
    model = RLSClassifier(fit_intercept=True).fit(X, y)
    pickled = pickle.dumps(model)
    assert len(pickled) < 8 * (50 + 2000) + 2000  # the coefficients; X is 50 times that
    scores = pickle.loads(pickled).decision_function(X_test)
    assert_array_equal(scores, model.decision_function(X_test))


def test_in_a_grid_search():
    X, y, _ = make_data((40, 10), n_classes=3)
    search = GridSearchCV(RLSClassifier(), {"alpha": [0.0, 1.0, 1e6]}, cv=3).fit(X, y)
    assert isinstance(clone(search.best_estimator_), RLSClassifier)


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, "1", None, [1.0]])
def test_bad_alpha(alpha):
    with pytest.raises(ValueError, match="alpha must be a finite number >= 0; got"):
        RLSClassifier(alpha=alpha).fit(np.eye(2), [0, 1])


def test_bad_input():
    X = np.eye(3)
    model = RLSClassifier()
    with pytest.raises(ValueError, match="only one class, 'a'"):
        model.fit(X, ["a", "a", "a"])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, [0, 1])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X, np.nan, 0.0), [0, 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, [0, 1, np.nan])
    with pytest.raises(ValueError, match="continuous"):
        model.fit(X, [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match="3 features"):
        model.fit(X, [0, 1, 1]).predict(np.eye(2))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("offset", [0.0, 30.0, 1e4])
def test_an_intercept_without_penalty_inverts_no_rounding(container, offset):
    """Centring 5 samples leaves a fifth singular value of rounding size, which was inverted."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = offset + rng.normal(size=(5, 12)), np.array([1, -1, 1, -1, 1])
        model = RLSClassifier(alpha=0, fit_intercept=True).fit(container(X), y)
        D = X[:4] - X[4]  # the differences have the same span, without a mean
        coef = D.T @ np.linalg.solve(D @ D.T, (y[:4] - y[4]).astype(float))
        tolerance = 1e-6 if container is np.asarray else 1e-3
        if container is np.asarray or offset <= 30:
            np.testing.assert_allclose(model.coef_[0], coef, atol=tolerance)


@pytest.mark.parametrize("alpha", [10**400, -(10**400)])
def test_an_alpha_beyond_floats_is_refused(alpha):
    with pytest.raises(ValueError, match="finite number"):
        RLSClassifier(alpha=alpha).fit([[1.0], [2.0]], [0, 1])
