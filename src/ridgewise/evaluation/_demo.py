# SPDX-License-Identifier: BSD-3-Clause
"""The whole job on data that every machine has: select, certify, compare."""

import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.utils import Bunch

from ridgewise._run import one_blas_thread
from ridgewise._typing import FloatArray
from ridgewise.datasets import load_stdlib_text
from ridgewise.evaluation._compare import compare
from ridgewise.evaluation._comparison import ALL_FEATURES, ComparisonRow
from ridgewise.guarantees import Certificate
from ridgewise.models import leave_one_out_alpha
from ridgewise.selectors import label_of, make_selector
from ridgewise.spectrum import Spectrum, compute_spectrum

FEATURES_PER_RANK = 2  # few, and still well above the rank, which BSS must exceed
N_SPLITS, N_REPEATS = 5, 2
N_TELLING = 10
METHOD_OPTIONS: dict[str, dict[str, Any]] = {
    "bss": {"alpha": 0},
    "subset": {"bound": False},
    "leverage": {},
    "rrqr": {},
    "information-gain": {},
    "random": {},
}
ALL_WORDS = "all words"


@dataclass(frozen=True)
class Demo:
    """Results of the demo."""

    python_version: str
    topics: dict[str, int]  # number of documents
    n_words: int
    n_features: int
    rank: int
    seed: int
    n_splits: int
    alpha: float  # of the ridge model of all documents with the words that BSS selected
    telling: dict[str, list[str]]  # the words of that model that decide most for each topic
    certificate: Certificate  # of BSS on all documents
    kept: dict[str, FloatArray]  # by method: eigenvalues relative to the kernel, descending
    rows: list[ComparisonRow]  # held-out errors, all words first


def run_demo(
    n_features: int | None = None,
    *,
    seed: int = 0,
    on_step: Callable[[str], object] = lambda step: None,
) -> Demo:
    """Select words of Python's standard library by six methods, and compare them.

    ``n_features`` must exceed the rank of the data; None: twice the rank. ``on_step`` is called
    with a short description of each step.
    """
    on_step("reading Python's standard library")
    text = load_stdlib_text()
    X = text.data.log1p()
    on_step("selecting words")
    # More threads are slower on matrices of this size, and far slower on a busy machine.
    with one_blas_thread():
        spectrum = compute_spectrum(X, center=True)  # the models have an intercept
        n_features = _check_n_features(n_features, spectrum.rank, X.shape[1])
        fitted = {
            label_of(method): make_selector(
                method, options, n_features=n_features, X=X, intercept=True, seed=seed
            ).fit(X, text.target)
            for method, options in METHOD_OPTIONS.items()
        }
        alpha, telling = _telling_words(fitted["BSS"], X, text)
        found = compare(
            {method: clone(selector) for method, selector in fitted.items()},
            X,
            text.target,
            n_splits=N_SPLITS,
            n_repeats=N_REPEATS,
            n_tries=1,
            random_state=seed,
            progress=lambda done, total: on_step(
                f"classifying held-out documents: {done} of {total}"
            ),
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
        rows=[
            replace(row, method=ALL_WORDS) if row.method == ALL_FEATURES else row
            for row in found.rows
        ],
    )


def _check_n_features(n_features: int | None, rank: int, n_words: int) -> int:
    """Return the number of words, by default twice the rank; raise if there are too few or many."""
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


def _telling_words(selector: Any, X: Any, text: Bunch) -> tuple[float, dict[str, list[str]]]:
    """Fit a ridge model to the selected words; return its alpha and the words that decide most.

    A coefficient alone would depend on the weight that its word was selected with; times the
    standard deviation of the weighted column it does not.
    """
    X_selected = selector.transform(X).toarray()
    alpha = leave_one_out_alpha(X_selected, text.target, classify=True, tolerance=0.01).alpha
    fitted = RidgeClassifier(alpha).fit(X_selected, text.target)
    strength = np.ravel(fitted.coef_) * X_selected.std(axis=0)
    words = text.feature_names[selector.get_support()]
    ascending = words[np.argsort(strength)].tolist()
    ends = ascending[:N_TELLING], ascending[: -N_TELLING - 1 : -1]
    return alpha, dict(zip(text.target_names, ends, strict=True))


def relative_eigenvalues(spectrum: Spectrum, X_selected: Any) -> FloatArray:
    """Compute the eigenvalues of the selected features' kernel K~ relative to K, descending.

    With X = V S U^T and G = S^-1 V^T X_selected they are the eigenvalues of G G^T, so that
    kept[-1] K <= K~ <= kept[0] K, as in a certificate. Lost directions are exactly 0.
    """
    G = (spectrum.V.T @ X_selected) / spectrum.singular_values[:, None]
    kept = np.linalg.eigvalsh(G @ G.T)[::-1]
    rounding = spectrum.rank * np.finfo(np.float64).eps * kept[0]
    return np.where(kept > rounding, kept, 0.0)
