# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison found: in sentences, at a terminal, on a page, and as CSV."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import numpy as np
from markupsafe import Markup
from rich.console import RenderableType

from ridgewise.datasets.readers import Table
from ridgewise.evaluation import (
    ALL_FEATURES,
    Comparison,
    ComparisonRow,
    MethodSummary,
    agreed_features,
    contest,
    recommended,
    summarize,
)
from ridgewise.models import RELATIVE_ALPHAS
from ridgewise.report import _comparison_figures as figures
from ridgewise.report._console import (
    BSS_STYLE,
    LONGEST_NAME,
    file_lines,
    heading,
    note_lines,
    plain_table,
    print_parts,
)
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._outputs import csv_bytes
from ridgewise.report._style import one_line, plain_number
from ridgewise.selectors import label_of

RESULT_COLUMNS = {  # with their formats on the page
    "method": "",
    "n_features": "{}",
    "alpha": "{:.4g}",
    "error_mean": "{:.5g}",
    "error_std": "{:.5g}",
    "seconds_mean": "{:.3g}",
    "stability": "{:z.3f}",
    "alpha_relative": "{:.3g}",
    "alpha_edge": "",
}


def comparison_page(comparison: Comparison, table: Table, *, title: str) -> str:
    """Make the page of a comparison."""
    found = summarize(comparison)
    best = recommended(comparison, found)
    error = error_format(comparison)
    errors = (
        f"{label_of(one.row.method)} with {one.row.n_features}: {error(one.row.error_mean)}"
        for one in found
    )
    return render_page(
        "comparison.html.j2",
        title=title,
        table=table,
        comparison=comparison,
        found=found,
        figures=figures,
        headline=headline(comparison, best),
        answer=answer(comparison, found),
        kind="good" if best.is_as_good else "fair",
        errors="; ".join(errors),
        summary=_summary_table(comparison, found, best),
        alpha_note=alpha_note(comparison, found),
        everything=_everything(comparison),
        agreed=_agreed_table(comparison, best.row.n_features),
        n_features=best.row.n_features,
    )


def print_comparison(
    comparison: Comparison, table: Table, files: Sequence[Path], file: IO[str] | None = None
) -> None:
    """Print what a comparison found, the answer first."""
    found, error = summarize(comparison), error_format(comparison)
    best = recommended(comparison, found)
    rows = plain_table("method", "n", "error", "+/-", "p", "alpha", "stability", "seconds")
    for one in found:
        row, whole = one.row, one.row.method == ALL_FEATURES
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
    parts: list[RenderableType] = [
        heading(headline(comparison, best)),
        answer(comparison, found),
        *note_lines(table.notes),
        heading("The error of each method"),
        rows,
        f"{comparison.n_repeats} x {comparison.n_splits}-fold cross-validation. p: paired test "
        f"against all features (corrected resampled t-test). {alpha_note(comparison, found)}\n",
        *file_lines(files),
    ]
    print_parts(parts, file)


def results_csv(comparison: Comparison) -> bytes:
    """Write a row for every combination of method, number of features and alpha."""
    rows = ([getattr(row, name) for name in RESULT_COLUMNS] for row in comparison.rows)
    return csv_bytes(list(RESULT_COLUMNS), rows)


def headline(comparison: Comparison, best: MethodSummary) -> str:
    """Say in a line which method and how many features are best, and how they do."""
    who = f"{best.row.n_features:,} features by {label_of(best.row.method)}"
    whole = f"all {comparison.n_features_in:,}"
    if best.is_better:
        return f"{who} do better than {whole}"
    return f"{who} {'do as well as' if best.is_as_good else 'come closest to'} {whole}"


def answer(comparison: Comparison, found: Sequence[MethodSummary]) -> str:
    """Say how the recommended features do beside all of them, and beside scikit-learn's."""
    best, reference = recommended(comparison, found), found[0]
    error = error_format(comparison)
    with_best, with_all = error(best.row.error_mean), error(reference.row.error_mean)
    if comparison.classify:
        start = f"On held-out samples, a model misclassifies {with_best}"
    else:
        start = f"On held-out samples, a model has a mean squared error of {with_best}"
    both = f"{start} with {_who(best.row)}, and {with_all} with all {comparison.n_features_in:,}."
    sentences = [both, _chance(comparison, best), _lowest(comparison, found, best)]
    return " ".join(filter(None, [*sentences, _contest(comparison)]))


def _who(row: ComparisonRow) -> str:
    return f"the {row.n_features:,} features of {label_of(row.method)}"


def _chance(comparison: Comparison, best: MethodSummary) -> str:
    difference = abs(best.test.difference)
    if difference == 0:
        return "There is no difference."
    if comparison.classify:
        amount = f"{100 * difference:.2g} percentage points"
    else:
        amount = plain_number(difference)
    worse = "more" if best.test.difference > 0 else "less"
    chance = "is significant" if best.is_worse or best.is_better else "is not significant"
    p = p_value(best.test.p_value)
    return f"That is {amount} {worse}, which {chance} (paired test, {p})."


def _lowest(comparison: Comparison, found: Sequence[MethodSummary], best: MethodSummary) -> str:
    """Name the lowest error where fewer features are recommended: they are as good."""
    rows = [one.row for one in found if one.row.method != ALL_FEATURES]
    lowest = min(rows, key=lambda row: (row.error_mean, row.n_features))
    if lowest.error_mean == best.row.error_mean:
        return ""
    error = error_format(comparison)(lowest.error_mean)
    return f"The lowest error is {error}, with {_who(lowest)}: within one standard error."


def _contest(comparison: Comparison) -> str:
    """Say whether scikit-learn's selectors do better than this package's, or worse."""
    found = contest(comparison)
    if found is None:
        return ""
    error = error_format(comparison)
    ours, theirs = (f"{_who(row)} ({error(row.error_mean)})" for row in found[:2])
    p = p_value(found.test.p_value)
    if found.winner is None:
        sentence = f"{theirs}, scikit-learn's best, do not differ from {ours} ({p})."
        return sentence[0].upper() + sentence[1:]
    first, second = (ours, theirs) if found.winner is found.ours else (theirs, ours)
    whose = "scikit-learn's" if found.winner is found.ours else "Ridgewise's"
    return f"{first[0].upper()}{first[1:]} do better than {whose} best, {second} ({p})."


def alpha_note(comparison: Comparison, found: Sequence[MethodSummary]) -> str:
    """Say how alpha was chosen, and where it is the smallest or the largest that was tried."""
    how = "chosen by leave-one-out on each training set" if comparison.alphas is None else "given"
    note = f"Alpha ({how}) is relative to the mean diagonal of the model's kernel."
    for edge, beyond in (("smallest", "smaller"), ("largest", "larger")):
        rows = [one.row for one in found if one.row.alpha_edge == edge]
        names = dict.fromkeys(label_of(row.method) for row in rows)
        if names:
            listed = ", ".join(names)
            note += f" It is the {edge} that was tried for {listed}: {beyond} ones may be better."
    if comparison.alphas is None:
        flat = [one.row.alpha_relative for one in found if not one.row.alpha_edge]
        for edge, end in (("smallest", RELATIVE_ALPHAS[0]), ("largest", RELATIVE_ALPHAS[-1])):
            if np.isclose(flat, end, atol=0).any():
                note += f" {end:.2g} is the {edge} that was tried; the error hardly changes there."
    return note


def alpha_cell(row: ComparisonRow) -> str:
    """Write a relative alpha, with a sign where it is the smallest or largest tried."""
    sign = {"smallest": "≤", "largest": "≥"}.get(row.alpha_edge, "")
    return f"{sign}{row.alpha_relative:.2g}"


def p_value(value: float) -> str:
    """Write a p-value as sentences have it."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def error_format(comparison: Comparison) -> Callable[[float], str]:
    """Choose how errors are written: shares in percent, squares as they are."""
    return "{:.1%}".format if comparison.classify else plain_number


def _summary_table(
    comparison: Comparison, found: Sequence[MethodSummary], best: MethodSummary
) -> DataTable:
    shown = "{:.1%}" if comparison.classify else "{:.4g}"
    change = "{:+.1%}" if comparison.classify else "{:+.4g}"
    columns = [
        Column("method"),
        Column("features", "{:,}", "Number requested"),
        Column("error", shown, "Mean over all folds"),
        Column("±", shown, "Standard deviation over the repeats"),
        Column("against all", change, "Error minus that of all features"),
        Column("p", "{:.2g}", "Paired test against all features"),
        Column("alpha", help="Relative to the mean diagonal of the kernel"),
        Column("stability", "{:z.2f}", "1: always the same features"),
        Column("seconds", "{:.3g}", "To select, mean"),
        Column("kept", "{:,.0f}", "Distinct features, mean: some methods draw with replacement"),
    ]
    return DataTable(
        columns,
        [_summary_cells(one, is_best=one == best) for one in found],
        file_name="best.csv",
        marked={place for place, one in enumerate(found) if one == best},
    )


def _summary_cells(one: MethodSummary, *, is_best: bool) -> tuple[object, ...]:
    row = one.row
    name = label_of(row.method)
    whole = row.method == ALL_FEATURES
    return (
        Markup('{} <span class="mark">best</span>').format(name) if is_best else name,
        row.n_features,
        row.error_mean,
        row.error_std,
        None if whole else one.test.difference,
        None if whole else one.test.p_value,
        alpha_cell(row),
        None if whole else row.stability,
        None if whole else row.seconds_mean,
        row.n_selected,
    )


def _everything(comparison: Comparison) -> DataTable:
    formats = dict(RESULT_COLUMNS)
    if comparison.classify:
        formats |= dict.fromkeys(("error_mean", "error_std"), "{:.2%}")
    rows = [tuple(getattr(row, name) for name in formats) for row in comparison.rows]
    columns = [Column(*pair) for pair in formats.items()]
    return DataTable(columns, rows, file_name="results.csv")


def _agreed_table(comparison: Comparison, n_features: int) -> DataTable | None:
    agreed = agreed_features(comparison, n_features)
    if not agreed:
        return None
    methods = list(agreed[0].shares)
    columns = [
        Column("feature"),
        Column("index", "{}", "Its column in the data, from 0"),
        *(Column(label_of(method), "{:.0%}", "Share of its selections") for method in methods),
        Column("least", "{:.0%}", "The smallest of these shares"),
    ]
    rows = [
        (one.feature, one.index, *one.shares.values(), min(one.shares.values())) for one in agreed
    ]
    return DataTable(columns, rows, file_name="agreed.csv")
