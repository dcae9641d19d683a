# SPDX-License-Identifier: BSD-3-Clause
"""The whole job on data that every machine has: select, certify, compare."""

import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifierCV
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import Bunch

from ridgewise._threads import one_blas_thread
from ridgewise._typing import FloatArray
from ridgewise.datasets import load_stdlib_text
from ridgewise.evaluation._holdout import HoldoutRow, holdout
from ridgewise.evaluation._relative_eigenvalues import relative_eigenvalues
from ridgewise.guarantees import Certificate
from ridgewise.selectors import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
)
from ridgewise.spectrum import compute_spectrum

FEATURES_PER_RANK = 2  # few, and still well above the rank, which BSS must exceed
N_SPLITS = 5
N_TELLING = 10
ALPHAS = np.logspace(-1, 4, 11)
ALL_WORDS = "all words"


@dataclass(frozen=True)
class Demo:
    """What the demo found.

    Attributes
    ----------
    python_version : str
        Whose standard library was read.
    topics : dict of str to int
        The number of documents on each topic.
    n_words : int
        The number of all features.
    n_features, rank, seed, n_splits : int
        How many features were asked for, the rank of the data, and how it was split.
    alpha : float
        RLSC's, on all documents with the words that BSS selected.
    telling : dict of str to list of str
        The words that BSS selected and that speak most for each topic, by descending strength:
        the size of RLSC's coefficient times the standard deviation of the word's column.
    certificate : Certificate
        Of BSS on all documents.
    kept : dict of str to ndarray of shape (rank,)
        What each method keeps of the kernel of all documents, by direction, in descending order.
    rows : list of HoldoutRow
        Held-out errors: with all words first, then with each method's.
    """

    python_version: str
    topics: dict[str, int]
    n_words: int
    n_features: int
    rank: int
    seed: int
    n_splits: int
    alpha: float
    telling: dict[str, list[str]]
    certificate: Certificate
    kept: dict[str, FloatArray]
    rows: list[HoldoutRow]


def run_demo(
    n_features: int | None = None,
    *,
    seed: int = 0,
    on_step: Callable[[str], object] = lambda step: None,
) -> Demo:
    """Select words of Python's standard library by five methods, and see what was lost.

    Parameters
    ----------
    n_features : int, default=None
        How many words to select, above the rank of the data. None: twice the rank.
    seed : int, default=0
        Decides the splits and what the random methods draw.
    on_step : callable, default=None
        Called with a few words about each step that begins.

    Returns
    -------
    Demo
        Everything that there is to show.
    """
    on_step("reading Python's standard library")
    text = load_stdlib_text()
    X = text.data.log1p()
    # More threads are slower on matrices of this size, and far slower on a busy machine.
    with one_blas_thread():
        return _compute(text, X, n_features, seed, on_step)


def _compute(
    text: Bunch, X: Any, n_features: int | None, seed: int, on_step: Callable[[str], object]
) -> Demo:
    on_step("selecting words")
    spectrum = compute_spectrum(X)
    n_features = _check_n_features(n_features, spectrum.rank, X.shape[1])
    selectors = _selectors(n_features, seed)
    fitted = {method: selector.fit(X, text.target) for method, selector in selectors.items()}
    model = RidgeClassifierCV(ALPHAS, fit_intercept=False)  # RLSC; alpha by leave-one-out
    alpha, telling = _telling_words(fitted["BSS"], model, X, text)
    rows = holdout(
        {ALL_WORDS: FunctionTransformer(accept_sparse=True), **selectors},
        model,
        X,
        text.target,
        n_splits=N_SPLITS,
        random_state=seed,
        on_step=lambda method: on_step(f"classifying held-out documents: {method}"),
    )
    return Demo(
        python_version=platform.python_version(),
        topics=dict(zip(text.target_names, np.bincount(text.target).tolist(), strict=True)),
        n_words=X.shape[1],
        n_features=n_features,
        rank=spectrum.rank,
        seed=seed,
        n_splits=N_SPLITS,
        alpha=alpha,
        telling=telling,
        certificate=fitted["BSS"].certificate_,
        kept={name: relative_eigenvalues(spectrum, fitted[name].transform(X)) for name in fitted},
        rows=rows,
    )


def _check_n_features(n_features: int | None, rank: int, n_words: int) -> int:
    """Fill in the default; more than the rank, at most all."""
    if n_features is None:
        return min(FEATURES_PER_RANK * rank, n_words)
    if n_features > n_words:
        raise ValueError(f"cannot select {n_features} words: the data has {n_words}")
    if n_features <= rank:
        raise ValueError(
            f"cannot select {n_features} words: the demo needs more than the rank of its data, "
            f"{rank}"
        )
    return n_features


def _selectors(n_features: int, seed: int) -> dict[str, Any]:
    """Make the paper's five methods, by the names that are shown."""
    return {
        "BSS": BSSSelector(n_features, alpha=0),
        "leverage sampling": LeverageSelector(n_features, random_state=seed),
        "RRQR": RRQRSelector(n_features),
        "information gain": InformationGainSelector(n_features),
        "random": RandomSelector(n_features, random_state=seed),
    }


def _telling_words(
    selector: Any, model: Any, X: Any, text: Bunch
) -> tuple[float, dict[str, list[str]]]:
    """Fit RLSC to the selected words, and return its alpha and the words that decide most.

    A coefficient alone would depend on the weight that its word was selected with; times the
    standard deviation of the weighted column it does not.
    """
    X_selected = selector.transform(X).toarray()
    fitted = model.fit(X_selected, text.target)
    strength = np.ravel(fitted.coef_) * X_selected.std(axis=0)
    words = text.feature_names[selector.get_support()]
    ascending = words[np.argsort(strength)].tolist()
    ends = ascending[:N_TELLING], ascending[: -N_TELLING - 1 : -1]
    return float(fitted.alpha_), dict(zip(text.target_names, ends, strict=True))
