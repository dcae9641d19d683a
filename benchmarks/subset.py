# SPDX-License-Identifier: BSD-3-Clause
"""What SubsetSelector costs, in times of LeverageSelector; its bound and groups, in times of it.

Groups are of 5 features: consecutive ones, or random ones where X is sparse.

    python -m benchmarks.subset                    all of it
    python -m benchmarks.subset --only techtc      a part: techtc, gaussian, wide, ALL

One thread, CPU time, the best of several runs. Ratios count: seconds depend on the machine.
Real data is read from --data and left out, with a word, where it is absent.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from benchmarks.engine import SHARED
from ridgewise import LeverageSelector, SubsetSelector
from ridgewise.datasets import read_techtc_folder

RUNS = 5
GROUP = 5  # features


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", type=lambda names: names.split(","), default=list(DATA))
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with the real data")
    options = parser.parse_args()
    with threadpool_limits(1):
        for name in options.only:
            for line in measure(name, options.data):
                print(line, flush=True)


def measure(name: str, folder: Path) -> Iterator[str]:
    """A line for each target, and one for groups."""
    try:
        X, y, size, center = DATA[name](folder)
    except FileNotFoundError as error:
        yield f"{name}: left out, {error.filename} is not there"
        return
    for target in ("data", "y"):
        subset = SubsetSelector(size, target=target, center=center, bound=False)
        bounded = SubsetSelector(size, target=target, center=center)
        times = best_times(
            lambda: LeverageSelector(size, center=center, random_state=0).fit(X),
            lambda subset=subset: subset.fit(X, y),
            lambda bounded=bounded: bounded.fit(X, y),
        )
        leverage, select, both = times
        assert bounded.optimality_ is not None
        yield (
            f"{name}, {X.shape[0]} x {X.shape[1]}, r = {size}, target={target!r}: "
            f"leverage {leverage:.3f} s, selection {select:.3f} s = {select / leverage:.1f} x, "
            f"bound {both - select:.3f} s = {(both - select) / select:.1f} x the selection, "
            f"gap {100 * bounded.optimality_.gap:.2f} %"
        )
    groups = np.arange(X.shape[1]) // GROUP
    if issparse(X):
        np.random.default_rng(0).shuffle(groups)
    for target in ("data", "y"):
        single = SubsetSelector(size, target=target, center=center, bound=False)
        as_many = clone(single).set_params(groups=groups)
        as_large = clone(as_many).set_params(n_features_to_select=size // GROUP)
        works = (partial(selector.fit, X, y) for selector in (single, as_many, as_large))
        select, *grouped = best_times(*works)
        ratios = [f"{time / select:.1f} x" for time in grouped]
        yield (
            f"{name}, groups of {GROUP}, target={target!r}: {size} groups take {ratios[0]}, "
            f"and {size // GROUP} groups {ratios[1]} what {size} features do"
        )


def best_times(*works: Callable[[], Any]) -> list[float]:
    """The shortest time of each."""
    best = [np.inf] * len(works)
    for _ in range(RUNS):
        for place, work in enumerate(works):
            start = process_time()
            work()
            best[place] = min(best[place], process_time() - start)
    return best


def gaussian(n: int, d: int, size: int) -> Callable[[Path], tuple[Any, Any, int, bool]]:
    def make(folder: Path) -> tuple[Any, Any, int, bool]:
        X = np.random.default_rng(0).standard_normal((n, d))
        return X, np.sign(X[:, :20].sum(axis=1)), size, False

    return make


def techtc(folder: Path) -> tuple[Any, Any, int, bool]:
    words = read_techtc_folder(folder / "techtc" / "Exp_10341_14525")
    return words.data, words.target, 400, False


def leukemia(folder: Path) -> tuple[Any, Any, int, bool]:
    X = np.load(folder / "ALL" / "X.npz")["X"].astype(np.float64)
    lines = (folder / "ALL" / "y.txt").read_text(encoding="utf-8").split("\n")
    return X, np.array([line.split()[0] for line in lines if line.strip()]), 50, True


DATA: dict[str, Callable[[Path], tuple[Any, Any, int, bool]]] = {
    "techtc": techtc,
    "gaussian": gaussian(200, 20_000, 400),
    "wide": gaussian(100, 100_000, 300),
    "ALL": leukemia,
}

if __name__ == "__main__":
    main()
