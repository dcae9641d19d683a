# SPDX-License-Identifier: BSD-3-Clause
"""Results of a comparison on documents that nobody has made: with errors as a test wants them."""

import pytest

from ridgewise.evaluation import ALL_FEATURES, ComparisonRow, FeatureCount
from ridgewise.paper._study import (
    BEYOND,
    BSS,
    LEVERAGE,
    PAPERS,
    TEXT_ALPHAS,
    TEXT_COUNTS,
    Settings,
    Study,
    TextResult,
)


@pytest.fixture
def study_with():
    """Make a study of some sets; `error(set number, method, r, alpha)` decides what came out."""

    def make(error, n_sets=8, words=None, **settings):
        study = Study(Settings(**settings))
        study.names = [f"{number}_{number + 1}" for number in range(n_sets)]
        study.text = [result(number, error, words or {}) for number in range(n_sets)]
        return study

    return make


def result(number, error, words):
    rows = {}
    for method in (*PAPERS, *BEYOND):
        for count in TEXT_COUNTS:
            for alpha in TEXT_ALPHAS:
                rows[method, count, alpha] = row(method, count, alpha, number, error)
    for alpha in TEXT_ALPHAS:
        rows[ALL_FEATURES, 0, alpha] = row(ALL_FEATURES, 0, alpha, number, error)
    counts = {
        method: [FeatureCount(word, place, share) for place, (word, share) in enumerate(listed)]
        for method, listed in ({BSS: [], LEVERAGE: []} | words).items()
    }
    return TextResult(f"{number}_{number + 1}", rows, counts, n_documents=100, n_words=9000)


def row(method, count, alpha, number, error):
    return ComparisonRow(
        method=method,
        n_features=count or 9000,
        alpha=alpha,
        error_mean=error(number, method, count, alpha),
        error_std=0.01,
        seconds_mean=0.1,
        stability=0.5,
        jaccard=0.4,
        n_selected=float(count or 9000),
    )
