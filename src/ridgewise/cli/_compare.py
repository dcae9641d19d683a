# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise compare`."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ridgewise import evaluation, report
from ridgewise._typing import is_sparse
from ridgewise.cli import _options as shared
from ridgewise.cli import app, command
from ridgewise.cli._options import AsJson, Force, Quiet, Seed, reads_file
from ridgewise.datasets.readers import Table, check_classes
from ridgewise.selectors import METHODS, check_method, explain_defaults, make_selector

FILES = ("results.csv", "report.html")
DEFAULT_METHODS = (
    *("bss", "subset", "leverage", "rrqr", "f-test", "l1", "rfe", "information-gain", "random"),
)
COUNTS = (0.2, 0.5, 1, 2)  # default numbers of features, as multiples of the number of samples
LARGEST_SHARE = 0.25  # of all features, for the largest default number
MOST_RFE_WORK = 1e11  # multiplications of one RFE by default: about a minute

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
Folds = Annotated[int, typer.Option(min=2, help="The number of folds.")]


@command(app, "compare", methods=", ".join(METHODS))
@reads_file
def compare_methods(
    file: Path,
    read: Callable[..., Table],
    n_features: Annotated[
        str | None,
        typer.Option(
            "--n-features",
            "-n",
            metavar="N,N,...",
            show_default="0.2 to 2 times the number of samples, at most a quarter of the features",
            help="The numbers of features, or their shares.",
        ),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            "--alpha",
            metavar="A,A,...",
            show_default="by leave-one-out",
            help="Fixed alphas of the ridge models, in units of their kernel's mean diagonal.",
        ),
    ] = None,
    alpha_scale: Annotated[
        Literal["relative", "absolute"],
        typer.Option(help="absolute: --alpha is scikit-learn's alpha."),
    ] = "relative",
    method: Methods = None,
    output: Annotated[Path | None, shared.folder_option("FILE-compared")] = None,
    folds: Folds = 5,
    repeats: Annotated[int, typer.Option(min=1, help="The number of shuffles of the folds.")] = 3,
    task: Annotated[
        Literal["auto", "classification", "regression"],
        typer.Option(help="auto: regression if the target has fractions."),
    ] = "auto",
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Folds in parallel; -1: one per core.")
    ] = 1,
    cache: Annotated[
        Path | None,
        typer.Option(help="A folder that keeps finished folds: an interrupted run is resumed."),
    ] = None,
    rule: shared.Rule = None,
    polish: shared.Polish = False,
    center: Annotated[
        bool | None,
        typer.Option(
            "--center/--no-center",
            help="For bss and leverage: subtract the features' means.",
            show_default="where the models have an intercept",
        ),
    ] = None,
    no_intercept: Annotated[
        bool,
        typer.Option("--no-intercept", help="Models without an intercept; nothing is centred."),
    ] = False,
    scale: shared.Scale = "none",
    log1p: shared.Log1p = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Compare methods on a file, by repeated cross-validation of ridge models with their features.

    Writes a folder with results.csv (method, n_features, alpha, error_mean, error_std,
    seconds_mean, stability, alpha_relative, alpha_edge; one row per combination) and report.html,
    which answers first: which method, how many features, how much worse than all of them. Errors
    are misclassification rates, or mean squared errors for regression.

    The models have an intercept, and alpha is chosen by leave-one-out on the training samples. The
    recommendation is the fewest features within one standard error of the lowest error.

    Methods: {methods}.

    Examples
    --------
      ridgewise compare expression.csv --target outcome
      ridgewise compare expression.csv --target outcome -n 20,50,100 --scale standard
      ridgewise compare counts.npz --target labels.txt -m bss,f-test -n 1%,5% --log1p --jobs 4
      ridgewise compare spectra.csv --target fat --alpha 0.001,0.01,0.1
    """
    methods = [check_method(name.strip()) for name in method.split(",")] if method else None
    parts = n_features.split(",") if n_features else []
    counts = [shared.parse_n_features(part) for part in parts]
    expected = "--alpha takes numbers of at least 0, separated by commas"
    alphas = shared.parse_numbers(alpha.split(","), expected) if alpha else None
    options = {"rule": rule, "polish": polish or None, "center": center}
    folder = shared.check_outputs(file, output, "compared", FILES, overwrite=force)
    with report.progress(quiet=quiet) as on_step:
        on_step(f"reading {file.name}")
        table = read(memory=None)  # folds copy rows, so a memory map gains nothing
    if (y := table.y) is None:
        raise ValueError("a comparison needs a target: give it with --target")
    classify = evaluation.is_classification(y, task)
    if classify:
        check_classes(y, table.target_name)
    prepare = evaluation.make_preparation(scale, log1p=log1p, sparse=is_sparse(table.X))
    notes = [] if prepare is not None else [evaluation.unit_warning(table.X, table.feature_names)]
    if methods is None:
        methods, skipped = _default_methods(table.X, classify)
        notes.append(skipped)
    notes.append(_chosen(methods, options, table.X, intercept=not no_intercept))
    table = replace(table, notes=(*table.notes, *filter(None, notes)))
    with report.progress_bar("comparing", unit="folds", quiet=quiet) as on_fold:
        comparison = evaluation.compare(
            _selectors(methods, options, table.X, classify, intercept=not no_intercept),
            table.X,
            y,
            alphas=alphas,
            alpha_scale=alpha_scale,
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
    with report.progress(quiet=quiet) as on_step:
        on_step("writing")
        page = report.comparison_page(
            comparison, table, title=file.name, command=shared.command_line(file)
        )
        contents = report.results_csv(comparison), page.encode(errors="backslashreplace")
        report.write_folder(folder, dict(zip(FILES, contents, strict=True)))
    paths = [folder / name for name in FILES]
    if as_json:
        typer.echo(report.to_json(_record(comparison, table, paths)))
    elif not quiet:
        report.print_comparison(comparison, table, paths)


def _default_methods(X: Any, classify: bool) -> tuple[list[str], str | None]:
    """The default methods for these data, and a note if one was left out."""
    methods = [name for name in DEFAULT_METHODS if classify or METHODS[name].target != "classes"]
    n, d = X.shape
    if d > 1 and min(n, d) * n * d < MOST_RFE_WORK:
        return methods, None
    methods.remove("rfe")
    if d == 1:
        return methods, "RFE is left out, because it needs at least two features."
    return methods, "RFE is left out, because it is slow on data of this size: -m rfe runs it."


def _chosen(methods: list[str], options: dict[str, Any], X: Any, *, intercept: bool) -> str | None:
    """Describe the defaults that were chosen, and why."""
    centred = "features centred (for models with an intercept)"
    chosen = [
        "" if options["rule"] else explain_defaults(methods, X),
        centred if intercept and options["center"] is None else "",
    ]
    return f"Chosen by default: {'; '.join(filter(None, chosen))}." if any(chosen) else None


def _selectors(
    methods: list[str], options: dict[str, Any], X: Any, classify: bool, *, intercept: bool
) -> dict[str, Any]:
    """Make the selectors, each with the options it accepts; raise if none accepts an option."""
    shared.check_options(methods, options)
    options = options | {"bound": False}  # of subset: slow, and not used here
    return {
        method: make_selector(
            method,
            {name: options[name] for name in options if name in METHODS[method].parameters},
            X=X,
            classify=classify,
            intercept=intercept,
        )
        for method in methods
    }


def _numbers(counts: list[int | float], X: Any) -> list[int]:
    """Resolve the numbers of features: as given, or by the number of samples; at most all."""
    n, d = X.shape
    numbers = [count * d + 1e-9 if isinstance(count, float) else count for count in counts]
    if not numbers:
        base = min(n, LARGEST_SHARE * d / max(COUNTS))
        numbers = [times * base for times in COUNTS]
    return sorted({min(max(1, int(number)), d) for number in numbers})


def _record(comparison: evaluation.Comparison, table: Table, paths: list[Path]) -> dict[str, Any]:
    """Collect what the comparison found, for JSON."""
    found = evaluation.summarize(comparison)
    best = evaluation.recommended(comparison, found)
    return {
        "headline": report.headline(comparison, best),
        "answer": report.answer(comparison, found),
        "alpha": report.alpha_note(comparison, found),
        "notes": list(table.notes),
        "best": asdict(best),
        "results": [asdict(row) for row in comparison.rows],
        "input": report.input_record(table),
        "versions": report.versions(),
        "files": [str(path) for path in paths],
    }
