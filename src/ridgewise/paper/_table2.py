# SPDX-License-Identifier: BSD-3-Clause
"""Tables 2 and 4: running times."""

import timeit
from collections.abc import Iterator
from typing import Any

import numpy as np

from ridgewise._run import one_blas_thread
from ridgewise.datasets import make_ridge_synthetic
from ridgewise.paper import _outcome
from ridgewise.paper._study import BSS, GAIN, LEVERAGE, RRQR, TEXT_ALPHAS, Study
from ridgewise.paper._table1 import ALPHAS, synthetic
from ridgewise.selectors import BSSSelector, LeverageSelector

SYNTHETIC, TEXT = "synthetic", "TechTC"
PRINTED, PRINTED_RIDGE = _outcome.printed("table2"), _outcome.printed("table2", "printed_ridge")
RIDGE_SETS = ("10341_14525", "10341_61792")
METHODS = (BSS, GAIN, LEVERAGE, RRQR)

Seconds = dict[tuple[str, str], float]


def run(study: Study) -> _outcome.Outcome:
    """Run the experiment."""
    folds, whole = _fold_seconds(study), _ridge_seconds(study)
    return _outcome.make_outcome(
        "table2",
        data=f"Synthetic data, and: {study.data}",
        verdicts=list(_verdicts(folds)),
        tables=[_table("table2", folds, PRINTED), _table("table4", whole, PRINTED_RIDGE)],
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
    """Seconds on the whole data sets of the ridge experiments, by data and method."""
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
    return min(timeit.repeat(lambda: selector.fit(X), number=1, repeat=3))


def _table(name: str, seconds: Seconds, there: Seconds) -> _outcome.Table:
    rows = [
        (
            data, method,
            there[data, method], seconds[data, method],
            there[data, method] / there[data, LEVERAGE],
            seconds[data, method] / seconds[data, LEVERAGE],
        )
        for data, method in there
        if (data, method) in seconds
    ]  # fmt: skip
    return _outcome.make_table(name, rows)


def _verdicts(seconds: Seconds) -> Iterator[_outcome.Verdict]:
    for data in (SYNTHETIC, TEXT):
        there = sorted(METHODS, key=lambda method: PRINTED[data, method])
        here = sorted(METHODS, key=lambda method: seconds[data, method])
        times = ", ".join(f"{method} {seconds[data, method]:.4f} s" for method in here)
        names = ", ".join(there)
        yield _outcome.judge(
            "table2", "order", there == here, exact=False, data=data, methods=names, times=times
        )
    then = PRINTED[TEXT, BSS] / PRINTED[TEXT, LEVERAGE]
    now = seconds[TEXT, BSS] / seconds[TEXT, LEVERAGE]
    yield _outcome.judge("table2", "ratio", 0.5 < now / then < 2, then=then, now=now)


def _chart(seconds: Seconds) -> _outcome.Chart:
    panels = []
    for data in (SYNTHETIC, TEXT):
        series = [
            _outcome.Series(
                label, METHODS, [times[data, m] / times[data, LEVERAGE] for m in METHODS]
            )
            for label, times in (("printed", PRINTED), ("here", seconds))
        ]
        panels.append(_outcome.Panel(data, series))
    return _outcome.make_chart("table2", panels, log=True)
