# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise select`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer

from ridgewise import evaluation, report
from ridgewise._typing import is_sparse
from ridgewise.cli import _options as shared
from ridgewise.cli import app, command
from ridgewise.cli._groups import group_labels
from ridgewise.cli._options import AsJson, Force, Quiet, Seed, reads_file
from ridgewise.datasets import SAVE_FORMATS, marked_h5ad, table_bytes
from ridgewise.datasets.readers import Table, check_classes, describe_target
from ridgewise.selectors import METHODS, check_method, explain_defaults, make_selector, method_for

FEATURES_PER_DIRECTION = 4  # for BSS this promises [1/4, 9/4]
FILES = ("selected.csv", "certificate.json", "report.html")
SUPERVISED = [name for name, entry in METHODS.items() if entry.target]


@command(app, methods=", ".join(METHODS), supervised=", ".join(SUPERVISED))
@reads_file
def select(
    file: Path,
    read: Callable[[], Table],
    n_features: Annotated[
        str | None,
        typer.Option(
            "--n-features",
            "-n",
            metavar="N",
            show_default="four times the rank",
            help="The number of features (400), or their share (0.05 or 5%).",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Instead of -n: the fewest features for lower and upper in 1 +/- this."),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help=f"One of {', '.join(METHODS)}.")
    ] = "bss",
    output: Annotated[Path | None, shared.folder_option("FILE-selected")] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Also write the selected features with their values in FILE, without weights: to "
            f"a name that ends in .{', .'.join(SAVE_FORMATS)}."
        ),
    ] = None,
    mark: Annotated[
        Path | None,
        typer.Option(
            "--write",
            metavar="FILE.h5ad",
            help="Also write a copy of an .h5ad FILE whose var has columns selected and "
            "selected_weight.",
        ),
    ] = None,
    rule: shared.Rule = None,
    polish: shared.Polish = False,
    alpha: Annotated[
        str | None,
        typer.Option(
            help="For ridge models with at least this alpha, in units of the kernel's mean "
            "diagonal; bss and leverage select for them.",
            show_default="auto",
        ),
    ] = None,
    rank: Annotated[
        str | None,
        typer.Option(
            help="For bss and leverage: the number of leading singular vectors (40), or the share "
            "of the sum of squares that they have (0.9 or 90%).",
            show_default="all",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            metavar="FILE|prefix:SEP",
            help="Select groups of features as a whole, and count them with -n: a file with lines "
            "feature,group; or prefix:_ for the part of a name before _.",
        ),
    ] = None,
    center: shared.Center = True,
    scale: shared.Scale = "none",
    log1p: shared.Log1p = False,
    folds: shared.HeldOutFolds = 5,
    no_verify: shared.NoVerify = False,
    no_rescale: Annotated[
        bool,
        typer.Option(
            "--no-rescale",
            help="Certify the features without multiplying by the square roots of their weights.",
        ),
    ] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Select features of a file, and certify what was lost.

    Reads CSV, TSV, Parquet, Feather, .npy, .npz, svmlight, Matrix Market (10x too), .h5ad, or a
    TechTC folder. Writes a folder with selected.csv (feature, index, order, weight, leverage,
    stands_for), certificate.json (promised and measured values, settings, versions, hashes of the
    input) and report.html, a page that explains the results.

    A file is read into memory as a whole. An .npy file may be larger than memory: --memory limits
    how much is used, and the file is read in blocks.

    Methods: {methods}. {supervised} use the target.

    Examples
    --------
      ridgewise select expression.csv --target outcome -n 400
      ridgewise select genes.tsv.gz --features-in rows -n 5% --center
      ridgewise select counts.npz --vocabulary words.txt --epsilon 0.5
      ridgewise select matrix.mtx -n 200 --rule slack --polish --save reduced.parquet
      ridgewise select markers.npy -n 1000 --memory 2GB
      ridgewise select visits.csv --target ill --categorical onehot -n 20
      ridgewise select expression.csv --groups pathways.csv -n 30
    """
    count = None if n_features is None else shared.parse_n_features(n_features)
    options: dict[str, Any] = {
        "epsilon": epsilon,
        "rule": rule,
        "polish": polish or None,
        "rank": None if rank is None else shared.parse_n_features(rank, "--rank"),
        "rescale": False if no_rescale else None,
        "groups": groups,
    }
    shared.check_options([check_method(method)], options)
    relative_alpha = None
    if alpha is not None and alpha != "auto":
        expected = "--alpha takes a number of at least 0, or auto"
        (relative_alpha,) = shared.parse_numbers([alpha], expected)
    if mark is not None and file.suffix.lower() != ".h5ad":
        raise ValueError(f"--write needs an .h5ad file to copy, and {file.name} is not one")
    more = {path: formats for path, formats in ((save, SAVE_FORMATS), (mark, ("h5ad",))) if path}
    folder = shared.check_outputs(file, output, "selected", FILES, overwrite=force, more=more)
    select_and_report(
        partial(_make_selector, method=method, options=options, count=count, seed=seed),
        read,
        file,
        folder,
        center=center,
        scale=scale,
        log1p=log1p,
        folds=folds,
        alpha=relative_alpha,
        verify=not no_verify,
        as_json=as_json,
        quiet=quiet,
        save=save,
        mark=mark,
    )


def select_and_report(
    make_selector: Callable[..., tuple[Any, list[str]]],
    read: Callable[[], Table],
    file: Path,
    folder: Path,
    *,
    scale: str,
    log1p: bool,
    folds: int,
    center: bool,
    as_json: bool,
    quiet: bool,
    save: Path | None = None,
    mark: Path | None = None,
    **settings: Any,
) -> None:
    """Read a file, select, certify, write the folder and other files, and print what was found.

    ``make_selector(table, center=...)`` returns the selector, and notes for the report.
    """
    evaluation.make_preparation(scale)  # raises if it is unknown, before the file is read
    with report.progress(quiet=quiet) as on_step:
        on_step(f"reading {file.name}")
        table = read()
        selector, notes = make_selector(table, center=center)
        is_mapped = isinstance(table.X, np.memmap)
        prepared_by = ["--scale"] * (scale != "none") + ["--log1p"] * log1p
        if not prepared_by:
            notes += filter(None, [evaluation.unit_warning(table.X, table.feature_names)])
        elif is_mapped:
            options = " and ".join(prepared_by)
            notes.append(f"{options} copied the memory-mapped file into memory.")
        if is_mapped and table.y is not None and folds > 1:
            notes.append("No held-out error: folds of a memory-mapped file would be copies of it.")
        run = evaluation.run_selection(
            selector,
            table.X,
            table.y,
            feature_names=table.feature_names,
            classify=_classify(table),
            center=center,
            prepare=evaluation.make_preparation(scale, log1p=log1p, sparse=is_sparse(table.X)),
            n_splits=0 if is_mapped else folds,
            notes=notes,
            on_step=on_step,
            **settings,
        )
        on_step("writing")
        start = perf_counter()
        record = report.certificate_record(run, table)
        page = report.selection_page(run, table, title=file.name, command=shared.command_line(file))
        contents = (
            report.selected_csv(run),
            f"{report.to_json(record)}\n".encode(),
            page.encode(errors="backslashreplace"),
        )
        if save is not None:
            report.write_atomically(save, _selected_bytes(table, selector, save))
        if mark is not None:
            weights = selector.feature_weights_
            report.write_atomically(mark, marked_h5ad(file, table, selector.selected_, weights))
        report.write_folder(folder, dict(zip(FILES, contents, strict=True)))
        seconds = {"reading": table.seconds, **run.seconds, "report": perf_counter() - start}
    paths = [*(folder / name for name in FILES), *filter(None, (save, mark))]
    if as_json:
        more = {"features": [row[0] for row in run.rows], "seconds": seconds}
        typer.echo(report.to_json(record | more | {"files": [str(path) for path in paths]}))
    elif not quiet:
        report.print_selection(run, table, paths)


def _make_selector(
    table: Table, *, method: str, options: dict[str, Any], count: Any, seed: int, center: bool
) -> tuple[Any, list[str]]:
    """Make the selector for a table; also return notes: what was chosen by default."""
    method = method_for(method, has_target=table.y is not None)
    target = METHODS[method].target
    if target and table.y is None:
        raise ValueError(f"{method} uses the target: give it with --target")
    if target == "classes" and table.y is not None:
        check_classes(table.y, table.target_name)
    labels, chosen, notes = group_labels(options["groups"], table), [], []
    if labels is not None and "groups" in METHODS[method].parameters:
        options = {**options, "groups": labels}
    elif labels is not None:
        notes.append(f"{method} selects the levels of a category one by one, not as a whole.")
    if count is None and options["epsilon"] is None:
        what = "features" if options["groups"] is None else "groups"
        if method.startswith("subset"):
            chosen = [f"as many {what} as reach 95 % of what all give, at most as many as samples"]
        else:
            count, why = _default_count(table.X, options["groups"], center=center)
            chosen = [f"{count:,} {what} ({why})"]
    if not options["rule"]:
        chosen += filter(None, [explain_defaults([method], table.X)])
    if center:
        chosen.append("centred features (for a model with an intercept)")
    if table.y is not None:
        task = "classification" if _classify(table) else "regression"
        target = describe_target(table.y)
        notes.insert(0, f"Target {table.target_name}: {target}, used for {task}.")
    if chosen:
        notes.insert(0, f"Chosen by default: {'; '.join(chosen)}.")
    selector = make_selector(
        method,
        options,
        n_features=count,
        seed=seed,
        X=table.X,
        classify=_classify(table),
        intercept=center,
    )
    if hasattr(selector, "bound") and isinstance(count, int):  # bounds at four sizes, for a figure
        selector.set_params(bound=sorted({max(1, count // part) for part in (8, 4, 2, 1)}))
    return selector, notes


def _classify(table: Table) -> bool:
    return table.y is not None and evaluation.is_classification(table.y, "auto")


def _default_count(X: Any, groups: Any, *, center: bool) -> tuple[int, str]:
    """The default number of features, or groups: four per direction, at most half; and why."""
    n, d = X.shape
    count = d if groups is None else len(set(groups))
    half, by_rank = -(-count // 2), FEATURES_PER_DIRECTION * max(1, n - center)
    if half <= by_rank:
        return half, f"half of {count:,}"
    return by_rank, f"four times the rank of {n:,} samples"


def _selected_bytes(table: Table, selector: Any, path: Path) -> bytes:
    """Write the selected features as a file, with their original values."""
    selected = np.sort(selector.selected_)
    return table_bytes(
        table.X[:, selected],
        table.feature_names[selected],
        path.suffix.lower().lstrip("."),
        sample_names=table.sample_names,
        y=table.y,
        target_name=table.target_name,
    )
