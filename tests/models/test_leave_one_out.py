# SPDX-License-Identifier: BSD-3-Clause
"""Leave-one-out errors in closed form are those of explicit leave-one-out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge, RidgeClassifierCV, RidgeCV
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from ridgewise.models import dual_path, leave_one_out_alpha, leave_one_out_errors
from ridgewise.models._leave_one_out import RELATIVE_ALPHAS

SHAPES = {"wide": (12, 40), "tall": (40, 7), "square": (15, 15)}


def made(shape, seed=0, offset=3.0, targets=2):
    rng = np.random.default_rng(seed)
    X = offset + rng.normal(size=shape) * rng.uniform(0.2, 3, size=shape[1])
    return X, X[:, :3] @ rng.normal(size=(3, targets)) + rng.normal(size=(shape[0], targets))


def spectra(n=40, d=300, seed=0):
    """Smooth curves with a dominant mean: the first eigenvalue is above 1000 times the second."""
    rng = np.random.default_rng(seed)
    places = np.linspace(0, 1, d)
    bumps = np.exp(-((places - rng.uniform(size=(6, 1))) ** 2) / 0.02)
    parts = rng.uniform(size=(n, 6)) * 0.02
    X = 1 + 0.5 * np.sin(3 * places) + parts @ bumps + 1e-5 * rng.normal(size=(n, d))
    return X, parts @ rng.normal(size=6)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_is_explicit_leave_one_out(shape, intercept, container):
    X, Y = made(shape)
    path, _ = dual_path(container(X), center=intercept)
    alphas = [1e-3, 0.5, 20.0]
    expected = [
        np.mean(
            (cross_val_predict(Ridge(alpha, fit_intercept=intercept), X, Y, cv=LeaveOneOut()) - Y)
            ** 2
        )
        for alpha in alphas
    ]
    found = leave_one_out_errors(path, Y, alphas, fit_intercept=intercept)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("data", [made((30, 90), targets=1), made((90, 10), targets=1), spectra()])
def test_chooses_what_ridge_cv_chooses(data):
    X, y = data
    y = y.ravel()
    scale = X.var(axis=0).sum()
    choice = leave_one_out_alpha(X, y)
    expected = RidgeCV(RELATIVE_ALPHAS * scale).fit(X, y)
    assert choice.alpha == pytest.approx(expected.alpha_)
    assert choice.error == pytest.approx(-expected.best_score_, rel=1e-4)
    assert choice.relative == pytest.approx(choice.alpha / scale)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_chooses_what_ridge_classifier_cv_chooses(n_classes):
    X, Y = made((60, 200), targets=n_classes)
    y = np.array(["ale", "tea", "wine"])[Y.argmax(axis=1)]
    for intercept in (True, False):
        scale = (X.var(axis=0) if intercept else (X**2).mean(axis=0)).sum()
        expected = RidgeClassifierCV(RELATIVE_ALPHAS * scale, fit_intercept=intercept).fit(X, y)
        choice = leave_one_out_alpha(X, y, classify=True, fit_intercept=intercept)
        assert choice.alpha == pytest.approx(expected.alpha_)


def test_the_scale_of_the_data_does_not_matter():
    X, Y = made((20, 50))
    first, second = leave_one_out_alpha(X, Y), leave_one_out_alpha(1e-6 * X, 1e3 * Y)
    assert first.relative == second.relative
    assert second.alpha == pytest.approx(1e-12 * first.alpha)


def test_the_grids_edges_are_told():
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(50, 5)), rng.normal(size=50)
    assert leave_one_out_alpha(X, X @ [1.0, 2, 3, 4, 5]).edge == "smallest"
    assert leave_one_out_alpha(X, noise).edge == ""  # larger alphas predict the same mean
    assert leave_one_out_alpha(np.ones((6, 4)), noise[:6]).edge == ""  # all are the same
    assert leave_one_out_alpha(X[:1], noise[:1]).relative == pytest.approx(0.03, rel=0.1)


def test_centred_data_has_at_most_n_minus_1_directions():
    X = 1e6 + np.random.default_rng(0).normal(size=(10, 200))
    path, _ = dual_path(X, center=True)
    assert path.eigenvalues.size == 9
