# SPDX-License-Identifier: BSD-3-Clause
"""Features expanded by a transformer: the same columns as all at once, computed when read."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

from ridgewise import BSSSelector, LeverageSelector, RandomSelector, certify
from ridgewise.spectrum import FeatureExpansion, compute_spectrum, is_outside

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 17))
X_NEW = rng.uniform(-1, 1, (7, 17))
SPLINES = SplineTransformer(n_knots=4, include_bias=False)


class Nameless(TransformerMixin, BaseEstimator):
    """Sine and cosine, without names."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.hstack([np.sin(X), np.cos(X)])


TRANSFORMERS = [
    SPLINES,
    KBinsDiscretizer(4),
    KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"),
    OneHotEncoder(handle_unknown="ignore"),
    PolynomialFeatures(3),
    make_pipeline(StandardScaler(), SPLINES),
    make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False)),
    StandardScaler(),
    FunctionTransformer(np.abs),
    Nameless(),
]


def feature_by_feature(transformer, train, data):
    """All columns, and the feature of each."""
    parts = []
    for j in range(train.shape[1]):
        part = clone(transformer).fit(train[:, [j]]).transform(data[:, [j]])
        parts.append(part.toarray() if sp.issparse(part) else part)
    return np.hstack(parts), np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])


@pytest.mark.filterwarnings("ignore:Bins whose width", "ignore:The current default behavior")
@pytest.mark.parametrize("block", [1, 7])
@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_columns(transformer, block):
    data, new = np.round(2 * X), np.round(2 * X_NEW)
    expansion = FeatureExpansion(transformer, block=block).fit(data)
    for values in (data, new):
        expected, owners = feature_by_feature(transformer, data, values)
        expanded = expansion.transform(values)
        assert is_outside(expanded)
        assert expanded.shape == expected.shape
        assert_array_equal(expansion.groups_, owners)
        assert_allclose(expanded[:, :], expected, atol=1e-12)
        some = np.unique(rng.integers(expected.shape[1], size=9))
        assert_allclose(expanded[2:5, some], expected[2:5][:, some], atol=1e-12)
        assert_allclose(expanded.T[some, 2:5], expected[2:5][:, some].T, atol=1e-12)
    assert len(expansion.get_feature_names_out()) == expected.shape[1]


CONTAINERS = {
    "array": np.asarray,
    "list": np.ndarray.tolist,
    "csr": sp.csr_array,
    "csc": sp.csc_matrix,
    "pandas": lambda values: pd.DataFrame(values, columns=[f"g{j}" for j in range(17)]),
    "polars": lambda values: pl.DataFrame(values, schema=[f"g{j}" for j in range(17)]),
}


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize(
    "selector",
    [LeverageSelector(15, random_state=0), RandomSelector(6, random_state=0)],
    ids=repr,
)
def test_selectors(selector, kind):
    """As of the same columns in memory, with a feature's columns for a group."""
    data, new = CONTAINERS[kind](X), CONTAINERS[kind](X_NEW)
    expansion = FeatureExpansion(SPLINES).fit(data)
    expanded = expansion.transform(data)
    columns, _ = feature_by_feature(SPLINES, X, X)
    found = clone(selector).fit(expanded)
    expected = clone(selector).set_params(groups=5).fit(columns)
    assert_array_equal(found.selected_, expected.selected_)
    assert_allclose(found.weights_, expected.weights_, rtol=1e-9)
    named = kind in ("pandas", "polars")
    labels = [f"g{j}" if named else j for j in expected.selected_groups_]
    assert found.selected_groups_.tolist() == labels
    assert_allclose(found.transform(expanded), expected.transform(columns), rtol=1e-9)
    new_columns, _ = feature_by_feature(SPLINES, X, X_NEW)
    Z = found.transform(expansion.transform(new))
    assert_allclose(Z, expected.transform(new_columns), rtol=1e-9)
    names = found.get_feature_names_out()
    first = np.sort(found.selected_)[0]
    assert names[0] == (f"g{first // 5}_sp_{first % 5}" if named else f"x{first}")
    if hasattr(found, "certificate_"):
        bounds = certify(expanded, found)
        assert bounds.verified
        assert_allclose(bounds.lower, certify(columns, expected).lower, rtol=1e-6)


def test_spectrum_of_tall_data():
    data = rng.standard_normal((90, 6))
    expanded = FeatureExpansion(SPLINES, block=4).fit_transform(data)
    columns, _ = feature_by_feature(SPLINES, data, data)
    found, expected = (compute_spectrum(Z, center=True) for Z in (expanded, columns))
    assert_allclose(found.singular_values, expected.singular_values, rtol=1e-9)
    assert_allclose(found.leverage_scores, expected.leverage_scores, rtol=1e-7)


def test_own_groups_can_be_replaced():
    expanded = FeatureExpansion(SPLINES).fit_transform(X)
    single = RandomSelector(4, random_state=0, groups=1).fit(expanded)
    assert single.n_selected_ == 4


def test_categories_of_different_sizes():
    frame = pd.DataFrame(
        {
            "color": rng.choice(["red", "green", "blue"], 30),
            "size": pd.Categorical(rng.choice(["S", "M", "L", "XL"], 30)),
            "count": rng.integers(0, 2, 30),
        }
    )
    expanded = FeatureExpansion(OneHotEncoder()).fit_transform(frame)
    assert expanded.feature_groups.tolist() == ["color"] * 3 + ["size"] * 4 + ["count"] * 2
    selector = LeverageSelector(1, sampling="top").fit(expanded)
    assert selector.selected_groups_.tolist() == ["size"]
    assert list(selector.get_feature_names_out()) == ["size_L", "size_M", "size_S", "size_XL"]


def test_pipeline():
    y = np.sin(2 * X[:, 3]) + X[:, 5] ** 2
    model = make_pipeline(FeatureExpansion(SPLINES), LeverageSelector(12, random_state=0), Ridge())
    model.fit(X, y)
    assert model.predict(X_NEW).shape == (7,)
    assert len(model[:2].get_feature_names_out()) == model[1].n_selected_
    assert model[:2].get_feature_names_out()[0].startswith("x")
    assert np.all(np.isfinite(cross_val_score(model, X, y, cv=3)))
    grid = {"leverageselector__n_features_to_select": [8, 12]}
    assert GridSearchCV(model, grid, cv=2).fit(X, y).best_score_ < 1
    with sklearn.config_context(transform_output="pandas"):
        assert clone(model).fit(pd.DataFrame(X), y).predict(pd.DataFrame(X_NEW)).shape == (7,)


def test_nothing_is_kept_of_the_data():
    data = rng.standard_normal((3000, 10))
    expansion = FeatureExpansion(SPLINES).fit(data)
    assert len(pickle.dumps(expansion)) < data.nbytes / 10
    again = pickle.loads(pickle.dumps(expansion))
    assert_array_equal(again.transform(data)[:9, :], expansion.transform(data)[:9, :])


@pytest.mark.parametrize("rule", [LeverageSelector(40, sampling="top"), BSSSelector(40)], ids=repr)
def test_memory(rule):
    """The columns would take 16 MB; a selection from them takes less than half."""
    data = np.random.default_rng(0).standard_normal((200, 2000))
    expansion = FeatureExpansion(FunctionTransformer(powers, feature_names_out=names), block=50)
    with sklearn.config_context(working_memory=2):
        tracemalloc.start()
        expanded = expansion.fit_transform(data)
        clone(rule).set_params(center=True).fit(expanded)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert expanded.shape == (200, 10_000)
    assert peak < 8e6


def powers(values):
    return np.hstack([values**power for power in range(1, 6)])


def names(transformer, features):
    return [f"{feature}^{power}" for power in range(1, 6) for feature in features]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FeatureExpansion(SPLINES, block=0).fit(X), "block must be an int >= 1; got 0"),
        (lambda: FeatureExpansion(SPLINES).fit(X[0]), "got the shape"),
        (lambda: FeatureExpansion(SPLINES).fit(X[:0]), "at least one of each"),
        (lambda: FeatureExpansion(SPLINES).fit(X).transform(X[:, :9]), "9 features"),
        (lambda: FeatureExpansion(SPLINES).fit(np.full((9, 3), np.nan)), "NaN"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_not_fitted():
    with pytest.raises(sklearn.exceptions.NotFittedError):
        FeatureExpansion(SPLINES).transform(X)
