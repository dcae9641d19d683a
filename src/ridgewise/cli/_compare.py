# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise compare`."""

import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ridgewise._typing import is_sparse
from ridgewise.cli._app import AsJson, Force, Quiet, Seed, app
from ridgewise.cli._methods import parse_n_features, parse_numbers
from ridgewise.cli._reading import check_not_read, reads_file, stem_of
from ridgewise.datasets.readers import Table, check_classes
from ridgewise.evaluation import (
    SCALES,
    Comparison,
    compare,
    is_classification,
    make_preparation,
    recommended,
    summarize,
    unit_warning,
)
from ridgewise.report import (
    alpha_note,
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
from ridgewise.selectors import METHODS, check_method, explain_defaults, make_selector

FILES = ("results.csv", "report.html")
DEFAULT_METHODS = (
    *("bss", "subset", "leverage", "rrqr", "f-test", "l1", "rfe", "information-gain", "random"),
)
COUNTS = (0.2, 0.5, 1, 2)  # by default, times the number of samples
LARGEST_SHARE = 0.25  # of all features, by default
MOST_RFE_WORK = 1e11  # multiplications of one elimination: about a minute
COMPARE_HELP = f"""\
Compare methods on a file, by repeated cross-validation of ridge models with their features.

Writes a folder with results.csv (method, n_features, alpha, error_mean, error_std, seconds_mean,
stability, alpha_relative, alpha_edge, one row a combination) and report.html, which answers first:
which method, how many features, how much worse than all of them. Errors are shares of wrong
classes, or mean squared errors where the target is a quantity.

The models have an intercept, and each has the alpha that leave-one-out chooses on its training
samples. The answer is the fewest features within one standard error of the lowest error.

Methods: {", ".join(METHODS)}.

Examples:

\b
  ridgewise compare expression.csv --target outcome
  ridgewise compare expression.csv --target outcome -n 20,50,100 --scale standard
  ridgewise compare counts.npz --target labels.txt -m bss,f-test -n 1%,5% --log1p --jobs 4
  ridgewise compare spectra.csv --target fat --alpha 0.001,0.01,0.1
"""


class Task(StrEnum):
    """What the target is."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class AlphaScales(StrEnum):
    """What --alpha is measured in."""

    relative = "relative"
    absolute = "absolute"


Counts = Annotated[
    str | None,
    typer.Option(
        "--n-features",
        "-n",
        metavar="N,N,...",
        show_default="a fifth to twice the number of samples, at most a quarter of the features",
        help="How many features, or which shares of them.",
    ),
]
Alphas = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        metavar="A,A,...",
        show_default="by leave-one-out",
        help="Fixed alphas of the ridge models, relative to the mean diagonal of their kernels.",
    ),
]
Methods = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        metavar="M,M,...",
        show_default=f"{','.join(DEFAULT_METHODS)}; information-gain for classes only",
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
    bool | None,
    typer.Option(
        "--center/--no-center",
        help="Of bss and leverage: subtract the features' means.",
        show_default="where the models have an intercept",
    ),
]
AlphaScale = Annotated[
    AlphaScales, typer.Option("--alpha-scale", help="absolute: --alpha is scikit-learn's alpha.")
]
NoIntercept = Annotated[
    bool, typer.Option("--no-intercept", help="Models without an intercept; nothing is centred.")
]
Scaling = Annotated[
    str, typer.Option("--scale", help=f"Of the features, fitted in each fold: {', '.join(SCALES)}.")
]
Log1p = Annotated[bool, typer.Option("--log1p", help="First take log(1 + value): for counts.")]
Rule = Annotated[str | None, typer.Option(help="Of bss: norm, slack, ratio.", show_default="norm")]
Polish = Annotated[bool, typer.Option("--polish", help="Of bss: reweight afterwards.")]


@app.command("compare", help=COMPARE_HELP)
@reads_file
def compare_methods(
    file: Path,
    read: Callable[..., Table],
    n_features: Counts = None,
    alpha: Alphas = None,
    alpha_scale: AlphaScale = AlphaScales.relative,
    method: Methods = None,
    output: Output = None,
    folds: Folds = 5,
    repeats: Repeats = 3,
    task: TheTask = Task.auto,
    jobs: Jobs = 1,
    cache: Cache = None,
    rule: Rule = None,
    polish: Polish = False,
    center: Center = None,
    no_intercept: NoIntercept = False,
    scale: Scaling = "none",
    log1p: Log1p = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Compare on a file, write the folder, and show what was found."""
    methods = [check_method(name.strip()) for name in method.split(",")] if method else None
    counts = [parse_n_features(part) for part in n_features.split(",")] if n_features else None
    alphas = parse_numbers("--alpha", alpha) if alpha else None
    options = {"rule": rule, "polish": polish or None, "center": center}
    folder = output or Path(f"{stem_of(file)}-compared")
    check_not_read(file, [folder / name for name in FILES])
    check_folder(folder, FILES, overwrite=force)
    with progress(quiet=quiet) as on_step:
        on_step(f"reading {file.name}")
        table = read(memory=None)  # folds copy rows, so a memory map gains nothing
    classify = _is_classification(table, task)
    prepare = make_preparation(scale, log1p=log1p, sparse=is_sparse(table.X))
    notes = [] if prepare is not None else [unit_warning(table.X, table.feature_names)]
    if methods is None:
        methods, skipped = _default_methods(table.X, classify)
        notes.append(skipped)
    notes.append(_chosen(methods, options, table.X, intercept=not no_intercept))
    table = replace(table, notes=(*table.notes, *filter(None, notes)))
    with progress_bar("comparing", unit="folds", quiet=quiet) as on_fold:
        comparison = compare(
            _selectors(methods, options, table.X, classify, intercept=not no_intercept),
            table.X,
            table.y,  # type: ignore[arg-type]  # checked above
            alphas=alphas,
            alpha_scale=alpha_scale.value,
            fit_intercept=not no_intercept,
            prepare=prepare,
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


def _default_methods(X: Any, classify: bool) -> tuple[list[str], str | None]:
    """The methods for these data, and which one was left out and why."""
    methods = [name for name in DEFAULT_METHODS if classify or METHODS[name].target != "classes"]
    n, d = X.shape
    if min(n, d) * n * d < MOST_RFE_WORK:
        return methods, None
    methods.remove("rfe")
    return methods, "RFE is left out, since it takes long on data of this size: ask for it with -m."


def _chosen(methods: list[str], options: dict[str, Any], X: Any, *, intercept: bool) -> str | None:
    """Say which settings were chosen by default, and why."""
    chosen = [] if options["rule"] else [explain_defaults(methods, X)]
    if intercept and options["center"] is None:
        chosen.append("features centred (for models with an intercept)")
    chosen = [one for one in chosen if one]
    return f"Chosen by default: {'; '.join(chosen)}." if chosen else None


def _selectors(
    methods: list[str], options: dict[str, Any], X: Any, classify: bool, *, intercept: bool
) -> dict[str, Any]:
    """Make the selectors, each with the options that it has; one of them must have each."""
    parameters = {method: METHODS[method].parameters for method in methods}
    for name, value in options.items():
        if value is not None and not any(name in parameters[method] for method in methods):
            raise ValueError(f"--{name} is an option of none of {', '.join(methods)}")
    return {
        method: make_selector(
            method,
            {name: value for name, value in options.items() if name in parameters[method]}
            | ({"bound": False} if "bound" in parameters[method] else {}),
            X=X,
            classify=classify,
            intercept=intercept,
        )
        for method in methods
    }


def _numbers(counts: list[int | float] | None, X: Any) -> list[int]:
    """How many features: as asked for, or some that suit the data's size; never more than all."""
    n, d = X.shape
    if counts is None:
        base = min(n, LARGEST_SHARE * d / max(COUNTS))
        numbers = {max(1, int(times * base)) for times in COUNTS}
    else:
        numbers = {max(1, int(c * d + 1e-9)) if isinstance(c, float) else c for c in counts}
    return sorted({min(number, d) for number in numbers})


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
        found = summarize(comparison)
        best = recommended(comparison, found)
        record = {
            "headline": headline(comparison, best),
            "answer": answer(comparison, found),
            "alpha": alpha_note(comparison, found),
            "notes": list(table.notes),
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
