# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison found: in sentences, at a terminal, on a page with figures, and as CSV."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

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
from ridgewise.report._figures import draw_line, new_figure, plain_logarithm
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._outputs import csv_bytes
from ridgewise.report._style import DASHES, INK, one_line, plain_number
from ridgewise.report._terminal import (
    BSS_STYLE,
    LONGEST_NAME,
    file_lines,
    heading,
    note_lines,
    plain_table,
    print_parts,
)
from ridgewise.selectors import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (5.6, 4.2)  # of a figure, in inches: see templates/parts.html.j2
APART = 0.012  # horizontal offset between methods, as a share of the axis
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

Measure = Callable[[ComparisonRow], float]


def comparison_page(comparison: Comparison, table: Table, *, title: str, command: str = "") -> str:
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
        errors_figure=draw_errors(comparison, found),
        alphas_figure=draw_alphas(comparison, best.row.n_features),
        stability_figure=draw_stability(found),
        seconds_figure=draw_seconds(found),
        headline=headline(comparison, best),
        answer=answer(comparison, found),
        kind="good" if best.is_as_good else "fair",
        errors="; ".join(errors),
        summary=_summary_table(comparison, found, best),
        alpha_note=alpha_note(comparison, found),
        everything=_everything(comparison),
        agreed=_agreed_table(comparison, best.row.n_features),
        n_features=best.row.n_features,
        command=command,
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
    """Say in one line which method and how many features are best."""
    who = f"{counted(best.row.n_features)} by {label_of(best.row.method)}"
    whole = f"all {comparison.n_features_in:,}"
    if best.row.n_features == 1:
        verbs = "does better than", "does as well as", "comes closest to"
    else:
        verbs = "do better than", "do as well as", "come closest to"
    return f"{who} {verbs[0 if best.is_better else 1 if best.is_as_good else 2]} {whole}"


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
    return f"the {counted(row.n_features)} of {label_of(row.method)}"


def counted(n_features: int) -> str:
    """So many features."""
    return f"{n_features:,} feature{'' if n_features == 1 else 's'}"


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
    """Name the lowest error, if fewer features are recommended."""
    rows = [one.row for one in found if one.row.method != ALL_FEATURES]
    lowest = min(rows, key=lambda row: (row.error_mean, row.n_features))
    if lowest.error_mean == best.row.error_mean:
        return ""
    error = error_format(comparison)(lowest.error_mean)
    return f"The lowest error is {error}, with {_who(lowest)}: within one standard error."


def _contest(comparison: Comparison) -> str:
    """Compare the best of scikit-learn's selectors with the best of this package's."""
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
    """Format a relative alpha, with a sign if it is the smallest or largest tried."""
    sign = {"smallest": "≤", "largest": "≥"}.get(row.alpha_edge, "")
    return f"{sign}{row.alpha_relative:.2g}"


def p_value(value: float) -> str:
    """Format a p-value for a sentence."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.2g}"


def error_format(comparison: Comparison) -> Callable[[float], str]:
    """Choose the format of errors: misclassification in percent, squared errors as they are."""
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
    best_name = Markup('{} <span class="mark">best</span>').format(label_of(best.row.method))
    rows, marked = [], {place for place, one in enumerate(found) if one == best}
    for one in found:
        row, whole = one.row, one.row.method == ALL_FEATURES
        rows.append(
            (
                best_name if one == best else label_of(row.method),
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
        )
    return DataTable(columns, rows, file_name="best.csv", marked=marked)


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


def draw_errors(comparison: Comparison, found: Sequence[MethodSummary]) -> "Figure":
    """Draw the error of each method against the number of features, at its best alpha."""
    with _panel("The error of each method") as (figure, axes):
        _draw_methods(axes, found, lambda row: row.error_mean, lambda row: row.error_std)
        label = f"all {comparison.n_features_in:,} features"
        error = found[0].row.error_mean
        axes.axhline(error, color=INK, linewidth=1.5, linestyle=DASHES, label=label)
        low, high = axes.get_ylim()
        if low < 0.5 * high:  # from 0 on, unless all errors are far from it
            axes.set_ylim(min(0, low), high)
        _name_error(axes, comparison)
    return figure


def draw_alphas(comparison: Comparison, n_features: int) -> "Figure | None":
    """Draw the error of each method against alpha, if several were given."""
    alphas = comparison.alphas
    if alphas is None or len(alphas) == 1:
        return None
    entries = [
        entry
        for entry in comparison.entries
        if entry.n_features == n_features or entry.method == ALL_FEATURES
    ]
    with _panel(f"The error with {n_features:,} features, by alpha") as (figure, axes):
        for place, entry in enumerate(entries):
            draw_line(axes, entry.method, alphas, entry.errors.mean(axis=(1, 2)), place=place)
        axes.set_xscale("symlog" if min(alphas) == 0 else "log")
        axes.set_xticks(alphas, [f"{alpha:g}" for alpha in alphas])
        axes.minorticks_off()
        axes.set_xlabel("alpha of the ridge model")
        _name_error(axes, comparison)
    return figure


def draw_seconds(found: Sequence[MethodSummary]) -> "Figure":
    """Draw how long each method takes to select."""
    with _panel("The time to select") as (figure, axes):
        _draw_methods(axes, found, lambda row: row.seconds_mean)
        plain_logarithm(axes)
        axes.set_ylabel("seconds")
    return figure


def draw_stability(found: Sequence[MethodSummary]) -> "Figure":
    """Draw how stable the selection of each method is."""
    with _panel("The stability of the selection") as (figure, axes):
        _draw_methods(axes, found, lambda row: row.stability)
        axes.set_ylim(min(-0.03, *(one.row.stability for one in found)), 1.03)
        axes.set_ylabel("stability (1: always the same features)")
    return figure


@contextmanager
def _panel(title: str) -> Iterator[tuple["Figure", "Axes"]]:
    """Yield a figure and its axes; add a legend of what was drawn."""
    with new_figure(*SIZE) as figure:
        axes = figure.subplots()
        axes.set_title(title)
        axes.grid(axis="y")
        yield figure, axes
        look = {"fontsize": 9, "handlelength": 2.3, "columnspacing": 1.2}
        figure.legend(loc="outside lower left", ncols=3, **look)


def _draw_methods(
    axes: "Axes", found: Sequence[MethodSummary], measure: Measure, spread: Measure | None = None
) -> None:
    """Draw one line per method over the numbers of features, or a dot if there is one number."""
    rows = [one.row for one in found if one.row.method != ALL_FEATURES]
    methods = list(dict.fromkeys(row.method for row in rows))
    counts = sorted({row.n_features for row in rows})
    spread_of_axis = 2 * counts[-1] / counts[0]
    for place, method in enumerate(methods):
        mine = [row for row in rows if row.method == method]
        shift = spread_of_axis ** (APART * (place - (len(methods) - 1) / 2))
        x, y = [shift * row.n_features for row in mine], [measure(row) for row in mine]
        bars = [np.nan_to_num(spread(row)) for row in mine] if spread else None
        draw_line(axes, method, x, y, place=place, spread=bars)
    axes.set_xscale("log")
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    axes.set_xlabel("number of features")
    room = 1.05 * spread_of_axis ** (APART * len(methods) / 2)
    axes.set_xlim(counts[0] / room, counts[-1] * room)


def _name_error(axes: "Axes", comparison: Comparison) -> None:
    axes.set_ylabel("misclassified" if comparison.classify else "mean squared error")
    if comparison.classify:
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
