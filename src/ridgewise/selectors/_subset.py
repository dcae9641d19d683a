# SPDX-License-Identifier: BSD-3-Clause
"""Best subsets for ridge regression as a selector."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_consistent_length

from ridgewise._groups import Groups
from ridgewise._run import check_one_of, remembered
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier import weighted_spectrum
from ridgewise.guarantees import (
    effective_dimension,
    measured_certificate,
    ridge_penalty,
    unweighted_promise,
)
from ridgewise.models import DualPath, choose_alpha
from ridgewise.selectors._base import SpectralSelector, check_alpha, check_squares
from ridgewise.selectors._limits import as_targets, read_limits
from ridgewise.spectrum import Spectrum, as_columns, as_numeric, compute_spectrum, scaled_columns
from ridgewise.subset import (
    TARGETS,
    Limits,
    Optimality,
    Problem,
    greedy_path,
    lower_bound,
    squared_lengths,
)

USUAL_ALPHA = 0.1  # of the mean diagonal of K, without labels
AS_GOOD = 0.1  # leave-one-out errors this close count as equal: the largest alpha of them is taken
ENOUGH = 0.95  # of what all features give: where selection stops by default


class SubsetSelector(SpectralSelector):
    """Select the best subset of the features for ridge regression, and bound every other.

    Features without weights are selected one by one, each where it lowers the ridge objective the
    most,

        min over w of ||y - X_S w||^2 + alpha ||w||^2,

    or its mean over the targets y that a model of all features expects, where there are no labels.
    A convex bound then tells how much better any other subset of the same size could be.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        How many (int), or the share of the features (float in (0, 1]). None: the fewest that reach
        95 % of what all features give, at most as many as samples; or what ``budget`` allows.
    target : {"data", "y", "model"}, default="data"
        "data": no labels, the mean over y ~ N(0, K + alpha). "y": the targets given to `fit`, one
        or several. "model": what the ridge model of all features predicts for them, with its
        uncertainty (the mean and the covariance of its posterior).
    alpha : float or "auto", default="auto"
        What the ridge model adds to the diagonal of K, above 0. A large alpha makes a filter, which
        looks at each feature by itself; a small one, best subset selection, which fits noise where
        samples are few. "auto": for "data" 0.1 times the mean of the diagonal of K; with labels the
        largest whose leave-one-out error, with all features, is within 10 % of the least, and at
        most that mean. Choose it by `GridSearchCV`, as any parameter.
    scale : bool, default=False
        Divide the features by their lengths first, for the choice only: ``transform`` does not.
        With labels this is better for counts of words.
    costs : array-like of shape (n_features,), default=None
        What each feature costs, or group, at least 0. Features are then selected by their gain per
        cost, and ``budget`` is needed.
    budget : float, default=None
        What the selected features may cost together. It takes the place of
        ``n_features_to_select``.
    include : sequence of int or str, default=None
        Features that are always selected, by index or name; with groups, by their labels. They come
        first, and count.
    exclude : sequence of int or str, default=None
        Features, or groups, that are never selected.
    groups : None, int or array-like of shape (n_features,), default=None
        Groups of features that are selected whole: an int for so many consecutive features each,
        or one label (any hashable) a feature. ``n_features_to_select``, ``costs`` (in the order in
        which labels first appear), ``include``, ``exclude`` and ``bound`` are then about groups.
    center : bool, default=False
        Subtract the means of features and targets, as a model with an intercept does; implicitly:
        sparse stays sparse. ``transform`` does not.
    bound : bool or sequence of int, default=True
        Whether to bound the objective of every other subset of the same size (or within the same
        budget); sizes: also of the first so many features (``gap_path_``).
    verbose : bool, default=False
        Whether to show progress on standard error, with the time left.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Feature indices in the order of selection. The first k are the selection of size k.
    weights_ : ndarray of shape (n_selected,)
        Ones; with groups, one a selected group.
    selected_groups_ : ndarray of shape (n_selected_groups,)
        Only with groups: their labels in the order of selection; their numbers, from 0, if
        ``groups`` is an int.
    group_sizes_ : ndarray of shape (n_selected_groups,)
        Only with groups: how many features each of those has.
    n_groups_ : int
        Only with groups: how many there are in X.
    n_selected_ : int
    objective_path_ : ndarray of shape (n_selected,)
        After each step, how far the objective has come from that of no feature (0) to that of all
        features (1).
    optimality_ : Optimality or None
        ``objective``, ``bound`` (no subset has less), ``gap`` = objective / bound - 1, and
        ``reached``, the share of what is possible. None with ``bound=False``.
    gap_path_ : dict of int to Optimality
        The same for each size asked for, the last included.
    certificate_ : Certificate
        Promised: 1 - sum of the ridge leverage scores of what is left out, and 1 above, as for any
        features without weights. With ``scale``, about X as it is, at the same share of the mean
        diagonal.
    alpha_ : float
        The alpha that was worked with; with ``scale``, on the diagonal of the scaled kernel.
    leverage_scores_ : ndarray of shape (n_features_in,)
    singular_values_ : ndarray of shape (rank,)
    rank_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only where X has feature names that are all strings.

    See Also
    --------
    BSSSelector : Weighted features, and a guarantee for all targets at once.

    Notes
    -----
    Classes are coded as -1 and +1, one column for two classes and one a class for more. Text, truth
    values and whole numbers of at most 20 different values are classes; a column ``y[:, None]`` of
    numbers is not. Several targets add up as they are: give them a common scale first.

    Examples
    --------
    >>> from ridgewise import SubsetSelector, make_ridge_synthetic
    >>> X, y = make_ridge_synthetic(random_state=0)
    >>> selector = SubsetSelector(20, target="y").fit(X, y)
    >>> selector.selected_[:5]
    array([89, 88, 86, 85, 87])
    >>> print(selector.optimality_)
    objective 0.00623625, and no 20 features have less than 0.0062346: a gap of 0.03 %
    of what can be reached at all with 20 features, 99.99 % is reached
    """

    epsilon = None
    rank = None
    solver = "auto"

    objective_path_: FloatArray
    optimality_: Optimality | None
    gap_path_: dict[int, Optimality]

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        target: str = "data",
        alpha: float | str = "auto",
        scale: bool = False,
        costs: Any = None,
        budget: float | None = None,
        include: Sequence[Any] | None = None,
        exclude: Sequence[Any] | None = None,
        groups: Any = None,
        center: bool = False,
        bound: bool | Sequence[int] = True,
        verbose: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.alpha = alpha
        self.scale = scale
        self.costs = costs
        self.budget = budget
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.center = center
        self.bound = bound
        self.verbose = verbose

    def _fit(self, X: Any, y: Any) -> Self:
        check_one_of("target", self.target, TARGETS)
        check_alpha(self.alpha, auto=True)
        if self.alpha == 0:
            raise ValueError("alpha must be above 0 for SubsetSelector; got 0")
        Y = None if self.target == "data" else self._targets(y)
        spectrum, groups = self._fit_spectrum(X)
        if Y is not None:
            check_consistent_length(range(spectrum.shape[0]), Y)
        check_squares(self.singular_values_)
        limits = self._limits(spectrum.shape[0], groups)
        chosen_by = unit_spectrum(X, spectrum) if self.scale else spectrum
        self.alpha_ = self._auto_alpha(chosen_by, Y) if self.alpha == "auto" else float(self.alpha)
        problem = Problem.of(chosen_by, self.target, self.alpha_, Y, groups)
        open_end = self.n_features_to_select is None and self.budget is None
        path = greedy_path(problem, limits, enough=ENOUGH if open_end else None)
        self._set_selection(path.selected, groups=groups)
        self.objective_path_ = problem.share(path.objectives[1:])
        self.gap_path_ = self._gaps(problem, limits, path.selected)
        self.optimality_ = self.gap_path_.get(len(path.selected))
        share = spectrum.mean_diagonal / chosen_by.mean_diagonal if self.scale else 1.0
        self._certify(spectrum, share * self.alpha_)
        return self

    def _auto_alpha(self, spectrum: Spectrum, Y: FloatArray | None) -> float:
        """The alpha of a good model of all features; a usual one without labels."""
        diagonal = spectrum.mean_diagonal
        if Y is None:
            return USUAL_ALPHA * diagonal
        path = DualPath(spectrum.V, spectrum.singular_values**2)
        found = choose_alpha(path, Y, fit_intercept=self.center, tolerance=AS_GOOD)
        return min(found.alpha, diagonal)

    def _targets(self, y: Any) -> FloatArray:
        """Targets in columns, centred if features are."""
        if y is None:
            raise ValueError(
                f"requires y to be passed, but the target y is None: target={self.target!r} needs "
                'it, target="data" does not'
            )
        Y = as_targets(y)
        return Y - Y.mean(axis=0) if self.center else Y

    def _limits(self, n_samples: int, groups: Groups) -> Limits:
        return read_limits(
            self.n_features_to_select,
            self.costs,
            self.budget,
            self.include,
            self.exclude,
            n_samples=n_samples,
            groups=groups,
            names=getattr(self, "feature_names_in_", None),
        )

    def _gaps(
        self, problem: Problem, limits: Limits, selected: IndexArray
    ) -> dict[int, Optimality]:
        """Bounds for the sizes that ``bound`` asks for, and for all that was selected."""
        if self.bound is False:
            return {}
        sizes = check_sizes(self.bound, len(limits.include), len(selected))
        what = "groups" if problem.groups.given else "features"
        gaps = {}
        for size in sizes:
            subset, budget, within = selected[:size], float(size), f"{size} {what}"
            if self.budget is not None:
                is_all = size == len(selected)
                budget = limits.budget if is_all else float(limits.costs[subset].sum())
                within = f"{what} within a budget of {budget:g}"
            gaps[size] = Optimality(
                objective=problem.objective(subset),
                bound=lower_bound(problem, replace(limits, budget=budget), subset),
                of_none=problem.of_none,
                of_all=problem.of_all,
                target=self.target,
                n_features=len(problem.groups),
                within=within,
            )
        return gaps

    def _certify(self, spectrum: Spectrum, alpha: float) -> None:
        """The certificate of the features as they are, without weights."""
        s2 = spectrum.singular_values**2
        rows = spectrum.take(self.selected_)
        kept = float(np.sum(rows**2 @ (s2 / (s2 + alpha))))
        tail = max(0.0, effective_dimension(s2, alpha) - kept)
        penalty = ridge_penalty(spectrum.singular_values, alpha)
        found = measured_certificate(
            spectrum,
            self.selected_,
            alpha=alpha,
            promised=unweighted_promise(tail),
            found=weighted_spectrum(rows, np.ones(len(rows)), penalty),
        )
        self.certificate_ = replace(found, upper=1.0)  # K_S <= K, whatever alpha is

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.target != "data"
        return tags


def unit_spectrum(X: Any, spectrum: Spectrum) -> Spectrum:
    """The spectrum of X with columns of length 1; those that are constant to rounding become 0."""
    return remembered(_unit_spectrum, X, center=spectrum.center)


def _unit_spectrum(X: Any, *, center: bool) -> Spectrum:
    X = as_numeric(X)
    lengths2, stored = squared_lengths(as_columns(X, center=center))
    varies = lengths2 > 1e-13 * stored
    factors = np.zeros(len(stored))
    factors[varies] = 1 / np.sqrt(lengths2[varies])
    return compute_spectrum(scaled_columns(X, factors), center=center)


def check_sizes(bound: Any, least: int, most: int) -> list[int]:
    """Sizes to bound, ascending; the last is that of the whole selection."""
    if bound is True:
        return [most]
    if isinstance(bound, str) or np.ndim(bound) != 1:
        raise ValueError(f"bound must be True, False or a sequence of sizes; got {bound!r}")
    for size in bound:
        if not isinstance(size, Integral) or not max(least, 1) <= int(size) <= most:
            raise ValueError(
                f"bound: sizes must be whole numbers from {max(least, 1)} to {most}, the number of "
                f"selected features; got {size!r}"
            )
    return sorted({*map(int, bound), most})
