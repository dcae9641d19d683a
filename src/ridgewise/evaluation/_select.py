# SPDX-License-Identifier: BSD-3-Clause
"""One selection, and everything a report says about it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ridgewise._run import remembered, remembering
from ridgewise._typing import AnyArray, FloatArray, IndexArray
from ridgewise.evaluation._compare import compare
from ridgewise.evaluation._comparison import ALL_FEATURES
from ridgewise.guarantees import Certificate, certify, measured_certificate, random_features
from ridgewise.models import DualPath, choose_alpha, class_targets
from ridgewise.spectrum import (
    Spectrum,
    as_columns,
    as_numeric,
    compute_spectrum,
    scored_spectrum,
)

N_STRONGEST = 15  # features whose correlations are computed
FLAT = 0.01  # leave-one-out errors this close are the same: the largest alpha among them counts
CORRELATED = 0.5  # a feature stands for left-out ones with at least this correlation
ROUNDING = 1e-9  # of upper: a lower up to this may be 0
N_EXPLAINED = 500  # features for which correlated left-out ones are found
SELECTED = "selected"
LARGEST = "at most the mean diagonal"  # leave-one-out chose a larger alpha
USUAL_SHARE = 0.1  # of the mean diagonal of the kernel: the default alpha if there is no target


@dataclass(frozen=True)
class ModelAlpha:
    """The alpha of the ridge models that a certificate is about: those with at least this one."""

    value: float  # added to the diagonal of the kernel; 0: all ridge models
    mean_diagonal: float  # of the kernel: the unit of relative alphas
    source: str  # "all models", "given", "leave-one-out", "usual" or LARGEST

    @property
    def relative(self) -> float:
        """The value as a share of the mean diagonal."""
        return self.value / self.mean_diagonal


@dataclass(frozen=True)
class HeldOut:
    """Cross-validated errors: misclassification rates, or mean squared errors."""

    selected: float  # mean over the folds, with the selected features
    everything: float  # with all features
    constant: float  # of predicting the largest class, or the mean of y, for every sample
    standard_error: float  # of the difference, over the folds
    n_splits: int
    classify: bool  # whether the targets are classes


class SelectedGroup(NamedTuple):
    """A selected group of features: its label, weight, sum of leverage scores, and members."""

    label: str
    weight: float
    leverage: float
    members: list[str]


@dataclass(frozen=True, eq=False)
class SelectionRun:
    """A selection, its certificate, and what a report shows beside them."""

    selector: Any  # fitted
    certificate: Certificate  # of the selected features, for ridge models with at least `alpha`
    random: Certificate  # of as many random features, for the same models
    alpha: ModelAlpha
    feature_names: AnyArray  # of all features
    leverage_scores: FloatArray  # of all features
    singular_values: FloatArray  # of the data as the selector saw it
    strongest: IndexArray  # the selected features with the largest weighted leverage scores
    correlations: FloatArray  # among those; 0 for a constant feature
    stand_ins: IndexArray  # n x 3: left-out features that correlate most with a selected one, or -1
    stand_in_correlations: FloatArray  # n x 3
    n_samples: int
    seconds: dict[str, float]  # of each step
    held_out: HeldOut | None = None  # None without a target
    notes: tuple[str, ...] = ()  # defaults that were chosen, and warnings

    @property
    def n_features(self) -> int:
        """Number of features of the data."""
        return len(self.feature_names)

    @property
    def rank(self) -> int:
        """Rank of the data."""
        return len(self.singular_values)

    @property
    def rows(self) -> list[tuple[str, int, int, float, float, str]]:
        """Name, index, order, weight, leverage and stand-ins of every selected feature."""
        names, selected = self.feature_names, self.selector.selected_
        orders = [place for place, group in enumerate(self.groups, 1) for _ in group.members]
        weights, scores = self.selector.feature_weights_, self.leverage_scores[selected]
        stand_ins = [
            "; ".join(
                f"{names[index]} ({value:.2f})"
                for index, value in pairs
                if abs(value) >= CORRELATED
            )
            for pairs in map(zip, self.stand_ins, self.stand_in_correlations)
        ]
        stand_ins += [""] * (len(selected) - len(stand_ins))
        orders = orders or list(range(1, len(selected) + 1))
        columns = (selected.tolist(), orders, weights.tolist(), scores.tolist(), stand_ins)
        return [(str(names[row[0]]), *row) for row in zip(*columns, strict=True)]

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

    The certificate is about every ridge model (alpha = 0) if the number of features allows it; else
    about a typical alpha, or the one that leave-one-out chooses for ``y``. ``alpha``, in units of
    the mean diagonal of the kernel, overrides it, also for a selector that has an alpha. With
    ``y``, the held-out error is measured in ``n_splits`` folds (0: not at all). ``prepare`` is a
    transformer that is applied to X first. ``center=None``: as the selector does.

    >>> import numpy as np
    >>> from ridgewise import BSSSelector, make_ridge_synthetic
    >>> from ridgewise.evaluation import run_selection
    >>> X, _ = make_ridge_synthetic(random_state=0)
    >>> names = np.array([f"x{place}" for place in range(1000)])
    >>> run = run_selection(BSSSelector(90), X, feature_names=names)
    >>> run.rows[0][:3], run.certificate.verified
    (('x88', 88, 1), True)
    """
    seconds: dict[str, float] = {}

    @contextmanager
    def step(name: str) -> Iterator[None]:
        on_step(name)
        start = perf_counter()
        yield
        seconds[name] = perf_counter() - start

    if center is None:
        center = bool(getattr(selector, "center", False))
    usual = {"rank": None, "center": center, "solver": "auto"}
    settings = {name: getattr(selector, name, value) for name, value in usual.items()}
    with remembering():  # X is decomposed once: in the first step, which tells its time
        with step("spectrum"):
            everything, X = X, X if prepare is None else prepare.fit_transform(X)
            seen = remembered(scored_spectrum, X, **settings)
            spectrum = compute_spectrum(X, center=center)
        if alpha is not None and "alpha" in selector.get_params():
            selector.set_params(alpha=alpha * spectrum.mean_diagonal)
        with step("selection"):
            selector.fit(X, y)
        with step("certificate"):
            model = _model_alpha(spectrum, selector, alpha, y, classify=classify)
            certificate = _certificate(X, selector, spectrum, model.value, verify=verify)
            random = random_certificate(spectrum, selector.n_selected_, model.value)
    with step("correlations"):
        selected = selector.selected_
        part = selector.feature_weights_ * seen.leverage_scores[selected]  # in K~
        strongest = selected[np.argsort(-part, kind="stable")[:N_STRONGEST]]
        among_strongest = correlations(X, strongest)
        found, values = stand_ins(X, selected[:N_EXPLAINED])
    held_out = None
    if y is not None and n_splits > 1:
        with step("held-out error"):
            held_out = _held_out(
                selector, everything, y, n_splits, classify=classify, center=center, prepare=prepare
            )
        if held_out is None:
            notes = [*notes, "No held-out error: it needs two classes, of two samples each."]
    return SelectionRun(
        selector=selector,
        certificate=certificate,
        random=random,
        alpha=model,
        feature_names=feature_names,
        leverage_scores=getattr(selector, "leverage_scores_", seen.leverage_scores),
        singular_values=seen.singular_values,
        strongest=strongest,
        correlations=among_strongest,
        stand_ins=found,
        stand_in_correlations=values,
        n_samples=X.shape[0],
        seconds=seconds,
        held_out=held_out,
        notes=tuple(notes),
    )


def _model_alpha(
    spectrum: Spectrum, selector: Any, given: float | None, y: Any, *, classify: bool
) -> ModelAlpha:
    """Choose for which ridge models the certificate is stated."""
    diagonal = spectrum.mean_diagonal
    if given is not None:
        return ModelAlpha(given * diagonal, diagonal, "given")
    if getattr(selector, "rank", None) is None and selector.n_selected_ >= spectrum.rank:
        plain = measured_certificate(spectrum, selector.selected_, weights_of(selector))
        assert plain.selection is not None
        if plain.lower > ROUNDING * plain.upper and plain.selection.rank is None:
            return ModelAlpha(0.0, diagonal, "all models")
    if y is None:
        return ModelAlpha(USUAL_SHARE * diagonal, diagonal, "usual")
    Y = class_targets(np.asarray(y)) if classify else np.asarray(y, dtype=np.float64)
    path = DualPath(spectrum.V, spectrum.singular_values**2)
    found = choose_alpha(path, Y, fit_intercept=spectrum.center, tolerance=FLAT)
    # A larger one is of models that predict little but the mean; this holds for them too.
    if found.alpha > diagonal:
        return ModelAlpha(diagonal, diagonal, LARGEST)
    return ModelAlpha(found.alpha, diagonal, "leave-one-out")


def weights_of(selector: Any) -> FloatArray | None:
    """The weights that `transform` applies; None if it applies none."""
    return selector.feature_weights_ if getattr(selector, "rescale", True) else None


def random_certificate(spectrum: Spectrum, n_features: int, alpha: float) -> Certificate:
    """The certificate of random features, unscaled or rescaled: whichever changes a model less."""
    found = random_features(spectrum, n_features, alpha=alpha)
    both = (found.interval, found.rescaled_interval)
    return min((Certificate(*ends, alpha=alpha) for ends in both), key=lambda one: one.eta)


def _certificate(
    X: Any, selector: Any, spectrum: Spectrum, alpha: float, *, verify: bool
) -> Certificate:
    """The certificate. One about a part of X is not verified: a report is about all of X."""
    if verify:
        found = certify(X, selector, alpha=alpha, center=spectrum.center)
    else:
        found = measured_certificate(
            spectrum, selector.selected_, weights_of(selector), alpha=alpha
        )
    assert found.selection is not None
    if found.selection.cutoff is None:
        return found
    note = (
        f"X may have more than the {found.selection.rank} singular values above rounding errors; "
        "centring (if X was centred beforehand), or alpha > 0 (for ridge models), would help"
    )
    return replace(found, verified=False, note=note)


def _held_out(selector: Any, X: Any, y: Any, n_splits: int, **settings: Any) -> HeldOut | None:
    """Cross-validate models of the selected and of all features; None if a class is too small.

    Each has the alpha that leave-one-out chooses on its training samples.
    """
    classify, y = settings["classify"], np.asarray(y)
    counts = np.unique(y, return_counts=True)[1] if classify else np.array([len(y)])
    n_splits = min(n_splits, int(counts.min()))
    if n_splits < 2 or (classify and len(counts) < 2):
        return None
    constant = float(1 - counts.max() / len(y) if classify else np.var(y))
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
    return HeldOut(*means, constant, standard_error, n_splits, classify)


def stand_ins(X: Any, selected: IndexArray, count: int = 3) -> tuple[IndexArray, FloatArray]:
    """Find the ``count`` left-out features that correlate most with each selected one.

    Returns their indices by descending absolute correlation (-1 where there are fewer), and
    Pearson's correlations (0 there), both of shape (len(selected), count).

    >>> X = np.array([[1.0, 2.0, 9.0], [2.0, 4.0, 1.0], [3.0, 6.0, 5.0]])
    >>> indices, correlations = stand_ins(X, np.array([0]), count=2)
    >>> indices.tolist(), correlations.round(2).tolist()
    ([[1, 2]], [[1.0, -0.5]])
    """
    columns = as_columns(as_numeric(X), center=True)
    chosen = _unit(columns.take(selected))
    indices = np.full((len(selected), count), -1, dtype=np.intp)
    strengths = np.zeros((len(selected), count))
    for place, block in columns.dense_blocks():
        found = chosen.T @ _unit(block)
        inside = selected[(selected >= place.start) & (selected < place.stop)]
        found[:, inside - place.start] = 0
        # the best of this block beside the best of those before it
        best = _largest(np.abs(found), count)
        values = np.hstack([strengths, np.take_along_axis(found, best, axis=1)])
        places = np.hstack([indices, best + place.start])
        order = _largest(np.abs(values), count)
        strengths = np.take_along_axis(values, order, axis=1)
        indices = np.take_along_axis(places, order, axis=1)
    return np.where(strengths == 0, -1, indices), np.clip(strengths, -1, 1)


def _largest(values: FloatArray, count: int) -> IndexArray:
    """Places of the largest of each row, which are overwritten (>= 0); of equals, the first."""
    rows, places = np.arange(len(values)), []
    for _ in range(min(count, values.shape[1])):
        places.append(values.argmax(axis=1))
        values[rows, places[-1]] = -1
    return np.transpose(places)


def correlations(X: Any, indices: IndexArray) -> FloatArray:
    """Compute the correlations among a few features; 0 for a constant one."""
    chosen = _unit(as_columns(as_numeric(X), center=True).take(indices))
    return np.asarray(np.clip(chosen.T @ chosen, -1, 1))


def _unit(centred: FloatArray) -> FloatArray:
    """Scale centred columns to length 1; constant ones stay 0."""
    lengths = np.linalg.norm(centred, axis=0)
    return np.asarray(centred / np.where(lengths == 0, 1.0, lengths))
