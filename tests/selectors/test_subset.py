# SPDX-License-Identifier: BSD-3-Clause
"""SubsetSelector: what it selects, what it tells of it, for any container, and what it refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge, RidgeClassifier, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from ridgewise import LeverageSelector, SubsetSelector, certify
from ridgewise.models import leave_one_out_alpha
from ridgewise.spectrum import open_parquet
from ridgewise.subset import TARGETS, plain_greedy, plain_objective, target_matrix


def counts(n=20, d=300, seed=0):
    """Counts, mostly zeros, and two classes that some of them tell apart."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.poisson(0.5 + y[:, None] * (np.arange(d) < 5), (n, d))
    return X.astype(np.float64), np.array(["no", "yes"])[y]


X, Y = counts()
SIGNS = np.where(Y == "yes", 1.0, -1.0)[:, None]
GAUSSIAN = np.random.default_rng(0).standard_normal((20, 300))


# what it selects


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_same_as_plain_on_centred_scaled_data(target, scale, center):
    selector = SubsetSelector(12, target=target, scale=scale, center=center).fit(X, Y)
    prepared = X - X.mean(axis=0) if center else X
    prepared = prepared / np.linalg.norm(prepared, axis=0) if scale else prepared
    y = SIGNS - SIGNS.mean() if center else SIGNS
    diagonal = np.sum(prepared**2) / len(X)
    alpha = 0.1 * diagonal
    if target != "data":
        settings = {"fit_intercept": center, "tolerance": 0.1}
        alpha = min(leave_one_out_alpha(prepared, y, **settings).alpha, diagonal)
    assert_allclose(selector.alpha_, alpha)
    M = target_matrix(prepared, target, alpha, y)
    assert_array_equal(selector.selected_, plain_greedy(prepared, M, alpha, 12))
    none, reached, everything = (
        plain_objective(prepared, M, alpha, np.arange(300)[:0]),
        plain_objective(prepared, M, alpha, selector.selected_),
        plain_objective(prepared, M, alpha, np.arange(300)),
    )
    assert_allclose(selector.objective_path_[-1], (none - reached) / (none - everything))
    assert_allclose(selector.optimality_.objective, reached)
    assert selector.optimality_.bound <= reached
    assert_array_equal(selector.weights_, np.ones(12))
    assert_array_equal(selector.transform(X), X[:, np.sort(selector.selected_)])


def test_the_path_is_nested():
    long = SubsetSelector(60, target="y", bound=[10, 30]).fit(X, Y)
    short = SubsetSelector(10, target="y").fit(X, Y)
    assert_array_equal(long.selected_[:10], short.selected_)
    assert_allclose(long.objective_path_[:10], short.objective_path_)
    assert (np.diff(long.objective_path_) > 0).all()
    assert list(long.gap_path_) == [10, 30, 60]
    assert_allclose(long.gap_path_[10].bound, short.optimality_.bound, rtol=1e-3)
    assert long.gap_path_[60] is long.optimality_


def test_the_knee():
    """Without a number: the fewest that reach 95 %, at most as many as samples."""
    shared = np.random.default_rng(0).standard_normal((40, 3))
    few = shared @ np.random.default_rng(1).standard_normal((3, 200))
    selector = SubsetSelector().fit(few)
    assert selector.n_selected_ < 20
    assert selector.objective_path_[-1] >= 0.95 > selector.objective_path_[-2]
    assert SubsetSelector().fit(GAUSSIAN).n_selected_ == 20
    assert SubsetSelector(0.1).fit(X).n_selected_ == 30
    assert SubsetSelector(1000, bound=False).fit(X).n_selected_ == 300


def test_a_large_alpha_is_a_filter():
    """The gain is then (x_j^T y)^2."""
    selector = SubsetSelector(10, target="y", alpha=1e9).fit(GAUSSIAN, Y)
    expected = np.argsort(-((GAUSSIAN.T @ SIGNS[:, 0]) ** 2))[:10]
    assert_array_equal(selector.selected_, expected)


def test_several_targets():
    three = np.array(["a", "b", "c"])[np.arange(20) % 3]
    found = SubsetSelector(5, target="y", alpha=3.0).fit(X, three)
    coded = np.where(three[:, None] == np.array(["a", "b", "c"]), 1.0, -1.0)
    same = SubsetSelector(5, target="y", alpha=3.0).fit(X, coded)
    assert_array_equal(found.selected_, same.selected_)
    numbers = SubsetSelector(5, target="y", alpha=3.0).fit(X, np.arange(20) / 7)
    M = np.outer(np.arange(20), np.arange(20)) / 49.0
    assert_array_equal(numbers.selected_, plain_greedy(X, M, 3.0, 5))


def test_tall_data():
    settings = {"target": "y", "alpha": 2.0, "scale": True, "center": True}
    wide = SubsetSelector(4, **settings).fit(X[:, :15], Y)
    tall = SubsetSelector(4, **settings).fit(np.vstack([X[:, :15]] * 3), np.tile(Y, 3))
    assert_array_equal(wide.selected_, tall.selected_)
    assert_allclose(wide.objective_path_, tall.objective_path_)


def test_costs_include_exclude():
    names = [f"w{j}" for j in range(300)]
    frame = pd.DataFrame(X, columns=names)
    costs = 1 + np.arange(300) % 3
    selector = SubsetSelector(
        target="y", costs=costs, budget=12, include=["w9", 7], exclude=["w0"], bound=[3]
    ).fit(frame, Y)
    assert_array_equal(selector.selected_[:2], [9, 7])
    assert 0 not in selector.selected_
    assert costs[selector.selected_].sum() <= 12
    assert selector.optimality_.bound <= selector.optimality_.objective
    assert "no features within a budget of 12 have less than" in str(selector.optimality_)
    assert "no other features within a budget of 12 would" in selector.optimality_.sentence
    assert list(selector.get_feature_names_out()) == [f"w{j}" for j in sorted(selector.selected_)]
    only = SubsetSelector(2, include=[-1, 4]).fit(X)
    assert_array_equal(only.selected_, [299, 4])
    assert_allclose(only.optimality_.gap, 0, atol=1e-9)


# what it tells


def test_optimality_prints_in_two_lines():
    optimality = SubsetSelector(10, target="y").fit(X, Y).optimality_
    first, second = str(optimality).split("\n")
    assert first.startswith("objective ")
    assert "no 10 features have less than" in first
    assert second.startswith("of what can be reached at all with 10 features, ")
    assert "<table>" in optimality._repr_html_()
    assert 0 < optimality.reached <= 1
    assert optimality.gap == optimality.objective / optimality.bound - 1
    assert SubsetSelector(10, bound=False).fit(X).optimality_ is None


@pytest.mark.parametrize("scale", [False, True])
def test_certificate(scale):
    """What is left out takes the sum of its ridge leverage scores from 1 at most."""
    selector = SubsetSelector(250, scale=scale).fit(X)
    certificate = selector.certificate_
    alpha = 0.1 * np.sum(X**2) / 20
    assert_allclose(certificate.alpha, alpha)
    tau = np.einsum("ij,ij->j", X, np.linalg.solve(X @ X.T + alpha * np.eye(20), X))
    left_out = np.setdiff1d(np.arange(300), selector.selected_)
    assert_allclose(certificate.promised_lower, max(0, 1 - tau[left_out].sum()), atol=1e-12)
    assert certificate.promised_lower <= certificate.lower <= certificate.upper == 1
    again = certify(X, selector, alpha=alpha)
    assert_allclose(again.lower, certificate.lower, rtol=1e-9)
    assert again.verified


def test_pickle_keeps_nothing_of_x():
    selector = SubsetSelector(10, target="y").fit(X, Y)
    kept = pickle.dumps(selector)
    assert len(kept) < X.nbytes / 4
    assert_array_equal(pickle.loads(kept).selected_, selector.selected_)


# containers


def as_zarr(folder):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    stored = zarr.open(folder / "X.zarr", mode="w", shape=X.shape, dtype="f8", chunks=(10, 64))
    stored[:] = X
    return stored


def as_memmap(folder):
    stored = np.memmap(folder / "X.dat", dtype="f4", mode="w+", shape=X.shape)
    stored[:] = X
    return stored


def as_parquet(folder):
    names = [f"w{j}" for j in range(300)]
    pd.DataFrame(X, columns=names).to_parquet(folder / "X.parquet", row_group_size=9)
    return open_parquet(folder / "X.parquet")


def as_dask(kind, chunks):
    def make(folder):
        da = pytest.importorskip("dask.array", reason="dask is not installed")
        return da.from_array(X, chunks=chunks).map_blocks(kind)

    return make


CONTAINERS = {
    "fortran": lambda folder: np.asfortranarray(X),
    "float32": lambda folder: X.astype(np.float32),
    "integers": lambda folder: X.astype(np.int8),
    "csr": lambda folder: sp.csr_array(X),
    "csc matrix": lambda folder: sp.csc_matrix(X),
    "frame": lambda folder: pd.DataFrame(X),
    "memmap": as_memmap,
    "zarr": as_zarr,
    "parquet": as_parquet,
    "dask": as_dask(np.asarray, (20, 70)),
    "dask by rows": as_dask(np.asarray, (9, 300)),
    "dask sparse": as_dask(sp.csr_array, (20, 110)),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("target", ["data", "y"])
@pytest.mark.parametrize("prepare", [{}, {"center": True, "scale": True}])
def test_the_container_does_not_matter(container, target, prepare, tmp_path):
    expected = SubsetSelector(40, target=target, **prepare).fit(X, Y)
    found = SubsetSelector(40, target=target, **prepare).fit(container(tmp_path), Y)
    assert_array_equal(found.selected_, expected.selected_)
    assert_allclose(found.objective_path_, expected.objective_path_, rtol=1e-9)
    assert_allclose(found.optimality_.bound, expected.optimality_.bound, rtol=1e-4)


# parts of larger machines


def test_grid_search_over_alpha_and_size():
    pipeline = make_pipeline(SubsetSelector(target="y", bound=False), RidgeClassifier())
    grid = {
        "subsetselector__alpha": [1.0, 100.0, "auto"],
        "subsetselector__n_features_to_select": [5, 20],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.6


def test_pipeline_without_labels():
    model = make_pipeline(SubsetSelector(30, center=True), Ridge()).fit(X, np.arange(20.0))
    assert model.predict(sp.csr_array(X)).shape == (20,)


# what it refuses


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"target": "x"}, "target must be one of 'data', 'y', 'model'; got 'x'"),
        ({"alpha": 0}, "alpha must be above 0"),
        ({"alpha": -1.0}, 'alpha must be a finite number >= 0 or "auto"; got -1.0'),
        ({"n_features_to_select": 0}, "n_features_to_select must be an int >= 1"),
        ({"include": [3, 4], "exclude": [4]}, "include and exclude overlap: feature 4 is in both"),
        ({"include": [300]}, "include: there is no feature 300, X has 300"),
        ({"include": [1, 1]}, "include has a feature twice"),
        ({"include": "w1"}, "include must be a sequence of indices or names; got 'w1'"),
        ({"exclude": ["w1"]}, "exclude has the name 'w1', but X has no names"),
        ({"exclude": [1.5]}, r"exclude must hold indices \(int\) or names \(str\); got 1.5"),
        ({"n_features_to_select": 1, "include": [1, 2]}, "is impossible: 2 of 300"),
        ({"exclude": list(range(300))}, "is impossible: 0 of 300 features are included and 300"),
        ({"costs": np.ones(300)}, "costs is given and budget is not"),
        ({"budget": 3}, "budget is given and costs is not"),
        ({"costs": np.ones(3), "budget": 3}, "one number for each of 300 features"),
        ({"costs": -np.ones(300), "budget": 3}, "costs must be >= 0; got -1 for feature 0"),
        ({"costs": np.full(300, np.nan), "budget": 3}, "costs must be >= 0; got nan"),
        ({"costs": np.ones(300), "budget": -3}, "budget must be a number >= 0; got -3"),
        ({"costs": np.ones(300), "budget": 0.5}, "buys no feature: the cheapest costs 1"),
        ({"costs": np.ones(300), "budget": 1, "include": [1, 2]}, "include costs 2, over budget=1"),
        (
            {"costs": np.ones(300), "budget": 3, "n_features_to_select": 3},
            "give n_features_to_select or budget, not both",
        ),
        ({"n_features_to_select": 5, "bound": [9]}, "sizes must be whole numbers from 1 to 5"),
        ({"bound": "all"}, "bound must be True, False or a sequence of sizes"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ValueError, match=message):
        SubsetSelector(**settings).fit(X)


def test_bad_data():
    with pytest.raises(ValueError, match="requires y to be passed"):
        SubsetSelector(5, target="y").fit(X)
    with pytest.raises(ValueError, match="y has one class only, 'a'"):
        SubsetSelector(5, target="y").fit(X, ["a"] * 20)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SubsetSelector(5, target="model").fit(X, Y[:7])
    with pytest.raises(ValueError, match="y contains NaN"):
        SubsetSelector(5, target="y").fit(X, np.full(20, np.nan))
    with pytest.raises(ValueError, match="contains NaN"):
        SubsetSelector(5, scale=True).fit(np.where(X == 3, np.nan, X))
    frame = pd.DataFrame(X[:, :2], columns=["gene 0", "gene 1"])
    with pytest.raises(ValueError, match="X has no feature 'gene_1'; did you mean 'gene 1'"):
        SubsetSelector(1, include=["gene_1"]).fit(frame)
    for size in (1e-170, 1e170):
        with pytest.raises(ValueError, match="squares of X over- or underflow"):
            SubsetSelector(5).fit(size * GAUSSIAN)
    with pytest.raises(ValueError, match="every feature of X is constant"):
        SubsetSelector(1, center=True).fit(np.ones((4, 9)))


def test_constant_and_equal_features():
    """Constant features have nothing to give once centred: they come last."""
    values = np.hstack([np.ones((20, 3)), X[:, :10], X[:, :10]])
    for scale in (False, True):
        selector = SubsetSelector(20, center=True, scale=scale).fit(values)
        assert not set(selector.selected_) & {0, 1, 2}
    sparse = SubsetSelector(20, center=True, scale=True).fit(sp.csr_array(values))
    assert not set(sparse.selected_) & {0, 1, 2}


def test_a_constant_target_is_reached_at_once():
    selector = SubsetSelector(3, target="y", center=True).fit(X, np.full((20, 1), 2.5))
    assert selector.n_selected_ == 3
    assert_array_equal(selector.objective_path_, np.ones(3))


def test_ahead_of_leverage_in_what_it_optimises():
    top = LeverageSelector(15, sampling="top").fit(X)
    found = SubsetSelector(15, target="y").fit(X, Y)
    M = SIGNS @ SIGNS.T
    objectives = [plain_objective(X, M, found.alpha_, s.selected_) for s in (found, top)]
    assert objectives[0] < objectives[1]


def test_spectra_get_an_alpha_that_fits_them():
    """Where one direction holds nearly all of X, the mean diagonal is far too large an alpha."""
    rng = np.random.default_rng(0)
    places = np.linspace(0, 1, 200)
    peaks = np.exp(-(((places - rng.random((6, 1))) / 0.1) ** 2))
    amounts = rng.normal(size=(60, 6)) * [1.0, 0.3, 0.2, 0.1, 0.1, 0.05]
    X = (2 + np.sin(3 * places)) * (1 + rng.normal(size=(60, 1))) + amounts @ peaks
    X, y = X + 1e-4 * rng.normal(size=X.shape), amounts[:, 3]
    chosen = SubsetSelector(20, target="y", center=True).fit(X[:40], y[:40])
    assert chosen.alpha_ < 1e-3 * chosen.singular_values_[0] ** 2 / 40
    alphas = np.logspace(-8, 3, 45)
    few, all_of_them = (
        RidgeCV(alphas).fit(A[:40], y[:40]).score(A[40:], y[40:]) for A in (chosen.transform(X), X)
    )
    assert few > 0.98 * all_of_them > 0.9
