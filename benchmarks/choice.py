# SPDX-License-Identifier: BSD-3-Clause
"""Which method when: error of each method by number of features, on all available real data.

    python -m benchmarks.choice --jobs 2               writes docs/measured/choice.csv
    python -m benchmarks.choice --only golub,techtc    some of it: folders, or folders of folders
    python -m benchmarks.choice --methods "l1 model"   only these methods; others stay in the CSV
    python -m benchmarks.choice --only centring        prints BSSSelector(20), centred and not
    python -m benchmarks.choice --only subset          prints SubsetSelector beside filters and BSS

Five-fold cross-validation of ridge models with an intercept, on what each method selects from the
training samples; every model has the alpha that leave-one-out chooses. Selectors that can centre
do. Word counts are transformed to log(1 + count), other data are standardized in each fold. Numbers
of features: from a tenth of the number of samples to twice as many, at most half of all features.
Finished folds are cached in build/choice: an interrupted run can be resumed with the same command.

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
from sklearn.feature_selection import SelectKBest
from sklearn.preprocessing import StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis

from benchmarks.engine import SHARED
from benchmarks.epsilon import data_sets, load, say
from ridgewise import BSSSelector, LeverageSelector, SubsetSelector, compare
from ridgewise._typing import is_sparse
from ridgewise.datasets import read_techtc_folder
from ridgewise.evaluation import ALL_FEATURES, Comparison, is_classification
from ridgewise.selectors import METHODS, make_selector

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
CENTRING = ("golub", "ALL", "arcene", "newsgroup_pairs", "riboflavin", "wheat")
SUBSET = ("golub", "ALL", "riboflavin", "wheat", "arcene", "newsgroup_pairs", "techtc")
SIZES = (20, 50, 100, 300)  # of subsets
SHARES = (0.1, 0.25, 0.5, 1, 2)  # of the number of samples
MOST_SETS = 2  # of a folder of them
VARIANTS = {"BSS, slack": {"rule": "slack"}, "BSS, slack, rank=0.9": {"rule": "slack", "rank": 0.9}}
FIELDS = (
    *("set", "kind", "task", "n_samples", "n_features_in", "method", "share", "n_features"),
    *("error", "excess", "seconds", "stability", "alpha_edge"),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", type=lambda names: names.split(","), default=list(KINDS))
    parser.add_argument(
        "--methods", type=lambda labels: labels.split(";"), metavar="A;B", help="labels"
    )
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with the real data")
    parser.add_argument("--jobs", type=int, default=1, help="folds at once")
    parser.add_argument("--cache", type=Path, default=Path("build/choice"))
    parser.add_argument("--output", type=Path, default=Path("docs/measured/choice.csv"))
    options = parser.parse_args()
    known = [*(entry.label for entry in METHODS.values()), *VARIANTS]
    if unknown := set(options.methods or ()) - set(known):
        parser.error(f"unknown methods {sorted(unknown)}: use some of {known}")
    if options.only == ["centring"]:
        compare_centring(options)
        return
    if options.only == ["subset"]:
        compare_subsets(options)
        return
    lines = []
    for folder in options.only:
        for name in list(data_sets(options.data, folder))[:MOST_SETS]:
            lines += measure(name, KINDS[folder], options)
    write(lines, options.output, keep=options.methods is not None)


def write(lines: list[dict[str, Any]], path: Path, keep: bool) -> None:
    """Write the CSV; `keep`: replace the measured lines only."""
    table: dict[tuple[str, ...], dict[str, Any]] = {}
    if keep and path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            table = {key(line): line for line in csv.DictReader(file)}
    table |= {key(line): line for line in lines}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table.values())
    say(f"{path}: {len(lines)} lines measured, {len(table)} in all")


def key(line: dict[str, Any]) -> tuple[str, ...]:
    return line["set"], line["method"], line["share"]


def compare_centring(options: argparse.Namespace) -> None:
    """Print errors of models with an intercept, on data as they come (words as logarithms)."""
    methods = {
        f"{rule}, {how}": BSSSelector(20, rule=rule, center=center)
        for rule in ("norm", "slack")
        for how, center in {"not centred": False, "centred": True}.items()
    }
    print("|", " | ".join(["data", *methods, ALL_FEATURES]), "|")
    print("|---" * (len(methods) + 2) + "|")
    for folder in CENTRING:
        name = next(data_sets(options.data, folder))
        X, y = prepared(options.data / name)
        found = compare(methods, X, y, n_splits=5, n_repeats=5, n_jobs=options.jobs)
        scale = 100 / (1.0 if found.classify else float(np.var(y)))
        errors = [found.row(method).error_mean * scale for method in [*methods, ALL_FEATURES]]
        print("|", " | ".join([Path(name).name, *(f"{error:.1f}" for error in errors)]), "|")


def compare_subsets(options: argparse.Namespace) -> None:
    """Print errors above that of all features, on data as they come (words as logarithms).

    First for each number of features, then means over these.
    """
    print_row("data", "method", *(f"r = {size}" for size in SIZES), "mean")
    print_row(*["---"] * (len(SIZES) + 3))
    means = {}
    for name in [name for folder in SUBSET for name in list(data_sets(options.data, folder))[:3]]:
        X, y = prepared(options.data / name)
        methods = subsets(classify=is_classification(y, "auto"))
        found = compare(
            methods,
            X,
            y,
            n_features=list(SIZES),
            n_splits=5,
            n_repeats=5 if X.shape[0] < 200 and not is_sparse(X) else 1,
            n_jobs=options.jobs,
            cache=options.cache,
            progress=True,
        )
        scale = 100 / (1.0 if found.classify else float(np.var(y)))
        whole, name = found.row(ALL_FEATURES).error_mean, Path(name).name
        means[name] = {ALL_FEATURES: scale * whole}
        for method in methods:
            errors = [(found.row(method, n).error_mean - whole) * scale for n in SIZES]
            means[name][method] = float(np.mean(errors))
            print_row(name, method, *errors, means[name][method])
    print()
    print_row("data", *next(iter(means.values())))
    print_row(*["---"] * (len(methods) + 2))
    for name, row in means.items():
        print_row(name, *row.values())
    print_row("mean", *np.mean([list(row.values()) for row in means.values()], axis=0))


def print_row(*cells: Any) -> None:
    texts = [cell if isinstance(cell, str) else f"{cell:.1f}" for cell in cells]
    print("|", " | ".join(texts), "|", flush=True)


def subsets(classify: bool) -> dict[str, Any]:
    """Methods without labels, then with labels."""
    return {
        "subset, data": SubsetSelector(center=True, bound=False),
        "BSS, norm": BSSSelector(center=True),
        "BSS, slack": BSSSelector(center=True, rule="slack"),
        "largest leverage": LeverageSelector(center=True, sampling="top"),
        "largest variance": SelectKBest(variances),
        "subset, y": SubsetSelector(target="y", center=True, bound=False),
        "subset, y, scale": SubsetSelector(target="y", scale=True, center=True, bound=False),
        "F-test": make_selector("f-test", classify=classify),
    }


def variances(X: Any, y: Any) -> Any:
    return mean_variance_axis(X, axis=0)[1] if is_sparse(X) else X.var(axis=0)


def measure(name: str, kind: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure one data set; return its lines."""
    X, y = prepared(options.data / name)
    n, d = X.shape
    classify = is_classification(y, "auto")
    counts = {share: int(share * n) for share in SHARES if share * n <= d / 2}
    made = selectors(X, classify)
    made = {label: made[label] for label in options.methods or made if label in made}
    if not made:  # information gain needs classes
        return []
    found = compare(
        made,
        X,
        y,
        n_features=list(counts.values()),
        n_splits=5,
        n_repeats=1,
        n_tries=3,
        prepare=None if is_sparse(X) else StandardScaler(),
        n_jobs=options.jobs,
        cache=options.cache,
        progress=True,
    )
    scale = 1.0 if classify else float(np.var(y))
    say(f"{name}: {n} x {d}")
    about = {
        "set": Path(name).name,
        "kind": kind,
        "task": "classes" if classify else "regression",
        "n_samples": n,
        "n_features_in": d,
    }
    return [about | line for line in results(found, counts, scale)]


def results(found: Comparison, counts: dict[float, int], scale: float) -> Iterator[dict[str, Any]]:
    """A line for each method and number of features."""
    whole = found.row(ALL_FEATURES).error_mean
    for method in found.methods[1:]:
        for share, count in counts.items():
            row = found.row(method, count)
            yield {
                "method": method,
                "share": f"{share:g}",
                "n_features": count,
                "error": f"{row.error_mean / scale:.5f}",
                "excess": f"{(row.error_mean - whole) / scale:.5f}",
                "seconds": f"{row.seconds_mean:.3g}",
                "stability": f"{row.stability:.3f}",
                "alpha_edge": row.alpha_edge,
            }


def selectors(X: Any, classify: bool) -> dict[str, Any]:
    """All methods of the registry, by their labels, and two variants of BSS."""
    made = {
        entry.label: make_selector(name, X=X, classify=classify, intercept=True)
        for name, entry in METHODS.items()
        if classify or entry.target != "classes"
    }
    made["BSS"].set_params(rule="norm")
    for name, settings in VARIANTS.items():
        made[name] = make_selector("bss", settings, X=X, intercept=True)
    return made


def prepared(folder: Path) -> tuple[Any, Any]:
    """Return X and y; word counts as logarithms."""
    if (folder / "vectors.dat").exists():
        words = read_techtc_folder(folder)
        return words.data.log1p(), words.target
    X, lines = load(folder), (folder / "y.txt").read_text(encoding="utf-8").split("\n")
    y = np.array([line.split()[0] for line in lines if line.strip()])
    with contextlib.suppress(ValueError):  # class names stay as they are
        y = y.astype(float)
    return (X.tocsr().log1p() if is_sparse(X) else X.astype(np.float64)), y


if __name__ == "__main__":
    main()
