# SPDX-License-Identifier: BSD-3-Clause
"""Which method when: error of each method by number of features, on all available real data.

    python -m benchmarks.choice --jobs 2               writes docs/measured/choice.csv
    python -m benchmarks.choice --only golub,techtc    some of it: folders, or folders of folders

Five-fold cross-validation, repeated twice, of RLSC or ridge regression on the features that each
method selects from the training samples. The alphas are 0.01, 0.1 and 1 times the mean eigenvalue
of the kernel; each method uses its best one. Word counts are transformed to log(1 + count), other
data are standardized. Numbers of features: from a quarter of the number of samples to four times
as many, at most half of all features. Finished folds are cached in build/choice: an interrupted
run can be resumed with the same command.

The CSV has a line for each set, method and number of features. An error is a misclassification
rate, or a share of the target's variance; "excess" is the difference to all features.
"""

import argparse
import contextlib
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.engine import SHARED
from benchmarks.epsilon import data_sets, load, say
from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
    compare,
)
from ridgewise._typing import is_sparse
from ridgewise.datasets import read_techtc_folder
from ridgewise.evaluation import ALL_FEATURES, Comparison, is_classification

KINDS = {
    "techtc": "text",
    "newsgroup_pairs": "text",
    "dexter": "text",
    "golub": "gene expression",
    "ALL": "gene expression",
    "riboflavin": "gene expression",
    "arcene": "mass spectra",
    "wheat": "genetic markers",
}
SHARES = (0.25, 0.5, 1, 2, 4)  # of the number of samples
ALPHAS = (0.01, 0.1, 1.0)  # of the kernel's mean eigenvalue
MOST_SETS = 4  # of a folder of them
FIELDS = (
    *("set", "kind", "task", "n_samples", "n_features_in", "method", "share", "n_features"),
    *("error", "excess", "seconds", "stability"),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", type=lambda names: names.split(","), default=list(KINDS))
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with the real data")
    parser.add_argument("--jobs", type=int, default=1, help="folds at once")
    parser.add_argument("--cache", type=Path, default=Path("build/choice"))
    parser.add_argument("--output", type=Path, default=Path("docs/measured/choice.csv"))
    options = parser.parse_args()
    lines = []
    for folder in options.only:
        for name in list(data_sets(options.data, folder))[:MOST_SETS]:
            lines += measure(name, KINDS[folder], options)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with options.output.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    say(f"{options.output}: {len(lines)} lines")


def measure(name: str, kind: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure one data set; return its lines."""
    X, y = prepared(options.data / name)
    n, d = X.shape
    classify = is_classification(y, "auto")
    counts = {share: int(share * n) for share in SHARES if share * n <= d / 2}
    groups = [selectors(X, classify), {"BSS, slack, rank=0.9": BSSSelector(rule="slack", rank=0.9)}]
    found = [
        compare(
            group,
            X,
            y,
            alphas=[share * mean_eigenvalue(X) for share in ALPHAS],
            n_features=list(counts.values()),
            n_splits=5,
            n_repeats=2,
            n_jobs=options.jobs,
            cache=options.cache,
            progress=True,
        )
        for group in groups  # each with its own cache
    ]
    scale = 1.0 if classify else float(np.var(y))
    say(f"{name}: {n} x {d}")
    about = {
        "set": Path(name).name,
        "kind": kind,
        "task": "classes" if classify else "regression",
        "n_samples": n,
        "n_features_in": d,
    }
    return [about | line for each in found for line in results(each, counts, scale)]


def results(found: Comparison, counts: dict[float, int], scale: float) -> Iterator[dict[str, Any]]:
    """Return a line for each method and number of features, at its best alpha."""
    best_of_all = min(row.error_mean for row in found.rows if row.method == ALL_FEATURES)
    for method in found.methods[1:]:
        for share, count in counts.items():
            rows = [r for r in found.rows if (r.method, r.n_features) == (method, count)]
            best = min(rows, key=lambda row: row.error_mean)
            yield {
                "method": method,
                "share": f"{share:g}",
                "n_features": count,
                "error": f"{best.error_mean / scale:.5f}",
                "excess": f"{(best.error_mean - best_of_all) / scale:.5f}",
                "seconds": f"{best.seconds_mean:.3g}",
                "stability": f"{best.stability:.3f}",
            }


def selectors(X: Any, classify: bool) -> dict[str, Any]:
    """The methods; information gain only for classification."""
    methods: dict[str, Any] = {
        "BSS": BSSSelector(),
        "BSS, slack": BSSSelector(rule="slack"),
        "leverage sampling": LeverageSelector(),
        "largest leverage": LeverageSelector(sampling="top"),
        "RRQR": RRQRSelector(),
        "random": RandomSelector(),
    }
    if classify:
        threshold: Any = 0.0 if is_sparse(X) else "median"
        methods["information gain"] = InformationGainSelector(threshold=threshold)
    return methods


def prepared(folder: Path) -> tuple[Any, Any]:
    """Return X and y, with the usual scaling."""
    if (folder / "vectors.dat").exists():
        words = read_techtc_folder(folder)
        return words.data.log1p(), words.target
    X, lines = load(folder), (folder / "y.txt").read_text(encoding="utf-8").split("\n")
    y = np.array([line.split()[0] for line in lines if line.strip()])
    with contextlib.suppress(ValueError):  # class names stay as they are
        y = y.astype(float)
    return (X.tocsr().log1p() if is_sparse(X) else StandardScaler().fit_transform(X)), y


def mean_eigenvalue(X: Any) -> float:
    """The mean of the kernel's diagonal."""
    squares = X.multiply(X) if is_sparse(X) else X**2
    return float(squares.sum() / X.shape[0])


if __name__ == "__main__":
    main()
