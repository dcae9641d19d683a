# SPDX-License-Identifier: BSD-3-Clause
"""What a terminal shows: text and tables, plain in a pipe, and progress on standard error."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rich import progress as bars
from rich.box import SIMPLE
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from ridgewise._run import FEATURES, listening
from ridgewise.report._style import one_line

WIDEST = 100  # longer lines are hard to read
LONGEST_NAME = 48
LONGEST_NOTE = 400
BSS_STYLE = "bold cyan"
JUDGEMENT_STYLES = {"good": "bold green", "fair": "bold yellow", "poor": "bold red"}

Update = Callable[[str, int, int | None], None]  # description, done, total


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
        is_text = place < text_columns
        # names are shown whole: wrapped where the terminal is narrow
        table.add_column(column, justify="left" if is_text else "right", overflow="fold")
    return table


def note_lines(notes: Iterable[str]) -> Iterator[str]:
    """Yield the notes, each on a line without control characters, and an empty line."""
    yield from (one_line(note, LONGEST_NOTE) for note in notes)
    yield ""


def file_lines(files: Sequence[Path]) -> Iterator[Text]:
    """Yield the written files below a heading."""
    yield heading("The files")
    yield from (Text(f"  {path}") for path in files)


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show which step runs, and how long it will take where its loops report that.

    >>> from ridgewise.report import progress
    >>> with progress(quiet=True) as on_step:
    ...     on_step("reading")
    """
    with _line(quiet, bars.SpinnerColumn(), bars.BarColumn()) as update:
        step, counted = "", FEATURES

        def on_step(name: str) -> None:
            nonlocal step, counted
            step, counted = f"{name} ...", FEATURES
            update(step, 0, None)

        def on_progress(done: int, total: int, unit: str) -> None:
            nonlocal counted
            if unit != FEATURES:
                counted = unit  # an outer loop: passes over the data within it are not counted
            if unit == counted:
                update(step, done, total)

        with listening(on_progress):
            yield on_step


@contextmanager
def progress_bar(
    description: str, *, quiet: bool = False, unit: str = ""
) -> Iterator[Callable[[int, int | None], None]]:
    """Show a bar with the remaining time, removed at the end.

    >>> from ridgewise.report import progress_bar
    >>> with progress_bar("reading", quiet=True, unit="sets") as update:
    ...     for done in range(3):
    ...         update(done, 3)
    """
    if unit == "bytes":
        counts = [bars.DownloadColumn(), bars.TransferSpeedColumn()]
    else:
        counts = [bars.MofNCompleteColumn(), bars.TextColumn(unit, markup=False)]
    with _line(quiet, bars.BarColumn(), *counts) as update:
        update(description, 0, None)
        yield lambda done, total: update(description, done, total)


@contextmanager
def progress_stages(*, quiet: bool = False) -> Iterator[Update]:
    """Show a bar for work of several stages, each with its own count and time left."""
    with _line(quiet, bars.BarColumn(), bars.MofNCompleteColumn()) as update:
        yield update


@contextmanager
def _line(quiet: bool, *columns: bars.ProgressColumn) -> Iterator[Update]:
    """Show one line with these columns between a description and the time left."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        yield lambda what, done, total: None
        return
    text, left = bars.TextColumn("{task.description}", markup=False), bars.TimeRemainingColumn()
    with bars.Progress(text, *columns, left, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def update(what: str, done: int, total: int | None) -> None:
            if done < bar.tasks[0].completed or total != bar.tasks[0].total:
                bar.reset(task)
            bar.update(task, description=what, completed=done, total=total)

        yield update
