# SPDX-License-Identifier: BSD-3-Clause
"""The paper's experiments: in a terminal, as a folder of tables and figures, and as a page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import numpy as np
from matplotlib import style
from rich.console import RenderableType
from rich.text import Text

from ridgewise._atomic import write_atomically
from ridgewise.paper import NOT_REPRODUCED, REPRODUCED, Outcome, Table, Verdict
from ridgewise.report._chart import draw_chart
from ridgewise.report._console import heading, plain_table, print_parts, width_of
from ridgewise.report._demo_figure import figure_bytes
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._outputs import csv_bytes
from ridgewise.report._style import STYLE
from ridgewise.report._svg import Picture, page_style

PAGE = "report.html"
MARKDOWN = "report.md"
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
