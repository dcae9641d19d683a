# SPDX-License-Identifier: BSD-3-Clause
"""Tables 2 and 4: running times."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from ridgewise._threads import one_blas_thread
from ridgewise.datasets import make_ridge_synthetic
from ridgewise.paper._outcome import (
    NOT_REPRODUCED,
    REPRODUCED,
    SAME_ORDERING,
    Chart,
    Outcome,
    Panel,
    Series,
    Table,
    Verdict,
)
from ridgewise.paper._study import BSS, GAIN, LEVERAGE, RRQR, TEXT_ALPHAS, Study
from ridgewise.paper.table1 import ALPHAS, synthetic
from ridgewise.selectors import BSSSelector, LeverageSelector

TITLE = "Tables 2 and 4: running times"
PROTOCOL = (
    "Seconds to select features from a training set, spectrum included, each on one thread, "
    "averaged over all folds: synthetic data at k = 90, r = 80, and documents at r = 400. Then "
    "once on whole data sets, as in the paper's experiments on ridge regression. Machines differ, "
    "so that ratios to leverage sampling are what can be compared; the paper's BSS looks at all "
    "features in every step, and this one does not."
)
SYNTHETIC, TEXT = "synthetic", "TechTC"
# Seconds
PRINTED = {
    (SYNTHETIC, BSS): 0.1025,
    (SYNTHETIC, GAIN): 0.0003,
    (SYNTHETIC, LEVERAGE): 0.0031,
    (SYNTHETIC, RRQR): 0.0016,
    (TEXT, BSS): 75.7624,
    (TEXT, GAIN): 0.0242,
    (TEXT, LEVERAGE): 0.4054,
    (TEXT, RRQR): 0.2631,
}
RIDGE_SETS = ("10341_14525", "10341_61792")
PRINTED_RIDGE = {
    (SYNTHETIC, BSS): 0.3368,
    (SYNTHETIC, LEVERAGE): 0.0045,
    (RIDGE_SETS[0], BSS): 68.8474,
    (RIDGE_SETS[0], LEVERAGE): 0.3994,
    (RIDGE_SETS[1], BSS): 67.013,
    (RIDGE_SETS[1], LEVERAGE): 0.3909,
}
METHODS = (BSS, GAIN, LEVERAGE, RRQR)
N_TIMES = 3  # the best of so many counts, where one data set is timed

Seconds = dict[tuple[str, str], float]


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
    folds, whole = _fold_seconds(study), _ridge_seconds(study)
    tables = [
        _table("table2", "Seconds to select, averaged over folds", folds, PRINTED),
        _table("table4", "Seconds to select from whole data sets", whole, PRINTED_RIDGE),
    ]
    return Outcome(
        name="table2",
        title=TITLE,
        protocol=PROTOCOL,
        data=f"Synthetic data, and: {study.data}",
        verdicts=list(_verdicts(folds)),
        tables=tables,
        charts=[_chart(folds)],
    )


def _fold_seconds(study: Study) -> Seconds:
    """Mean seconds by data and method."""
    found = synthetic(study, k=90, number=0)
    seconds: Seconds = {}
    for method in METHODS:
        seconds[SYNTHETIC, method] = found.row(method, 80, ALPHAS[0]).seconds_mean
        rows = [result.rows[method, 400, TEXT_ALPHAS[0]] for result in study.text]
        seconds[TEXT, method] = float(np.mean([row.seconds_mean for row in rows]))
    return seconds


def _ridge_seconds(study: Study) -> Seconds:
    """Seconds on the whole of the data sets of the ridge experiments, by data and method."""
    X, _ = make_ridge_synthetic(random_state=study.settings.seed)
    data: dict[str, tuple[Any, int]] = {SYNTHETIC: (X, 8 * X.shape[0])}
    data |= {name: (study.load(name).data, 400) for name in RIDGE_SETS if name in study.names}
    seconds = {}
    with one_blas_thread():
        for name, (X, r) in data.items():
            seconds[name, BSS] = _best(BSSSelector(r, alpha=0), X)
            seconds[name, LEVERAGE] = _best(LeverageSelector(r, random_state=0), X)
    return seconds


def _best(selector: Any, X: Any) -> float:
    times = []
    for _ in range(N_TIMES):
        start = perf_counter()
        selector.fit(X)
        times.append(perf_counter() - start)
    return min(times)


def _table(name: str, title: str, seconds: Seconds, printed: Seconds) -> Table:
    rows = [
        (
            data, method,
            printed[data, method], seconds[data, method],
            printed[data, method] / printed[data, LEVERAGE],
            seconds[data, method] / seconds[data, LEVERAGE],
        )
        for data, method in printed
        if (data, method) in seconds
    ]  # fmt: skip
    columns = ["data", "method", "printed, s", "here, s", "printed / leverage", "here / leverage"]
    formats = dict(zip(columns[2:], (".4f", ".4f", ".2f", ".2f"), strict=True))
    return Table(name=name, title=title, columns=columns, rows=rows, formats=formats)


def _verdicts(seconds: Seconds) -> Iterator[Verdict]:
    for data in (SYNTHETIC, TEXT):
        printed = sorted(METHODS, key=lambda method: PRINTED[data, method])
        here = sorted(METHODS, key=lambda method: seconds[data, method])
        yield Verdict(
            f"{data}: from the fastest to the slowest " + ", ".join(printed),
            SAME_ORDERING if printed == here else NOT_REPRODUCED,
            "here " + ", ".join(f"{method} {seconds[data, method]:.4f} s" for method in here),
        )
    then = PRINTED[TEXT, BSS] / PRINTED[TEXT, LEVERAGE]
    now = seconds[TEXT, BSS] / seconds[TEXT, LEVERAGE]
    yield Verdict(
        f"BSS takes {then:.0f} times as long as leverage sampling on TechTC",
        REPRODUCED if 0.5 < now / then < 2 else NOT_REPRODUCED,
        f"{now:.1f} times here: the same selection, by an engine that looks at few rows a draw",
    )


def _chart(seconds: Seconds) -> Chart:
    panels = []
    for data in (SYNTHETIC, TEXT):
        series = [
            Series(label, METHODS, [times[data, m] / times[data, LEVERAGE] for m in METHODS])
            for label, times in (("printed", PRINTED), ("here", seconds))
        ]
        panels.append(Panel(data, series))
    return Chart(
        name="table2",
        title="Time to select, as a multiple of leverage sampling's",
        x_label="method",
        y_label="times leverage sampling",
        caption="Ratios within one machine, which can be compared between machines.",
        panels=panels,
        log=True,
    )
