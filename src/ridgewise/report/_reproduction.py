# SPDX-License-Identifier: BSD-3-Clause
"""The paper's experiments: in a terminal, as a folder of tables and figures, and as a page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from ridgewise._atomic import write_atomically
from ridgewise.paper import NOT_REPRODUCED, REPRODUCED, Chart, Outcome, Series, Table, Verdict
from ridgewise.report._figures import (
    draw_line,
    figure_bytes,
    new_figure,
    plain_label,
    plain_logarithm,
)
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._outputs import csv_bytes
from ridgewise.report._style import look_of
from ridgewise.report._terminal import (
    JUDGEMENT_STYLES,
    heading,
    plain_table,
    print_parts,
    width_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 10.0
PANEL_HEIGHT = 3.1
NAMES_HEIGHT = 1.0  # inches below the lowest panel for tick labels
SPACE_OF_A_NAME = 0.7  # share of the distance between ticks that points use
FEW_TICKS = 8  # up to this many values of x get a tick and a marker each
LEGEND_WIDTH = 5  # labels per line
COLUMN_GAP = 3  # characters between two columns
LONGEST_SHOWN = 60  # rows in a terminal and in Markdown; more are in the CSV file and on the page
KINDS = {REPRODUCED: "good", NOT_REPRODUCED: "poor"}  # others are fair


def write_reproduction(
    outcomes: Sequence[Outcome], folder: Path, ran: Mapping[str, str] | None = None
) -> Path:
    """Write all tables, figures, and the report as Markdown and as a page; return its path."""
    figures: dict[str, Figure] = {}
    for outcome in outcomes:
        for table in outcome.tables:
            write_atomically(folder / f"{table.name}.csv", csv_bytes(table.columns, table.rows))
            write_atomically(folder / f"{table.name}.md", _markdown(table).encode())
        for chart in outcome.charts:
            figures[chart.name] = figure = draw_chart(chart)
            for file_format in ("png", "svg"):
                path = folder / f"{chart.name}.{file_format}"
                write_atomically(path, figure_bytes(figure, file_format))
    common = {"outcomes": outcomes, "ran": ran or {}}
    text = render_page("paper.md.j2", markdown=_markdown, longest=LONGEST_SHOWN, **common)
    write_atomically(folder / "report.md", text.encode())
    page = render_page(
        "paper.html.j2", figures=figures, data_table=_data_table, kinds=KINDS, **common
    )
    write_atomically(folder / "report.html", page.encode())  # last: if it exists, all does
    return folder / "report.html"


def print_outcome(outcome: Outcome, file: IO[str] | None = None) -> None:
    """Print what an experiment gave."""
    parts: list[RenderableType] = [heading(outcome.title), f"{outcome.data}\n"]
    for table in outcome.tables:
        if len(table.rows) <= LONGEST_SHOWN:
            parts += [table.title, *_shown_table(table, width_of(file))]
    for verdict in outcome.verdicts:
        text = f": {verdict.claim}. {verdict.reason}."
        parts.append(_status(verdict).append(text, style="default"))
    print_parts([*parts, ""], file)


def print_summary(outcomes: Sequence[Outcome], page: Path, file: IO[str] | None = None) -> None:
    """Print one line for each claim of the paper, how many held, and where the page is."""
    table = plain_table("experiment", "claim of the paper", "outcome", text_columns=3)
    verdicts = [(outcome.name, each) for outcome in outcomes for each in outcome.verdicts]
    for name, verdict in verdicts:
        table.add_row(name, verdict.claim, _status(verdict))
    counts = Counter(verdict.status for _, verdict in verdicts)
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    title = heading(f"Summary: of {len(verdicts)} claims {told}")
    print_parts([title, table, Text(f"The page: {page}")], file)


def _status(verdict: Verdict) -> Text:
    return Text(verdict.status, style=JUDGEMENT_STYLES[KINDS.get(verdict.status, "fair")])


def _shown_table(table: Table, width: int) -> Iterator[RenderableType]:
    """Yield the table with the columns that fit, and where the others are."""
    rows = table.text_rows()
    lengths = [max(map(len, cells)) for cells in zip(table.columns, *rows, strict=True)]
    needed = np.cumsum(np.array(lengths) + COLUMN_GAP)
    count = max(2, int(np.searchsorted(needed, width, side="right")))
    shown = plain_table(*table.columns[:count], text_columns=0)
    for place, column in enumerate(shown.columns):
        column.justify = "right" if _is_number(table, place) else "left"
    for row in rows:
        shown.add_row(*row[:count])
    yield shown
    if table.columns[count:]:
        yield f"More columns ({', '.join(table.columns[count:])}): {table.name}.csv\n"


def _is_number(table: Table, place: int) -> bool:
    return all(isinstance(row[place], int | float | None) for row in table.rows)


def _markdown(table: Table) -> str:
    rules = ["---:" if _is_number(table, place) else "---" for place in range(len(table.columns))]
    lines = [list(table.columns), rules, *table.text_rows()]
    escaped = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def _data_table(table: Table) -> DataTable:
    columns = []
    for place, name in enumerate(table.columns):
        number = f"{{:{table.formats.get(name, '')}}}" if _is_number(table, place) else ""
        columns.append(Column(name, number))
    return DataTable(columns, table.rows, caption=table.title, file_name=f"{table.name}.csv")


def draw_chart(chart: Chart) -> "Figure":
    """Draw a chart: lines, or points above names."""
    ticks = chart.panels[0].series[0].x
    named, few = isinstance(ticks[0], str), len(ticks) <= FEW_TICKS
    n_columns = 1 if named and not few else min(2, len(chart.panels))
    n_rows = -(-len(chart.panels) // n_columns)
    height = n_rows * PANEL_HEIGHT + (NAMES_HEIGHT if named else 0.4)
    with new_figure(WIDTH, height, w_pad=0.1, h_pad=0.1) as figure:
        panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, panel in zip(panels, chart.panels, strict=False):
            axes.set_title(plain_label(panel.title, 60))
            for place, series in enumerate(panel.series):
                if named:
                    _draw_points(axes, series, place, len(panel.series))
                else:
                    look = {"marker": "o" if few else None, "label": series.label}
                    draw_line(axes, series.label, series.x, series.y, place=place, **look)
            axes.grid(axis="y")
            if named:
                labels = [plain_label(name).replace(" ", "\n" if few else " ") for name in ticks]
                axes.set_xticks(range(len(labels)), labels, rotation=0 if few else 90)
                axes.set_xlim(-0.6, len(labels) - 0.4)
            elif few:
                axes.set_xticks(ticks)
        if chart.log:
            plain_logarithm(panels[0])
        else:
            panels[0].locator_params(axis="y", nbins=6)
        for axes in panels[len(chart.panels) :]:
            axes.set_visible(False)
        for axes in panels[-n_columns:]:
            axes.set_xlabel("" if named else chart.x_label)
        figure.supylabel(chart.y_label, fontsize="medium")
        handles, labels = panels[0].get_legend_handles_labels()
        n_lines = -(-len(labels) // LEGEND_WIDTH)
        figure.legend(handles, labels, loc="outside lower center", ncols=-(-len(labels) // n_lines))
    return figure


def _draw_points(axes: "Axes", series: Series, place: int, n_series: int) -> None:
    """Draw points above names, those of one name side by side."""
    axes.errorbar(
        np.arange(len(series.x)) + SPACE_OF_A_NAME * ((place + 0.5) / n_series - 0.5),
        series.y,
        yerr=series.spread,
        color=look_of(series.label, place)[0],
        linestyle="none",
        elinewidth=1.0,
        marker="osDv^P"[place % 6],
        markersize=4.5,
        label=series.label,
    )
