# SPDX-License-Identifier: BSD-3-Clause
"""Table 1: the most frequently selected features of synthetic data."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ridgewise.datasets import make_ridge_synthetic
from ridgewise.evaluation import Comparison
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
from ridgewise.paper._study import BSS, GAIN, LEVERAGE, RANDOM, RRQR, Study
from ridgewise.selectors import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
)

TITLE = "Table 1: the most frequently selected features of synthetic data"
PROTOCOL = (
    "30 samples of 1000 features; the first k differ between the two classes, the later the more. "
    "Ten-fold cross-validation, shuffled ten times, of RLSC with r selected features. Features are "
    "counted from 1, and listed by how often they were selected; of equals the later first, the "
    "order in which the printed rows come out (the paper does not give one)."
)
COUNTS = (80, 90)  # r
RELEVANT = (90, 100)  # k
ALPHAS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
N_LISTED = 5
BIN = 10  # features, in the chart
# By r, k and method
PRINTED = {
    (80, 90, BSS): (89, 88, 87, 86, 85),
    (80, 90, RRQR): (90, 80, 79, 78, 77),
    (80, 90, LEVERAGE): (73, 85, 84, 81, 87),
    (80, 90, GAIN): (80, 79, 78, 77, 76),
    (80, 100, BSS): (100, 99, 98, 97, 95),
    (80, 100, RRQR): (100, 80, 79, 78, 77),
    (80, 100, LEVERAGE): (93, 87, 95, 97, 96),
    (80, 100, GAIN): (80, 79, 78, 77, 76),
    (90, 90, BSS): (90, 88, 87, 86, 85),
    (90, 90, RRQR): (90, 89, 88, 87, 86),
    (90, 90, LEVERAGE): (67, 88, 83, 87, 85),
    (90, 90, GAIN): (90, 89, 88, 87, 86),
    (90, 100, BSS): (100, 99, 98, 97, 96),
    (90, 100, RRQR): (100, 90, 89, 88, 87),
    (90, 100, LEVERAGE): (100, 97, 92, 48, 58),
    (90, 100, GAIN): (90, 89, 88, 87, 86),
}
TWO_VECTORS = "BSS on 2 singular vectors"  # a guess at what was printed, called what it is
METHODS = (BSS, TWO_VECTORS, LEVERAGE, RRQR, GAIN, RANDOM)
CELLS = [(r, k) for r in COUNTS for k in RELEVANT]

Found = dict[tuple[int, int], Comparison]  # by k and the number of the data set
Listed = dict[tuple[int, int, str], list[int]]  # by r, k and method


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
    n_sets = 2 if study.settings.quick else 10
    found = {
        (k, number): synthetic(study, k, number, part=(place * n_sets + number, 2 * n_sets))
        for place, k in enumerate(RELEVANT)
        for number in range(n_sets)
    }
    first = {
        (r, k, method): top_five(found[k, 0], method, r) for r, k in CELLS for method in METHODS
    }
    return Outcome(
        name="table1",
        title=TITLE,
        protocol=PROTOCOL,
        data=f"{n_sets} synthetic data sets for each k; the table lists features of the first.",
        verdicts=list(_verdicts(found, first, n_sets)),
        tables=[_features(found, first), _relevant(found, n_sets)],
        charts=[_chart(found)],
    )


def synthetic(study: Study, k: int, number: int, part: tuple[int, int] = (0, 1)) -> Comparison:
    """Compare the methods on one synthetic data set.

    Parameters
    ----------
    study : Study
        How.
    k : int
        How many of its features are relevant.
    number : int
        Which one: 0 is that of the table.
    part : tuple of int
        Which of how many this is, for the progress.

    Returns
    -------
    Comparison
    """
    X, y = make_ridge_synthetic(n_relevant=k, random_state=study.settings.seed + number)
    return study.compare(
        _selectors(), X, y, f"synthetic data, k = {k}, number {number + 1}", part,
        alphas=ALPHAS, n_features=COUNTS,
    )  # fmt: skip


def _selectors() -> dict[str, Any]:
    return {
        BSS: BSSSelector(alpha=0),
        TWO_VECTORS: BSSSelector(alpha=0, rank=2),
        LEVERAGE: LeverageSelector(),
        RRQR: RRQRSelector(restart=False),
        GAIN: InformationGainSelector(),
        RANDOM: RandomSelector(),
    }


def top_five(found: Comparison, method: str, r: int) -> list[int]:
    """The five most frequently selected features, counted from 1; of equals the later first."""
    counts = found.top_features(method, r, count=found.n_features_in)
    counts.sort(key=lambda count: (-count.share, -count.index))
    return [count.index + 1 for count in counts[:N_LISTED]]


def _tied(found: Comparison, method: str, r: int) -> int:
    """How many features were selected as often as the fifth that is listed."""
    shares = [count.share for count in found.top_features(method, r, count=found.n_features_in)]
    return shares.count(shares[N_LISTED - 1])


def _features(found: Found, first: Listed) -> Table:
    rows = []
    for r, k in CELLS:
        for method in METHODS:
            printed, here = PRINTED.get((r, k, method)), first[r, k, method]
            rows.append(
                (
                    r, k, method,
                    "-" if printed is None else _list(printed),
                    _list(here),
                    "-" if printed is None else "yes" if list(printed) == here else "no",
                    sum(feature <= k for feature in here),
                    _tied(found[k, 0], method, r),
                    100 * _error(found[k, 0], method, r),
                )
            )  # fmt: skip
    return Table(
        name="table1",
        title="The five features selected most often",
        columns=["r", "k", "method", "printed", "here", "equal", "relevant", "tied", "error, %"],
        rows=rows,
        formats={"error, %": ".2f"},
        note="relevant: how many of the five are among the first k. tied: how many features were "
        "selected as often as the fifth. error: the largest over all lambda.",
    )


def _list(features: Any) -> str:
    return ", ".join(map(str, features))


def _error(found: Comparison, method: str, r: int) -> float:
    return max(found.row(method, r, alpha).error_mean for alpha in ALPHAS)


def _relevant(found: Found, n_sets: int) -> Table:
    """On how many data sets all five are relevant."""
    rows = [
        (r, k, method, _n_relevant(found, r, k, method, n_sets), n_sets)
        for r, k in CELLS
        for method in METHODS
    ]
    return Table(
        name="table1-relevant",
        title="On how many data sets the five most frequent features are all relevant",
        columns=["r", "k", "method", "all five relevant", "data sets"],
        rows=rows,
    )


def _n_relevant(found: Found, r: int, k: int, method: str, n_sets: int) -> int:
    listed = [top_five(found[k, number], method, r) for number in range(n_sets)]
    return sum(max(features) <= k for features in listed)


def _verdicts(found: Found, first: Listed, n_sets: int) -> Iterator[Verdict]:
    reasons = {
        RRQR: "An artefact: beyond the rank there are no pivots, and columns follow as stored",
        GAIN: "An artefact: no value is zero, so that all gains are 0, and features come as stored",
        BSS: "The printed rows need a different basis: BSS on two singular vectors comes close",
        LEVERAGE: "Sampling is random, so that equality is not to be expected",
    }
    for method, reason in reasons.items():
        equal = sum(list(PRINTED[r, k, method]) == first[r, k, method] for r, k in CELLS)
        relevant = sum(feature <= k for r, k in CELLS for feature in first[r, k, method])
        yield Verdict(
            f"the row of {method}",
            REPRODUCED if equal == len(CELLS) else NOT_REPRODUCED,
            f"{equal} of {len(CELLS)} lists are as printed; {relevant} of "
            f"{len(CELLS) * N_LISTED} features listed here are relevant. {reason}",
        )
    yield _always_relevant(found, n_sets)
    worst = {method: max(_error(found[k, 0], method, r) for r, k in CELLS) for method in METHODS}
    listed = ", ".join(f"{method} {100 * error:.2f}" for method, error in worst.items())
    yield Verdict(
        "the mean out-of-sample error is 0 for all methods",
        REPRODUCED if max(worst[m] for m in METHODS if m != RANDOM) == 0 else NOT_REPRODUCED,
        f"largest error in percent: {listed}. Random selection does as well as any, so that the "
        "experiment does not tell methods apart",
    )


def _always_relevant(found: Found, n_sets: int) -> Verdict:
    total = n_sets * len(CELLS)
    plain, two = (
        sum(_n_relevant(found, r, k, method, n_sets) for r, k in CELLS)
        for method in (BSS, TWO_VECTORS)
    )
    return Verdict(
        "on each of ten data sets the five features that BSS selects most are relevant",
        REPRODUCED if plain == total else NOT_REPRODUCED,
        f"they are in {plain} of {total} cases with the printed definitions, and in {two} of "
        f"{total} on two singular vectors. One direction of the data carries the classes, and BSS "
        "weighs all directions alike",
    )


def _chart(found: Found) -> Chart:
    """How often features are selected, at the smaller r, ten features at a time."""
    panels = []
    for k in RELEVANT:
        series = [
            Series(method, *_shares(found[k, 0], method, COUNTS[0], 2 * k)) for method in METHODS
        ]
        panels.append(Panel(f"k = {k}", series))
    return Chart(
        name="table1",
        title=f"How often features are selected, r = {COUNTS[0]}",
        x_label="feature; the first k are relevant",
        y_label="share of training sets",
        caption=f"Means of {BIN} features each, on the first synthetic data set; the first 2 k of "
        "1000 features.",
        panels=panels,
    )


def _shares(found: Comparison, method: str, r: int, last: int) -> tuple[list[float], list[float]]:
    """Middles of bins of features, and how often these are selected."""
    shares = np.zeros(found.n_features_in)
    for count in found.top_features(method, r, count=found.n_features_in):
        shares[count.index] = count.share
    middles = np.arange(last // BIN) * BIN + (BIN + 1) / 2
    return middles.tolist(), shares[:last].reshape(-1, BIN).mean(axis=1).tolist()
