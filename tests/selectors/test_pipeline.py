# SPDX-License-Identifier: BSD-3-Clause
"""Selectors as parts of scikit-learn's larger machines."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectFromModel, VarianceThreshold
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RLSClassifier,
    RRQRSelector,
    SubsetSelector,
    load_stdlib_text,
    make_ridge_synthetic,
)

SELECTORS = {
    "bss": BSSSelector(40),
    "bss slack": BSSSelector(40, rule="slack", center=True),
    "leverage iid": LeverageSelector(40, random_state=0),
    "leverage bernoulli": LeverageSelector(40, sampling="bernoulli", random_state=0),
    "leverage top": LeverageSelector(40, sampling="top"),
    "rrqr": RRQRSelector(40),
    "information gain": InformationGainSelector(40, threshold="median"),
    "random": RandomSelector(40, random_state=0),
}
every_selector = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)
CONTAINERS = {"dense": np.asarray, "sparse": sp.csr_array, "old sparse": sp.csc_matrix}


@pytest.fixture(scope="module")
def synthetic():
    return make_ridge_synthetic(24, 150, 30, random_state=0)


@pytest.fixture(scope="module")
def text():
    return load_stdlib_text()


def same_fit(one, other):
    assert_array_equal(one.selected_, other.selected_)
    assert_allclose(one.weights_, other.weights_, rtol=1e-9)


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("model", [RLSClassifier(), RidgeClassifier(alpha=1.0)])
@every_selector
def test_pipeline(synthetic, selector, model, container):
    X, y = synthetic
    pipeline = make_pipeline(clone(selector), clone(model)).fit(container(X), y)
    by_hand = clone(selector).fit(container(X), y)
    same_fit(pipeline[0], by_hand)
    expected = clone(model).fit(by_hand.transform(container(X)), y)
    assert_array_equal(pipeline.predict(container(X)), expected.predict(by_hand.transform(X)))
    assert pipeline.score(container(X), y) > 0.5
    assert list(pipeline[:-1].get_feature_names_out()) == list(by_hand.get_feature_names_out())


@every_selector
def test_clone_and_parameters(synthetic, selector):
    X, y = synthetic
    fitted = clone(selector).fit(X, y)
    copy = clone(fitted)
    assert not hasattr(copy, "selected_")
    assert copy.get_params() == selector.get_params()
    same_fit(copy.fit(X, y), fitted)
    copy.set_params(n_features_to_select=50).fit(X, y)
    assert copy.n_selected_ != fitted.n_selected_
    with pytest.raises(ValueError, match="Invalid parameter 'n' for estimator"):
        copy.set_params(n=3)


@every_selector
def test_fit_transform_is_fit_and_transform(synthetic, selector):
    X, y = synthetic
    expected = clone(selector).fit(X, y).transform(X)
    assert_array_equal(clone(selector).fit_transform(X, y), expected)


@pytest.mark.parametrize("selector", [BSSSelector(), InformationGainSelector(threshold="median")])
def test_grid_search_in_parallel(synthetic, selector):
    X, y = synthetic
    pipeline = make_pipeline(selector, RLSClassifier())
    name = type(selector).__name__.lower()
    grid = {f"{name}__n_features_to_select": [30, 0.4, None], "rlsclassifier__alpha": [0.1, 10]}
    searches = [
        GridSearchCV(pipeline, grid, cv=3, n_jobs=n_jobs, error_score="raise").fit(X, y)
        for n_jobs in (None, 2)
    ]
    assert_array_equal(*(search.cv_results_["mean_test_score"] for search in searches))
    assert searches[0].best_params_ == searches[1].best_params_
    same_fit(*(search.best_estimator_[0] for search in searches))


@every_selector
def test_worker_processes_select_the_same(synthetic, selector):
    X, y = synthetic
    folds = [train for train, _ in KFold(4).split(X)]
    jobs = [delayed(clone(selector).fit)(X[train], y[train]) for train in folds]
    here = [clone(selector).fit(X[train], y[train]) for train in folds]
    for one, other in zip(Parallel(n_jobs=2, backend="loky")(jobs), here, strict=True):
        same_fit(one, other)
        assert getattr(one, "certificate_", None) is None or (
            one.certificate_.upper == pytest.approx(other.certificate_.upper)
        )


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
@every_selector
def test_set_output(synthetic, selector, output, frame):
    X, y = synthetic
    names = [f"gene{j}" for j in range(X.shape[1])]
    data = frame(X, columns=names) if frame is pd.DataFrame else frame(X, schema=names)
    found = clone(selector).set_output(transform=output).fit_transform(data, y)
    plain = clone(selector).fit(X, y)
    assert isinstance(found, frame)
    assert list(found.columns) == [names[j] for j in np.sort(plain.selected_)]
    assert_allclose(found.to_numpy(), plain.transform(X))


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output_of_a_whole_pipeline(synthetic, output, frame):
    X, y = synthetic
    data = pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])
    pipeline = make_pipeline(StandardScaler(), BSSSelector(40), RandomSelector(5, random_state=0))
    found = pipeline.set_output(transform=output).fit_transform(data, y)
    assert isinstance(found, frame)
    assert all(name.startswith("gene") for name in found.columns)
    assert list(found.columns) == list(pipeline.get_feature_names_out())


def test_frames_with_other_names_are_refused(synthetic):
    X, _ = synthetic
    data = pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])
    selector = BSSSelector(40).fit(data)
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        selector.transform(data[data.columns[::-1]])


def test_column_transformer(synthetic):
    X, y = synthetic
    data = pd.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])
    data["batch"] = np.where(np.arange(len(X)) % 2, "a", "b")
    genes, more = list(data.columns[:100]), list(data.columns[100:150])
    transformer = ColumnTransformer(
        [
            ("bss", BSSSelector(40), genes),
            ("gain", InformationGainSelector(5, threshold="median"), more),
            ("batch", OneHotEncoder(sparse_output=False), ["batch"]),
        ]
    )
    Z = transformer.fit_transform(data, y)
    assert Z.shape == (24, 47)
    names = transformer.get_feature_names_out()
    assert [name.split("__")[0] for name in names] == ["bss"] * 40 + ["gain"] * 5 + ["batch"] * 2
    alone = BSSSelector(40).fit(data[genes])
    assert_allclose(Z[:, :40], alone.transform(data[genes]))
    transformer.set_output(transform="pandas")
    assert list(transformer.fit_transform(data, y).columns) == list(names)
    pipeline = make_pipeline(transformer, RLSClassifier())
    assert cross_val_score(pipeline, data, y, cv=3, error_score="raise").shape == (3,)


def test_feature_union(synthetic):
    X, y = synthetic
    union = FeatureUnion([(name.replace(" ", "_"), clone(s)) for name, s in SELECTORS.items()])
    Z = union.fit_transform(X, y)
    parts = [clone(selector).fit_transform(X, y) for selector in SELECTORS.values()]
    assert_allclose(Z, np.hstack(parts))
    assert union.get_feature_names_out()[0].startswith("bss__x")
    sparse = union.fit_transform(sp.csr_array(X), y)
    assert sp.issparse(sparse)
    assert_allclose(sparse.toarray(), Z, rtol=1e-6, atol=1e-9)


def test_after_and_before_other_selectors(synthetic):
    X, y = synthetic
    pipeline = make_pipeline(
        VarianceThreshold(),
        BSSSelector(60),
        SelectFromModel(Ridge(), max_features=10, threshold=-np.inf),
        RidgeClassifier(),
    ).fit(X, y)
    assert len(pipeline[:-1].get_feature_names_out()) == 10


def test_nested_cross_validation_on_text(text):
    """Words that tell topics apart, their number searched for within each fold."""
    pipeline = make_pipeline(MaxAbsScaler(), InformationGainSelector(), RLSClassifier())
    search = GridSearchCV(
        pipeline,
        {"informationgainselector__n_features_to_select": [50, 300]},
        cv=3,
        error_score="raise",
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(search, text.data, text.target, cv=folds, error_score="raise")
    assert scores.mean() > 0.7


def test_nested_cross_validation_of_bss_on_text(text):
    pipeline = make_pipeline(BSSSelector(), RLSClassifier(alpha=10.0))
    search = GridSearchCV(
        pipeline,
        {"bssselector__n_features_to_select": [250, 500]},
        cv=2,
        n_jobs=2,
        error_score="raise",
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(search, text.data, text.target, cv=folds, error_score="raise")
    assert scores.mean() > 0.7


def test_selected_words_have_names(text):
    selector = BSSSelector(300).fit(text.data)
    words = selector.get_feature_names_out(text.feature_names)
    assert len(words) == 300
    assert set(words) <= set(text.feature_names)


def test_transform_of_sparse_columns_copies_no_more_than_it_takes(peak_memory):
    """A matrix of many columns is not converted to take some of them."""
    X = sp.random_array((50, 200_000), density=0.002, format="csc", random_state=0)
    selector = RandomSelector(20, random_state=0).fit(X)
    expected = selector.transform(X.tocsr())
    found = selector.transform(X)
    assert found.format == expected.format == "csr"
    assert_array_equal(found.toarray(), expected.toarray())
    assert peak_memory(lambda: selector.transform(X)) < X.data.nbytes / 2


@pytest.mark.parametrize(
    "selector",
    [
        BSSSelector(60, verbose=True),
        SubsetSelector(9, verbose=True),
        LeverageSelector(60, random_state=0, verbose=True),
    ],
)
def test_verbose_shows_progress(selector, capsys):
    X, _ = make_ridge_synthetic(30, 300, random_state=0)
    quiet = clone(selector).set_params(verbose=False).fit(X)
    assert capsys.readouterr() == ("", "")
    assert selector.fit(X).selected_.tolist() == quiet.selected_.tolist()
    out, err = capsys.readouterr()
    assert out == ""
    assert "300 of 300 features" in err
    assert err.endswith("\n")
