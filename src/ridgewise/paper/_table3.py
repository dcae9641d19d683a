# SPDX-License-Identifier: BSD-3-Clause
"""Table 3, and figures 1 and 2: out-of-sample error of RLSC on TechTC."""

from collections.abc import Iterator
from operator import attrgetter

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.evaluation import ALL_FEATURES, wilcoxon_test
from ridgewise.paper import _outcome
from ridgewise.paper._study import BEYOND, BSS, PAPERS, TEXT_ALPHAS, TEXT_COUNTS, Study, TextResult

PRINTED = _outcome.printed("table3")
METHODS = (*PAPERS, *BEYOND, ALL_FEATURES)
CELLS = [(count, alpha) for count in TEXT_COUNTS for alpha in TEXT_ALPHAS]

Means = dict[tuple[str, int, float], float]  # mean errors by method, r and lambda


def run(study: Study) -> _outcome.Outcome:
    """Run table 3."""
    results = study.text
    return _outcome.make_outcome(
        "table3",
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


def _errors(results: list[TextResult], count: int) -> _outcome.Table:
    """Printed and measured errors for one r."""
    rows = []
    for method in METHODS:
        for place, alpha in enumerate(TEXT_ALPHAS):
            there = PRINTED[count, method][place] if method in PAPERS else (None, None)
            here = _mean_over_sets(results, method, count, alpha)
            rows.append((method, alpha, *there, *here))
    return _outcome.make_table("table3-r", rows, f"table3-r{count}", count=count)


def _tests(results: list[TextResult]) -> _outcome.Table:
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
    return _outcome.make_table("table3-tests", rows)


def _verdicts(results: list[TextResult]) -> Iterator[_outcome.Verdict]:
    means = {
        (method, count, alpha): _mean_over_sets(results, method, count, alpha)[0]
        for method in METHODS
        for count, alpha in CELLS
    }
    yield _leads(results, means)
    yield _same_order(means)
    falls = sum(
        means[method, 300, alpha] > means[method, 400, alpha] > means[method, 500, alpha]
        for method in PAPERS
        for alpha in TEXT_ALPHAS
    )
    total = len(PAPERS) * len(TEXT_ALPHAS)
    yield _outcome.judge("table3", "falls", falls == total, falls=falls, total=total)


def _leads(results: list[TextResult], means: Means) -> _outcome.Verdict:
    """Whether BSS has the smallest error of the paper's methods, and by how much at r = 300."""
    others = [method for method in PAPERS if method != BSS]
    lead = sum(all(means[BSS, *cell] < means[method, *cell] for method in others) for cell in CELLS)
    ours = _errors_by_set(results, BSS, 300)
    tests = {m: wilcoxon_test(ours, _errors_by_set(results, m, 300)) for m in others}
    holds = lead == len(CELLS) and all(test.p_value < 0.05 for test in tests.values())
    margins = ", ".join(
        f"{method} {-test.difference:+.1f} (p = {test.p_value:.2g})"
        for method, test in tests.items()
    )
    case = {"lead": lead, "total": len(CELLS), "n_sets": len(results), "margins": margins}
    return _outcome.judge("table3", "leads", holds, exact=False, **case)


def _same_order(means: Means) -> _outcome.Verdict:
    """Whether the five methods have the printed order in each cell, and close errors."""
    same, total, distances = 0, len(CELLS), []
    for count, alpha in CELLS:
        place = TEXT_ALPHAS.index(alpha)
        there = {method: PRINTED[count, method][place][0] for method in PAPERS}
        here = {method: means[method, count, alpha] for method in PAPERS}
        same += sorted(PAPERS, key=there.__getitem__) == sorted(PAPERS, key=here.__getitem__)
        distances += [abs(there[method] - here[method]) for method in PAPERS]
    case = {"same": same, "total": total, "mean": np.mean(distances), "largest": max(distances)}
    return _outcome.judge("table3", "order", same == total, exact=max(distances) < 1, **case)


def _chart(results: list[TextResult]) -> _outcome.Chart:
    panels = []
    for alpha in TEXT_ALPHAS:
        series = []
        for method in METHODS:
            points = [_mean_over_sets(results, method, count, alpha) for count in TEXT_COUNTS]
            series.append(_outcome.Series(method, TEXT_COUNTS, [mean for mean, _ in points]))
        panels.append(_outcome.Panel(f"lambda = {alpha:g}", series))
    return _outcome.make_chart("table3", panels, n_sets=len(results))


def run_figures(study: Study) -> _outcome.Outcome:
    """Run figures 1 and 2."""
    results = study.text
    return _outcome.make_outcome(
        "figures",
        data=study.data,
        verdicts=[_best_everywhere(results)],
        tables=[_results(results)],
        charts=[_chart_by_set(results, count) for count in TEXT_COUNTS],
    )


def _chart_by_set(results: list[TextResult], count: int) -> _outcome.Chart:
    names = [result.name for result in results]
    panels = []
    for alpha in TEXT_ALPHAS:
        series = []
        for method in (*PAPERS, ALL_FEATURES):
            rows = [result.row(method, count, alpha) for result in results]
            means = [100 * row.error_mean for row in rows]
            spreads = np.nan_to_num([100 * row.error_std for row in rows])
            series.append(_outcome.Series(method, names, means, spreads))
        panels.append(_outcome.Panel(f"lambda = {alpha:g}", series))
    return _outcome.make_chart("figure-r", panels, f"figure-r{count}", count=count)


def _results(results: list[TextResult]) -> _outcome.Table:
    measured = _outcome.PAPER["tables"]["results"]["columns"][3:]
    rows = [
        (result.name, result.n_documents, result.n_words, *attrgetter(*measured)(row))
        for result in results
        for row in result.rows.values()
    ]
    return _outcome.make_table("results", rows)


def _best_everywhere(results: list[TextResult]) -> _outcome.Verdict:
    """In how many cells BSS has the smallest error of the paper's methods."""
    total = len(results) * len(CELLS)
    best = sum(
        result.rows[BSS, *cell].error_mean
        == min(result.rows[method, *cell].error_mean for method in PAPERS)
        for result in results
        for cell in CELLS
    )
    share = best / total
    return _outcome.judge("figures", "best", best == total, best=best, total=total, share=share)
