# SPDX-License-Identifier: BSD-3-Clause
"""Figures 3 and 4: the risk of ridge regression in the fixed design."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from ridgewise._run import one_blas_thread
from ridgewise._typing import FloatArray
from ridgewise.datasets import make_ridge_regression
from ridgewise.evaluation import ALL_FEATURES
from ridgewise.guarantees import ridge_risk
from ridgewise.paper import _outcome
from ridgewise.paper._study import BSS, LEVERAGE, STANDARD_LIBRARY, TEXT_COUNTS, Study
from ridgewise.paper._table2 import RIDGE_SETS
from ridgewise.selectors import BSSSelector, LeverageSelector

NOISE_VARIANCE = 1.0
COMPARABLE = 1.25  # largest ratio to the risk of all features that counts as "comparable"
N_DRAWS = 5
SYNTHETIC_COUNTS = (6, 7, 8, 9)  # times the number of samples
RELEVANT = (90, 100)
SYNTHETIC_LAMBDAS = (0.1, 0.3, 0.5, 0.7)
TEXT_LAMBDAS = (0.1, 0.3, 0.5)

Problem = tuple[Any, FloatArray]  # X and z


@dataclass(frozen=True)
class Line:
    """The risks for one data set, r and lambda, and the certified bounds on BSS / all."""

    data: str
    r: int
    lambda_: float  # of the model: alpha is n times that
    all_features: float
    bss: float
    leverage: float
    certified: float  # for every z
    certified_here: float  # for this z

    @property
    def ratio(self) -> float:
        """The risk of BSS relative to that of all features."""
        return self.bss / self.all_features


def run(study: Study) -> _outcome.Outcome:
    """Run the experiment."""
    lines = list(_lines(study))
    return _outcome.make_outcome(
        "risk",
        data=f"Synthetic data, {study.settings.n_synthetic} sets averaged, and: {study.data}",
        verdicts=list(_verdicts(lines)),
        tables=[_table(lines)],
        charts=[_chart(lines, name) for name in dict.fromkeys(line.data for line in lines)],
    )


def _lines(study: Study) -> Iterator[Line]:
    seed = study.settings.seed
    for k in RELEVANT:
        problems = []
        for number in range(study.settings.n_synthetic):
            X, _, z = make_ridge_regression(
                n_relevant=k, noise_variance=NOISE_VARIANCE, random_state=seed + number
            )
            problems.append((X, z))
        counts = [times * problems[0][0].shape[0] for times in SYNTHETIC_COUNTS]
        yield from _measure(f"synthetic, k = {k}", problems, counts, SYNTHETIC_LAMBDAS, study)
    names = [name for name in RIDGE_SETS if name in study.names] or study.names[:1]
    for name in names or [STANDARD_LIBRARY]:
        documents = study.load(name)
        z = np.where(documents.target == documents.target.max(), 1.0, -1.0)
        yield from _measure(name, [(documents.data, z)], TEXT_COUNTS, TEXT_LAMBDAS, study)


def _measure(
    name: str, problems: list[Problem], counts: Any, lambdas: tuple[float, ...], study: Study
) -> Iterator[Line]:
    """Average over the problems, for every r and lambda."""
    for number, r in enumerate(counts, 1):
        with one_blas_thread():
            measured = [_risks(X, z, r, lambdas) for X, z in problems]
        study.settings.on_progress(f"risk: {name}", number, len(counts))
        for lambda_, values in zip(lambdas, np.mean(measured, axis=0), strict=True):
            yield Line(name, r, lambda_, *values.tolist())


def _risks(X: Any, z: FloatArray, r: int, lambdas: tuple[float, ...]) -> FloatArray:
    """The risks and factors of `Line`, one row per lambda."""
    bss = BSSSelector(r, alpha=0).fit(X)
    draws = [LeverageSelector(r, random_state=seed).fit(X) for seed in range(N_DRAWS)]
    K, K_bss, *K_draws = (
        safe_sparse_dot(part, part.T, dense_output=True)
        for part in (X, bss.transform(X), *(draw.transform(X) for draw in draws))
    )
    # ||U^T beta|| of the shortest beta with X beta = z: sqrt(z^T K^+ z)
    norm = max(float(z @ np.linalg.pinv(K, hermitian=True) @ z), 0.0) ** 0.5
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


def _table(lines: list[Line]) -> _outcome.Table:
    rows = [
        (
            line.data, line.r, line.lambda_, line.all_features, line.bss, line.leverage,
            line.ratio, line.leverage / line.all_features, line.certified_here, line.certified,
        )
        for line in lines
    ]  # fmt: skip
    return _outcome.make_table("risk", rows)


def _verdicts(lines: list[Line]) -> Iterator[_outcome.Verdict]:
    judge, n_cases = partial(_outcome.judge, "risk"), len(lines)
    ratios = np.array([line.ratio for line in lines])
    near = int(np.sum(ratios <= COMPARABLE))
    case = {"limit": COMPARABLE, "near": near, "largest": ratios.max()}
    yield judge("comparable", near > n_cases / 2, n_cases=n_cases, **case)

    by_lambda, by_r = defaultdict(list), defaultdict(list)
    for line in lines:
        if line.data.startswith("synthetic"):
            by_lambda[line.data, line.r].append(line.ratio)
        else:
            by_r[line.data, line.lambda_].append(line.bss)
    worse = sum(values[-1] > values[0] for values in by_lambda.values())
    yield judge("lambda", worse == len(by_lambda), worse=worse, n_pairs=len(by_lambda))
    falls = sum(values == sorted(values, reverse=True) for values in by_r.values())
    first, *_, last = TEXT_COUNTS
    case = {"falls": falls, "n_pairs": len(by_r), "first": first, "last": last}
    yield judge("falls", falls == len(by_r), **case)

    differences = np.array([abs(line.bss / line.leverage - 1) for line in lines])
    median = float(np.median(differences))
    yield judge("leverage", median < 0.1, median=median, largest=differences.max())
    exceeded = sum(
        line.ratio > min(line.certified, line.certified_here) * (1 + 1e-9) for line in lines
    )
    yield judge("certified", exceeded == 0, exceeded=exceeded, n_cases=n_cases)


def _chart(lines: list[Line], name: str) -> _outcome.Chart:
    panels = []
    chosen = [line for line in lines if line.data == name]
    for r in dict.fromkeys(line.r for line in chosen):
        of_r = [line for line in chosen if line.r == r]
        x = [line.lambda_ for line in of_r]
        series = [
            _outcome.Series(ALL_FEATURES, x, [line.all_features for line in of_r]),
            _outcome.Series(BSS, x, [line.bss for line in of_r]),
            _outcome.Series(LEVERAGE, x, [line.leverage for line in of_r]),
        ]
        panels.append(_outcome.Panel(f"r = {r}", series))
    stem = "-".join(["risk", *re.findall(r"[^\W_]+", name.lower())])
    return _outcome.make_chart("risk", panels, stem, data=name)
