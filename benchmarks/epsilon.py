# SPDX-License-Identifier: BSD-3-Clause
"""How many features a certified epsilon takes, as a multiple of the rank, method by method.

    python -m benchmarks.epsilon                      epsilon 0.5 on the real data at hand
    python -m benchmarks.epsilon --only golub,ALL     some of the sets

Prints a Markdown table, a row a method: the smallest r / rank whose measured epsilon is at most the
one asked for, by bisection (which takes epsilon for falling with r; to two percent of r). Methods
"polished" reweight what they selected; the others' weights are scaled by 2 / (lower + upper), which
is free. "> x": not reached with x times the rank, or with half of the features.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from benchmarks.engine import SHARED, load_counts
from ridgewise import LeverageSelector, RRQRSelector
from ridgewise.barrier import RULES, polish, sparsify, weighted_spectrum
from ridgewise.spectrum import Spectrum, compute_spectrum

MOST = 10  # times the rank
SETS = ("golub", "ALL", "riboflavin", "dexter", "techtc/Exp_10341_14525", "techtc/Exp_6920_8366")

Selection = tuple[Any, Any]  # indices and weights


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--epsilon", type=float, default=0.5)
    parser.add_argument("--only", type=lambda names: tuple(names.split(",")), default=SETS)
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with the real data")
    options = parser.parse_args()
    results: dict[str, dict[str, str]] = {}
    ranks = {}
    with threadpool_limits(1):
        for name in options.only:
            X = load(options.data / name)
            spectrum = compute_spectrum(X)
            ranks[name] = spectrum.rank
            for method, select in methods(X, spectrum).items():
                for polished in (False, True):
                    row = f"{method}, polished" if polished else method
                    start = time.perf_counter()
                    found = smallest(spectrum, select, polished, options.epsilon)
                    results.setdefault(row, {})[name] = found
                    seconds = time.perf_counter() - start
                    print(f"{name}: {row}: {found} ({seconds:.0f} s)", file=sys.stderr, flush=True)
    heads = [f"{Path(name).name} ({ranks[name]})" for name in options.only]
    print(f"| r / rank for epsilon <= {options.epsilon:g} | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for row, cells in results.items():
        print(f"| {row} | " + " | ".join(cells.get(name, "") for name in options.only) + " |")


def methods(X: Any, spectrum: Spectrum) -> dict[str, Callable[[int], Selection]]:
    """Each: a number of draws -> features and weights."""

    def bss(rule: str) -> Callable[[int], Selection]:
        def select(n_draws: int) -> Selection:
            found = sparsify(spectrum, n_draws, rule)
            return found.selected, found.weights

        return select

    def sampled(n_draws: int) -> Selection:
        selector = LeverageSelector(n_draws, random_state=0).fit(X)
        return selector.selected_, selector.weights_

    by_score = np.argsort(-spectrum.leverage_scores, kind="stable")
    pivots = RRQRSelector(int(min(MOST * spectrum.rank, X.shape[1] / 2))).fit(X).selected_
    return {
        **{f"BSS, {rule}": bss(rule) for rule in RULES},
        "leverage sampling": sampled,
        "largest leverage scores": lambda n_draws: (by_score[:n_draws], np.ones(n_draws)),
        "RRQR": lambda n_draws: (pivots[:n_draws], np.ones(n_draws)),
    }


def smallest(
    spectrum: Spectrum, select: Callable[[int], Selection], polished: bool, epsilon: float
) -> str:
    """The smallest r / rank, as text."""
    rank, d = spectrum.rank, len(spectrum.leverage_scores)
    most = int(min(MOST * rank, d / 2))

    def measured(n_draws: int) -> float:
        selected, weights = select(n_draws)
        rows = spectrum.take(selected)
        if polished:
            weights = polish(rows, weights)
        lower, upper = weighted_spectrum(rows, weights)
        return (upper - lower) / (upper + lower)

    too_few, enough = rank, int(1.6 * rank)
    while measured(min(enough, most)) > epsilon:
        if enough >= most:
            return f"> {most / rank:.1f}"
        too_few, enough = enough, int(1.5 * enough)
    enough = min(enough, most)
    while enough - too_few > max(1, 0.02 * enough):
        middle = (too_few + enough) // 2
        if measured(middle) <= epsilon:
            enough = middle
        else:
            too_few = middle
    return f"{enough / rank:.2f}"


def load(folder: Path) -> Any:
    """A data set of the shared folder."""
    if (folder / "vectors.dat").exists():
        return load_counts(folder)
    with np.load(folder / "X.npz") as file:
        if "X" in file:
            return file["X"]
    return sp.load_npz(folder / "X.npz")


if __name__ == "__main__":
    main()
