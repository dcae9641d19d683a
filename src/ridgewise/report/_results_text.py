# SPDX-License-Identifier: BSD-3-Clause
"""A comparison for people at a terminal."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from rich.console import RenderableType

from ridgewise.datasets.readers import Table
from ridgewise.evaluation import ALL_FEATURES, Comparison, recommended, summarize
from ridgewise.report._comparison_page import alpha_cell, alpha_note, answer, error_format, headline
from ridgewise.report._console import (
    BSS_STYLE,
    LONGEST_NAME,
    file_lines,
    heading,
    note_lines,
    plain_table,
    print_parts,
)
from ridgewise.report._words import one_line


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
    yield from note_lines(table.notes)
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
    yield from file_lines(files)
