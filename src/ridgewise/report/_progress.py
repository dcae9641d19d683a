# SPDX-License-Identifier: BSD-3-Clause
"""Signs of life while there is nothing to show yet: a spinner, and a bar with the time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text


@contextmanager
def progress(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show a spinner on standard error, where that is a terminal, and nothing elsewhere.

    Parameters
    ----------
    quiet : bool, default=False
        Show nothing in a terminal either.

    Yields
    ------
    callable
        To be called with a few words about each step that begins.

    Examples
    --------
    >>> from ridgewise.report import progress
    >>> with progress(quiet=True) as on_step:
    ...     on_step("reading")
    """
    console = Console(stderr=True)
    if quiet or not _is_shown(console):
        yield lambda step: None
        return
    with console.status("") as status:
        yield lambda step: status.update(Text(f"{step} ..."))


@contextmanager
def progress_bar(
    description: str, *, quiet: bool = False, unit: str = ""
) -> Iterator[Callable[[int, int | None], None]]:
    """Show a bar with the time left on standard error, where that is a terminal.

    Elsewhere nothing is shown, and nothing is left of the bar at its end.

    Parameters
    ----------
    description : str
        What is done, in a few words.
    quiet : bool, default=False
        Show nothing in a terminal either.
    unit : str, default=""
        Of what is counted, such as "sets". "bytes" are shown in kB, MB and so on, with their speed.

    Yields
    ------
    callable
        To be called with how much is done, and how much there is in all, or None where that is
        not known.

    Examples
    --------
    >>> from ridgewise.report import progress_bar
    >>> with progress_bar("reading", quiet=True, unit="sets") as update:
    ...     for done in range(3):
    ...         update(done, 3)
    """
    console = Console(stderr=True)
    if quiet or not _is_shown(console):
        yield lambda done, total: None
        return
    with Progress(*_columns(unit), console=console, transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def progress_stages(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar for work of several stages, each with its own count and time left.

    Parameters
    ----------
    quiet : bool, default=False
        Show nothing in a terminal either.

    Yields
    ------
    callable
        To be called with a few words about what is done, how much of it is done, and how much there
        is in all. A count that falls begins another stage.
    """
    console = Console(stderr=True)
    if quiet or not _is_shown(console):
        yield lambda what, done, total: None
        return
    with Progress(*_columns(""), console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def update(what: str, done: int, total: int) -> None:
            if done < bar.tasks[0].completed:
                bar.reset(task)
            bar.update(task, description=what, completed=done, total=total)

        yield update


def _is_shown(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal


def _columns(unit: str) -> list[ProgressColumn]:
    counts: list[ProgressColumn]
    if unit == "bytes":
        counts = [DownloadColumn(), TransferSpeedColumn()]
    else:
        counts = [MofNCompleteColumn(), TextColumn(unit, markup=False)]
    left = TimeRemainingColumn(elapsed_when_finished=True)
    return [TextColumn("{task.description}", markup=False), BarColumn(), *counts, left]
