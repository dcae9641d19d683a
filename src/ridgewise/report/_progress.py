# SPDX-License-Identifier: BSD-3-Clause
"""Progress on standard error, where that is a terminal: what is done, how much, the time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as bars
from rich.console import Console

from ridgewise._progress import FEATURES, listening

Update = Callable[[str, int, int | None], None]  # of what, how much is done, of how much


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
