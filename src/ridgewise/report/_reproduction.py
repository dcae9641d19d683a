# SPDX-License-Identifier: BSD-3-Clause
"""The paper's experiments: in a terminal, as a folder of tables and figures, and as a page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from rich.console import RenderableType
from rich.text import Text

from ridgewise._atomic import write_atomically
from ridgewise.paper import NOT_REPRODUCED, REPRODUCED, Chart, Outcome, Series, Table, Verdict
from ridgewise.report._console import heading, plain_table, print_parts, width_of
from ridgewise.report._demo import figure_bytes
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._outputs import csv_bytes
from ridgewise.report._style import BLUE, FAINT, ORANGE, PINK, STYLE, look_of
from ridgewise.report._svg import Picture, page_style, plain_label

PAGE = "report.html"
MARKDOWN = "report.md"
WIDTH = 10.0
PANEL_HEIGHT = 3.1
NAMES_HEIGHT = 1.0  # inches below the lowest panel for tick labels
SPACE_OF_A_NAME = 0.7  # share of the distance between ticks that points use
FEW_TICKS = 8  # up to this many values of x get a tick and a marker each
LEGEND_WIDTH = 5  # labels per line
OTHER_LOOKS = {
    "top leverage scores": (ORANGE, ":"),
    "BSS, slack": (BLUE, (0, (5, 1.5))),
    "BSS, slack and polish": (BLUE, (0, (1.5, 1.2))),
    "BSS on 2 singular vectors": (PINK, "-"),
    "printed": (FAINT, "-"),
    "here": (BLUE, "-"),
}

COLUMN_GAP = 3  # characters between two columns
LONGEST_SHOWN = 60  # rows in a terminal and in Markdown; more are in the CSV file and on the page
KINDS = {REPRODUCED: "good", NOT_REPRODUCED: "poor"}  # others are fair
STYLES = {REPRODUCED: "bold green", NOT_REPRODUCED: "bold red"}


def write_reproduction(
    outcomes: Sequence[Outcome], folder: Path, ran: Mapping[str, str] | None = None
) -> Path:
    """Write all tables, figures and the page."""
    for outcome in outcomes:
        for table in outcome.tables:
            write_atomically(folder / f"{table.name}.csv", csv_bytes(table.columns, table.rows))
            write_atomically(folder / f"{table.name}.md", _markdown(table).encode())
        for chart in outcome.charts:
            with style.context(["default", STYLE]):
                figure = draw_chart(chart)
            for file_format in ("png", "svg"):
                path = folder / f"{chart.name}.{file_format}"
                write_atomically(path, figure_bytes(figure, file_format))
    write_atomically(folder / MARKDOWN, _whole_markdown(outcomes, ran or {}).encode())
    # The page last: it exists once everything does.
    write_atomically(folder / PAGE, _page(outcomes, ran or {}).encode())
    return folder / PAGE


def print_outcome(outcome: Outcome, file: IO[str] | None = None) -> None:
    """Print what an experiment gave."""
    print_parts(_parts(outcome, width_of(file)), file)


def print_summary(outcomes: Sequence[Outcome], page: Path, file: IO[str] | None = None) -> None:
    """Print one line for each claim of the paper, how many held, and where the page is."""
    table = plain_table("experiment", "claim of the paper", "outcome", text_columns=3)
    verdicts = [(outcome.name, each) for outcome in outcomes for each in outcome.verdicts]
    for name, verdict in verdicts:
        status = Text(verdict.status, style=STYLES.get(verdict.status, "bold yellow"))
        table.add_row(name, verdict.claim, status)
    counts = Counter(verdict.status for _, verdict in verdicts)
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    parts: list[RenderableType] = [heading(f"Summary: of {len(verdicts)} claims {told}"), table]
    print_parts([*parts, Text(f"The page: {page}")], file)


def _parts(outcome: Outcome, width: int) -> Iterator[RenderableType]:
    yield heading(outcome.title)
    yield f"{outcome.data}\n"
    for table in outcome.tables:
        if len(table.rows) <= LONGEST_SHOWN:
            yield table.title
            yield from _shown_table(table, width)
    for verdict in outcome.verdicts:
        line = Text(f"{verdict.status}: ", style=STYLES.get(verdict.status, "bold yellow"))
        yield line.append(f"{verdict.claim}. {verdict.reason}.", style="default")
    yield ""


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


def _whole_markdown(outcomes: Sequence[Outcome], ran: Mapping[str, str]) -> str:
    """Write everything as one Markdown text, with links to the figures beside it."""
    parts = ["\n".join(f"- {name}: {value}" for name, value in ran.items())]
    for outcome in outcomes:
        parts += [f"## {outcome.title}", outcome.protocol, f"Run on: {outcome.data}"]
        parts += ["\n".join(_verdict_line(verdict) for verdict in outcome.verdicts)]
        for table in outcome.tables:
            short = len(table.rows) <= LONGEST_SHOWN
            body = _markdown(table) if short else f"{len(table.rows)} rows: `{table.name}.csv`"
            parts += [f"### {table.title}", body, table.note]
        parts += [
            f"![{chart.title}]({chart.name}.png)\n\n{chart.title}. {chart.caption}"
            for chart in outcome.charts
        ]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _verdict_line(verdict: Verdict) -> str:
    return f"- **{verdict.status}**: {verdict.claim}. *{verdict.reason}.*"


def _page(outcomes: Sequence[Outcome], ran: Mapping[str, str]) -> str:
    sections = []
    for outcome in outcomes:
        pictures = []
        for chart in outcome.charts:
            with page_style():
                figure = draw_chart(chart)
            label = f"{chart.title}: {chart.y_label} by {chart.x_label}. {chart.caption}"
            caption = f"{chart.title}. {chart.caption}"
            pictures.append(Picture(figure, label=label, caption=caption, wide=True))
        tables = [(_data_table(table), table.note) for table in outcome.tables]
        sections.append((outcome, pictures, tables))
    return render_page("paper.html.j2", sections=sections, kinds=KINDS, ran=ran)


def _data_table(table: Table) -> DataTable:
    columns = []
    for place, name in enumerate(table.columns):
        number = f"{{:{table.formats.get(name, '')}}}" if _is_number(table, place) else ""
        columns.append(Column(name, number))
    return DataTable(columns, table.rows, caption=table.title, file_name=f"{table.name}.csv")


def draw_chart(chart: Chart) -> Figure:
    """Draw a chart."""
    named = isinstance(chart.panels[0].series[0].x[0], str)
    n_columns = (
        1 if named and len(chart.panels[0].series[0].x) > FEW_TICKS else min(2, len(chart.panels))
    )
    n_rows = -(-len(chart.panels) // n_columns)
    height = n_rows * PANEL_HEIGHT + (NAMES_HEIGHT if named else 0.4)
    figure = Figure(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, panel in zip(panels, chart.panels, strict=False):
        axes.set_title(plain_label(panel.title, 60))
        draw = _draw_points if named else _draw_line
        for place, series in enumerate(panel.series):
            draw(axes, series, place, len(panel.series))
        _finish_axes(axes, chart)
    for axes in panels[len(chart.panels) :]:
        axes.set_visible(False)
    for axes in panels[-n_columns:]:
        axes.set_xlabel("" if named else chart.x_label)
    figure.supylabel(chart.y_label, fontsize="medium")
    handles, labels = panels[0].get_legend_handles_labels()
    n_lines = -(-len(labels) // LEGEND_WIDTH)
    figure.legend(handles, labels, loc="outside lower center", ncols=-(-len(labels) // n_lines))
    return figure


def _look(label: str, place: int) -> tuple[str, Any]:
    return OTHER_LOOKS.get(label) or look_of(label, place)


def _draw_line(axes: Axes, series: Series, place: int, n_series: int) -> None:
    colour, dashes = _look(series.label, place)
    strong = series.label == "BSS"
    axes.errorbar(
        series.x,
        series.y,
        yerr=series.spread,
        color=colour,
        linestyle=dashes,
        linewidth=2.6 if strong else 1.6,
        marker="o" if len(series.x) <= FEW_TICKS else None,
        markersize=5 if strong else 3.5,
        zorder=3 if strong else 2,
        label=series.label,
    )
    if len(series.x) <= FEW_TICKS:
        axes.set_xticks(list(series.x))


def _draw_points(axes: Axes, series: Series, place: int, n_series: int) -> None:
    """Draw points, those of one tick side by side."""
    colour, _ = _look(series.label, place)
    aside = SPACE_OF_A_NAME * ((place + 0.5) / n_series - 0.5)
    axes.errorbar(
        np.arange(len(series.x)) + aside,
        series.y,
        yerr=series.spread,
        color=colour,
        linestyle="none",
        elinewidth=1.0,
        marker="osDv^P"[place % 6],
        markersize=4.5,
        label=series.label,
    )
    labels = [plain_label(name) for name in series.x]
    if len(labels) > FEW_TICKS:
        axes.set_xticks(range(len(labels)), labels, rotation=90)
    else:
        axes.set_xticks(range(len(labels)), [label.replace(" ", "\n") for label in labels])
    axes.set_xlim(-0.6, len(labels) - 0.4)


def _finish_axes(axes: Axes, chart: Chart) -> None:
    axes.grid(axis="y")
    if chart.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
