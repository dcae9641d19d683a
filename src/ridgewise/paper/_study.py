# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the experiments, and the comparison on documents that several of them share."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sklearn.utils import Bunch

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
STANDARD_LIBRARY = "Python's standard library"
N_WORDS = 500  # most frequently selected words kept per method


@dataclass(frozen=True)
class Settings:
    """Settings of a run."""

    data_home: Path | None = None  # with the TechTC sets; None: scikit-learn's data folder
    quick: bool = False  # fewer folds and data sets
    seed: int = 0
    n_jobs: int | None = None  # folds computed in parallel
    cache: Path | None = None  # folder of finished folds
    on_progress: Callable[[str, int, int], object] = lambda what, done, total: None

    @property
    def n_synthetic(self) -> int:
        """Number of synthetic data sets."""
        return 2 if self.quick else 10


@dataclass(frozen=True, eq=False)
class TextResult:
    """Results of the comparison on one set of documents."""

    name: str
    rows: dict[tuple[str, int, float], ComparisonRow]  # by method, n_features (0: all) and alpha
    words: dict[str, list[FeatureCount]]  # by method, BSS and leverage: most selected at r = 300
    n_documents: int
    n_words: int

    def row(self, method: str, count: int, alpha: float) -> ComparisonRow:
        """The results of a method; ``count`` is ignored for all features."""
        return self.rows[method, 0 if method == ALL_FEATURES else count, alpha]


class Study:
    """One run of the experiments. Shared results are computed once, on first use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def names(self) -> list[str]:
        """Names of the TechTC sets used; empty if there are none."""
        names = techtc_names(self.settings.data_home)
        return names[:QUICK_SETS] if self.settings.quick else names

    @property
    def data(self) -> str:
        """Description of the documents used."""
        if self.names:
            available = len(techtc_names(self.settings.data_home))
            return (
                f"{len(self.names)} sets of TechTC, of the {available} available. Words are "
                "counted as the given files have them: where these were stemmed or cleaned, "
                "results differ from those of the original files."
            )
        return (
            "NOT TechTC, which is not available: documents on two topics from Python's own "
            "standard library instead. `ridgewise data fetch` downloads TechTC; --data-home gives "
            "its folder."
        )

    def load(self, name: str) -> Bunch:
        """Load one set of documents."""
        if name == STANDARD_LIBRARY:
            return load_stdlib_text()
        return load_techtc(name, data_home=self.settings.data_home)

    @cached_property
    def text(self) -> list[TextResult]:
        """The comparison of all methods on every set of documents."""
        names = self.names or [STANDARD_LIBRARY]
        results = []
        for number, name in enumerate(names):
            documents = self.load(name)
            comparison = self.compare(
                selectors(*PAPERS, *BEYOND), documents.data, documents.target,
                f"{name}, {number + 1} of {len(names)} sets", part=(number, len(names)),
                alphas=TEXT_ALPHAS, n_features=TEXT_COUNTS, feature_names=documents.feature_names,
            )  # fmt: skip
            # Not the comparison itself: its selections take too much memory.
            rows = {
                (row.method, 0 if row.method == ALL_FEATURES else row.n_features, row.alpha): row
                for row in comparison.rows
            }
            words = {
                method: comparison.top_features(method, TEXT_COUNTS[0], count=N_WORDS)
                for method in (BSS, LEVERAGE)
            }
            results.append(TextResult(name, rows, words, *documents.data.shape))
        return results

    def compare(
        self,
        selectors: dict[str, Any],
        X: Any,
        y: Any,
        what: str,
        part: tuple[int, int] = (0, 1),
        **options: Any,
    ) -> Comparison:
        """Run `ridgewise.compare` by the paper's protocol, with cache and progress.

        The progress callback gets the description ``what``; ``part`` is the index of this
        comparison and the number of comparisons.
        """
        settings, (before, parts) = self.settings, part
        return compare(
            selectors, X, y,
            fit_intercept=False,  # the paper's RLSC
            n_splits=5 if settings.quick else 10,
            n_repeats=1 if settings.quick else 10,
            random_state=settings.seed,
            n_jobs=settings.n_jobs,
            cache=settings.cache,
            progress=lambda done, total: settings.on_progress(
                what, before * total + done, parts * total
            ),
            **options,
        )  # fmt: skip


def selectors(*methods: str) -> dict[str, Any]:
    """The selectors of these methods. RRQR as in the paper: no pivots beyond the rank."""
    known = {
        BSS: BSSSelector(alpha=0),
        LEVERAGE: LeverageSelector(),
        RRQR: RRQRSelector(restart=False),
        RANDOM: RandomSelector(),
        GAIN: InformationGainSelector(),
        TOP: LeverageSelector(sampling="top"),
        SLACK: BSSSelector(rule="slack", alpha=0),
        POLISHED: BSSSelector(rule="slack", polish=True, alpha=0),
    }
    return {method: known[method] for method in methods}
