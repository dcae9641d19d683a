# SPDX-License-Identifier: BSD-3-Clause
"""A selection and a comparison at a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from ridgewise.datasets.readers import Table
from ridgewise.evaluation import ALL_FEATURES, Comparison, SelectionRun, recommended, summarize
from ridgewise.report import _selection_words as words
from ridgewise.report._comparison_page import alpha_cell, alpha_note, answer, error_format, headline
from ridgewise.report._console import BSS_STYLE, heading, plain_table, print_parts
from ridgewise.report._style import one_line

LONGEST_NAME = 48
LONGEST_NOTE = 400
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
    yield heading(words.name_selection(run))
    yield f"{run.n_samples:,} samples, of rank {run.rank:,}."
    notes = [*words.describe_count(run), *words.describe_groups(run), *run.notes, *table.notes]
    yield from _note_lines(notes)
    yield ""
    optimality = getattr(run.selector, "optimality_", None)
    if optimality is not None:
        yield heading("Could other features do better?")
        yield f"{optimality.sentence}\n"
    for sentence in words.describe_held_out(run):
        yield heading("The error")
        yield f"{sentence}\n"
    yield heading("The certificate")
    yield _certificate_table(run)
    yield f"{words.explain_certificate(run)}\n"
    yield f"{words.explain_models(run)}\n"
    count, what = (len(run.groups), "groups") if run.groups else (n_selected, "features")
    yield heading(f"The {what}" if count <= N_SHOWN else f"The first {N_SHOWN} {what}")
    yield _group_table(run) if run.groups else _feature_table(run)
    yield from _file_lines(files)


def _feature_table(run: SelectionRun) -> RichTable:
    rows = plain_table("feature", "index", "weight", "leverage")
    for name, index, _, weight, leverage, _ in run.rows[:N_SHOWN]:
        rows.add_row(one_line(name, LONGEST_NAME), str(index), f"{weight:.4g}", f"{leverage:.4g}")
    return rows


def _group_table(run: SelectionRun) -> RichTable:
    rows = plain_table("group", "features", "weight", "leverage")
    for one in run.groups[:N_SHOWN]:
        numbers = f"{len(one.members):,}", f"{one.weight:.4g}", f"{one.leverage:.4g}"
        rows.add_row(one_line(one.label, LONGEST_NAME), *numbers)
    return rows


def _certificate_table(run: SelectionRun) -> RichTable:
    rows = plain_table("", "lower", "upper", "fitted values change")
    for name, one in words.interval_rows(run):
        judged = name.startswith("measured") and not words.uses_target(run)
        style = STYLES[words.judge(run)] if judged else None
        change = f"at most {one.eta:.0%}"
        rows.add_row(name, f"{one.lower:.4g}", f"{one.upper:.4g}", change, style=style)
    return rows


def print_comparison(
    comparison: Comparison, table: Table, files: Sequence[Path], file: IO[str] | None = None
) -> None:
    """Print what a comparison found, the answer first."""
    print_parts(_comparison_parts(comparison, table, files), file)


def _comparison_parts(
    comparison: Comparison, table: Table, files: Sequence[Path]
) -> Iterator[RenderableType]:
    found = summarize(comparison)
    best = recommended(comparison, found)
    yield heading(headline(comparison, best))
    yield answer(comparison, found)
    yield from _note_lines(table.notes)
    yield ""
    yield heading("The error of each method")
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
            alpha_cell(row),
            "-" if whole else f"{row.stability:z.2f}",
            "-" if whole else f"{row.seconds_mean:.2g}",
            style=BSS_STYLE if one == best else None,
        )
    yield rows
    yield (
        f"{comparison.n_repeats} x {comparison.n_splits}-fold cross-validation. p: paired test "
        f"against all features (corrected resampled t-test). {alpha_note(comparison, found)}\n"
    )
    yield from _file_lines(files)


def _note_lines(notes: Iterable[str]) -> Iterator[str]:
    """Yield the notes, each on a line without control characters."""
    return (one_line(note, LONGEST_NOTE) for note in notes)


def _file_lines(files: Sequence[Path]) -> Iterator[Text]:
    """Yield the written files below a heading."""
    yield heading("The files")
    for path in files:
        yield Text(f"  {path}")
