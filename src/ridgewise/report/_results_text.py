# SPDX-License-Identifier: BSD-3-Clause
"""Selections and comparisons for people at a terminal."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from ridgewise.datasets.readers import Table
from ridgewise.evaluation import ALL_FEATURES, Comparison, SelectionRun, best_standing, standings
from ridgewise.report._comparison_page import answer, error_format, headline
from ridgewise.report._console import BSS_STYLE, heading, plain_table, print_parts
from ridgewise.report._selection_page import explain_certificate
from ridgewise.report._words import label_of, method_of, one_line

N_SHOWN = 10
LONGEST_NAME = 48


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
    yield from _notes(table)
    yield ""
    yield heading("The certificate")
    yield _certificate_table(run)
    yield f"{explain_certificate(run)}\n"
    yield heading("The features" if n_selected <= N_SHOWN else f"The first {N_SHOWN} features")
    rows = plain_table("feature", "index", "weight", "leverage")
    for name, index, _, weight, leverage in run.rows[:N_SHOWN]:
        rows.add_row(one_line(name, LONGEST_NAME), str(index), f"{weight:.4g}", f"{leverage:.4g}")
    yield rows
    yield from _files(files)


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


def print_comparison(
    comparison: Comparison, table: Table, files: Sequence[Path], file: IO[str] | None = None
) -> None:
    """Print what a comparison found, the answer first.

    Parameters
    ----------
    comparison : Comparison
        What was found.
    table : Table
        What the methods selected from.
    files : sequence of Path
        What was written.
    file : file, default=None
        Where to print. None: standard output.
    """
    print_parts(_comparison_parts(comparison, table, files), file)


def _comparison_parts(
    comparison: Comparison, table: Table, files: Sequence[Path]
) -> Iterator[RenderableType]:
    found = standings(comparison)
    best = best_standing(found)
    yield heading(headline(comparison, best))
    yield answer(comparison, found)
    yield from _notes(table)
    yield ""
    yield heading("The error of each method, at its best alpha")
    error = error_format(comparison)
    rows = plain_table("method", "n", "error", "+/-", "p", "alpha", "stability", "seconds")
    for one in found:
        row = one.row
        whole = row.method == ALL_FEATURES
        rows.add_row(
            one_line(row.method, LONGEST_NAME),
            f"{row.n_features:,}",
            error(row.error_mean),
            error(row.error_std) if row.error_std == row.error_std else "-",
            "-" if whole else f"{one.test.p_value:.2g}",
            f"{row.alpha:.4g}",
            "-" if whole else f"{row.stability:z.2f}",
            "-" if whole else f"{row.seconds_mean:.3g}",
            style=BSS_STYLE if one == best else None,
        )
    yield rows
    yield (
        f"{comparison.n_repeats} x {comparison.n_splits}-fold cross-validation. p: how often "
        "chance makes such a difference from all features (corrected resampled t-test).\n"
    )
    yield from _files(files)


def _notes(table: Table) -> Iterator[RenderableType]:
    for note in table.notes:
        yield one_line(note, 400)


def _files(files: Sequence[Path]) -> Iterator[RenderableType]:
    yield heading("The files")
    for path in files:
        yield Text(f"  {path}")
