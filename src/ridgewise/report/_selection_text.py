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
    LONGEST_NAME,
    file_lines,
    heading,
    note_lines,
    plain_table,
    print_parts,
)
from ridgewise.report._selection_words import (
    describe_count,
    describe_held_out,
    explain_certificate,
    explain_models,
    interval_rows,
    judge,
    name_selection,
    uses_target,
)
from ridgewise.report._words import one_line

N_SHOWN = 10
STYLES = {"good": "bold green", "fair": "bold yellow", "poor": "bold red"}


def print_selection(
    run: SelectionRun, table: Table, files: Sequence[Path], file: IO[str] | None = None
) -> None:
    """Print what was selected."""
    print_parts(_selection_parts(run, table, files), file)


def _selection_parts(
    run: SelectionRun, table: Table, files: Sequence[Path]
) -> Iterator[RenderableType]:
    n_selected = run.selector.n_selected_
    yield heading(name_selection(run))
    yield f"{run.n_samples:,} samples, of rank {run.rank:,}."
    yield from note_lines([*describe_count(run), *run.notes, *table.notes])
    yield ""
    optimality = getattr(run.selector, "optimality_", None)
    if optimality is not None:
        yield heading("Could other features do better?")
        yield f"{optimality.sentence}\n"
    for sentence in describe_held_out(run):
        yield heading("The error")
        yield f"{sentence}\n"
    yield heading("The certificate")
    yield _certificate_table(run)
    yield f"{explain_certificate(run)}\n"
    yield f"{explain_models(run)}\n"
    yield heading("The features" if n_selected <= N_SHOWN else f"The first {N_SHOWN} features")
    rows = plain_table("feature", "index", "weight", "leverage")
    for name, index, _, weight, leverage, _ in run.rows[:N_SHOWN]:
        rows.add_row(one_line(name, LONGEST_NAME), str(index), f"{weight:.4g}", f"{leverage:.4g}")
    yield rows
    yield from file_lines(files)


def _certificate_table(run: SelectionRun) -> RichTable:
    rows = plain_table("", "lower", "upper", "fitted values change")
    for name, one in interval_rows(run):
        judged = name.startswith("measured") and not uses_target(run)
        style = STYLES[judge(run)] if judged else None
        change = f"at most {one.eta:.0%}"
        rows.add_row(name, f"{one.lower:.4g}", f"{one.upper:.4g}", change, style=style)
    return rows
