# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise select`."""

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from ridgewise.barrier import RULES
from ridgewise.cli._app import AsJson, Force, Quiet, Seed, app, command_line
from ridgewise.cli._methods import check_options, parse_n_features
from ridgewise.cli._reading import check_not_read, reads_file, stem_of
from ridgewise.datasets import SAVE_FORMATS
from ridgewise.datasets.readers import Table, check_classes
from ridgewise.evaluation import SelectionRun, is_classification, run_selection
from ridgewise.report import (
    certificate_record,
    check_folder,
    check_target,
    print_selection,
    progress,
    reduced_bytes,
    selected_csv,
    selection_page,
    to_json,
    write_atomically,
    write_folder,
)
from ridgewise.selectors import METHODS, check_method, make_selector

FEATURES_PER_DIRECTION = 4  # promises [1/4, 9/4] for BSS
OUTPUTS = ("output", "save", "force", "quiet", "as_json", "memory")
FILES = ("selected.csv", "certificate.json", "report.html")
SUPERVISED = [name for name, entry in METHODS.items() if entry.target]
SELECT_HELP = f"""\
Select features of a file, and certify what was lost.

Reads CSV, TSV, Parquet, Feather, .npy, .npz, svmlight, Matrix Market (10x too), .h5ad, or a TechTC
folder. Writes a folder with selected.csv (feature, index, order, weight, leverage),
certificate.json (what was promised and measured, settings, versions, hashes of the input) and
report.html, a page that explains it all.

A file is held in memory as a whole. An .npy file may be larger than memory: say how much there is
with --memory, and it is read in blocks.

Methods: {", ".join(METHODS)}. {", ".join(SUPERVISED)} use the target.

Examples:

\b
  ridgewise select expression.csv --target outcome -n 400
  ridgewise select genes.tsv.gz --features-in rows -n 5% --center
  ridgewise select counts.npz --vocabulary words.txt --epsilon 0.5
  ridgewise select matrix.mtx -n 200 --rule slack --polish --save reduced.parquet
  ridgewise select markers.npy -n 1000 --memory 2GB
"""

NFeatures = Annotated[
    str | None,
    typer.Option(
        "--n-features",
        "-n",
        metavar="N",
        show_default="four times the rank",
        help="How many features (400), or which share of them (0.05 or 5%).",
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option(help="Instead of -n: as few as keep every contrast within 1 +/- this."),
]
Method = Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(METHODS)}.")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="DIR", show_default="FILE-selected", help="The folder to write."
    ),
]
Save = Annotated[
    Path | None,
    typer.Option(
        help="Also write the selected features, with the values they have in FILE (weights are in "
        f"selected.csv): a name that ends in .{', .'.join(SAVE_FORMATS)}."
    ),
]
Rule = Annotated[
    str | None, typer.Option(help=f"Of bss: {', '.join(RULES)}.", show_default=RULES[0])
]
Polish = Annotated[
    bool, typer.Option("--polish", help="Of bss: reweight afterwards, for a tighter certificate.")
]
Alpha = Annotated[
    str | None,
    typer.Option(
        help="Of bss and leverage: for ridge models that add this to the kernel's diagonal.",
        show_default="auto",
    ),
]
Center = Annotated[
    bool,
    typer.Option(
        "--center/--no-center",
        help="Whether the model has an intercept: features' means are subtracted then.",
    ),
]
Rank = Annotated[
    str | None,
    typer.Option(
        help="Of bss and leverage: how many leading singular vectors count (40), or those that "
        "hold this share of the sum of squares (0.9 or 90%).",
        show_default="all",
    ),
]
NoVerify = Annotated[
    bool, typer.Option("--no-verify", help="Do not account for rounding in the certificate.")
]
NoRescale = Annotated[
    bool,
    typer.Option(
        "--no-rescale",
        help="Certify features as they are, not times the square roots of their weights.",
    ),
]


@app.command(help=SELECT_HELP)
@reads_file
def select(
    file: Path,
    read: Callable[[], Table],
    n_features: NFeatures = None,
    epsilon: Epsilon = None,
    method: Method = "bss",
    output: Output = None,
    save: Save = None,
    rule: Rule = None,
    polish: Polish = False,
    alpha: Alpha = None,
    rank: Rank = None,
    center: Center = True,
    no_verify: NoVerify = False,
    no_rescale: NoRescale = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Select from a file, write the folder, and show what was found."""
    count = None if n_features is None else parse_n_features(n_features)
    options = {
        "epsilon": epsilon,
        "rule": rule,
        "polish": polish or None,
        "alpha": None if alpha is None else _alpha(alpha),
        "rank": None if rank is None else parse_n_features(rank, "--rank"),
        "rescale": False if no_rescale else None,
    }
    check_options(check_method(method), options)
    folder = output or Path(f"{stem_of(file)}-selected")
    _check_outputs(folder, save, file, overwrite=force)
    with progress(quiet=quiet) as on_step:
        on_step(f"reading {file.name}")
        table = read()
        _check_target(table, method)
        if count is None and epsilon is None:
            count = _usual_count(table.X, center=center)
        classify = table.y is not None and is_classification(table.y, "auto")
        selector = make_selector(
            method,
            options,
            n_features=count,
            seed=seed,
            X=table.X,
            classify=classify,
            intercept=center,
        )
        run = run_selection(
            selector,
            table.X,
            table.y,
            feature_names=table.feature_names,
            classify=classify,
            center=center,
            alpha=options["alpha"] if isinstance(options["alpha"], float) else None,
            verify=not no_verify,
            notes=_notes(table, n_features, count, epsilon, center=center),
            on_step=on_step,
        )
        on_step("writing")
        seconds = _write(run, table, folder, save, title=file.name)
    _show(run, table, folder, save, seconds, in_json=as_json, quiet=quiet)


def _usual_count(X: Any, *, center: bool) -> int:
    """Four features a direction; where that is all of them, half."""
    n, d = X.shape
    count = FEATURES_PER_DIRECTION * max(1, n - center)
    return count if count < d else -(-d // 2)


def _notes(
    table: Table, n_features: str | None, count: Any, epsilon: float | None, *, center: bool
) -> list[str]:
    """Say what was chosen for the user, and why."""
    chosen = []
    if n_features is None and epsilon is None:
        n, d = table.X.shape
        wide = count < d and count > n
        why = "four times the directions that the samples can have" if wide else f"half of {d:,}"
        chosen.append(f"{count:,} features ({why})")
    if center:
        chosen.append("centred features (for a model with an intercept)")
    return [f"Chosen, since not said otherwise: {'; '.join(chosen)}."] if chosen else []


def _alpha(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--alpha takes a number or auto; got {text!r}") from None


def _check_outputs(folder: Path, save: Path | None, file: Path, *, overwrite: bool) -> None:
    """Refuse, before any work, what could not be written after it."""
    outputs = [folder / name for name in FILES]
    if save is not None:
        check_target(save, formats=SAVE_FORMATS, overwrite=overwrite)
        outputs.append(save)
    check_not_read(file, outputs)
    check_folder(folder, FILES, overwrite=overwrite)


def _check_target(table: Table, method: str) -> None:
    """Raise if the method uses a target that is not there, or is of one class."""
    target = METHODS[method].target
    if target and table.y is None:
        raise ValueError(f"{method} uses the target: say with --target what it is")
    if target == "classes" and table.y is not None:
        check_classes(table.y, table.target_name)


def _write(
    run: SelectionRun, table: Table, folder: Path, save: Path | None, *, title: str
) -> dict[str, float]:
    """Write everything, and tell how long each step took."""
    start = perf_counter()
    files = {
        "selected.csv": selected_csv(run),
        "certificate.json": f"{to_json(certificate_record(run, table))}\n".encode(),
        "report.html": selection_page(
            run, table, title=title, command=command_line(*OUTPUTS)
        ).encode(errors="backslashreplace"),
    }
    if save is not None:
        write_atomically(save, reduced_bytes(run, table, save.suffix.lower().lstrip(".")))
    write_folder(folder, files)
    return {"reading": table.seconds, **run.seconds, "report": perf_counter() - start}


def _show(
    run: SelectionRun,
    table: Table,
    folder: Path,
    save: Path | None,
    seconds: dict[str, float],
    *,
    in_json: bool,
    quiet: bool,
) -> None:
    paths = [folder / name for name in FILES] + ([] if save is None else [save])
    if in_json:
        features = [row[0] for row in run.rows]
        record = certificate_record(run, table) | {"features": features, "seconds": seconds}
        typer.echo(to_json(record | {"files": [str(path) for path in paths]}))
    elif not quiet:
        print_selection(run, table, paths)
    sys.stdout.flush()  # while a closed pipe is still taken care of
