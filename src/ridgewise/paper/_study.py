# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments share: how they are run, and the comparison on documents."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from ridgewise._typing import FloatArray
from ridgewise.datasets import load_stdlib_text, load_techtc, techtc_names
from ridgewise.evaluation import ALL_FEATURES, Comparison, ComparisonRow, FeatureCount, compare
from ridgewise.selectors import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
)

BSS, LEVERAGE, RRQR, GAIN, RANDOM = (
    "BSS", "leverage sampling", "RRQR", "information gain", "random",
)  # fmt: skip
TOP, SLACK, POLISHED = "top leverage scores", "BSS, slack", "BSS, slack and polish"
PAPERS = (BSS, LEVERAGE, RRQR, RANDOM, GAIN)  # in the order of the paper's tables
BEYOND = (TOP, SLACK, POLISHED)

TEXT_ALPHAS = (0.1, 0.3, 0.5, 0.7)
TEXT_COUNTS = (300, 400, 500)
QUICK_SETS = 2
N_WORDS = 500  # kept of each method, by how often they were selected


@dataclass(frozen=True)
class Settings:
    """How experiments are run.

    Attributes
    ----------
    data_home : Path or None
        Where the TechTC sets are; None is scikit-learn's folder.
    quick : bool
        Fewer folds, and fewer data sets.
    seed : int
        Of everything random.
    n_jobs : int or None
        How many folds to compute at once.
    cache : Path or None
        Where finished folds are kept.
    on_progress : callable
        Called with what is being done, how many parts of it are done, and how many there are.
    """

    data_home: Path | None = None
    quick: bool = False
    seed: int = 0
    n_jobs: int | None = None
    cache: Path | None = None
    on_progress: Callable[[str, int, int], object] = lambda what, done, total: None

    @property
    def n_splits(self) -> int:
        """How many folds."""
        return 5 if self.quick else 10

    @property
    def n_repeats(self) -> int:
        """How often these are shuffled anew."""
        return 1 if self.quick else 10


@dataclass(frozen=True, eq=False)
class TextResult:
    """What the comparison found on one set of documents.

    Attributes
    ----------
    name : str
        The set's.
    rows : dict of (method, n_features, alpha) to ComparisonRow
        Of all features, n_features is 0.
    words : dict of str to list of FeatureCount
        What BSS and leverage sampling selected most, 300 at a time.
    n_documents, n_words : int
        Its size.
    """

    name: str
    rows: dict[tuple[str, int, float], ComparisonRow]
    words: dict[str, list[FeatureCount]]
    n_documents: int
    n_words: int

    def error(self, method: str, count: int) -> float:
        """The mean error over all alphas."""
        count = 0 if method == ALL_FEATURES else count
        return float(np.mean([self.rows[method, count, a].error_mean for a in TEXT_ALPHAS]))


class Study:
    """One run of some of the experiments: what they share is computed once, when it is asked for.

    Parameters
    ----------
    settings : Settings
        How they are run.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()

    @cached_property
    def names(self) -> list[str]:
        """The sets of documents: of TechTC those at hand, fewer where it is to be quick."""
        names = techtc_names(self.settings.data_home)
        return names[:QUICK_SETS] if self.settings.quick else names

    @property
    def is_techtc(self) -> bool:
        """Whether TechTC is at hand."""
        return bool(self.names)

    @property
    def data(self) -> str:
        """Say which documents it is."""
        if self.is_techtc:
            at_hand = len(techtc_names(self.settings.data_home))
            return (
                f"{len(self.names)} sets of TechTC, of the {at_hand} at hand. These are counts of "
                "the sets that were given: where they were stemmed or cleaned, figures differ from "
                "those of the original files."
            )
        return (
            "NOT TechTC, which is not at hand: documents on two topics from Python's own standard "
            "library instead. `ridgewise data fetch` downloads TechTC, and --data-home says where "
            "it is."
        )

    def load(self, name: str) -> Bunch:
        """Load one set of documents."""
        if not self.is_techtc:
            return load_stdlib_text()
        return load_techtc(name, data_home=self.settings.data_home)

    @cached_property
    def text(self) -> list[TextResult]:
        """The comparison of all methods on every set of documents."""
        return list(self._compare_texts())

    def _compare_texts(self) -> Iterator[TextResult]:
        names = self.names or ["Python's standard library"]
        for number, name in enumerate(names):
            documents = self.load(name)
            found = self.compare(
                text_selectors(), documents.data, documents.target,
                f"{name}, {number + 1} of {len(names)} sets", part=(number, len(names)),
                alphas=TEXT_ALPHAS, n_features=TEXT_COUNTS, feature_names=documents.feature_names,
            )  # fmt: skip
            yield _text_result(name, found)

    def compare(
        self,
        selectors: dict[str, Any],
        X: Any,
        y: Any,
        what: str,
        part: tuple[int, int] = (0, 1),
        **how: Any,
    ) -> Comparison:
        """Compare by the paper's cross-validation, with progress and the cache.

        Parameters
        ----------
        selectors, X, y, **how
            As in `ridgewise.compare`.
        what : str
            What it is, in a few words.
        part : tuple of int
            Which of how many comparisons of the same length this is.

        Returns
        -------
        Comparison
        """
        settings, (before, parts) = self.settings, part
        return compare(
            selectors, X, y,
            n_splits=settings.n_splits,
            n_repeats=settings.n_repeats,
            random_state=settings.seed,
            n_jobs=settings.n_jobs,
            cache=settings.cache,
            progress=lambda done, total: settings.on_progress(
                what, before * total + done, parts * total
            ),
            **how,
        )  # fmt: skip


def text_selectors() -> dict[str, Any]:
    """The paper's five methods and three beyond it.

    Of RRQR, as the paper has it, only as many columns as the rank are pivots; the others follow in
    the order in which they are stored.
    """
    return {
        BSS: BSSSelector(alpha=0),
        LEVERAGE: LeverageSelector(),
        RRQR: RRQRSelector(restart=False),
        RANDOM: RandomSelector(),
        GAIN: InformationGainSelector(),
        TOP: LeverageSelector(sampling="top"),
        SLACK: BSSSelector(rule="slack", alpha=0),
        POLISHED: BSSSelector(rule="slack", polish=True, alpha=0),
    }


def _text_result(name: str, found: Comparison) -> TextResult:
    """Keep what the tables need: the selections themselves would fill the memory."""
    rows = {
        (row.method, 0 if row.method == ALL_FEATURES else row.n_features, row.alpha): row
        for row in found.rows
    }
    words = {
        method: found.top_features(method, TEXT_COUNTS[0], count=N_WORDS)
        for method in (BSS, LEVERAGE)
    }
    return TextResult(name, rows, words, found.n_samples, found.n_features_in)


def mean_over_sets(
    results: list[TextResult], method: str, count: int, alpha: float
) -> tuple[float, float]:
    """Average over the sets the mean error and its standard deviation, both in percent."""
    rows = [
        result.rows[method, 0 if method == ALL_FEATURES else count, alpha] for result in results
    ]
    return (
        100 * float(np.mean([row.error_mean for row in rows])),
        100 * float(np.mean([row.error_std for row in rows])),
    )


def errors_by_set(results: list[TextResult], method: str, count: int) -> FloatArray:
    """The error on each set in percent, averaged over all alphas."""
    return 100 * np.array([result.error(method, count) for result in results])
