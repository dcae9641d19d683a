# SPDX-License-Identifier: BSD-3-Clause
"""One selection, and everything a report says about it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ridgewise._memory import remembered, remembering
from ridgewise._typing import AnyArray, FloatArray, IndexArray
from ridgewise.evaluation._compare import compare
from ridgewise.evaluation._comparison import ALL_FEATURES
from ridgewise.evaluation._correlations import correlations, stand_ins
from ridgewise.guarantees import Certificate, certify, measured_certificate, random_features
from ridgewise.models import DualPath, choose_alpha, class_targets
from ridgewise.spectrum import Spectrum, compute_spectrum, scored_spectrum

N_STRONGEST = 15  # features whose correlations are computed
FLAT = 0.01  # leave-one-out errors this close are the same: the largest alpha among them counts
CORRELATED = 0.5  # a feature stands for left-out ones with at least this correlation
ROUNDING = 1e-9  # of upper: a lower up to this may be 0
N_EXPLAINED = 500  # features for which correlated left-out ones are found
SELECTED = "selected"
USUAL_SHARE = 0.1  # of the mean diagonal of the kernel: alpha of a model where no target tells it


@dataclass(frozen=True)
class ModelAlpha:
    """For which ridge models a certificate is stated.

    Attributes
    ----------
    value : float
        What is added to the kernel's diagonal; 0 stands for every ridge model.
    mean_diagonal : float
        The mean of the kernel's diagonal, the scale of alphas.
    source : str
        Where the value is from: "all models", "given", "leave-one-out" or "usual".
    """

    value: float
    mean_diagonal: float
    source: str

    @property
    def relative(self) -> float:
        """The value as a share of the mean diagonal."""
        return self.value / self.mean_diagonal


@dataclass(frozen=True)
class HeldOut:
    """Errors on held-out samples, selection and model fitted to the others.

    Attributes
    ----------
    selected, everything : float
        Mean errors with the selected and with all features: shares of wrong classes, or mean
        squared errors.
    standard_error : float
        Of their difference, over the folds.
    n_splits : int
        The number of folds.
    classify : bool
        Whether the targets are classes.
    """

    selected: float
    everything: float
    standard_error: float
    n_splits: int
    classify: bool


class SelectedGroup(NamedTuple):
    """A selected group of features: its label, weight, sum of leverage scores, and members."""

    label: str
    weight: float
    leverage: float
    members: list[str]


@dataclass(frozen=True, eq=False)
class SelectionRun:
    """What a selector selected, what that is worth, and how long it took.

    Attributes
    ----------
    selector : selector
        Fitted.
    certificate : Certificate
        Of the selected features times their weights, for ridge models with ``alpha``.
    random : Certificate
        What as many random features get, for the same models.
    alpha : ModelAlpha
        For which models both are stated.
    feature_names : ndarray of shape (n_features,)
        All features' names.
    leverage_scores : ndarray of shape (n_features,)
        All features' scores.
    singular_values : ndarray of shape (rank,)
        The data's, as the selector saw it.
    strongest : ndarray of int
        The selected features with the largest weighted leverage scores.
    correlations : ndarray of shape (n_strongest, n_strongest)
        Among those; 0 for a constant feature.
    stand_ins : ndarray of shape (n_explained, 3)
        For each of the first selected features the left-out ones that correlate most with it; -1
        where there are none.
    stand_in_correlations : ndarray of shape (n_explained, 3)
        Their correlations.
    n_samples : int
        How many samples there were.
    seconds : dict of str to float
        Of each step.
    held_out : HeldOut or None
        The errors of models on samples that they were not fitted to; None without a target.
    notes : tuple of str
        Sentences on choices that were made, and on what a user would not expect.
    """

    selector: Any
    certificate: Certificate
    random: Certificate
    alpha: ModelAlpha
    feature_names: AnyArray
    leverage_scores: FloatArray
    singular_values: FloatArray
    strongest: IndexArray
    correlations: FloatArray
    stand_ins: IndexArray
    stand_in_correlations: FloatArray
    n_samples: int
    seconds: dict[str, float]
    held_out: HeldOut | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_features(self) -> int:
        """How many features there were."""
        return len(self.feature_names)

    @property
    def rank(self) -> int:
        """How many directions the data has."""
        return len(self.singular_values)

    @property
    def rows(self) -> list[tuple[str, int, int, float, float, str]]:
        """Of every selected feature its name, index, order, weight, leverage, and stand-ins."""
        selected = self.selector.selected_.tolist()
        weights = feature_weights(self.selector).tolist()
        scores = self.leverage_scores[selected].tolist()
        orders = [place for place, group in enumerate(self.groups, 1) for _ in group.members]
        return [
            (str(self.feature_names[index]), index, order, weight, score, self._stands(place))
            for place, (index, order, weight, score) in enumerate(
                zip(selected, orders or range(1, len(selected) + 1), weights, scores, strict=True)
            )
        ]

    @property
    def groups(self) -> list[SelectedGroup]:
        """The selected groups, in the order of selection; none if there are no groups."""
        selector = self.selector
        if not hasattr(selector, "selected_groups_"):
            return []
        parts = np.split(selector.selected_, np.cumsum(selector.group_sizes_)[:-1])
        return [
            SelectedGroup(
                str(label),
                float(weight),
                float(self.leverage_scores[members].sum()),
                [str(name) for name in self.feature_names[members]],
            )
            for label, weight, members in zip(
                selector.selected_groups_, selector.weights_, parts, strict=True
            )
        ]

    def _stands(self, place: int) -> str:
        """The left-out features that the selected one at this place stands for."""
        if place >= len(self.stand_ins):
            return ""
        pairs = zip(self.stand_ins[place], self.stand_in_correlations[place], strict=True)
        found = [
            f"{self.feature_names[index]} ({value:.2f})" for index, value in pairs if index >= 0
        ]
        return "; ".join(found)


def run_selection(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    feature_names: AnyArray,
    classify: bool = False,
    center: bool | None = None,
    prepare: Any = None,
    n_splits: int = 0,
    alpha: float | None = None,
    verify: bool = True,
    notes: Sequence[str] = (),
    on_step: Callable[[str], object] = lambda step: None,
) -> SelectionRun:
    """Select, certify, and compute what a report shows.

    The certificate is stated for every ridge model (alpha = 0) where that many features can have
    such a certificate; else for a model that somebody would use.

    Parameters
    ----------
    selector : selector
        One of this package's, not fitted yet.
    X : array or sparse array of shape (n, d)
        The samples.
    y : array-like of shape (n,), default=None
        Their targets, for a selector that uses them and for the model's alpha.
    feature_names : ndarray of shape (d,)
        The features' names.
    classify : bool, default=False
        Whether the targets are classes.
    center : bool, default=None
        Whether the model has an intercept, so that the statement is about centred features. None:
        as the selector has it.
    prepare : transformer, default=None
        Applied to X first, such as a scaler.
    n_splits : int, default=0
        In how many folds to measure the held-out error with the selected and with all features,
        where there are targets. 0: not at all.
    alpha : float, default=None
        For which ridge models the certificate is stated, in units of the mean diagonal of the
        kernel; a selector that has an alpha works with it. None: see above.
    verify : bool, default=True
        Whether to account for rounding in the certificate, which takes another pass over X.
    notes : sequence of str, default=()
        Sentences for the report.
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
    clock = _Clock(on_step)
    everything, X = X, X if prepare is None else prepare.fit_transform(X)
    if center is None:
        center = bool(getattr(selector, "center", False))
    usual = {"rank": None, "center": center, "solver": "auto"}
    settings = {name: getattr(selector, name, value) for name, value in usual.items()}
    with remembering():  # X is decomposed once: here, where its time can be told
        seen = remembered(scored_spectrum, X, **settings)
        spectrum = compute_spectrum(X, center=center)
        if alpha is not None and "alpha" in selector.get_params():
            selector.set_params(alpha=alpha * mean_diagonal(spectrum))
        clock.next("selection")
        selector.fit(X, y)
        clock.next("certificate")
        model = _model_alpha(spectrum, selector, alpha, y, classify=classify)
        certificate = _certificate(X, selector, spectrum, model.value, verify=verify)
    random = random_certificate(spectrum, selector.n_selected_, model.value)
    clock.next("correlations")
    strongest = _strongest(selector, seen.leverage_scores)
    found, values = stand_ins(X, selector.selected_[:N_EXPLAINED])
    held_out = None
    if y is not None and n_splits > 1:
        clock.next("held-out error")
        held_out = _held_out(
            selector, everything, y, n_splits, classify=classify, center=center, prepare=prepare
        )
    return SelectionRun(
        selector=selector,
        certificate=certificate,
        random=random,
        alpha=model,
        feature_names=feature_names,
        leverage_scores=getattr(selector, "leverage_scores_", seen.leverage_scores),
        singular_values=seen.singular_values,
        strongest=strongest,
        correlations=correlations(X, strongest),
        stand_ins=found,
        stand_in_correlations=values,
        n_samples=X.shape[0],
        seconds=clock.stop(),
        held_out=held_out,
        notes=tuple(notes),
    )


def _model_alpha(
    spectrum: Spectrum, selector: Any, given: float | None, y: Any, *, classify: bool
) -> ModelAlpha:
    """Choose for which ridge models the certificate is stated."""
    diagonal = mean_diagonal(spectrum)
    if given is not None:
        return ModelAlpha(given * diagonal, diagonal, "given")
    if getattr(selector, "rank", None) is None and selector.n_selected_ >= spectrum.rank:
        plain = measured_certificate(spectrum, selector.selected_, weights_of(selector))
        if plain.lower > ROUNDING * plain.upper:
            return ModelAlpha(0.0, diagonal, "all models")
    if y is None:
        return ModelAlpha(USUAL_SHARE * diagonal, diagonal, "usual")
    Y = class_targets(np.asarray(y)) if classify else np.asarray(y, dtype=np.float64)
    path = DualPath(spectrum.V, spectrum.singular_values**2)
    found = choose_alpha(path, Y, fit_intercept=spectrum.center, tolerance=FLAT)
    # More would be stated for models that predict little but the mean; less holds for them too.
    return ModelAlpha(min(found.alpha, diagonal), diagonal, "leave-one-out")


def mean_diagonal(spectrum: Spectrum) -> float:
    """The mean of the kernel's diagonal: of the squared norms of the samples."""
    return float(np.sum(spectrum.singular_values**2)) / spectrum.shape[0]


def weights_of(selector: Any) -> FloatArray | None:
    """Weights that `transform` applies; None where it applies none."""
    return feature_weights(selector) if getattr(selector, "rescale", True) else None


def feature_weights(selector: Any) -> FloatArray:
    """The weight of each selected feature: with groups, that of its group."""
    weights: FloatArray = getattr(selector, "feature_weights_", selector.weights_)
    return weights


def random_certificate(spectrum: Spectrum, n_features: int, alpha: float) -> Certificate:
    """What random features get, as they are or rescaled: whichever changes a model less."""
    found = random_features(spectrum, n_features, alpha=alpha)
    both = (found.interval, found.rescaled_interval)
    return min((Certificate(*ends, alpha=alpha) for ends in both), key=lambda one: one.eta)


def _certificate(
    X: Any, selector: Any, spectrum: Spectrum, alpha: float, *, verify: bool
) -> Certificate:
    weights = weights_of(selector)
    if not verify:
        return measured_certificate(spectrum, selector.selected_, weights, alpha=alpha)
    return certify(X, selector, alpha=alpha, center=spectrum.center)


def _held_out(selector: Any, X: Any, y: Any, n_splits: int, **settings: Any) -> HeldOut | None:
    """Cross-validate models of the selected and of all features; None where a class is too small.

    Each has the alpha that leave-one-out chooses on its training samples.
    """
    classify = settings["classify"]
    least = np.unique(y, return_counts=True)[1].min() if classify else len(y)
    n_splits = min(n_splits, int(least))
    if n_splits < 2 or (classify and len(np.unique(y)) < 2):
        return None
    found = compare(
        {SELECTED: clone(selector)},
        X,
        y,
        n_splits=n_splits,
        n_repeats=1,
        n_tries=1,
        task="classification" if classify else "regression",
        fit_intercept=settings["center"],
        prepare=settings["prepare"],
    )
    errors = {entry.method: entry.errors.ravel() for entry in found.entries}
    selected, everything = errors[SELECTED], errors[ALL_FEATURES]
    standard_error = float(np.std(selected - everything, ddof=1) / n_splits**0.5)
    means = float(selected.mean()), float(everything.mean())
    return HeldOut(*means, standard_error, n_splits, classify)


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
    """The selected features with the largest part in K~."""
    part = feature_weights(selector) * leverage_scores[selector.selected_]
    strongest: IndexArray = selector.selected_[np.argsort(-part, kind="stable")[:N_STRONGEST]]
    return strongest
