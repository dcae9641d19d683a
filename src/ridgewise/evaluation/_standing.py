# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison comes down to: how each method stands against all features."""

from dataclasses import dataclass

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.evaluation._comparison import ALL_FEATURES, Comparison, ComparisonRow, Entry
from ridgewise.evaluation._paired import PairedTest, corrected_t_test
from ridgewise.evaluation._stability import frequencies

UNLIKELY = 0.05  # what chance does less often than this is taken for a difference
AT_RANDOM = 0.1  # below this stability a method selects other features every time
MOST_AGREED = 100
SMALL_SHARE, SMALL_POINT = 0.1, 0.01  # of all features' error, and of the samples


@dataclass(frozen=True)
class Standing:
    """One method with one number of features, at its best alpha.

    Attributes
    ----------
    row : ComparisonRow
        Its errors, time and stability.
    test : PairedTest
        Of its errors against those of all features, also at their best alpha.
    tolerance : float
        Up to this much more error hardly matters, whether by chance or not: a tenth of the error
        of all features, and at least a percentage point where there are classes.
    """

    row: ComparisonRow
    test: PairedTest
    tolerance: float

    @property
    def is_worse(self) -> bool:
        """Whether it does worse than all features, by more than chance would."""
        return self.test.difference > 0 and self.test.p_value < UNLIKELY

    @property
    def is_as_good(self) -> bool:
        """Whether it does as well as all features, as far as matters and can be told."""
        return not self.is_worse and self.test.difference <= self.tolerance

    @property
    def is_better(self) -> bool:
        """Whether it does better than all features, by more than chance would."""
        return self.test.difference < 0 and self.test.p_value < UNLIKELY


@dataclass(frozen=True)
class Agreement:
    """A feature that several methods select.

    Attributes
    ----------
    feature : str or int
        Its name, or its index where features have no names.
    index : int
        Its index.
    shares : dict of str to float
        By method, the share of selections that hold it.
    """

    feature: str | int
    index: int
    shares: dict[str, float]


def standings(comparison: Comparison) -> list[Standing]:
    """Say how each method with each number of features stands, at its best alpha.

    Parameters
    ----------
    comparison : Comparison
        What was found.

    Returns
    -------
    list of Standing
        In the order of the comparison, so that all features come first.

    Notes
    -----
    The best alpha is chosen by the errors that are shown, for every method alike: take an error
    for a comparison, and for a little less than what new data would give.
    """
    reference = comparison.entry(ALL_FEATURES)
    expected = _best_errors(reference)
    return [_standing(comparison, entry, expected) for entry in comparison.entries]


def _best_place(entry: Entry) -> int:
    return int(entry.errors.mean(axis=(1, 2)).argmin())


def _best_errors(entry: Entry) -> FloatArray:
    return entry.errors[_best_place(entry)].ravel()


def _standing(comparison: Comparison, entry: Entry, expected: FloatArray) -> Standing:
    alpha = comparison.alphas[_best_place(entry)]
    test = corrected_t_test(_best_errors(entry), expected, test_share=1 / (comparison.n_splits - 1))
    tolerance = SMALL_SHARE * float(expected.mean())
    if comparison.classify:
        tolerance = max(tolerance, SMALL_POINT)
    return Standing(comparison.row(entry.method, entry.n_features, alpha), test, tolerance)


def best_standing(found: list[Standing]) -> Standing:
    """Find the smallest error, all features apart; of equals, the fewest features.

    Parameters
    ----------
    found : list of Standing
        All of a comparison.

    Returns
    -------
    Standing
    """
    candidates = [one for one in found if one.row.method != ALL_FEATURES]
    return min(candidates, key=lambda one: (one.row.error_mean, one.row.n_features))


def agreed_features(comparison: Comparison, n_features: int) -> list[Agreement]:
    """List the features that all methods select, apart from those that select at random.

    Parameters
    ----------
    comparison : Comparison
        What was found.
    n_features : int
        With how many features.

    Returns
    -------
    list of Agreement
        At most a hundred, by the smallest of their shares; none where fewer than two methods are
        left.
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
    names = comparison.feature_names
    return [
        Agreement(
            index if names is None else str(names[index]),
            index,
            {
                entry.method: float(share)
                for entry, share in zip(entries, shares[:, index], strict=True)
            },
        )
        for index in order.tolist()
        if least[index] > 0
    ]
