# SPDX-License-Identifier: BSD-3-Clause
"""Repeated cross-validation of any selectors, with RLSC or ridge regression."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from numbers import Integral, Number
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d

from ridgewise._run import (
    ProgressLine,
    are_classes,
    check_bool,
    check_number,
    check_one_of,
    one_blas_thread,
)
from ridgewise._typing import AnyArray, is_sparse
from ridgewise.evaluation._cache import FoldCache
from ridgewise.evaluation._comparison import ALL_FEATURES, Comparison, Entry
from ridgewise.evaluation._fold import Cell, CellResult, Plan, Split, last_step, run_fold, seed_for

# Names of the parameter for the number of features, in various libraries
COUNT_PARAMETERS = ("n_features_to_select", "k", "max_features", "n_features")


def compare(
    selectors: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: ArrayLike,
    *,
    alphas: float | Sequence[float] | None = None,
    alpha_scale: str = "absolute",
    n_features: int | Sequence[int] | None = None,
    n_splits: int = 10,
    n_repeats: int = 10,
    n_tries: int = 5,
    task: str = "auto",
    fit_intercept: bool = True,
    prepare: Any = None,
    feature_names: Sequence[str] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int], object] = False,
) -> Comparison:
    """Compare selectors by repeated cross-validation of ridge models with their features.

    Every method has the same splits, and selects from the training samples only. Spectra and other
    shared work are computed once a fold, and their time is charged to each method.

    Parameters
    ----------
    selectors : mapping of str to selector, or list of selectors
        By name: any selector with scikit-learn's interface, or a pipeline that ends in one and
        whose other steps keep the number and order of the features.
    X : array, sparse array or data frame of shape (n, d)
        The samples.
    y : array-like of shape (n,)
        Their classes, or numbers for regression.
    alphas : float or list of float, default=None
        Of the models: what is added to the kernel's diagonal, at least 0. None: each model has
        its own, chosen on its training samples by leave-one-out (see `leave_one_out_alpha`).
    alpha_scale : {"absolute", "relative"}, default="absolute"
        Whether alphas are as scikit-learn's, or multiples of the mean diagonal of the model's
        kernel (centred where there is an intercept).
    n_features : int or list of int, default=None
        How many features to select. None: as each selector is set. For `SelectFromModel` it is the
        maximum: set ``threshold=-numpy.inf`` as well.
    n_splits, n_repeats : int, default=10
        Number of folds, and of repetitions with new shuffles. Stratified for classes.
    n_tries : int, default=5
        Selectors with a ``random_state`` select this often in each fold; results are averaged.
    task : {"auto", "classification", "regression"}, default="auto"
        Whether y are classes or numbers. "auto": numbers with more than 20 different values, or
        with fractions, are regression targets.
    fit_intercept : bool, default=True
        Whether the models have an intercept. The paper's RLSC has none.
    prepare : transformer, default=None
        Fitted to each training part and applied to both parts before anything else: for example
        a scaler. It must keep the number and order of the features.
    feature_names : sequence of str, default=None
        Names of the features. None: those of a data frame, or else indices.
    random_state : int, RandomState instance or None, default=0
        For the splits and the selectors' random states.
    n_jobs : int, default=None
        Number of folds computed at once, each on one thread; -1: all cores. None: one, or as set by
        ``joblib.parallel_config``.
    cache : path-like, default=None
        A folder for finished folds. An interrupted run resumes from there, with the same result.
        Other data or settings have other entries; changes in your selectors' code are not noticed.
    progress : bool or callable, default=False
        True: a line on standard error with the time left. A callable is called with the number of
        folds done and their total.

    Returns
    -------
    Comparison
        Errors, times, stability and the features that were selected most.

    Examples
    --------
    >>> from ridgewise import BSSSelector, RandomSelector, compare, make_ridge_synthetic
    >>> X, y = make_ridge_synthetic(n_samples=60, n_relevant=1, random_state=0)
    >>> selectors = {"BSS": BSSSelector(), "random": RandomSelector()}
    >>> found = compare(selectors, X, y, n_features=[150], n_splits=5, n_repeats=2)
    >>> found.methods
    ['all features', 'BSS', 'random']
    >>> found.row("BSS", 150).stability > found.row("random", 150).stability
    True
    """
    names = getattr(X, "columns", None) if feature_names is None else feature_names
    X, y = _check_data(X, y)
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(f"feature_names has length {len(names)}, but X has {X.shape[1]} features")
    check_one_of("alpha_scale", alpha_scale, ("absolute", "relative"))
    plan = Plan(
        cells=tuple(_cells(selectors, n_features)),
        alphas=None if alphas is None else tuple(_check_list("alphas", alphas, check_number)),
        relative=alpha_scale == "relative",
        classify=is_classification(y, task),
        fit_intercept=check_bool("fit_intercept", fit_intercept),
        n_tries=_check_count("n_tries", n_tries),
        seed=_as_seed(random_state),
        prepare=prepare,
    )
    n_splits = _check_count("n_splits", n_splits, 2)
    n_repeats = _check_count("n_repeats", n_repeats)
    splits = list(_splits(y, plan, n_splits, n_repeats))
    store = FoldCache(cache, plan, X, y, n_splits)
    results = _run(plan, X, y, splits, store, n_jobs, progress)
    n, d = X.shape
    return Comparison(
        entries=[
            Entry.of(cell, folds, (n_repeats, n_splits), d)
            for cell, folds in zip(plan.cells, zip(*results, strict=True), strict=True)
        ],
        alphas=plan.alphas,
        classify=plan.classify,
        n_samples=n,
        n_features_in=d,
        n_splits=n_splits,
        n_repeats=n_repeats,
        feature_names=None if names is None else np.array([str(name) for name in names]),
        fit_intercept=plan.fit_intercept,
    )


def _run(
    plan: Plan,
    X: Any,
    y: AnyArray,
    splits: list[Split],
    store: FoldCache,
    n_jobs: int | None,
    progress: bool | Callable[[int, int], object],
) -> list[list[CellResult]]:
    """Load the stored folds, compute the others, and store each as soon as it is done."""
    results = [store.load(split) for split in splits]
    missing = [place for place, result in enumerate(results) if result is None]
    tasks = (delayed(_run_numbered)(place, plan, X, y, splits[place]) for place in missing)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")

    def report(done: int) -> None:
        if callable(progress):
            progress(done, len(splits))
        elif progress:
            line(done, len(splits), "folds")

    # One thread outside of all folds: in threads, they would undo each other's limit.
    with ProgressLine() as line, one_blas_thread():
        done = len(splits) - len(missing)
        report(done)
        with closing(parallel(tasks)) as finished:  # ends the workers on an error
            for place, result in finished:
                store.store(splits[place], result)
                results[place] = result
                done += 1
                report(done)
    return [result for result in results if result is not None]


def _run_numbered(place: int, *arguments: Any) -> tuple[int, list[CellResult]]:
    """Compute a fold, and return its place: folds finish in any order."""
    return place, run_fold(*arguments)


def _splits(y: AnyArray, plan: Plan, n_splits: int, n_repeats: int) -> Iterator[Split]:
    """Shuffle and split repeatedly; a repeat does not depend on the number of repeats."""
    _check_folds(y, plan, n_splits)
    kind = StratifiedKFold if plan.classify else KFold
    for repeat in range(n_repeats):
        folds = kind(n_splits, shuffle=True, random_state=seed_for(plan.seed, repeat))
        for fold, (train, test) in enumerate(folds.split(y, y)):
            yield Split(repeat, fold, train, test)


def _check_folds(y: AnyArray, plan: Plan, n_splits: int) -> None:
    """Raise if there are more folds than samples, or than samples of the smallest class."""
    try:
        classes, counts = np.unique(y, return_counts=True)
    except TypeError as error:
        raise ValueError(f"y has missing values, or classes of several types: {error}") from error
    names = classes.tolist()
    if len(y) < n_splits:
        raise ValueError(f"{n_splits} folds need as many samples; X has {len(y)}")
    if plan.classify and len(names) < 2:
        raise ValueError(
            f"y has only one class, {names[0]!r}, but at least two are needed. For regression "
            'set task="regression"'
        )
    if plan.classify and counts.min() < n_splits:
        raise ValueError(
            f"{n_splits} folds need as many samples of each class, but class "
            f"{names[counts.argmin()]!r} has {counts.min()}. Use fewer folds (n_splits), or leave "
            "small classes out"
        )


def _cells(
    selectors: Mapping[str, Any] | Sequence[Any], n_features: int | Sequence[int] | None
) -> Iterator[Cell]:
    """All features, and every selector with every number of features."""
    if not isinstance(selectors, Mapping | Sequence):
        raise TypeError(
            f"selectors must be a dict of names and selectors, or a list; got {selectors!r}"
        )
    if not isinstance(selectors, Mapping):
        names = [type(selector).__name__ for selector in selectors]
        if len(set(names)) < len(names):
            raise ValueError(
                f"several selectors are of the same class ({', '.join(names)}): give a dict with a "
                "name for each"
            )
        selectors = dict(zip(names, selectors, strict=True))
    if not selectors:
        raise ValueError("selectors is empty: give at least one")
    if ALL_FEATURES in selectors:
        raise ValueError(
            f"{ALL_FEATURES!r} is the model without selection: give the selector another name"
        )
    counts = [None] if n_features is None else _check_list("n_features", n_features, _check_count)
    yield Cell(ALL_FEATURES, None, None)
    for method, selector in selectors.items():
        if not isinstance(method, str):
            raise TypeError(f"names of selectors must be strings; got {method!r}")
        if not hasattr(last_step(selector), "get_support"):
            raise TypeError(
                f"{method}: {type(last_step(selector)).__name__} has no get_support method. Give a "
                "selector, or a pipeline that ends in one"
            )
        for count in counts:
            yield Cell(method, count, _with_count(method, selector, count))


def _with_count(method: str, selector: Any, count: int | None) -> Any:
    """Clone a selector, and set its number of features."""
    selector = clone(selector)
    if count is None:
        return selector
    last = last_step(selector)
    parameters = last.get_params(deep=False)
    for name in COUNT_PARAMETERS:
        if name in parameters:
            last.set_params(**{name: count})
            return selector
    raise ValueError(
        f"{method}: {type(last).__name__} has no parameter for the number of features (one of "
        f"{', '.join(COUNT_PARAMETERS)}): leave n_features out, and set the number in the selector"
    )


def _check_data(X: Any, y: ArrayLike) -> tuple[Any, AnyArray]:
    """Convert X to an array or canonical CSR, and y to a 1d array."""
    X = check_array(X, accept_sparse="csr", dtype="numeric", input_name="X")
    if X.dtype == np.bool_:  # many selectors cannot compute with booleans
        X = X.astype(np.float64)
    if is_sparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    y = np.asarray(column_or_1d(y))
    check_consistent_length(X, y)
    if y.dtype.kind == "O" and all(isinstance(value, Number) for value in y):
        y = np.array(y.tolist())
    return X, y


def is_classification(y: AnyArray, task: str) -> bool:
    """Whether targets are classes, not numbers for regression. "auto": see `are_classes`."""
    check_one_of("task", task, ("auto", "classification", "regression"))
    is_number = y.dtype.kind in "iuf"
    if is_number and not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity")
    if task == "regression" and not is_number:
        raise ValueError(f"y must be numbers for regression; got values such as {y.tolist()[0]!r}")
    return are_classes(y) if task == "auto" else task == "classification"


def _check_list(name: str, given: Any, check: Callable[[str, Any], Any]) -> list[Any]:
    """Check each of several distinct numbers, or a single one."""
    values = np.atleast_1d(np.asarray(given, dtype=object)).tolist()
    if not values:
        raise ValueError(f"{name} is empty: give at least one number, or None")
    twice = [value for place, value in enumerate(values) if value in values[:place]]
    if twice:
        raise ValueError(f"{name} has {twice[0]!r} more than once; got {values!r}")
    return [check(f"{name}: each", value) for value in values]


def _check_count(name: str, value: Any, least: int = 1) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an int of at least {least}; got {value!r}")
    return int(value)


def _as_seed(random_state: Any) -> int:
    if isinstance(random_state, Integral):
        return _check_count("random_state", random_state, 0)
    return int(check_random_state(random_state).randint(2**31 - 1))
