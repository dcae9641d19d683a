# SPDX-License-Identifier: BSD-3-Clause
"""Table 3, and figures 1 and 2: out-of-sample error of RLSC on TechTC."""

from collections.abc import Iterator

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.evaluation import ALL_FEATURES, wilcoxon_test
from ridgewise.paper._outcome import Chart, Outcome, Panel, Series, Table, Verdict, judge
from ridgewise.paper._study import (
    BEYOND,
    BSS,
    GAIN,
    LEVERAGE,
    PAPERS,
    RANDOM,
    RRQR,
    TEXT_ALPHAS,
    TEXT_COUNTS,
    Study,
    TextResult,
)

PROTOCOL = (
    "RLSC without an intercept on counts of words of at least five letters. Stratified ten-fold "
    "cross-validation, repeated ten times; each method selects r words from the training "
    "documents. Leverage sampling and random selection are averaged over five draws in each fold. "
    "The standard deviation of an error is over the ten repetitions; both are then averaged over "
    "the sets. The paper has 48 sets, and does not define its standard deviations."
)
# Mean and standard deviation, in percent, for lambda = 0.1, 0.3, 0.5, 0.7
PRINTED = {
    (300, BSS): ((31.76, 0.68), (31.46, 0.67), (31.24, 0.65), (31.03, 0.66)),
    (300, LEVERAGE): ((38.22, 1.26), (37.63, 1.25), (37.23, 1.24), (36.94, 1.24)),
    (300, RRQR): ((37.84, 1.20), (37.07, 1.19), (36.57, 1.18), (36.10, 1.18)),
    (300, RANDOM): ((50.01, 1.2), (49.43, 1.2), (49.18, 1.19), (49.04, 1.19)),
    (300, GAIN): ((38.35, 1.21), (36.64, 1.18), (35.81, 1.18), (35.15, 1.17)),
    (400, BSS): ((30.59, 0.66), (30.33, 0.65), (30.11, 0.65), (29.96, 0.65)),
    (400, LEVERAGE): ((35.06, 1.21), (34.63, 1.20), (34.32, 1.2), (34.11, 1.19)),
    (400, RRQR): ((36.61, 1.19), (36.04, 1.19), (35.46, 1.18), (35.05, 1.17)),
    (400, RANDOM): ((47.82, 1.2), (47.02, 1.21), (46.59, 1.21), (46.27, 1.2)),
    (400, GAIN): ((37.37, 1.21), (35.73, 1.19), (34.88, 1.18), (34.19, 1.18)),
    (500, BSS): ((29.80, 0.77), (29.53, 0.77), (29.34, 0.76), (29.18, 0.75)),
    (500, LEVERAGE): ((33.33, 1.19), (32.98, 1.18), (32.73, 1.18), (32.52, 1.17)),
    (500, RRQR): ((35.77, 1.18), (35.18, 1.16), (34.67, 1.16), (34.25, 1.14)),
    (500, RANDOM): ((46.26, 1.21), (45.39, 1.19), (44.96, 1.19), (44.65, 1.18)),
    (500, GAIN): ((36.24, 1.20), (34.80, 1.19), (33.94, 1.18), (33.39, 1.17)),
}
METHODS = (*PAPERS, *BEYOND, ALL_FEATURES)
OTHERS = [method for method in PAPERS if method != BSS]
CELLS = [(count, alpha) for count in TEXT_COUNTS for alpha in TEXT_ALPHAS]

Means = dict[tuple[str, int, float], float]  # mean errors by method, r and lambda


def run(study: Study) -> Outcome:
    """Run table 3."""
    results = study.text
    return Outcome(
        name="table3",
        title="Table 3: out-of-sample error on TechTC",
        protocol=PROTOCOL,
        data=study.data,
        verdicts=list(_verdicts(results)),
        tables=[*(_errors(results, count) for count in TEXT_COUNTS), _tests(results)],
        charts=[_chart(results)],
    )


def _mean_over_sets(
    results: list[TextResult], method: str, count: int, alpha: float
) -> tuple[float, float]:
    """Mean error and its standard deviation in percent, both averaged over the sets."""
    rows = [result.row(method, count, alpha) for result in results]
    mean, deviation = np.mean([(100 * row.error_mean, 100 * row.error_std) for row in rows], axis=0)
    return float(mean), float(deviation)


def _errors_by_set(results: list[TextResult], method: str, count: int) -> FloatArray:
    """Error on each set in percent, averaged over all alphas."""
    errors = [
        [result.row(method, count, alpha).error_mean for alpha in TEXT_ALPHAS] for result in results
    ]
    return 100 * np.mean(errors, axis=1)


def _errors(results: list[TextResult], count: int) -> Table:
    """Printed and measured errors for one r."""
    rows = []
    for method in METHODS:
        for place, alpha in enumerate(TEXT_ALPHAS):
            printed = PRINTED[count, method][place] if method in PAPERS else (None, None)
            here = _mean_over_sets(results, method, count, alpha)
            rows.append((method, alpha, *printed, *here))
    columns = ["method", "lambda", "printed", "printed sd", "here", "here sd"]
    return Table(
        name=f"table3-r{count}",
        title=f"Error in percent, r = {count}",
        columns=columns,
        rows=rows,
        formats={"lambda": "g"} | dict.fromkeys(columns[2:], ".2f"),
        note="sd: standard deviation. The last four methods are not in the paper.",
    )


def _tests(results: list[TextResult]) -> Table:
    """Paired tests of BSS against every other method, over the sets."""
    rows = []
    for count in TEXT_COUNTS:
        ours = _errors_by_set(results, BSS, count)
        for method in METHODS:
            if method == BSS:
                continue
            theirs = _errors_by_set(results, method, count)
            test = wilcoxon_test(ours, theirs)
            better, worse = int(np.sum(ours < theirs)), int(np.sum(ours > theirs))
            rows.append((count, method, test.difference, better, worse, test.p_value))
    return Table(
        name="table3-tests",
        title="BSS against every other method, over the sets",
        columns=["r", "method", "BSS minus it", "sets BSS better", "sets BSS worse", "p"],
        rows=rows,
        formats={"BSS minus it": "+.2f", "p": ".2g"},
        note="Percentage points, averaged over the four lambdas. p: two-sided Wilcoxon signed-rank "
        "test, one difference per set.",
    )


def _verdicts(results: list[TextResult]) -> Iterator[Verdict]:
    means = {
        (method, count, alpha): _mean_over_sets(results, method, count, alpha)[0]
        for method in METHODS
        for count, alpha in CELLS
    }
    yield _leads(results, means)
    yield _same_order(means)
    yield _falls(means)


def _leads(results: list[TextResult], means: Means) -> Verdict:
    """Whether BSS has the smallest error of the paper's methods, and by how much at r = 300."""
    lead = sum(all(means[BSS, *cell] < means[method, *cell] for method in OTHERS) for cell in CELLS)
    margins, largest_p = [], 0.0
    for method in OTHERS:
        ours, theirs = (_errors_by_set(results, name, 300) for name in (BSS, method))
        test = wilcoxon_test(ours, theirs)
        margins.append(f"{method} {-test.difference:+.1f} (p = {test.p_value:.2g})")
        largest_p = max(largest_p, test.p_value)
    return judge(
        "BSS has a smaller error than leverage sampling, RRQR, information gain and random "
        "selection, for every r and lambda",
        lead == len(CELLS) and largest_p < 0.05,
        f"in {lead} of {len(CELLS)} cells it has the smallest mean over {len(results)} set(s); at "
        f"r = 300 the others are worse by, in percentage points: {', '.join(margins)}",
        exact=False,
    )


def _same_order(means: Means) -> Verdict:
    """Whether the five methods have the printed order in each cell, and close errors."""
    same = 0
    distances = []
    for count, alpha in CELLS:
        place = TEXT_ALPHAS.index(alpha)
        printed = {method: PRINTED[count, method][place][0] for method in PAPERS}
        here = {method: means[method, count, alpha] for method in PAPERS}
        same += sorted(PAPERS, key=printed.__getitem__) == sorted(PAPERS, key=here.__getitem__)
        distances += [abs(printed[method] - here[method]) for method in PAPERS]
    return judge(
        "the five methods' errors, cell by cell",
        same == len(CELLS),
        f"the order of the five is the printed one in {same} of {len(CELLS)} cells; errors differ "
        f"from the printed ones by {np.mean(distances):.1f} percentage points on average, at most "
        f"{max(distances):.1f}. The sets are not the paper's 48, nor its files",
        exact=max(distances) < 1,
    )


def _falls(means: Means) -> Verdict:
    """Whether errors fall with r, for every method and lambda."""
    falls = sum(
        means[method, 300, alpha] > means[method, 400, alpha] > means[method, 500, alpha]
        for method in PAPERS
        for alpha in TEXT_ALPHAS
    )
    total = len(PAPERS) * len(TEXT_ALPHAS)
    return judge(
        "the error falls with the number of features, for all methods",
        falls == total,
        f"from r = 300 to 400 to 500, for {falls} of {total} pairs of method and lambda",
    )


def _chart(results: list[TextResult]) -> Chart:
    panels = []
    for alpha in TEXT_ALPHAS:
        series = []
        for method in METHODS:
            points = [_mean_over_sets(results, method, count, alpha) for count in TEXT_COUNTS]
            series.append(Series(method, TEXT_COUNTS, [mean for mean, _ in points]))
        panels.append(Panel(f"lambda = {alpha:g}", series))
    return Chart(
        name="table3",
        title="Out-of-sample error by number of features",
        x_label="features selected, r",
        y_label="error, %",
        caption=f"Means over {len(results)} set(s) of documents.",
        panels=panels,
    )


def run_figures(study: Study) -> Outcome:
    """Run figures 1 and 2."""
    results = study.text
    return Outcome(
        name="figures",
        title="Figures 1 and 2: out-of-sample error on each set",
        protocol=PROTOCOL,
        data=study.data,
        verdicts=[_best_everywhere(results)],
        tables=[_results(results)],
        charts=[_chart_by_set(results, count) for count in TEXT_COUNTS],
    )


def _chart_by_set(results: list[TextResult], count: int) -> Chart:
    names = [result.name for result in results]
    panels = []
    for alpha in TEXT_ALPHAS:
        series = []
        for method in (*PAPERS, ALL_FEATURES):
            rows = [result.row(method, count, alpha) for result in results]
            means = [100 * row.error_mean for row in rows]
            spreads = np.nan_to_num([100 * row.error_std for row in rows])
            series.append(Series(method, names, means, spreads))
        panels.append(Panel(f"lambda = {alpha:g}", series))
    return Chart(
        name=f"figure-r{count}",
        title=f"Out-of-sample error on each set, r = {count}",
        x_label="set",
        y_label="error, %",
        caption="Error bars: one standard deviation to each side, over the ten repetitions.",
        panels=panels,
    )


def _results(results: list[TextResult]) -> Table:
    columns = [
        "set", "documents", "words", "method", "n_features", "alpha", "error_mean", "error_std",
        "seconds_mean", "stability", "jaccard", "n_selected",
    ]  # fmt: skip
    rows = [
        (result.name, result.n_documents, result.n_words, *(getattr(row, c) for c in columns[3:]))
        for result in results
        for row in result.rows.values()
    ]
    return Table(
        name="results",
        title="All results, set by set",
        columns=columns,
        rows=rows,
        formats=dict.fromkeys(columns[6:11], ".4f") | {"alpha": "g", "n_selected": ".1f"},
        note="error_std: over the repetitions. stability: Nogueira's index, 1 if all folds select "
        "the same words and 0 for random selections.",
    )


def _best_everywhere(results: list[TextResult]) -> Verdict:
    """In how many cells BSS has the smallest error of the paper's methods."""
    best, total = 0, len(results) * len(CELLS)
    for result in results:
        for cell in CELLS:
            errors = {method: result.rows[method, *cell].error_mean for method in PAPERS}
            best += errors[BSS] == min(errors.values())
    return judge(
        "BSS outperforms the other four on all sets, for all values of lambda",
        best == total,
        f"it has the smallest error of the five, or an equal one, in {best} of {total} cells of "
        f"set, r and lambda ({best / total:.0%})",
    )
