# SPDX-License-Identifier: BSD-3-Clause
"""A selection for people at a terminal."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from rich.console import RenderableType
from rich.table import Table as RichTable

from ridgewise.datasets.readers import Table
from ridgewise.evaluation import SelectionRun
from ridgewise.report._console import (
    BSS_STYLE,
    LONGEST_NAME,
    file_lines,
    heading,
    note_lines,
    plain_table,
    print_parts,
)
from ridgewise.report._selection_page import explain_certificate
from ridgewise.report._words import one_line
from ridgewise.selectors import label_of, method_of

N_SHOWN = 10


def print_selection(
    run: SelectionRun, table: Table, files: Sequence[Path], file: IO[str] | None = None
) -> None:
    """Print what was selected.

    Parameters
    ----------
    run : SelectionRun
        What was selected.
    table : Table
        What it was selected from.
    files : sequence of Path
        What was written.
    file : file, default=None
        Where to print. None: standard output.
    """
    print_parts(_selection_parts(run, table, files), file)


def _selection_parts(
    run: SelectionRun, table: Table, files: Sequence[Path]
) -> Iterator[RenderableType]:
    method = label_of(method_of(run.selector))
    n_selected = run.selector.n_selected_
    yield heading(f"{n_selected:,} of {run.n_features:,} features, selected by {method}")
    yield f"{run.n_samples:,} samples, of rank {run.rank:,}."
    yield from note_lines(table.notes)
    yield ""
    yield heading("The certificate")
    yield _certificate_table(run)
    yield f"{explain_certificate(run)}\n"
    yield heading("The features" if n_selected <= N_SHOWN else f"The first {N_SHOWN} features")
    rows = plain_table("feature", "index", "weight", "leverage")
    for name, index, _, weight, leverage in run.rows[:N_SHOWN]:
        rows.add_row(one_line(name, LONGEST_NAME), str(index), f"{weight:.4g}", f"{leverage:.4g}")
    yield rows
    yield from file_lines(files)


def _certificate_table(run: SelectionRun) -> RichTable:
    certificate = run.certificate
    rows = plain_table("", "lower", "upper")
    if certificate.promised_lower is not None and certificate.promised_upper is not None:
        promised = certificate.promised_lower, certificate.promised_upper
        rows.add_row("promised", *(f"{bound:.4g}" for bound in promised))
    measured = f"{certificate.lower:.4g}", f"{certificate.upper:.4g}"
    name = "measured, verified" if certificate.verified else "measured"
    rows.add_row(name, *measured, style=BSS_STYLE)
    return rows
