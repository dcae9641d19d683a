# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison found: errors, times, stability, features, and who is better."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import AnyArray, FloatArray
from ridgewise.evaluation._fold import FoldResult, Plan, Split
from ridgewise.evaluation._paired import PairedTest, corrected_t_test
from ridgewise.evaluation._stability import (
    frequencies,
    mean_jaccard,
    nogueira_stability,
    selection_matrix,
)

ALL_FEATURES = "all features"


@dataclass(frozen=True)
class ComparisonRow:
    """One method with one number of features and one alpha.

    Attributes
    ----------
    method : str
        The selector's name.
    n_features : int
        How many features it was asked for; where it was not asked, how many it kept on average.
    alpha : float
        The model's.
    error_mean : float
        The share of wrong classes, or the mean squared error, over all folds.
    error_std : float
        Standard deviation of a whole cross-validation's error, over the repeats; nan for one.
    seconds_mean : float
        Mean time of selecting, on one thread, spectrum included.
    stability : float
        Nogueira's: 1 where every fold selects the same, 0 where it is as good as random.
    jaccard : float
        Mean share of features that two selections have in common.
    n_selected : float
        Mean number of features kept: fewer than asked for where some were drawn twice.
    """

    method: str
    n_features: int
    alpha: float
    error_mean: float
    error_std: float
    seconds_mean: float
    stability: float
    jaccard: float
    n_selected: float


@dataclass(frozen=True)
class FeatureCount:
    """How often a feature was selected.

    Attributes
    ----------
    feature : str or int
        Its name, or its index where features have no names.
    index : int
        Its index.
    share : float
        The share of all selections that hold it.
    """

    feature: str | int
    index: int
    share: float


@dataclass(frozen=True, eq=False)
class Entry:
    """What came out for one method with one number of features, fold by fold.

    Attributes
    ----------
    method : str
        Its name.
    n_features : int
        How many features.
    errors : ndarray of shape (n_alphas, n_repeats, n_splits)
        Of every fold.
    seconds : ndarray of shape (n_repeats, n_splits)
        Of selecting.
    chosen : sparse array of shape (n_selections, d)
        Zeros and ones: the features of every selection. No rows for all features.
    """

    method: str
    n_features: int
    errors: FloatArray
    seconds: FloatArray
    chosen: sp.csr_array

    @cached_property
    def agreement(self) -> tuple[float, float]:
        """Nogueira's stability and the mean Jaccard index."""
        if self.chosen.shape[0] == 0:
            return 1.0, 1.0
        return nogueira_stability(self.chosen), mean_jaccard(self.chosen)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare` found.

    Attributes
    ----------
    entries : list of Entry
        One a method and number of features; all features first.
    alphas : tuple of float
        The models'.
    classify : bool
        Whether errors are shares of wrong classes; else they are mean squared errors.
    n_samples, n_features_in : int
        The data's size.
    n_splits, n_repeats : int
        How it was split.
    feature_names : ndarray of str, or None
        The features' names.
    """

    entries: list[Entry]
    alphas: tuple[float, ...]
    classify: bool
    n_samples: int
    n_features_in: int
    n_splits: int
    n_repeats: int
    feature_names: AnyArray | None

    @property
    def methods(self) -> list[str]:
        """The methods' names, all features first."""
        return list(dict.fromkeys(entry.method for entry in self.entries))

    @property
    def n_features(self) -> list[int]:
        """The numbers of features, in ascending order; that of all features is not among them."""
        return sorted({entry.n_features for entry in self.entries if entry.method != ALL_FEATURES})

    @cached_property
    def rows(self) -> list[ComparisonRow]:
        """Every combination of method, number of features and alpha."""
        return [self._row(entry, place) for entry in self.entries for place in self._places]

    @property
    def _places(self) -> range:
        return range(len(self.alphas))

    def _row(self, entry: Entry, place: int) -> ComparisonRow:
        by_repeat = entry.errors[place].mean(axis=1)
        stability, jaccard = entry.agreement
        n_sets = entry.chosen.shape[0]
        return ComparisonRow(
            method=entry.method,
            n_features=entry.n_features,
            alpha=self.alphas[place],
            error_mean=float(by_repeat.mean()),
            error_std=float(by_repeat.std(ddof=1)) if self.n_repeats > 1 else float("nan"),
            seconds_mean=float(entry.seconds.mean()),
            stability=stability,
            jaccard=jaccard,
            n_selected=entry.chosen.nnz / n_sets if n_sets else float(self.n_features_in),
        )

    def table(self) -> dict[str, list[Any]]:
        """Give the rows as columns, which `pandas.DataFrame` and `polars.DataFrame` take.

        Returns
        -------
        dict of str to list
        """
        records = [asdict(row) for row in self.rows]
        names = [field.name for field in fields(ComparisonRow)]
        return {name: [record[name] for record in records] for name in names}

    def entry(self, method: str, n_features: int | None = None) -> Entry:
        """Find what came out for a method.

        Parameters
        ----------
        method : str
            Its name.
        n_features : int, default=None
            With how many features. Of all features there is one entry, whatever is asked for.

        Returns
        -------
        Entry
        """
        found = [entry for entry in self.entries if entry.method == method]
        if not found:
            raise ValueError(f"{method!r} is none of {', '.join(self.methods)}")
        if len(found) == 1 and (n_features is None or method == ALL_FEATURES):
            return found[0]
        for entry in found:
            if entry.n_features == n_features:
                return entry
        counts = ", ".join(str(entry.n_features) for entry in found)
        raise ValueError(f"{method} was compared with {counts} features; got {n_features!r}")

    def row(
        self, method: str, n_features: int | None = None, alpha: float | None = None
    ) -> ComparisonRow:
        """Find one combination.

        Parameters
        ----------
        method : str
            Its name.
        n_features : int, default=None
            With how many features. May be left out where there is one number only.
        alpha : float, default=None
            The model's. May be left out where there is one only.

        Returns
        -------
        ComparisonRow
        """
        return self._row(self.entry(method, n_features), self._place(alpha))

    def best(self) -> ComparisonRow:
        """Find the combination of the smallest error, all features apart; of equals, the fewest.

        Returns
        -------
        ComparisonRow
        """
        rows = [row for row in self.rows if row.method != ALL_FEATURES]
        return min(rows, key=lambda row: (row.error_mean, row.n_features))

    def paired(
        self,
        first: str,
        second: str,
        *,
        n_features: int | None = None,
        alpha: float | None = None,
    ) -> PairedTest:
        """Test whether one method is better than another, on the folds that both had.

        Parameters
        ----------
        first, second : str
            Names of methods.
        n_features : int, default=None
            With how many features. May be left out where there is one number only.
        alpha : float, default=None
            The models'. May be left out where there is one only.

        Returns
        -------
        PairedTest
            Nadeau and Bengio's corrected resampled t-test.
        """
        place = self._place(alpha)
        errors = [self.entry(name, n_features).errors[place].ravel() for name in (first, second)]
        return corrected_t_test(*errors, test_share=1 / (self.n_splits - 1))

    def top_features(
        self, method: str, n_features: int | None = None, count: int = 10
    ) -> list[FeatureCount]:
        """List the features that a method selected most often.

        Parameters
        ----------
        method : str
            Its name.
        n_features : int, default=None
            With how many features. May be left out where there is one number only.
        count : int, default=10
            How many to list.

        Returns
        -------
        list of FeatureCount
            By descending share, and among equals by ascending index.
        """
        shares = frequencies(self.entry(method, n_features).chosen)
        order = np.argsort(-shares, kind="stable")[:count]
        return [self._count(index, shares) for index in order.tolist() if shares[index] > 0]

    def _count(self, index: int, shares: FloatArray) -> FeatureCount:
        name = index if self.feature_names is None else str(self.feature_names[index])
        return FeatureCount(name, index, float(shares[index]))

    def _place(self, alpha: float | None) -> int:
        if alpha is None and len(self.alphas) == 1:
            return 0
        if alpha is None or alpha not in self.alphas:
            known = ", ".join(f"{value:g}" for value in self.alphas)
            raise ValueError(f"alpha must be one of {known}; got {alpha!r}")
        return self.alphas.index(alpha)

    def __str__(self) -> str:
        width = max(len(method) for method in self.methods)
        head = f"{'method':<{width}} {'n':>7} {'alpha':>9} {'error':>9} {'+/-':>8} {'stability':>9}"
        lines = [head]
        for row in self.rows:
            error = f"{row.error_mean:9.4f} {row.error_std:8.4f}"
            start = f"{row.method:<{width}} {row.n_features:7d} {row.alpha:9.4g}"
            lines.append(f"{start} {error} {row.stability:9.3f}")
        return "\n".join(lines)


def assemble(
    plan: Plan,
    results: Sequence[FoldResult],
    splits: Sequence[Split],
    shape: tuple[int, int],
    feature_names: AnyArray | None,
) -> Comparison:
    """Put the folds together.

    Parameters
    ----------
    plan : Plan
        What was compared.
    results, splits : sequence of FoldResult, of Split
        What came out of which fold, repeat by repeat.
    shape : tuple of int
        The data's: samples and features.
    feature_names : ndarray of str, or None
        The features' names.

    Returns
    -------
    Comparison
    """
    n_repeats, n_splits = splits[-1].repeat + 1, splits[-1].fold + 1
    errors = np.stack([result.errors for result in results], axis=-1)
    seconds = np.stack([result.seconds for result in results], axis=-1)
    entries = []
    for place, cell in enumerate(plan.cells):
        sets = [chosen for result in results for chosen in result.sets[place]]
        kept = round(float(np.mean([len(chosen) for chosen in sets]))) if sets else shape[1]
        entries.append(
            Entry(
                method=cell.method,
                n_features=cell.n_features or kept,
                errors=errors[place].reshape(len(plan.alphas), n_repeats, n_splits),
                seconds=seconds[place].reshape(n_repeats, n_splits),
                chosen=selection_matrix(sets, shape[1]),
            )
        )
    return Comparison(
        entries=entries,
        alphas=plan.alphas,
        classify=plan.classify,
        n_samples=shape[0],
        n_features_in=shape[1],
        n_splits=n_splits,
        n_repeats=n_repeats,
        feature_names=feature_names,
    )
