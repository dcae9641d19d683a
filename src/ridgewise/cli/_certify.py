# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise certify`: features that were selected elsewhere, such as a published panel."""

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from ridgewise.cli import _options as shared
from ridgewise.cli import app, command
from ridgewise.cli._options import AsJson, Force, Quiet, reads_file
from ridgewise.cli._select import FILES, select_and_report
from ridgewise.datasets.readers import Table
from ridgewise.selectors import GivenSelector

N_NAMED = 5


@command(app)
@reads_file
def certify(
    file: Path,
    read: Callable[[], Table],
    features: Annotated[
        Path,
        typer.Option(
            "--features",
            help="A file with a name or index (from 0) per line, or a selected.csv with weights.",
        ),
    ],
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Ignore listed features that FILE does not have.")
    ] = False,
    alpha: Annotated[
        float | None,
        typer.Option(
            min=0,
            show_default="0 if possible, else leave-one-out or 0.1",
            help="For ridge models with at least this alpha, in units of the kernel's mean "
            "diagonal.",
        ),
    ] = None,
    output: Annotated[Path | None, shared.folder_option("FILE-certified")] = None,
    center: shared.Center = True,
    scale: shared.Scale = "none",
    log1p: shared.Log1p = False,
    folds: shared.HeldOutFolds = 5,
    no_verify: shared.NoVerify = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Certify features that were selected elsewhere, such as a published panel of genes.

    Writes the same folder as select: selected.csv, certificate.json, report.html. The certificate
    says how much the features keep of the data, beside random features of the same number; with
    --target, the held-out error with them and with all features is measured too.

    Examples
    --------
      ridgewise certify expression.csv --features panel.txt
      ridgewise certify expression.csv --target outcome --features panel.txt --scale standard
      ridgewise certify expression.csv --features expression-selected/selected.csv
    """
    names, weights = read_features(features)
    folder = shared.check_outputs(file, output, "certified", FILES, overwrite=force)

    def given_selector(table: Table, *, center: bool) -> tuple[GivenSelector, list[str]]:
        places, notes = find_features(names, table, skip_unknown=skip_unknown)
        return GivenSelector(places, weights=weights), notes

    select_and_report(
        given_selector,
        read,
        file,
        folder,
        center=center,
        scale=scale,
        log1p=log1p,
        folds=folds,
        alpha=alpha,
        verify=not no_verify,
        as_json=as_json,
        quiet=quiet,
    )


def read_features(path: Path) -> tuple[list[str], list[float] | None]:
    """Read a list of features, one per line, or a selected.csv with their weights."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines and lines[0].startswith("feature,index,"):
        rows = list(csv.DictReader(text.splitlines()))
        return [row["index"] for row in rows], [float(row["weight"]) for row in rows]
    if not lines:
        raise ValueError(f"{path} lists no features: it needs a name or an index per line")
    name, count = Counter(lines).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{path} lists {name!r} {count} times: list each feature once")
    return lines, None


def find_features(
    names: list[str], table: Table, *, skip_unknown: bool
) -> tuple[list[int], list[str]]:
    """Find listed features in a table: their indices, and a note on unknown ones."""
    known = {str(name): place for place, name in enumerate(table.feature_names)}
    if not known.keys() & set(names) and all(name.isdecimal() for name in names):
        known = {name: int(name) for name in names if int(name) < table.X.shape[1]}
    places = [known[name] for name in names if name in known]
    unknown = [name for name in names if name not in known]
    if not unknown:
        return places, []
    some = ", ".join(map(repr, unknown[:N_NAMED])) + (", ..." if len(unknown) > N_NAMED else "")
    message = f"{len(unknown)} of {len(names)} listed features are not in the data: {some}"
    if not places:
        raise ValueError(message)
    if not skip_unknown:
        raise ValueError(f"{message}; --skip-unknown ignores them")
    return places, [f"{message}."]
