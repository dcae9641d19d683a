# SPDX-License-Identifier: BSD-3-Clause
"""Figures 3 and 4: the risk of ridge regression in the fixed design."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgewise._threads import one_blas_thread
from ridgewise._typing import FloatArray, is_sparse
from ridgewise.datasets import make_ridge_regression
from ridgewise.evaluation import ALL_FEATURES
from ridgewise.guarantees import ridge_risk
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
from ridgewise.paper._study import BSS, LEVERAGE, Study
from ridgewise.paper.table2 import RIDGE_SETS
from ridgewise.selectors import BSSSelector, LeverageSelector

TITLE = "Figures 3 and 4: the risk of ridge regression"
NOISE_VARIANCE = 1.0
PROTOCOL = (
    "The expected squared error at the training points, with K + n lambda, for all features and "
    "for r selected ones. Synthetic data: z = X beta with beta ~ N(0, 1). Documents: z are the "
    "labels. The noise has variance 1, which the paper does not give. Leverage sampling draws five "
    "times. Certified: by what the risk grows at most, whatever z is, computed from the selection; "
    "and for this z, by the corrected theorem. (The printed theorems are not true: see the page on "
    "the corrected paper.)"
)
COMPARABLE = 1.25  # at most so many times the risk of all features is "comparable"
N_DRAWS = 5
SYNTHETIC_COUNTS = (6, 7, 8, 9)  # times the number of samples
RELEVANT = (90, 100)
SYNTHETIC_LAMBDAS = (0.1, 0.3, 0.5, 0.7)
TEXT_COUNTS = (300, 400, 500)
TEXT_LAMBDAS = (0.1, 0.3, 0.5)


@dataclass(frozen=True)
class Line:
    """One data set, number of features and lambda.

    Attributes
    ----------
    data : str
        Its name.
    r : int
        How many features.
    lambda_ : float
        The model's: alpha is n times that.
    all_features, bss, leverage : float
        The risk.
    certified, certified_here : float
        By what factor that of BSS may grow, for any z and for this one.
    """

    data: str
    r: int
    lambda_: float
    all_features: float
    bss: float
    leverage: float
    certified: float
    certified_here: float


Problem = tuple[Any, FloatArray]  # X and z


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
    lines = list(_lines(study))
    return Outcome(
        name="risk",
        title=TITLE,
        protocol=PROTOCOL,
        data=f"Synthetic data, {_n_problems(study)} sets averaged, and: {study.data}",
        verdicts=list(_verdicts(lines)),
        tables=[_table(lines)],
        charts=[_chart(lines, name) for name in dict.fromkeys(line.data for line in lines)],
    )


def _n_problems(study: Study) -> int:
    return 2 if study.settings.quick else 10


def _lines(study: Study) -> Iterator[Line]:
    seed = study.settings.seed
    for k in RELEVANT:
        problems = [_synthetic(k, seed + number) for number in range(_n_problems(study))]
        counts = [times * problems[0][0].shape[0] for times in SYNTHETIC_COUNTS]
        yield from _measure(f"synthetic, k = {k}", problems, counts, SYNTHETIC_LAMBDAS, study)
    names = [name for name in RIDGE_SETS if name in study.names] or study.names[:1]
    for name in names or ["Python's standard library"]:
        documents = study.load(name)
        z = np.where(documents.target == documents.target.max(), 1.0, -1.0)
        yield from _measure(name, [(documents.data, z)], TEXT_COUNTS, TEXT_LAMBDAS, study)


def _synthetic(k: int, seed: int) -> Problem:
    X, _, z = make_ridge_regression(n_relevant=k, noise_variance=NOISE_VARIANCE, random_state=seed)
    return X, z


def _measure(
    name: str, problems: list[Problem], counts: Any, lambdas: tuple[float, ...], study: Study
) -> Iterator[Line]:
    """Average over the problems, for every number of features and lambda."""
    for number, r in enumerate(counts, 1):
        with one_blas_thread():
            measured = [_risks(X, z, r, lambdas) for X, z in problems]
        study.settings.on_progress(f"risk: {name}", number, len(counts))
        for lambda_, values in zip(lambdas, np.mean(measured, axis=0), strict=True):
            yield Line(name, r, lambda_, *values.tolist())


def _risks(X: Any, z: FloatArray, r: int, lambdas: tuple[float, ...]) -> FloatArray:
    """The columns of a line, for each lambda."""
    bss = BSSSelector(r, alpha=0).fit(X)
    draws = [LeverageSelector(r, random_state=seed).fit(X) for seed in range(N_DRAWS)]
    K, K_bss = _kernel(X), _kernel(bss.transform(X))
    K_draws = [_kernel(draw.transform(X)) for draw in draws]
    norm = _coefficient_norm(K, z)
    rows = []
    for lambda_ in lambdas:
        alpha = X.shape[0] * lambda_
        whole, selected, *sampled = (
            ridge_risk(kernel, z, NOISE_VARIANCE, alpha) for kernel in (K, K_bss, *K_draws)
        )
        inflation = bss.certificate_.risk_inflation(X, alpha)
        here = inflation.fixed_beta_bound(whole, norm) / whole.total
        average = float(np.mean([risk.total for risk in sampled]))
        rows.append([whole.total, selected.total, average, inflation.risk, here])
    return np.array(rows)


def _kernel(X: Any) -> FloatArray:
    K = X @ X.T
    return np.asarray(K.toarray() if is_sparse(K) else K)


def _coefficient_norm(K: FloatArray, z: FloatArray) -> float:
    """||U^T beta|| of the shortest beta with X beta = z: sqrt(z^T K^+ z)."""
    squared = float(z @ np.linalg.pinv(K, hermitian=True) @ z)
    return float(np.sqrt(max(squared, 0.0)))


def _table(lines: list[Line]) -> Table:
    rows = [
        (
            line.data, line.r, line.lambda_, line.all_features, line.bss, line.leverage,
            line.bss / line.all_features, line.leverage / line.all_features,
            line.certified_here, line.certified,
        )
        for line in lines
    ]  # fmt: skip
    columns = [
        "data", "r", "lambda", ALL_FEATURES, BSS, LEVERAGE, "BSS / all", "leverage / all",
        "certified, this z", "certified, any z",
    ]  # fmt: skip
    formats = (
        {"lambda": "g"} | dict.fromkeys(columns[3:6], ".4g") | dict.fromkeys(columns[6:], ".3f")
    )
    return Table(
        name="risk",
        title="Risk, and by what factor it grows",
        columns=columns,
        rows=rows,
        formats=formats,
        note="certified: the factor that BSS's risk is proved not to exceed.",
    )


def _verdicts(lines: list[Line]) -> Iterator[Verdict]:
    ratios = np.array([line.bss / line.all_features for line in lines])
    near = int(np.sum(ratios <= COMPARABLE))
    yield Verdict(
        "the risk after selection is comparable to that of all features in most cases",
        REPRODUCED if near > len(lines) / 2 else NOT_REPRODUCED,
        f"BSS: at most {COMPARABLE:g} times as large in {near} of {len(lines)} cases, at most "
        f"{ratios.max():.2f} times in all",
    )
    yield _worse_with_lambda(lines)
    yield _better_with_r(lines)
    apart = np.array([abs(line.bss / line.leverage - 1) for line in lines])
    yield Verdict(
        "the risk is almost the same for BSS and leverage sampling",
        REPRODUCED if np.median(apart) < 0.1 else NOT_REPRODUCED,
        f"they differ by {np.median(apart):.1%} in the median, at most by {apart.max():.0%}",
    )
    broken = sum(
        line.bss > min(line.certified, line.certified_here) * line.all_features * (1 + 1e-9)
        for line in lines
    )
    yield Verdict(
        "the certified factors hold",
        REPRODUCED if broken == 0 else NOT_REPRODUCED,
        f"exceeded in {broken} of {len(lines)} cases",
    )


def _worse_with_lambda(lines: list[Line]) -> Verdict:
    groups = {(line.data, line.r) for line in lines if line.data.startswith("synthetic")}
    worse = 0
    for group in groups:
        of_group = [line for line in lines if (line.data, line.r) == group]
        ends = [line.bss / line.all_features for line in (of_group[0], of_group[-1])]
        worse += ends[1] > ends[0]
    return Verdict(
        "on synthetic data selection costs more for larger lambda",
        REPRODUCED if worse == len(groups) else NOT_REPRODUCED,
        f"it does for {worse} of {len(groups)} pairs of k and r, from the smallest lambda to the "
        "largest",
    )


def _better_with_r(lines: list[Line]) -> Verdict:
    groups: dict[tuple[str, float], list[float]] = {}
    for line in lines:
        if not line.data.startswith("synthetic"):
            groups.setdefault((line.data, line.lambda_), []).append(line.bss)
    falls = sum(risks == sorted(risks, reverse=True) for risks in groups.values())
    return Verdict(
        "on documents the risk after selection falls with r",
        REPRODUCED if falls == len(groups) else NOT_REPRODUCED,
        f"it does, from {TEXT_COUNTS[0]} to {TEXT_COUNTS[-1]} words by BSS, for {falls} of "
        f"{len(groups)} pairs of set and lambda",
    )


def _chart(lines: list[Line], name: str) -> Chart:
    chosen = [line for line in lines if line.data == name]
    panels = []
    for r in dict.fromkeys(line.r for line in chosen):
        of_r = [line for line in chosen if line.r == r]
        x = [line.lambda_ for line in of_r]
        series = [
            Series(ALL_FEATURES, x, [line.all_features for line in of_r]),
            Series(BSS, x, [line.bss for line in of_r]),
            Series(LEVERAGE, x, [line.leverage for line in of_r]),
        ]
        panels.append(Panel(f"r = {r}", series))
    stem = "".join(letter if letter.isalnum() else "-" for letter in name.lower())
    return Chart(
        name=f"risk-{'-'.join(filter(None, stem.split('-')))}",
        title=f"Risk of ridge regression: {name}",
        x_label="lambda",
        y_label="risk",
        caption="In the fixed design, noise of variance 1.",
        panels=panels,
    )
