# SPDX-License-Identifier: BSD-3-Clause
"""One selection, with all that there is to tell about it."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ridgewise._memory import remembered, remembering
from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse
from ridgewise.guarantees import Certificate, certify
from ridgewise.selectors._spectral import scored_spectrum

N_CORRELATED = 20  # features among which correlations are computed


@dataclass(frozen=True, eq=False)
class SelectionRun:
    """What a selector selected, what that is worth, and how long it took.

    Attributes
    ----------
    selector : selector
        Fitted.
    certificate : Certificate
        Of what its transform gives, verified where that was possible.
    feature_names : ndarray of shape (n_features,)
        All features' names.
    leverage_scores : ndarray of shape (n_features,)
        All features' scores.
    singular_values : ndarray of shape (rank,)
        The data's, as the selector saw it.
    correlated : ndarray of int
        The selected features of the largest weighted leverage scores.
    correlations : ndarray of shape (n_correlated, n_correlated)
        Among those; nan for a constant feature.
    n_samples : int
        How many samples there were.
    seconds : dict of str to float
        Of the spectrum, the selection and the certificate.
    """

    selector: Any
    certificate: Certificate
    feature_names: AnyArray
    leverage_scores: FloatArray
    singular_values: FloatArray
    correlated: IndexArray
    correlations: FloatArray
    n_samples: int
    seconds: dict[str, float]

    @property
    def n_features(self) -> int:
        """How many features there were."""
        return len(self.feature_names)

    @property
    def rank(self) -> int:
        """How many directions the data has."""
        return len(self.singular_values)

    @property
    def rows(self) -> list[tuple[str, int, int, float, float]]:
        """Of every selected feature its name, index, place in the order, weight and leverage."""
        selected = self.selector.selected_.tolist()
        weights = self.selector.weights_.tolist()
        return [
            (str(self.feature_names[index]), index, place, weight, float(score))
            for place, (index, weight, score) in enumerate(
                zip(selected, weights, self.leverage_scores[selected], strict=True), start=1
            )
        ]


def run_selection(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    feature_names: AnyArray,
    on_step: Callable[[str], object] = lambda step: None,
) -> SelectionRun:
    """Select, certify, and gather what a report tells.

    Parameters
    ----------
    selector : selector
        One of this package's, not fitted yet.
    X : array or sparse array of shape (n, d)
        The samples.
    y : array-like of shape (n,), default=None
        Their targets, for a selector that needs them.
    feature_names : ndarray of shape (d,)
        The features' names.
    on_step : callable, default=None
        Called with the name of each step that begins.

    Returns
    -------
    SelectionRun

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise import BSSSelector, make_ridge_synthetic
    >>> from ridgewise.evaluation import run_selection
    >>> X, _ = make_ridge_synthetic(random_state=0)
    >>> names = np.array([f"x{place}" for place in range(1000)])
    >>> run = run_selection(BSSSelector(90), X, feature_names=names)
    >>> run.rows[0][:3], run.certificate.verified
    (('x88', 88, 1), True)
    """
    settings = {name: getattr(selector, name, None) for name in ("rank", "center", "solver")}
    settings |= {"center": bool(settings["center"]), "solver": settings["solver"] or "auto"}
    clock = _Clock(on_step)
    with remembering():  # the spectrum is computed once: here, where its time can be told
        spectrum = remembered(scored_spectrum, X, **settings)
        clock.next("selection")
        selector.fit(X) if y is None else selector.fit(X, y)
    clock.next("certificate")
    certificate = certify(X, selector)
    seconds = clock.stop()
    correlated = _strongest(selector, spectrum.leverage_scores)
    return SelectionRun(
        selector=selector,
        certificate=certificate,
        feature_names=feature_names,
        leverage_scores=getattr(selector, "leverage_scores_", spectrum.leverage_scores),
        singular_values=spectrum.singular_values,
        correlated=correlated,
        correlations=_correlations(X, correlated),
        n_samples=X.shape[0],
        seconds=seconds,
    )


class _Clock:
    """Tells which step begins, and afterwards how long each took."""

    def __init__(self, on_step: Callable[[str], object]) -> None:
        self.on_step = on_step
        self.seconds: dict[str, float] = {}
        self.next("spectrum")

    def next(self, step: str) -> None:
        self.stop()
        self.step, self.start = step, perf_counter()
        self.on_step(step)

    def stop(self) -> dict[str, float]:
        if hasattr(self, "step"):
            self.seconds[self.step] = perf_counter() - self.start
        return self.seconds


def _strongest(selector: Any, leverage_scores: FloatArray) -> IndexArray:
    """The selected features that weigh most: in K~, and so in a model."""
    part = selector.weights_ * leverage_scores[selector.selected_]
    strongest: IndexArray = selector.selected_[np.argsort(-part, kind="stable")[:N_CORRELATED]]
    return strongest


def _correlations(X: Any, indices: IndexArray) -> FloatArray:
    """The correlations of a few features."""
    part = X[:, indices]
    values = np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)
    centred = values - values.mean(axis=0)
    lengths = np.linalg.norm(centred, axis=0)
    lengths[lengths <= 1e-12 * np.linalg.norm(values, axis=0)] = np.nan
    centred /= lengths
    return np.asarray(np.clip(centred.T @ centred, -1, 1))
