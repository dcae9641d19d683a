# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise reproduce`: the paper's experiments."""

from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from joblib import cpu_count

from ridgewise import report
from ridgewise.cli import app, command
from ridgewise.cli._options import AsJson, DataHome, Force, Quiet, Seed
from ridgewise.paper import EXPERIMENTS, Outcome, Settings, Study

ALL = "all"
DEFAULT_FOLDER = Path("ridgewise-paper")
CACHE = "folds"  # finished folds; a folder with this subfolder was made by this command


@command(app, experiments=", ".join(EXPERIMENTS))
def reproduce(
    which: Annotated[
        list[str] | None, typer.Argument(metavar="[WHICH]...", show_default=ALL)
    ] = None,
    data_home: DataHome = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to write.")
    ] = DEFAULT_FOLDER,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer folds and sets: two minutes.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, show_default="all cores", help="Folds in parallel."),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Run the paper's experiments, and show printed and measured values side by side.

    WHICH: {experiments}, or all. The available sets of TechTC are used; without any, text from
    Python's standard library is used instead, and marked as such. In full, table3 on 24 sets takes
    15 to 60 minutes on two cores. Finished folds are kept: an interrupted run is resumed.

    Examples
    --------
      ridgewise reproduce --quick                             all of it, in two minutes
      ridgewise reproduce table1 words --data-home ~/techtc
      ridgewise reproduce all --jobs 8 --output paper
    """
    start = perf_counter()
    names = _check_names(which or [ALL])
    if data_home is not None and not data_home.is_dir():
        raise NotADirectoryError(f"--data-home {data_home} is not a folder")
    _open_folder(output, overwrite=force)
    with report.progress_stages(quiet=quiet) as on_progress:
        study = Study(
            Settings(
                data_home=data_home,
                quick=quick,
                seed=seed,
                n_jobs=jobs or cpu_count(),
                cache=output / CACHE,
                on_progress=on_progress,
            )
        )
        outcomes = [EXPERIMENTS[name](study) for name in names]
    command = ["ridgewise reproduce", *names, *["--quick"] * quick, f"--seed {seed}"]
    ran = {
        "command": " ".join(command),
        "took": f"{(perf_counter() - start) / 60:.1f} minutes, with {jobs or cpu_count()} workers",
        **report.versions(),
    }
    page = report.write_reproduction(outcomes, output, ran)
    if as_json:
        typer.echo(report.to_json(_record(outcomes, page)))
    elif not quiet:
        for outcome in outcomes:
            report.print_outcome(outcome)
        report.print_summary(outcomes, page)


def _check_names(names: list[str]) -> list[str]:
    """Return the experiments to run, in their order; raise if a name is unknown."""
    for name in names:
        if name not in EXPERIMENTS and name != ALL:
            known = ", ".join(EXPERIMENTS)
            raise ValueError(f"unknown experiment {name!r}: it must be one of {known}, {ALL}")
    return [name for name in EXPERIMENTS if name in names or ALL in names]


def _open_folder(folder: Path, *, overwrite: bool) -> None:
    """Create the folder, or reuse one made by this command; any other only with `overwrite`."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file: --output must name a folder")
    is_own = overwrite or (folder / CACHE).is_dir()
    if folder.is_dir() and any(folder.iterdir()) and not is_own:
        raise FileExistsError(
            f"{folder} exists and was not made by this command: --force writes into it, --output "
            "names another"
        )
    (folder / CACHE).mkdir(parents=True, exist_ok=True)


def _record(outcomes: list[Outcome], page: Path) -> dict[str, object]:
    return {
        "experiments": {
            outcome.name: {
                "data": outcome.data,
                "verdicts": [asdict(verdict) for verdict in outcome.verdicts],
                "tables": {
                    table.name: [dict(zip(table.columns, row, strict=True)) for row in table.rows]
                    for table in outcome.tables
                },
            }
            for outcome in outcomes
        },
        "page": str(page),
    }
