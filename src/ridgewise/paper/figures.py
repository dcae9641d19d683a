# SPDX-License-Identifier: BSD-3-Clause
"""Figures 1 and 2: out-of-sample error on each set of documents, with standard deviations."""

import numpy as np

from ridgewise.evaluation import ALL_FEATURES
from ridgewise.paper._outcome import (
    NOT_REPRODUCED,
    REPRODUCED,
    Chart,
    Outcome,
    Panel,
    Series,
    Table,
    Verdict,
)
from ridgewise.paper._study import BSS, PAPERS, TEXT_ALPHAS, TEXT_COUNTS, Study, TextResult
from ridgewise.paper.table3 import PROTOCOL

TITLE = "Figures 1 and 2: out-of-sample error on each set"
SHOWN = (*PAPERS, ALL_FEATURES)


def run(study: Study) -> Outcome:
    """Run the experiment.

    Parameters
    ----------
    study : Study
        How, and what was computed already.

    Returns
    -------
    Outcome
    """
    results = study.text
    return Outcome(
        name="figures",
        title=TITLE,
        protocol=PROTOCOL,
        data=study.data,
        verdicts=[_best_everywhere(results)],
        tables=[_table(results)],
        charts=[_chart(results, count) for count in TEXT_COUNTS],
    )


def _chart(results: list[TextResult], count: int) -> Chart:
    names = [result.name for result in results]
    panels = []
    for alpha in TEXT_ALPHAS:
        series = []
        for method in SHOWN:
            key = (method, 0 if method == ALL_FEATURES else count, alpha)
            rows = [result.rows[key] for result in results]
            means = [100 * row.error_mean for row in rows]
            spreads = np.nan_to_num([100 * row.error_std for row in rows])
            series.append(Series(method, names, means, spreads))
        panels.append(Panel(f"lambda = {alpha:g}", series))
    return Chart(
        name=f"figure-r{count}",
        title=f"Out-of-sample error on each set, r = {count}",
        x_label="set",
        y_label="error, %",
        caption="Bars are a standard deviation to each side, over the ten shuffles.",
        panels=panels,
    )


def _table(results: list[TextResult]) -> Table:
    columns = [
        "set", "documents", "words", "method", "n_features", "alpha", "error_mean", "error_std",
        "seconds_mean", "stability", "jaccard", "n_selected",
    ]  # fmt: skip
    rows = [
        (
            result.name, result.n_documents, result.n_words, row.method, row.n_features, row.alpha,
            row.error_mean, row.error_std, row.seconds_mean, row.stability, row.jaccard,
            row.n_selected,
        )
        for result in results
        for row in result.rows.values()
    ]  # fmt: skip
    formats = dict.fromkeys(columns[6:11], ".4f") | {"alpha": "g", "n_selected": ".1f"}
    return Table(
        name="results",
        title="All results, set by set",
        columns=columns,
        rows=rows,
        formats=formats,
        note="error_std: over the shuffles. stability: Nogueira's, 1 where all folds select the "
        "same words and 0 where they are as good as random.",
    )


def _best_everywhere(results: list[TextResult]) -> Verdict:
    """On how many of the sets BSS is best, of the paper's methods."""
    others = [method for method in PAPERS if method != BSS]
    cells = best = 0
    for result in results:
        for count in TEXT_COUNTS:
            for alpha in TEXT_ALPHAS:
                errors = {name: result.rows[name, count, alpha].error_mean for name in PAPERS}
                cells += 1
                best += all(errors[BSS] <= errors[method] for method in others)
    return Verdict(
        "BSS outperforms the other four on all sets, for all values of lambda",
        REPRODUCED if best == cells else NOT_REPRODUCED,
        f"it is the best of the five, or equal, in {best} of {cells} cells of set, r and lambda "
        f"({best / cells:.0%})",
    )
