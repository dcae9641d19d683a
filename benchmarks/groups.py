# SPDX-License-Identifier: BSD-3-Clause
"""Groups of features: what they cost, and what splines of every feature give, on one thread.

    python -m benchmarks.groups                  all of it
    python -m benchmarks.groups --only cost      a part: cost, sets, splines

Cost: a selection of 400 groups of 5 features, and one of 80, beside one of 400 features, on
Gaussian data and two sets of TechTC. Sets: on all 24 sets of TechTC. Splines: of every gene of the
ALL data (12,625 genes, 5 columns each), selected gene by gene without the 63,125 columns in memory;
the most memory that takes, and held-out errors beside those of the linear selection.
Real data is read from --data (default: the folder shared/data beside the repository) and left out,
with a word, where it is absent. Ratios count: seconds depend on the machine and what else it does.
"""

import argparse
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from threadpoolctl import threadpool_limits

from ridgewise import BSSSelector, LeverageSelector, SubsetSelector
from ridgewise.datasets import read_techtc_folder
from ridgewise.spectrum import FeatureExpansion

N_DRAWS = 400
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
TECHTC = ("10341_14525", "14630_814096")
SPLINES = SplineTransformer(n_knots=4, knots="quantile", include_bias=False)
ALPHAS = np.geomspace(1e-3, 1e4, 15)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=["cost", "sets", "splines"], help="one part only")
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with real data")
    options = parser.parse_args()
    with threadpool_limits(1):
        if options.only in (None, "cost"):
            compare_costs(options.data)
        if options.only in (None, "sets"):
            compare_sets(options.data)
        if options.only in (None, "splines"):
            measure_memory(options.data)
            compare_errors(options.data)


def selectors() -> dict[str, Any]:
    """What is measured, by its name."""
    found: dict[str, Any] = {
        f"BSS, {rule}": BSSSelector(N_DRAWS, rule=rule) for rule in ("norm", "slack", "ratio")
    }
    found["leverage"] = LeverageSelector(N_DRAWS, sampling="top")
    found["subset"] = SubsetSelector(N_DRAWS, bound=False)
    return found


def in_groups(X: Any) -> Any:
    """Random groups of 5."""
    return np.random.default_rng(0).permutation(X.shape[1]) // 5


def compare_costs(data: Path) -> None:
    """Seconds of a selection with groups of 5, and without."""
    X = np.random.default_rng(0).standard_normal((200, 20_000))
    sets: dict[str, tuple[Any, Any]] = {"Gaussian 200 x 20,000, groups=5": (X, 5)}
    for name in TECHTC:
        folder = data / "techtc" / f"Exp_{name}"
        if not folder.is_dir():
            print(f"no {folder}: left out")
            continue
        X = read_techtc_folder(folder).data
        sets[f"TechTC {name}, random groups of 5"] = X, in_groups(X)
    print("seconds of 400 features; 400 groups of 5, ratio; 80 groups of 5, ratio")
    for name, (X, groups) in sets.items():
        for kind, selector in selectors().items():
            single = seconds(selector, X)
            grouped = seconds(clone(selector).set_params(groups=groups), X)
            fewer = clone(selector).set_params(groups=groups, n_features_to_select=N_DRAWS // 5)
            as_many = seconds(fewer, X)
            print(
                f"{name:40} {kind:10} {single:7.3f} {grouped:7.3f} {grouped / single:6.2f} "
                f"{as_many:7.3f} {as_many / single:6.2f}"
            )


def compare_sets(data: Path) -> None:
    """Ratios on all sets of TechTC."""
    folders = sorted((data / "techtc").glob("Exp_*"))
    if not folders:
        print(f"no {data / 'techtc'}: left out")
        return
    print(f"400 random groups of 5 beside 400 features on {len(folders)} sets of TechTC, ratios")
    ratios: dict[str, list[float]] = {kind: [] for kind in selectors()}
    for folder in folders:
        X = read_techtc_folder(folder).data
        for kind, selector in selectors().items():
            grouped = clone(selector).set_params(groups=in_groups(X))
            ratios[kind].append(seconds(grouped, X) / seconds(selector, X))
    for kind, found in ratios.items():
        print(f"{kind:10} median {np.median(found):.2f}, {min(found):.2f} to {max(found):.2f}")


def seconds(selector: Any, X: Any) -> float:
    """The least of three fits."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        clone(selector).fit(X)
        times.append(time.perf_counter() - start)
    return min(times)


def measure_memory(data: Path) -> None:
    """The most memory that a selection of splines of ALL takes."""
    if not (data / "ALL").is_dir():
        print(f"no {data / 'ALL'}: left out")
        return
    X, _ = read(data / "ALL")
    for selector in (BSSSelector(400), SubsetSelector(50)):
        with sklearn.config_context(working_memory=16):
            tracemalloc.start()
            start = time.perf_counter()
            expanded = FeatureExpansion(SPLINES).fit_transform(X)
            selector.set_params(center=True).fit(expanded)
            taken = time.perf_counter() - start
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        n, columns = expanded.shape
        print(
            f"splines of ALL, {n} x {X.shape[1]:,} genes = {columns:,} columns of "
            f"{8 * n * columns / 1e6:.1f} MB: {len(selector.selected_groups_)} genes by "
            f"{type(selector).__name__} in {taken:.1f} s (traced), peak {peak / 1e6:.1f} MB"
        )
        print(selector.certificate_)


def compare_errors(data: Path) -> None:
    """Held-out errors of ridge models of selected features, linear and additive."""
    print("held-out error, five folds (classes: share that is wrong; numbers: 1 - R^2)")
    for name in ("ALL", "golub", "riboflavin"):
        if not (data / name).is_dir():
            print(f"no {data / name}: left out")
            continue
        X, y = read(data / name)
        is_number = y.dtype.kind == "f"
        model = RidgeCV(ALPHAS) if is_number else RidgeClassifierCV(ALPHAS)
        splits = KFold if is_number else StratifiedKFold
        folds = splits(5, shuffle=True, random_state=0)
        for selector in (
            BSSSelector(20, center=True, rescale=False),
            BSSSelector(100, center=True, rescale=False),
            SubsetSelector(20, center=True, bound=False),
            SubsetSelector(20, target="y", center=True, bound=False),
            SubsetSelector(100, target="y", center=True, bound=False),
        ):
            errors = [
                1 - cross_val_score(make_pipeline(first, clone(selector), model), X, y, cv=folds)
                for first in (StandardScaler(), FeatureExpansion(SPLINES))
            ]
            linear, additive = (part.mean() for part in errors)
            shown = f"{type(selector).__name__} {selector.n_features_to_select}"
            shown += f" {selector.target}" if hasattr(selector, "target") else ""
            print(f"{name:12} {shown:24} linear {linear:.3f}  additive {additive:.3f}", flush=True)


def read(folder: Path) -> tuple[Any, Any]:
    """X and y of a folder of the real data."""
    X = np.load(folder / "X.npz")["X"].astype(np.float64)
    y = np.array((folder / "y.txt").read_text().split())
    try:
        return X, y.astype(np.float64)
    except ValueError:
        return X, y


if __name__ == "__main__":
    main()
