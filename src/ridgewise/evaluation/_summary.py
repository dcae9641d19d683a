# SPDX-License-Identifier: BSD-3-Clause
"""Summary of a comparison: each method against all features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ridgewise.evaluation._comparison import ALL_FEATURES, Comparison, ComparisonRow, Entry
from ridgewise.evaluation._statistics import PairedTest, corrected_t_test, frequencies
from ridgewise.selectors import METHODS, SklearnSelector

SIGNIFICANCE = 0.05
AT_RANDOM = 0.1  # a lower stability is taken for random selection
MOST_AGREED = 100
SMALL_SHARE, SMALL_POINT = 0.1, 0.01  # of all features' error, and of the samples


@dataclass(frozen=True)
class MethodSummary:
    """One method with one number of features, at its best alpha."""

    row: ComparisonRow
    test: PairedTest  # against all features, at their best alpha
    tolerance: float  # a difference of this size is small

    @property
    def is_worse(self) -> bool:
        """Whether it is significantly worse than all features."""
        return self.test.difference > 0 and self.test.p_value < SIGNIFICANCE

    @property
    def is_as_good(self) -> bool:
        """Whether it is not significantly worse than all features, and by at most the tolerance."""
        return not self.is_worse and self.test.difference <= self.tolerance

    @property
    def is_better(self) -> bool:
        """Whether it is significantly better than all features."""
        return self.test.difference < 0 and self.test.p_value < SIGNIFICANCE


class Contest(NamedTuple):
    """The best of this package's methods and the best of scikit-learn's selectors."""

    ours: ComparisonRow
    theirs: ComparisonRow
    test: PairedTest  # of ours against theirs

    @property
    def winner(self) -> ComparisonRow | None:
        """The one with the significantly lower error; None if neither has it."""
        if not self.test.p_value < SIGNIFICANCE:
            return None
        return self.ours if self.test.difference < 0 else self.theirs


@dataclass(frozen=True)
class Agreement:
    """A feature that several methods select."""

    feature: str | int
    index: int
    shares: dict[str, float]  # by method, the share of selections that hold it


def summarize(comparison: Comparison) -> list[MethodSummary]:
    """Summarize each method with each number of features, at its best alpha; all features first.

    Of several given alphas the best is chosen by the errors that are shown: these are slightly too
    low, for every method. Alphas chosen by leave-one-out have no such bias.
    """
    reference = comparison.entry(ALL_FEATURES)
    tolerance = SMALL_SHARE * float(reference.best_errors.mean())
    if comparison.classify:
        tolerance = max(tolerance, SMALL_POINT)
    return [
        MethodSummary(comparison.best_row(entry), _test(comparison, entry, reference), tolerance)
        for entry in comparison.entries
    ]


def _test(comparison: Comparison, first: Entry, second: Entry) -> PairedTest:
    errors = (entry.best_errors.ravel() for entry in (first, second))
    return corrected_t_test(*errors, test_share=1 / (comparison.n_splits - 1))


def recommended(comparison: Comparison, found: Sequence[MethodSummary]) -> MethodSummary:
    """Find what to use: the fewest features as good as the best (`Comparison.best`)."""
    best = comparison.best()
    place = (best.method, best.n_features)  # rows with nan do not equal themselves
    return next(one for one in found if (one.row.method, one.row.n_features) == place)


def contest(comparison: Comparison) -> Contest | None:
    """Compare the best of this package's methods with the best of scikit-learn's selectors.

    Methods must have their names in the registry. None if one of the two was not compared.
    """
    groups: dict[bool, list[Entry]] = {True: [], False: []}
    for entry in comparison.entries:
        if entry.method in METHODS and entry.method != "random":
            groups[METHODS[entry.method].selector is SklearnSelector].append(entry)
    if not all(groups.values()):
        return None
    ours, theirs = (comparison.fewest_as_good(groups[foreign]) for foreign in (False, True))
    test = _test(comparison, ours, theirs)
    return Contest(comparison.best_row(ours), comparison.best_row(theirs), test)


def agreed_features(comparison: Comparison, n_features: int) -> list[Agreement]:
    """List at most 100 features that all methods select, by the smallest of their shares.

    Methods that select at random do not count; the list is empty if fewer than two are left.
    """
    entries = [
        entry
        for entry in comparison.entries
        if entry.n_features == n_features
        and entry.method != ALL_FEATURES
        and entry.agreement[0] >= AT_RANDOM
    ]
    if len(entries) < 2:
        return []
    shares = np.array([frequencies(entry.chosen) for entry in entries])
    least = shares.min(axis=0)
    order = np.argsort(-least, kind="stable")[:MOST_AGREED]
    methods = [entry.method for entry in entries]
    return [
        Agreement(
            comparison.name_of(index),
            index,
            dict(zip(methods, shares[:, index].tolist(), strict=True)),
        )
        for index in order.tolist()
        if least[index] > 0
    ]
