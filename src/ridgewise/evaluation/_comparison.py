# SPDX-License-Identifier: BSD-3-Clause
"""Results of a comparison: errors, times, stability, features, paired tests."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import AnyArray, FloatArray
from ridgewise.evaluation._fold import Cell, CellResult
from ridgewise.evaluation._statistics import (
    PairedTest,
    corrected_t_test,
    frequencies,
    mean_jaccard,
    nogueira_stability,
    selection_matrix,
)

ALL_FEATURES = "all features"


@dataclass(frozen=True)
class ComparisonRow:
    """One method with one number of features and one alpha."""

    method: str
    n_features: int  # as asked for; if none was, the mean number selected
    alpha: float  # of the models: as given, or the median of those that leave-one-out chose
    error_mean: float  # share of wrong classes, or mean squared error, over all folds
    error_std: float  # over the repeats of the cross-validation; nan for one repeat
    seconds_mean: float  # of selecting, on one thread, spectrum included
    stability: float  # Nogueira's: 1 if every fold selects the same, 0 on average if at random
    jaccard: float  # mean Jaccard index of two selections
    n_selected: float  # mean; fewer than asked for if some features were drawn twice
    alpha_relative: float = float("nan")  # to the mean diagonal of the kernel, median over folds
    # "smallest" or "largest" where the best alpha is at the edge of those tried: by leave-one-out
    # in at least half of the folds, or among several given ones by the error
    alpha_edge: str = ""


@dataclass(frozen=True)
class FeatureCount:
    """How often a feature was selected."""

    feature: str | int  # its name, or its index if features have no names
    index: int
    share: float  # of all selections


@dataclass(frozen=True, eq=False)
class Entry:
    """Results for one method with one number of features, fold by fold."""

    method: str
    n_features: int
    errors: FloatArray  # (n_alphas, n_repeats, n_splits)
    tuning: FloatArray  # (n_alphas, 3, n_repeats, n_splits), see CellResult
    seconds: FloatArray  # (n_repeats, n_splits)
    chosen: sp.csr_array  # (n_selections, d), zeros and ones; no rows for all features

    @classmethod
    def of(cls, cell: Cell, folds: Sequence[CellResult], grid: tuple[int, int], d: int) -> Self:
        """Assemble the results of all folds, ordered by repeat and fold; grid is their number."""
        sets = [chosen for fold in folds for chosen in fold.sets]
        kept = round(float(np.mean([len(chosen) for chosen in sets]))) if sets else d
        return cls(
            method=cell.method,
            n_features=cell.n_features or kept,
            errors=np.stack([fold.errors for fold in folds], axis=-1).reshape(-1, *grid),
            tuning=np.stack([fold.tuning for fold in folds], axis=-1).reshape(-1, 3, *grid),
            seconds=np.reshape([fold.seconds for fold in folds], grid),
            chosen=selection_matrix(sets, d),
        )

    @property
    def best_place(self) -> int:
        """The place of the alpha with the smallest mean error."""
        return int(self.errors.mean(axis=(1, 2)).argmin())

    @property
    def best_errors(self) -> FloatArray:
        """The errors at that alpha, shape (n_repeats, n_splits)."""
        return self.errors[self.best_place]

    @property
    def standard_error(self) -> float:
        """Standard error of the mean of one cross-validation's errors, at that alpha."""
        return float(self.best_errors.std(ddof=1) / np.sqrt(self.best_errors.shape[1]))

    def alpha_edge(self, place: int) -> str:
        """Whether an alpha is the best, and the smallest or the largest that was tried."""
        if len(self.errors) > 1:
            edges = {0: "smallest", len(self.errors) - 1: "largest"}
            return edges.get(place, "") if place == self.best_place else ""
        reached = float(self.tuning[place, 2].mean())
        return "smallest" if reached <= -0.5 else "largest" if reached >= 0.5 else ""

    @cached_property
    def agreement(self) -> tuple[float, float]:
        """Nogueira's stability and the mean Jaccard index."""
        if self.chosen.shape[0] == 0:
            return 1.0, 1.0
        return nogueira_stability(self.chosen), mean_jaccard(self.chosen)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of `compare`; prints as a table.

    Attributes
    ----------
    entries : list of Entry
        One for each method and number of features; all features first.
    alphas : tuple of float, or None
        Of the models, as given. None: each chosen by leave-one-out.
    classify : bool
        Whether errors are shares of wrong classes; else they are mean squared errors.
    n_samples, n_features_in : int
        Shape of X.
    n_splits, n_repeats : int
        Number of folds, and of repetitions.
    fit_intercept : bool
        Whether the models have an intercept.
    feature_names : ndarray of str, or None

    Examples
    --------
    >>> from ridgewise import RandomSelector, compare, make_ridge_synthetic
    >>> X, y = make_ridge_synthetic(n_samples=60, n_relevant=60, random_state=0)
    >>> found = compare([RandomSelector()], X, y, n_features=[300, 600], n_repeats=1)
    >>> found.best().n_features
    300
    """

    entries: list[Entry]
    alphas: tuple[float, ...] | None
    classify: bool
    n_samples: int
    n_features_in: int
    n_splits: int
    n_repeats: int
    feature_names: AnyArray | None
    fit_intercept: bool = True

    @property
    def methods(self) -> list[str]:
        """The methods' names, all features first."""
        return list(dict.fromkeys(entry.method for entry in self.entries))

    @property
    def n_features(self) -> list[int]:
        """The numbers of features that were compared, ascending, without all features."""
        return sorted({entry.n_features for entry in self.entries if entry.method != ALL_FEATURES})

    @cached_property
    def rows(self) -> list[ComparisonRow]:
        """Every combination of method, number of features and alpha."""
        return [
            self._row(entry, place) for entry in self.entries for place in range(len(entry.errors))
        ]

    def _row(self, entry: Entry, place: int) -> ComparisonRow:
        by_repeat = entry.errors[place].mean(axis=1)
        stability, jaccard = entry.agreement
        n_sets = entry.chosen.shape[0]
        return ComparisonRow(
            method=entry.method,
            n_features=entry.n_features,
            alpha=self.alphas[place] if self.alphas else float(np.median(entry.tuning[place, 0])),
            error_mean=float(by_repeat.mean()),
            error_std=float(by_repeat.std(ddof=1)) if self.n_repeats > 1 else float("nan"),
            seconds_mean=float(entry.seconds.mean()),
            stability=stability,
            jaccard=jaccard,
            n_selected=entry.chosen.nnz / n_sets if n_sets else float(self.n_features_in),
            alpha_relative=float(np.median(entry.tuning[place, 1])),
            alpha_edge=entry.alpha_edge(place),
        )

    def table(self) -> dict[str, list[Any]]:
        """Return the rows as columns, for `pandas.DataFrame` or `polars.DataFrame`.

        Returns
        -------
        dict of str to list
        """
        names = [field.name for field in fields(ComparisonRow)]
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def entry(self, method: str, n_features: int | None = None) -> Entry:
        """Find the results of a method; all features have one entry for any number."""
        found = [entry for entry in self.entries if entry.method == method]
        if not found:
            raise ValueError(f"unknown method {method!r}: use one of {', '.join(self.methods)}")
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
        """Return the results of one combination.

        Parameters
        ----------
        method : str
        n_features : int, default=None
        alpha : float, default=None
            Of the models. Both are needed only if there are several.

        Returns
        -------
        ComparisonRow
        """
        return self._row(self.entry(method, n_features), self._place(alpha))

    def best(self) -> ComparisonRow:
        """Find the fewest features that are as good as the best, by the one-standard-error rule.

        Of all combinations but all features: those whose error is at most one standard error
        above the smallest; of these the fewest features, and then the smallest error.

        Returns
        -------
        ComparisonRow
        """
        selected = [entry for entry in self.entries if entry.method != ALL_FEATURES]
        return self.best_row(self.fewest_as_good(selected))

    def best_row(self, entry: Entry) -> ComparisonRow:
        """The row of an entry at the alpha with the smallest mean error."""
        return self._row(entry, entry.best_place)

    def fewest_as_good(self, entries: Sequence[Entry]) -> Entry:
        """Apply the one-standard-error rule to at least one entry."""
        errors = [float(entry.best_errors.mean()) for entry in entries]
        lowest = int(np.argmin(errors))
        most = errors[lowest] + np.nan_to_num(entries[lowest].standard_error)
        good = [place for place, error in enumerate(errors) if error <= most]
        return entries[min(good, key=lambda place: (entries[place].n_features, errors[place]))]

    def paired(
        self,
        first: str,
        second: str,
        *,
        n_features: int | None = None,
        alpha: float | None = None,
    ) -> PairedTest:
        """Test whether one method is better than another, paired by fold.

        Parameters
        ----------
        first, second : str
            Names of methods.
        n_features : int, default=None
        alpha : float, default=None
            Of the models. Both are needed only if there are several.

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
        n_features : int, default=None
            Needed only if there are several.
        count : int, default=10
            Maximum length of the list.

        Returns
        -------
        list of FeatureCount
            By descending share, and among equals by ascending index.
        """
        shares = frequencies(self.entry(method, n_features).chosen)
        order = np.argsort(-shares, kind="stable")[:count]
        return [
            FeatureCount(self.name_of(index), index, float(shares[index]))
            for index in order.tolist()
            if shares[index] > 0
        ]

    def name_of(self, index: int) -> str | int:
        """The name of a feature; its index if features have no names."""
        return index if self.feature_names is None else str(self.feature_names[index])

    def _place(self, alpha: float | None) -> int:
        if alpha is None and len(self.alphas or ()) <= 1:
            return 0
        if self.alphas is None:
            raise ValueError(f"alpha must be None: leave-one-out chose it; got {alpha!r}")
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
