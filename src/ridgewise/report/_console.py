# SPDX-License-Identifier: BSD-3-Clause
"""Printing, shared by the commands: in colour in a terminal, plain in a pipe."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from rich.box import SIMPLE
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from ridgewise.report._style import one_line

WIDEST = 100  # longer lines are hard to read
LONGEST_NAME = 48
LONGEST_NOTE = 400
BSS_STYLE = "bold cyan"
JUDGEMENT_STYLES = {"good": "bold green", "fair": "bold yellow", "poor": "bold red"}


def width_of(file: IO[str] | None = None) -> int:
    """Return the line width of the output."""
    return min(Console(file=file).width, WIDEST)


def print_parts(parts: Iterable[RenderableType], file: IO[str] | None = None) -> None:
    """Print parts one below the other. Text is not wrapped, so that paths can be copied."""
    console = Console(file=file, highlight=False, markup=False, emoji=False)
    console.width = width_of(file)
    if console.is_terminal:
        _print(console, parts)
        return
    with console.capture() as capture:
        _print(console, parts)
    # Tables are padded with spaces: strip trailing ones in files.
    lines = (line.rstrip() for line in capture.get().splitlines())
    console.file.write("".join(f"{line}\n" for line in lines))


def _print(console: Console, parts: Iterable[RenderableType]) -> None:
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text))


def heading(title: str) -> Text:
    """Make a bold line."""
    return Text(title, style="bold")


def plain_table(*columns: str, text_columns: int = 1) -> Table:
    """Make an empty table: the first columns hold text, left-aligned, the others numbers."""
    table = Table(box=SIMPLE, header_style="dim", pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < text_columns else "right")
    return table


def note_lines(notes: Iterable[str]) -> Iterator[str]:
    """Yield the notes, each on a line without control characters, and an empty line."""
    yield from (one_line(note, LONGEST_NOTE) for note in notes)
    yield ""


def file_lines(files: Sequence[Path]) -> Iterator[Text]:
    """Yield the written files below a heading."""
    yield heading("The files")
    yield from (Text(f"  {path}") for path in files)
