# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise compare`."""

import sys
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.utils.extmath import row_norms

from ridgewise.cli._app import AsJson, Force, Quiet, Seed, app
from ridgewise.cli._methods import parse_n_features, parse_numbers
from ridgewise.cli._reading import check_not_read, reads_file, stem_of
from ridgewise.datasets.readers import Table, check_classes
from ridgewise.evaluation import (
    Comparison,
    best_standing,
    compare,
    is_classification,
    standings,
)
from ridgewise.report import (
    answer,
    check_folder,
    comparison_page,
    headline,
    input_record,
    print_comparison,
    progress,
    progress_bar,
    results_csv,
    to_json,
    versions,
    write_folder,
)
from ridgewise.selectors import METHODS, check_method, make_selector

FILES = ("results.csv", "report.html")
DEFAULT_METHODS = ("bss", "leverage", "rrqr", "random", "information-gain")
COUNTS = (0.5, 1, 2, 4)  # by default, times the number of samples
ALPHAS = (1e-3, 1e-2, 1e-1, 1)  # by default, times the mean eigenvalue of the kernel
COMPARE_HELP = f"""\
Compare methods on a file, by repeated cross-validation of ridge models with their features.

Writes a folder with results.csv (method, n_features, alpha, error_mean, error_std, seconds_mean,
stability, one row a combination) and report.html, which answers first: which method, how many
features, how much worse than all of them. Errors are shares of wrong classes, or mean squared
errors where the target is a quantity.

Methods: {", ".join(METHODS)}.

Examples:

\b
  ridgewise compare expression.csv --target outcome
  ridgewise compare expression.csv --target outcome -n 300,400 --alpha 0.1,0.5
  ridgewise compare counts.npz --target labels.txt -m bss,random -n 1%,5% --repeats 10 --jobs 4
"""


class Task(StrEnum):
    """What the target is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


Counts = Annotated[
    str | None,
    typer.Option(
        "--n-features",
        "-n",
        metavar="N,N,...",
        show_default="half, once, twice and 4 times the samples",
        help="How many features, or which shares of them.",
    ),
]
Alphas = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        metavar="A,A,...",
        show_default="0.001 to 1 times the kernel's mean eigenvalue",
        help="Of the ridge models: what is added to the kernel's diagonal.",
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        metavar="M,M,...",
        show_default=f"{','.join(DEFAULT_METHODS)} (the last for classes)",
        help="The methods.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="DIR", show_default="FILE-compared", help="The folder to write."
    ),
]
Folds = Annotated[int, typer.Option(min=2, help="How many folds.")]
Repeats = Annotated[int, typer.Option(min=1, help="How often they are shuffled anew.")]
TheTask = Annotated[
    Task,
    typer.Option(
        "--task", help="What the target is; auto: numbers with fractions are a regression's."
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Folds at once; -1: one a core.")]
Cache = Annotated[
    Path | None,
    typer.Option(help="A folder for finished folds: an interrupted run goes on from there."),
]
Center = Annotated[
    bool, typer.Option("--center", help="Of bss and leverage: subtract the features' means.")
]
Rule = Annotated[str | None, typer.Option(help="Of bss: norm, slack, ratio.", show_default="norm")]
Polish = Annotated[bool, typer.Option("--polish", help="Of bss: reweight afterwards.")]


@app.command("compare", help=COMPARE_HELP)
@reads_file
def compare_methods(
    file: Path,
    read: Callable[..., Table],
    n_features: Counts = None,
    alpha: Alphas = None,
    method: Methods = None,
    output: Output = None,
    folds: Folds = 5,
    repeats: Repeats = 3,
    task: TheTask = Task.auto,
    jobs: Jobs = 1,
    cache: Cache = None,
    rule: Rule = None,
    polish: Polish = False,
    center: Center = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Compare on a file, write the folder, and show what was found."""
    methods = [check_method(name.strip()) for name in method.split(",")] if method else None
    counts = [parse_n_features(part) for part in n_features.split(",")] if n_features else None
    alphas = parse_numbers("--alpha", alpha) if alpha else None
    options = {"rule": rule, "polish": polish or None, "center": center or None}
    folder = output or Path(f"{stem_of(file)}-compared")
    check_not_read(file, [folder / name for name in FILES])
    check_folder(folder, FILES, overwrite=force)
    with progress(quiet=quiet) as on_step:
        on_step(f"reading {file.name}")
        table = read(memory=None)  # folds are copies: they would not stay where the file lies
    classify = _is_classification(table, task)
    with progress_bar("comparing", unit="folds", quiet=quiet) as on_fold:
        comparison = compare(
            _selectors(methods or _default_methods(classify), options, table.X, classify),
            table.X,
            table.y,  # type: ignore[arg-type]  # checked above
            alphas=alphas or default_alphas(table.X),
            n_features=_numbers(counts, table.X),
            n_splits=folds,
            n_repeats=repeats,
            task="classification" if classify else "regression",
            feature_names=table.feature_names.tolist(),
            random_state=seed,
            n_jobs=jobs,
            cache=cache,
            progress=on_fold,
        )
    _write(comparison, table, folder, title=file.name, quiet=quiet)
    _show(comparison, table, folder, in_json=as_json, quiet=quiet)


def _is_classification(table: Table, task: Task) -> bool:
    """Whether the target is classes; an error where there is none, or one class only."""
    if table.y is None:
        raise ValueError("a comparison needs a target: say with --target what it is")
    classify = is_classification(table.y, task.value)
    if classify:
        check_classes(table.y, table.target_name)
    return classify


def _default_methods(classify: bool) -> list[str]:
    return [name for name in DEFAULT_METHODS if classify or METHODS[name].target != "classes"]


def _selectors(
    methods: list[str], options: dict[str, Any], X: Any, classify: bool
) -> dict[str, Any]:
    """Make the selectors, each with the options that it has; one of them must have each."""
    parameters = {method: METHODS[method].parameters for method in methods}
    for name, value in options.items():
        if value is not None and not any(name in parameters[method] for method in methods):
            raise ValueError(f"--{name} is an option of none of {', '.join(methods)}")
    return {
        method: make_selector(
            method,
            {name: value for name, value in options.items() if name in parameters[method]},
            X=X,
            classify=classify,
        )
        for method in methods
    }


def _numbers(counts: list[int | float] | None, X: Any) -> list[int]:
    """How many features: as asked for, or some that suit the data's size; never more than all."""
    n, d = X.shape
    if counts is None:
        numbers = {max(1, int(times * n)) for times in COUNTS}
    else:
        numbers = {max(1, int(c * d + 1e-9)) if isinstance(c, float) else c for c in counts}
    return sorted({min(number, d) for number in numbers})


def default_alphas(X: Any) -> list[float]:
    """Choose alphas on the scale of the data: shares of the mean eigenvalue of X X^T.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        The data.

    Returns
    -------
    list of float
        Ascending, with one digit that counts.
    """
    mean = float(row_norms(X, squared=True).mean(dtype=np.float64))  # trace(X X^T) / n
    return [float(f"{share * mean:.1g}") for share in ALPHAS]


def _write(comparison: Comparison, table: Table, folder: Path, *, title: str, quiet: bool) -> None:
    with progress(quiet=quiet) as on_step:
        on_step("writing")
        page = comparison_page(comparison, table, title=title)
        files = results_csv(comparison), page.encode(errors="backslashreplace")
        write_folder(folder, dict(zip(FILES, files, strict=True)))


def _show(
    comparison: Comparison, table: Table, folder: Path, *, in_json: bool, quiet: bool
) -> None:
    paths = [folder / name for name in FILES]
    if in_json:
        found = standings(comparison)
        best = best_standing(found)
        record = {
            "headline": headline(comparison, best),
            "answer": answer(comparison, found),
            "best": asdict(best),
            "results": [asdict(row) for row in comparison.rows],
            "input": input_record(table),
            "versions": versions(),
            "files": [str(path) for path in paths],
        }
        typer.echo(to_json(record))
    elif not quiet:
        print_comparison(comparison, table, paths)
    sys.stdout.flush()  # while a closed pipe is still taken care of
