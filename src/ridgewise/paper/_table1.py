# SPDX-License-Identifier: BSD-3-Clause
"""Table 1: the most frequently selected features of synthetic data."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.datasets import make_ridge_synthetic
from ridgewise.evaluation import Comparison
from ridgewise.paper import _outcome
from ridgewise.paper._study import BSS, GAIN, LEVERAGE, RANDOM, RRQR, Study, selectors
from ridgewise.selectors import BSSSelector

COUNTS = (80, 90)  # r
RELEVANT = (90, 100)  # k
ALPHAS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
N_LISTED = 5
BIN = 10  # features per bin of the chart
PRINTED = _outcome.printed("table1")
TWO_VECTORS = "BSS on 2 singular vectors"  # a guess at how the printed row was computed
METHODS = (BSS, TWO_VECTORS, LEVERAGE, RRQR, GAIN, RANDOM)
CELLS = [(r, k) for r in COUNTS for k in RELEVANT]

Found = dict[tuple[int, int], Comparison]  # by k and the number of the data set
Listed = dict[tuple[int, int, str], list[list[int]]]  # by r, k and method: one list per data set


def run(study: Study) -> _outcome.Outcome:
    """Run the experiment."""
    n_sets = study.settings.n_synthetic
    found = {
        (k, number): synthetic(study, k, number, part=(place * n_sets + number, 2 * n_sets))
        for place, k in enumerate(RELEVANT)
        for number in range(n_sets)
    }
    listed = {
        (r, k, method): [_most_selected(found[k, number], method, r) for number in range(n_sets)]
        for r, k in CELLS
        for method in METHODS
    }
    return _outcome.make_outcome(
        "table1",
        data=f"{n_sets} synthetic data sets for each k; the table lists features of the first.",
        verdicts=list(_verdicts(found, listed)),
        tables=[_features(found, listed), _relevant(listed)],
        charts=[_chart(found)],
    )


def synthetic(study: Study, k: int, number: int, part: tuple[int, int] = (0, 1)) -> Comparison:
    """Compare the methods on a synthetic data set with k relevant features."""
    X, y = make_ridge_synthetic(n_relevant=k, random_state=study.settings.seed + number)
    two_vectors = {TWO_VECTORS: BSSSelector(alpha=0, rank=2)}
    return study.compare(
        selectors(BSS) | two_vectors | selectors(LEVERAGE, RRQR, GAIN, RANDOM), X, y,
        f"synthetic data, k = {k}, number {number + 1}", part, alphas=ALPHAS, n_features=COUNTS,
    )  # fmt: skip


def _shares(found: Comparison, method: str, r: int) -> FloatArray:
    """The share of training sets in which each feature is selected."""
    shares = np.zeros(found.n_features_in)
    for count in found.top_features(method, r, count=found.n_features_in):
        shares[count.index] = count.share
    return shares


def _most_selected(found: Comparison, method: str, r: int) -> list[int]:
    """The five most frequently selected features, numbered from 1; ties: larger numbers first."""
    by_share = np.argsort(_shares(found, method, r), kind="stable")[::-1]
    return [int(feature) + 1 for feature in by_share[:N_LISTED]]


def _features(found: Found, listed: Listed) -> _outcome.Table:
    rows = []
    for r, k in CELLS:
        for method in METHODS:
            there, here = PRINTED.get((r, k, method)), listed[r, k, method][0]
            shares = _shares(found[k, 0], method, r)
            rows.append(
                (
                    r, k, method,
                    None if there is None else ", ".join(map(str, there)),
                    ", ".join(map(str, here)),
                    None if there is None else "yes" if there == here else "no",
                    sum(feature <= k for feature in here),
                    int(np.sum(shares == shares[here[-1] - 1])),
                    100 * _error(found[k, 0], method, r),
                )
            )  # fmt: skip
    return _outcome.make_table("table1", rows)


def _error(found: Comparison, method: str, r: int) -> float:
    return max(found.row(method, r, alpha).error_mean for alpha in ALPHAS)


def _relevant(listed: Listed) -> _outcome.Table:
    rows = [(*cell, _n_relevant(listed, *cell), len(lists)) for cell, lists in listed.items()]
    return _outcome.make_table("table1-relevant", rows)


def _n_relevant(listed: Listed, r: int, k: int, method: str) -> int:
    """On how many data sets the five most frequent features are all relevant."""
    return sum(max(features) <= k for features in listed[r, k, method])


def _verdicts(found: Found, listed: Listed) -> Iterator[_outcome.Verdict]:
    judge, total = partial(_outcome.judge, "table1"), len(CELLS)
    for method, reason in _outcome.PAPER["table1"]["reasons"].items():
        first = {(r, k): listed[r, k, method][0] for r, k in CELLS}
        equal = sum(PRINTED[*cell, method] == first[cell] for cell in CELLS)
        relevant = sum(feature <= k for r, k in CELLS for feature in first[r, k])
        case = {"equal": equal, "total": total, "relevant": relevant, "listed": total * N_LISTED}
        yield judge("row", equal == total, method=method, reason=reason, **case)

    total = sum(len(listed[r, k, BSS]) for r, k in CELLS)
    plain, two = (
        sum(_n_relevant(listed, r, k, method) for r, k in CELLS) for method in (BSS, TWO_VECTORS)
    )
    yield judge("always relevant", plain == total, plain=plain, two=two, total=total)

    worst = {method: max(_error(found[k, 0], method, r) for r, k in CELLS) for method in METHODS}
    errors = ", ".join(f"{method} {100 * error:.2f}" for method, error in worst.items())
    holds = max(worst[method] for method in METHODS if method != RANDOM) == 0
    yield judge("no error", holds, errors=errors)


def _chart(found: Found) -> _outcome.Chart:
    """How often features are selected at the smaller r, in bins of ten."""
    panels = []
    for k in RELEVANT:
        midpoints = (np.arange(2 * k // BIN) * BIN + (BIN + 1) / 2).tolist()
        series = []
        for method in METHODS:
            shares = _shares(found[k, 0], method, COUNTS[0])[: 2 * k]
            series.append(
                _outcome.Series(method, midpoints, shares.reshape(-1, BIN).mean(axis=1).tolist())
            )
        panels.append(_outcome.Panel(f"k = {k}", series))
    return _outcome.make_chart("table1", panels, r=COUNTS[0], bin=BIN)
