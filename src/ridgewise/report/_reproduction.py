# SPDX-License-Identifier: BSD-3-Clause
"""The paper's experiments: in a terminal, as a folder of tables and figures, and as a page."""

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import IO

from matplotlib import style
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ridgewise._files import write_atomically
from ridgewise.paper import NOT_REPRODUCED, REPRODUCED, Outcome, Table, Verdict
from ridgewise.report._chart import draw_chart
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._plot import figure_bytes
from ridgewise.report._style import STYLE
from ridgewise.report._svg import Picture, page_style

PAGE = "report.html"
MARKDOWN = "report.md"
LONGEST_SHOWN = 60  # rows in a terminal and in Markdown; more are in the CSV file and on the page
KINDS = {REPRODUCED: "good", NOT_REPRODUCED: "poor"}  # others are fair
STYLES = {REPRODUCED: "bold green", NOT_REPRODUCED: "bold red"}


def write_reproduction(outcomes: Sequence[Outcome], folder: Path) -> Path:
    """Write all tables, figures and the page.

    Parameters
    ----------
    outcomes : sequence of Outcome
        What the experiments gave.
    folder : Path
        Where to; it exists.

    Returns
    -------
    Path
        The page.
    """
    for outcome in outcomes:
        for table in outcome.tables:
            write_atomically(folder / f"{table.name}.csv", _csv(table).encode())
            write_atomically(folder / f"{table.name}.md", _markdown(table).encode())
        for chart in outcome.charts:
            with style.context(["default", STYLE]):
                figure = draw_chart(chart)
            for file_format in ("png", "svg"):
                path = folder / f"{chart.name}.{file_format}"
                write_atomically(path, figure_bytes(figure, file_format))
    write_atomically(folder / MARKDOWN, reproduction_markdown(outcomes).encode())
    write_atomically(folder / PAGE, _page(outcomes).encode())  # last: it is there when all is
    return folder / PAGE


def print_outcome(outcome: Outcome, file: IO[str] | None = None) -> None:
    """Print what an experiment gave.

    Parameters
    ----------
    outcome : Outcome
        What it gave.
    file : file, default=None
        Where to. None: standard output.
    """
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    console.print(Text(f"\n{outcome.title}", style="bold"))
    console.print(f"{outcome.data}\n")
    for table in outcome.tables:
        if len(table.rows) <= LONGEST_SHOWN:
            console.print(table.title)
            console.print(_rich_table(table))
    for verdict in outcome.verdicts:
        line = Text(f"{verdict.status}: ", style=STYLES.get(verdict.status, "bold yellow"))
        console.print(line.append(f"{verdict.claim}. ", style="default").append(verdict.reason))


def _rich_table(table: Table) -> RichTable:
    shown = RichTable(box=SIMPLE, header_style="dim", pad_edge=False)
    for place, column in enumerate(table.columns):
        shown.add_column(column, justify="right" if _is_number(table, place) else "left")
    for row in table.text_rows():
        shown.add_row(*row)
    return shown


def _is_number(table: Table, place: int) -> bool:
    return all(isinstance(row[place], int | float | None) for row in table.rows)


def _csv(table: Table) -> str:
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(["" if value is None else value for value in row] for row in table.rows)
    return buffer.getvalue()


def _markdown(table: Table) -> str:
    rules = ["---:" if _is_number(table, place) else "---" for place in range(len(table.columns))]
    lines = [list(table.columns), rules, *table.text_rows()]
    return "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def reproduction_markdown(outcomes: Sequence[Outcome]) -> str:
    """Write everything as one Markdown text, with links to the figures beside it.

    Parameters
    ----------
    outcomes : sequence of Outcome
        What the experiments gave.

    Returns
    -------
    str
    """
    parts = []
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


def _page(outcomes: Sequence[Outcome]) -> str:
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
    return render_page("paper.html.j2", sections=sections, kinds=KINDS)


def _data_table(table: Table) -> DataTable:
    columns = []
    for place, name in enumerate(table.columns):
        number = f"{{:{table.formats.get(name, '')}}}" if _is_number(table, place) else ""
        columns.append(Column(name, number))
    return DataTable(columns, table.rows, caption=table.title, file_name=f"{table.name}.csv")
