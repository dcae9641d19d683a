# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons: as an explicit loop would do them, honestly, and the same on every run."""

from functools import partial
from time import sleep
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SelectorMixin,
    VarianceThreshold,
    f_regression,
    mutual_info_classif,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LinearRegression,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from ridgewise import (
    BSSSelector,
    LeverageSelector,
    RandomSelector,
    RLSClassifier,
    RRQRSelector,
    compare,
    make_ridge_synthetic,
)
from ridgewise.datasets.readers import read_table
from ridgewise.evaluation import ALL_FEATURES, _compare, _fold
from ridgewise.models._leave_one_out import RELATIVE_ALPHAS
from ridgewise.spectrum import _spectrum

N, D = 48, 240  # so wide that kernels of sparse data are computed without their zeros
SMALL = {"alphas": [0.5], "n_splits": 3, "n_repeats": 2}
compare_small = partial(compare, **SMALL)


def counts(seed=0):
    return np.random.RandomState(seed).poisson(0.7, (N, D)).astype(float)


def targets(kind, X):
    signal = X[:, :4] @ [1.0, -1.0, 0.5, -0.5]
    if kind == "regression":
        return signal + 0.1
    if kind == "two classes":
        return np.where(signal > np.median(signal), "spam", "ham")
    return np.searchsorted(np.quantile(signal, [0.3, 0.6]), signal)


def same_but_for_seconds(one, other):
    assert [entry.method for entry in one.entries] == [entry.method for entry in other.entries]
    for first, second in zip(one.entries, other.entries, strict=True):
        np.testing.assert_array_equal(first.errors, second.errors)
        np.testing.assert_array_equal(first.chosen.toarray(), second.chosen.toarray())
        assert first.n_features == second.n_features


@pytest.fixture
def data():
    return make_ridge_synthetic(n_samples=36, n_features=90, n_relevant=3, random_state=0)


# The same as an explicit loop


def model_for(kind, alpha, intercept):
    """Somebody else's model where there is one: scikit-learn has none without alpha."""
    if kind == "regression":
        if alpha == 0:
            return LinearRegression(fit_intercept=intercept)
        return Ridge(alpha, solver="svd") if intercept else KernelRidge(alpha=alpha)
    if alpha == 0:
        return RLSClassifier(0, fit_intercept=intercept)
    return RidgeClassifier(alpha, fit_intercept=intercept, solver="svd")


def loop(selector, X, y, kind, alphas, intercept, *, n_splits, n_repeats, seed):
    """What `compare` does, written plainly. Errors by alpha, repeat and fold."""
    folds = KFold if kind == "regression" else StratifiedKFold
    errors = np.empty((len(alphas), n_repeats, n_splits))
    for repeat in range(n_repeats):
        seeded = folds(n_splits, shuffle=True, random_state=_fold.seed_for(seed, repeat))
        for fold, (train, test) in enumerate(seeded.split(X, y)):
            fitted = clone(selector).fit(X[train], y[train])
            kept = [np.asarray(fitted.transform(X[rows])) for rows in (train, test)]
            for place, alpha in enumerate(alphas):
                model = model_for(kind, alpha, intercept).fit(kept[0], y[train])
                found = model.predict(kept[1])
                wrong = (found - y[test]) ** 2 if kind == "regression" else found != y[test]
                errors[place, repeat, fold] = np.mean(wrong)
    return errors


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [False, True], ids=["no intercept", "intercept"])
@pytest.mark.parametrize("kind", ["two classes", "three classes", "regression"])
def test_errors_are_those_of_a_loop(kind, intercept, container):
    X = counts()
    y = targets(kind, X)
    alphas = [0.0, 2.0]
    selectors = {"BSS": BSSSelector(60), "best": SelectKBest(k=20), "all": VarianceThreshold()}
    split = {"n_splits": 3, "n_repeats": 2}
    found = compare(
        selectors, container(X), y, alphas=alphas, fit_intercept=intercept, random_state=3, **split
    )
    for name, selector in selectors.items():
        expected = loop(selector, X, y, kind, alphas, intercept, seed=3, **split)
        np.testing.assert_allclose(found.entry(name).errors, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.entry(ALL_FEATURES).errors, found.entry("all").errors)


def test_sparse_data_far_from_its_origin():
    """Centring a kernel leaves rounding where it should be 0, which alpha=0 must not invert."""
    X = counts() + 1000.0
    y = targets("regression", X)
    found = {
        container: compare([VarianceThreshold()], container(X), y, alphas=[0.0, 1.0], n_repeats=1)
        for container in (np.asarray, sp.csr_array)
    }
    dense, sparse = (one.entry(ALL_FEATURES).errors for one in found.values())
    np.testing.assert_allclose(sparse, dense, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.bool_, np.float32])
def test_small_types_do_not_overflow(dtype):
    X = (20 * counts() > 15).astype(dtype) if dtype == np.bool_ else (20 * counts()).astype(dtype)
    y = targets("two classes", counts())
    selectors = {"best": SelectKBest(k=200)}  # so many that the kernel is of sparse features
    small, large = (compare_small(selectors, sp.csr_array(A), y) for A in (X, X.astype(float)))
    same_but_for_seconds(small, large)


def test_numbers_may_be_classes_if_asked():
    X = counts()
    y = np.arange(N) % 24
    assert not compare_small([VarianceThreshold()], X, y).classify
    as_classes = compare([VarianceThreshold()], X, y, alphas=1.0, n_splits=2, task="classification")
    assert as_classes.classify
    assert not compare_small([VarianceThreshold()], X, y % 2, task="regression").classify


# Alphas by leave-one-out


def spectra(n=40, d=300, seed=0):
    """Smooth curves with a dominant mean: the first eigenvalue is above 1000 times the second."""
    rng = np.random.default_rng(seed)
    places = np.linspace(0, 1, d)
    bumps = np.exp(-((places - rng.uniform(size=(6, 1))) ** 2) / 0.02)
    parts = rng.uniform(size=(n, 6)) * 0.02
    X = 1 + 0.5 * np.sin(3 * places) + parts @ bumps + 1e-5 * rng.normal(size=(n, d))
    return X, parts @ rng.normal(size=6) + 1e-4 * rng.normal(size=n)


def genes(n=40, d=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, d)) + rng.lognormal(sigma=1.5, size=(n, d))
    return X, np.where(X[:, 0] - X[:, 1] > np.median(X[:, 0] - X[:, 1]), "ill", "well")


def tall(n=150, d=8, seed=0):
    X = np.random.default_rng(seed).normal([0, 5, 100, 1, 1, 1, 1, 1], 1, size=(n, d))
    return X, X[:, 2] + np.random.default_rng(1).normal(size=n)


def errors_of_scikit_learn(X, y, n_splits, n_repeats):
    """Of RidgeCV or RidgeClassifierCV on each training part, with the same grid."""
    numbers = y.dtype.kind == "f"
    model, folds = (RidgeCV, KFold) if numbers else (RidgeClassifierCV, StratifiedKFold)
    errors = []
    for repeat in range(n_repeats):
        splits = folds(n_splits, shuffle=True, random_state=_fold.seed_for(0, repeat))
        for train, test in splits.split(X, y):
            grid = RELATIVE_ALPHAS * X[train].var(axis=0).sum()
            fitted = model(grid).fit(X[train], y[train])
            missed = fitted.predict(X[test])
            errors.append(np.mean((missed - y[test]) ** 2 if numbers else missed != y[test]))
    return np.array(errors)


@pytest.mark.parametrize("make", [spectra, genes, tall])
def test_all_features_are_scikit_learns_model(make):
    X, y = make()
    found = compare([RandomSelector(4)], X, y, n_splits=4, n_repeats=2)
    errors = found.entry(ALL_FEATURES).errors.ravel()
    expected = errors_of_scikit_learn(X, y, 4, 2)
    np.testing.assert_allclose(errors, expected, rtol=1e-3, atol=1e-10)
    row = found.row(ALL_FEATURES)
    assert row.alpha == pytest.approx(row.alpha_relative * X.var(axis=0).sum(), rel=0.3)
    assert row.alpha_edge == ""
    assert found.alphas is None


NUMBERS = ("riboflavin", "wheat")
CLASSES = ("golub", "ALL", "arcene")
NEWS = (
    "rec.sport.hockey__rec.sport.baseball",
    "sci.space__sci.med",
    "talk.politics.guns__talk.politics.mideast",
)


def real_data(folder, name):
    if name in NEWS:
        table = read_table(folder / "newsgroup_pairs" / name)
        return table.X.toarray(), table.y.astype(str)
    X = np.load(folder / name / "X.npz")["X"].astype(float)
    lines = (folder / name / "y.txt").read_text().splitlines()
    y = np.array([line.split()[0] for line in lines if line.strip()])
    return X, y.astype(float) if name in NUMBERS else y


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERS + CLASSES + NEWS)
def test_all_features_of_real_data_are_scikit_learns_model(shared_data, name):
    X, y = real_data(shared_data, name)
    found = compare([RandomSelector(20)], X, y, n_splits=5, n_repeats=1)
    entry = found.entry(ALL_FEATURES)
    expected = errors_of_scikit_learn(X, y, 5, 1).mean()
    print(f"{name}: {entry.errors.mean():.4g} +/- {entry.standard_error:.2g}, {expected:.4g}")
    assert abs(entry.errors.mean() - expected) <= max(0.1 * entry.standard_error, 1e-9)
    assert found.row(ALL_FEATURES).alpha_edge == ""


def test_edges_of_alphas_are_told():
    X, _ = tall()
    without_noise = X @ np.arange(8.0)
    row = compare([RandomSelector(4)], X, without_noise, n_repeats=1).row(ALL_FEATURES)
    assert row.alpha_edge == "smallest"
    found = compare([RandomSelector(4)], *spectra(), alphas=[1e-6, 1e-3, 1], alpha_scale="relative")
    best, *others = [found.row(ALL_FEATURES, alpha=alpha) for alpha in (1e-6, 1e-3, 1)]
    assert best.alpha_edge == "smallest"
    assert best.alpha_relative == pytest.approx(1e-6)
    assert {row.alpha_edge for row in others} == {""}


def test_relative_alphas_are_those_of_the_models_own_kernel():
    X, y = spectra()
    chosen = SelectKBest(f_regression, k=30)
    found = compare([chosen], X, y, alphas=0.01, alpha_scale="relative", n_splits=2, n_repeats=1)
    splits = KFold(2, shuffle=True, random_state=_fold.seed_for(0, 0)).split(X)
    for error, (train, test) in zip(found.entries[1].errors.ravel(), splits, strict=True):
        kept = chosen.fit(X[train], y[train])
        A, B = kept.transform(X[train]), kept.transform(X[test])
        model = Ridge(0.01 * A.var(axis=0).sum(), solver="svd").fit(A, y[train])
        assert error == pytest.approx(np.mean((model.predict(B) - y[test]) ** 2), rel=1e-6)


# Pipelines and preparation


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_pipelines_and_preparation_are_fitted_in_each_fold(container):
    X = counts() * np.logspace(-2, 2, D)
    y = targets("two classes", counts())
    scaler = StandardScaler(with_mean=container is np.asarray)
    pipe = make_pipeline(scaler, SelectKBest(k=3))
    piped = compare_small({"best": pipe}, container(X), y, n_features=[10, 20])
    prepared = compare_small(
        {"best": SelectKBest()}, container(X), y, n_features=[10, 20], prepare=scaler
    )
    for count in (10, 20):
        one, other = (found.entry("best", count) for found in (piped, prepared))
        np.testing.assert_allclose(one.errors, other.errors)
        np.testing.assert_array_equal(one.chosen.toarray(), other.chosen.toarray())
    assert (piped.entries[0].errors != prepared.entries[0].errors).any()
    assert pipe[-1].k == 3


# Honest


class Spy(SelectorMixin, BaseEstimator):
    """Keeps all features, and notes the first one, which numbers the samples."""

    fitted: ClassVar[list[set[float]]] = []
    transformed: ClassVar[list[set[float]]] = []
    labels: ClassVar[list[dict[float, float]]] = []

    def fit(self, X, y):
        self.fitted.append(set(X[:, 0]))
        self.labels.append(dict(zip(X[:, 0], y, strict=True)))
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        self.transformed.append(set(X[:, 0]))
        return X

    def _get_support_mask(self):
        return np.ones(self.n_features_in_, dtype=bool)


@pytest.fixture
def spy():
    for notes in (Spy.fitted, Spy.transformed, Spy.labels):
        notes.clear()
    return Spy()


@pytest.mark.parametrize("kind", ["two classes", "regression"])
def test_selection_sees_training_samples_only(spy, kind):
    X = counts()
    y = targets(kind, X)
    X[:, 0] = np.arange(N)
    compare([spy], X, y, alphas=1.0, n_splits=4, n_repeats=3)
    train, test = Spy.transformed[::2], Spy.transformed[1::2]
    assert len(Spy.fitted) == len(test) == 12
    assert train == Spy.fitted
    for seen, unseen, labels in zip(Spy.fitted, test, Spy.labels, strict=True):
        assert not seen & unseen
        assert seen | unseen == set(range(N))
        assert all(y[int(number)] == label for number, label in labels.items())
    for repeat in range(3):  # every sample is tested once a repeat
        assert sorted(x for fold in test[4 * repeat :][:4] for x in fold) == list(range(N))
    assert len({frozenset(fold) for fold in test}) == 12  # shuffled anew


def test_noise_cannot_be_predicted():
    """Features chosen for how well they tell the classes apart, of very many that do not."""
    X = np.random.RandomState(0).normal(size=(N, 3000))
    y = np.arange(N) % 2
    best = SelectKBest(k=20)
    honest = compare_small([best], X, y).row("SelectKBest")
    leaked = compare_small([VarianceThreshold()], best.fit_transform(X, y), y)
    assert leaked.row("VarianceThreshold").error_mean < 0.2 < 0.35 < honest.error_mean


# Random methods


class Noted(RandomSelector):
    """Random, and notes its seeds, and which samples it saw."""

    seen: ClassVar[list[tuple[int, bytes]]] = []

    def fit(self, X, y=None):
        self.seen.append((self.random_state, X[:, 0].tobytes()))
        return super().fit(X, y)


def test_random_methods_are_averaged_over_tries_each_with_a_seed(data):
    Noted.seen.clear()
    X, y = data
    found = compare_small({"random": Noted(10)}, X, y)
    assert len(Noted.seen) == 5 * 6
    assert len({seed for seed, _ in Noted.seen}) == 5 * 6
    assert found.entry("random").chosen.shape[0] == 5 * 6
    for fold, expected in enumerate(found.entry("random").errors.ravel()):
        tries = Noted.seen[5 * fold :][:5]
        assert len({samples for _, samples in tries}) == 1
        train = np.isin(X[:, 0], np.frombuffer(tries[0][1]))
        errors = []
        for seed, _ in tries:
            selector = RandomSelector(10, random_state=seed).fit(X[train])
            model = RLSClassifier(0.5, fit_intercept=True).fit(
                selector.transform(X[train]), y[train]
            )
            errors.append(1 - model.score(selector.transform(X[~train]), y[~train]))
        assert expected == pytest.approx(np.mean(errors), abs=1e-10)


def test_number_of_tries(data):
    Noted.seen.clear()
    compare_small({"random": Noted(10)}, *data, n_tries=2)
    assert len(Noted.seen) == 2 * 6


class Scaled(SelectorMixin, BaseEstimator):
    """Keeps all features with random weights: equal sets, and yet random."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        self.weights_ = np.random.RandomState(self.random_state).exponential(size=X.shape[1])
        return self

    def transform(self, X):
        return X * self.weights_

    def _get_support_mask(self):
        return np.ones(self.n_features_in_, dtype=bool)


def test_equal_sets_with_other_weights_are_tries_too():
    X = counts()
    y = targets("regression", X)
    one, five = (compare_small([Scaled()], X, y, n_tries=n_tries) for n_tries in (1, 5))
    assert five.entry("Scaled").chosen.shape[0] == 5 * 6
    assert (one.entry("Scaled").errors != five.entry("Scaled").errors).all()


def test_same_result_every_time_counts_once(data):
    """It has a random state, but does not use it: five times the same would look like stability."""
    top = LeverageSelector(20, sampling="top")
    found = compare_small([top], *data)
    assert found.entry("LeverageSelector").chosen.shape[0] == 6
    same_but_for_seconds(found, compare_small([top], *data, n_tries=1))


def test_random_states_within_are_found(data):
    """Those of the parts of a selector, by which others are made."""
    within = SelectFromModel(LinearSVC(), max_features=10, threshold=-np.inf)
    assert _fold._random_states(within) == ["estimator__random_state"]
    same_but_for_seconds(compare_small([within], *data), compare_small([within], *data))


def test_global_random_state_is_neither_used_nor_changed(data):
    X, y = data[0][:, :15], data[1]
    selectors = {"gain": SelectKBest(mutual_info_classif, k=5), "random": RandomSelector(5)}

    def compare_from(seed):
        np.random.seed(seed)  # noqa: NPY002
        return compare_small(selectors, X, y), np.random.rand()  # noqa: NPY002

    (first, after), (second, _) = compare_from(0), compare_from(1)
    same_but_for_seconds(first, second)
    assert after == np.random.RandomState(0).rand()


@pytest.mark.parametrize("seed", [0, np.int64(0), np.random.RandomState(0)])
def test_seed_decides(data, seed):
    again = np.random.RandomState(0) if isinstance(seed, np.random.RandomState) else 0
    found = compare_small([RandomSelector(10)], *data, random_state=seed)
    same_but_for_seconds(found, compare_small([RandomSelector(10)], *data, random_state=again))
    other = compare_small([RandomSelector(10)], *data, random_state=1)
    assert (found.entries[1].chosen != other.entries[1].chosen).nnz


# Time


SPECTRAL = {
    "BSS": BSSSelector(),
    "polished": BSSSelector(polish=True),
    "leverage": LeverageSelector(),
    "top": LeverageSelector(sampling="top"),
}


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, pd.DataFrame])
def test_spectrum_is_computed_once_a_fold_and_charged_to_each(data, container, monkeypatch):
    pause, calls = 0.02, []
    compute = _spectrum.compute_spectrum

    def slow(*arguments, **settings):
        calls.append(settings)
        sleep(pause)
        return compute(*arguments, **settings)

    monkeypatch.setattr(_spectrum, "compute_spectrum", slow)
    X, y = data
    found = compare_small({**SPECTRAL, "random": RandomSelector()}, container(X), y, n_features=40)
    assert len(calls) == 6
    for method in SPECTRAL:
        assert (found.entry(method).seconds >= pause).all()
    assert (found.entry("random").seconds > 0).all()


def test_two_workers_find_what_one_does(data):
    selectors = {
        **SPECTRAL,
        "random": RandomSelector(),
        "rrqr": RRQRSelector(),
        "gain": SelectKBest(mutual_info_classif),
        "model": SelectFromModel(LinearSVC()),
    }
    X, y = data[0][:, :40], data[1]
    one, two = (compare_small(selectors, X, y, n_features=20, n_jobs=jobs) for jobs in (1, 2))
    same_but_for_seconds(one, two)


def test_two_workers_on_sparse_data(data):
    X, y = sp.csc_array(data[0]), data[1]
    one, two = (compare_small(SPECTRAL, X, y, n_features=40, n_jobs=jobs) for jobs in (1, 2))
    same_but_for_seconds(one, two)


def test_more_repeats_begin_with_the_same(data):
    few, more = (
        compare([RandomSelector(10)], *data, alphas=1.0, n_splits=3, n_repeats=n) for n in (1, 2)
    )
    for one, other in zip(few.entries, more.entries, strict=True):
        np.testing.assert_array_equal(one.errors[:, 0], other.errors[:, 0])


# Progress


def test_progress_counts_up_to_the_total(data):
    steps = []
    compare_small([RandomSelector(5)], *data, progress=lambda *step: steps.append(step))
    assert steps == [(done, 6) for done in range(7)]


def test_progress_line_goes_to_standard_error(data, capsys):
    compare_small([RandomSelector(5)], *data, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "\r6 of 6 folds, 0 s left" in err
    assert err.endswith("\n")


def test_progress_line_ends_on_an_error(data, capsys):
    with pytest.raises(ValueError, match="RandomSelector"):
        compare_small([RandomSelector("many")], *data, progress=True)
    assert capsys.readouterr().err.endswith("\n")


def test_silent_by_default(data, capfd):
    compare_small([RandomSelector(5)], *data)
    assert capfd.readouterr() == ("", "")


def test_an_error_ends_the_workers_even_if_it_is_kept(data, monkeypatch):
    """A traceback holds what was going on; joblib's workers would go on with it."""
    ended = []

    def run(tasks):
        try:
            for function, arguments, _ in tasks:
                yield function(*arguments)
        finally:
            ended.append(True)

    def fails(done, total):
        if done == 2:
            raise RuntimeError("enough")

    monkeypatch.setattr(_compare, "Parallel", lambda **settings: run)
    with pytest.raises(RuntimeError, match="enough") as kept:
        compare_small([RandomSelector(5)], *data, progress=fails)
    assert kept.tb is not None
    assert ended


# Whatever data is kept in


CONTAINERS = {
    "float32": lambda X: X.astype(np.float32),
    "Fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "pandas": pd.DataFrame,
    "pandas, sparse": lambda X: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X)),
    "polars": lambda X: pl.DataFrame(X, schema=[f"f{place}" for place in range(X.shape[1])]),
    "CSR matrix": sp.csr_matrix,
    "CSC": sp.csc_array,
    "COO": sp.coo_array,
    "LIL": sp.lil_array,
}


@pytest.fixture(scope="module")
def compare_counts():
    """Compare on the counts, in some container."""
    y = targets("two classes", counts())
    selectors = {"leverage": LeverageSelector(60), "best": SelectKBest(k=20)}
    return lambda container: compare_small(selectors, container(counts()), y)


@pytest.fixture(scope="module")
def by_array(compare_counts):
    return compare_counts(np.asarray)


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS.keys())
def test_containers(compare_counts, by_array, container):
    same_but_for_seconds(compare_counts(container), by_array)


def test_entries_that_are_stored_twice_are_summed():
    X = counts()
    y = targets("two classes", X)
    A = sp.csr_array(X)
    halves = (np.repeat(A.data / 2, 2), np.repeat(A.indices, 2), 2 * A.indptr)
    twice = sp.csr_array(halves, shape=A.shape)
    found, expected = (compare_small([SelectKBest(k=20)], one, y) for one in (twice, A))
    same_but_for_seconds(found, expected)
    assert twice.nnz == 2 * A.nnz  # the user's own is left as it was


LABELS = {
    "column": lambda y: y[:, None],
    "list": lambda y: y.tolist(),
    "series, other index": lambda y: pd.Series(y, index=range(len(y))[::-1]),
    "frame": lambda y: pd.DataFrame({"y": y}),
    "polars": pl.Series,
    "nullable": lambda y: pd.Series(y.astype(int)).astype("Int64"),
    "objects": lambda y: y.astype(int).astype(object),
    "bool": lambda y: y > 0,
    "strings": lambda y: np.where(y > 0, "yes", "no"),
    "string objects": lambda y: np.where(y > 0, "yes", "no").astype(object),
    "categories": lambda y: pd.Series(np.where(y > 0, "yes", "no")).astype("category"),
    "polars strings": lambda y: pl.Series(np.where(y > 0, "yes", "no").tolist()),
}


@pytest.mark.parametrize("container", LABELS.values(), ids=LABELS.keys())
def test_labels(data, container):
    X, y = data
    selectors = [SelectKBest(k=10)]
    same_but_for_seconds(compare_small(selectors, X, container(y)), compare_small(selectors, X, y))


def test_names_of_features(data):
    X, y = data
    names = [f"gene{place}" for place in range(X.shape[1])]
    by_frame = compare_small([RandomSelector(5)], pd.DataFrame(X, columns=names), y)
    by_list = compare_small([RandomSelector(5)], X.tolist(), y, feature_names=names)
    for found in (by_frame, by_list):
        top = found.top_features("RandomSelector")[0]
        assert top.feature == f"gene{top.index}"
    assert compare_small([RandomSelector(5)], X, y).feature_names is None


def test_nothing_that_was_given_is_changed(data):
    X, y = (part.copy() for part in data)
    selector = RandomSelector(5)
    compare_small([selector], X, y, n_features=7)
    assert (selector.n_features_to_select, selector.random_state) == (5, None)
    assert not hasattr(selector, "selected_")
    np.testing.assert_array_equal(X, data[0])
    np.testing.assert_array_equal(y, data[1])


# Whoever selects


SELECTORS = {
    "best": SelectKBest(),
    "model": SelectFromModel(Ridge(), threshold=-np.inf),
    "elimination": RFE(Ridge(), step=0.5),
    "rrqr": RRQRSelector(),
}


def test_selectors_from_elsewhere_take_the_number(data):
    found = compare_small(SELECTORS, *data, n_features=[5, 12])
    assert found.methods == [ALL_FEATURES, *SELECTORS]
    for method in SELECTORS:
        assert [found.row(method, count).n_selected for count in (5, 12)] == [5, 12]


def test_more_features_than_there_are(data):
    X, y = data
    found = compare_small({"BSS": BSSSelector(), "rrqr": RRQRSelector()}, X, y, n_features=1000)
    for method in ("BSS", "rrqr"):
        row = found.row(method, 1000)
        assert row.n_selected == X.shape[1]
        np.testing.assert_array_equal(found.entry(method).errors, found.entry(ALL_FEATURES).errors)


def test_selecting_nothing_predicts_the_mean():
    X = counts()
    y = targets("regression", X)
    nothing = SelectFromModel(Ridge(), threshold=np.inf)
    with pytest.warns(UserWarning, match="No features were selected"):
        row = compare([nothing], X, y, alphas=1.0, n_splits=N, n_repeats=1).row("SelectFromModel")
    leave_one_out = np.mean((y - (y.sum() - y) / (N - 1)) ** 2)
    assert row.n_selected == row.n_features == 0
    assert row.error_mean == pytest.approx(leave_one_out)


def test_empty_samples_and_constant_features():
    X = counts()
    y = targets("two classes", X)
    X[:6] = 0
    X[:, 5] = 3
    for A in (X, sp.csr_array(X)):
        found = compare_small({"BSS": BSSSelector(60), "random": RandomSelector(5)}, A, y)
        assert all(np.isfinite(row.error_mean) for row in found.rows)


# What cannot be


class Liar(Spy):
    """Tells of other features than there are."""

    def _get_support_mask(self):
        return np.ones(3, dtype=bool)


BAD_SELECTORS = [
    ({}, ValueError, "selectors is empty"),
    (BSSSelector(), TypeError, "selectors must be a dict of names and selectors, or a list"),
    ([BSSSelector(5), BSSSelector(6)], ValueError, "several selectors are of the same class"),
    ({ALL_FEATURES: BSSSelector()}, ValueError, "give the selector another name"),
    ({7: BSSSelector()}, TypeError, "names of selectors must be strings; got 7"),
    ({"scaler": StandardScaler()}, TypeError, "scaler: StandardScaler has no get_support"),
    (
        {"pipe": make_pipeline(BSSSelector(), StandardScaler())},
        TypeError,
        "or a pipeline that ends",
    ),
    (
        {"pipe": make_pipeline(SelectKBest(k=9), RandomSelector(5))},
        ValueError,
        "get_support.. has 9 entries, but X has 90 features",
    ),
    ({"class": BSSSelector}, TypeError, "instance"),
    ({"bss": BSSSelector(5, alpha=0)}, ValueError, "bss: BSS needs more features than the rank"),
    ({"bss": BSSSelector(rank=[3])}, ValueError, "bss: rank must be None"),
    ({"liar": Liar()}, ValueError, "liar: get_support.. has 3 entries, but X has 90 features"),
]


@pytest.mark.parametrize(("selectors", "error", "message"), BAD_SELECTORS)
def test_bad_selectors(data, selectors, error, message):
    with pytest.raises(error, match=message):
        compare_small(selectors, *data)


def test_errors_name_method_and_number(data):
    with pytest.raises(ValueError, match="bss, 7: BSS needs more features than the rank"):
        compare_small({"bss": BSSSelector(alpha=0)}, *data, n_features=7)
    with pytest.raises(ValueError, match="variance: VarianceThreshold has no parameter for the n"):
        compare_small({"variance": VarianceThreshold()}, *data, n_features=7)


BAD_SETTINGS = [
    ({"alphas": []}, "alphas is empty"),
    ({"alphas": -1}, "each must be a finite number >= 0; got -1"),
    ({"alphas": [np.nan]}, "each must be a finite number"),
    ({"alphas": "a"}, "each must be a finite number >= 0; got 'a'"),
    ({"alphas": [[1.0]]}, "each must be a finite number"),
    ({"alphas": [1, 2, 1.0]}, "alphas has 1.0 more than once"),
    ({"n_features": [3, 3]}, "n_features has 3 more than once"),
    ({"n_features": []}, "n_features is empty"),
    ({"n_features": 0}, "n_features: each must be an int of at least 1; got 0"),
    ({"n_features": [5, 0.5]}, "n_features: each must be an int of at least 1; got 0.5"),
    ({"n_splits": 1}, "n_splits must be an int of at least 2; got 1"),
    ({"n_splits": 30}, r"30 folds need as many samples.*class -1 has \d+\. Use fewer folds \(n_s"),
    ({"n_repeats": 0}, "n_repeats must be an int of at least 1; got 0"),
    ({"n_tries": 0}, "n_tries must be an int of at least 1; got 0"),
    ({"task": "cluster"}, "task must be"),
    ({"fit_intercept": "yes"}, "fit_intercept must be True or False; got 'yes'"),
    ({"alpha_scale": "log"}, "alpha_scale must be one of 'absolute', 'relative'; got 'log'"),
    ({"random_state": -1}, "random_state must be an int of at least 0"),
    ({"feature_names": ["a"]}, "feature_names has length 1, but X has 90 features"),
]


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS)
def test_bad_settings(data, settings, message):
    with pytest.raises(ValueError, match=message):
        compare([RandomSelector(5)], *data, **{**SMALL, **settings})


BAD_TARGETS = [
    (lambda y: y[:-1], {}, "inconsistent numbers of samples"),
    (lambda y: np.column_stack([y, y]), {}, "y should be a 1d array"),
    (lambda y: np.ones_like(y), {}, "only one class, 1.*For regression set task="),
    (lambda y: np.r_[np.nan, y[1:]], {}, "y contains NaN"),
    (lambda y: np.array(["a", None] * 18, dtype=object), {}, "missing values"),
    (lambda y: np.array(["a", np.nan] * 18, dtype=object), {}, "missing values"),
    (lambda y: np.array(["a", 1] * 18, dtype=object), {}, "classes of several types"),
    (lambda y: np.array(["a"] * 35 + ["b"]), {}, "class 'b' has 1. Use fewer folds"),
    (lambda y: np.array(["a", "b"] * 18), {"task": "regression"}, "got values such as 'a'"),
    (lambda y: np.arange(36) / 7, {"n_splits": 40}, "40 folds need.*X has 36"),
]


@pytest.mark.parametrize(("change", "settings", "message"), BAD_TARGETS)
def test_bad_targets(data, change, settings, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        compare([RandomSelector(5)], X, change(y), **{**SMALL, **settings})


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_values(data, value):
    X, y = data
    X[3, 4] = value
    with pytest.raises(ValueError, match="Input X contains"):
        compare_small([RandomSelector(5)], X, y)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_squares_that_overflow(data):
    X, y = data
    with pytest.raises(ValueError, match="all features: squares of the features overflow: scale X"):
        compare_small([RandomSelector(5)], X * 1e200, y)
