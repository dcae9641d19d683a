# SPDX-License-Identifier: BSD-3-Clause
"""Held-out error of a model with the features of several selectors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, check_random_state

from ridgewise._typing import IndexArray
from ridgewise.evaluation._fold import with_seed

LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class HoldoutRow:
    """What came out for one selector, over all splits.

    Attributes
    ----------
    method : str
        The selector's name.
    n_selected : float
        Mean number of features that it kept.
    error_mean, error_std : float
        Mean and standard deviation of the share of test samples that were classified wrongly.
    seconds_mean : float
        Mean time of the selector's `fit`.
    """

    method: str
    n_selected: float
    error_mean: float
    error_std: float
    seconds_mean: float


def holdout(
    selectors: Mapping[str, Any],
    model: Any,
    X: Any,
    y: Any,
    *,
    n_splits: int = 5,
    random_state: Any = None,
    on_step: Callable[[str], object] | None = None,
) -> list[HoldoutRow]:
    """Cross-validate a classifier once with each selector, all on the same splits.

    Selectors and model see the training samples of a split only. Every sample is a test sample
    once.

    Parameters
    ----------
    selectors : mapping of str to transformer
        Any of scikit-learn's transformers, by name. Each is cloned for each split, and whatever
        `random_state` it has is set anew, so that a random selector has several tries.
    model : classifier
        Cloned and fitted to the selected features.
    X : array, sparse array or data frame of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        Their classes.
    n_splits : int, default=5
        Number of stratified folds, shuffled.
    random_state : int, RandomState instance or None, default=None
        Decides the splits and the selectors' random states.
    on_step : callable, default=None
        Called with the name of each selector when its turn comes.

    Returns
    -------
    list of HoldoutRow
        One a selector, in the order given.

    Examples
    --------
    >>> from ridgewise import BSSSelector, RandomSelector, RLSClassifier, make_ridge_synthetic
    >>> from ridgewise.evaluation import holdout
    >>> X, y = make_ridge_synthetic(n_samples=60, n_relevant=1, random_state=0)
    >>> selectors = {"BSS": BSSSelector(150), "random": RandomSelector(150)}
    >>> for row in holdout(selectors, RLSClassifier(), X, y, random_state=0):
    ...     print(f"{row.method}: {row.n_selected:.0f} features")
    BSS: 150 features
    random: 150 features
    """
    generator = check_random_state(random_state)
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=generator)
    splits = list(folds.split(X, y))
    seeds = generator.randint(LARGEST_SEED, size=n_splits).tolist()
    rows = []
    for method, selector in selectors.items():
        if on_step is not None:
            on_step(method)
        trials = [
            _try(with_seed(selector, seed), model, X, y, *split)
            for split, seed in zip(splits, seeds, strict=True)
        ]
        rows.append(_summarize(method, trials))
    return rows


class _Trial(NamedTuple):
    n_selected: int
    error: float
    seconds: float


def _try(selector: Any, model: Any, X: Any, y: Any, train: IndexArray, test: IndexArray) -> _Trial:
    """Select and fit on the training samples, and count errors on the others."""
    X_train, y_train = _safe_indexing(X, train), _safe_indexing(y, train)
    start = perf_counter()
    selector.fit(X_train, y_train)
    seconds = perf_counter() - start
    X_selected = selector.transform(X_train)
    fitted = clone(model).fit(X_selected, y_train)
    predicted = fitted.predict(selector.transform(_safe_indexing(X, test)))
    error = float(np.mean(predicted != np.asarray(_safe_indexing(y, test))))
    return _Trial(X_selected.shape[1], error, seconds)


def _summarize(method: str, trials: list[_Trial]) -> HoldoutRow:
    n_selected, errors, seconds = np.transpose(trials)
    return HoldoutRow(
        method=method,
        n_selected=float(n_selected.mean()),
        error_mean=float(errors.mean()),
        error_std=float(errors.std(ddof=1)),
        seconds_mean=float(seconds.mean()),
    )
