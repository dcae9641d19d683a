# SPDX-License-Identifier: BSD-3-Clause
"""How far a long run is, and how long the rest will take."""

import sys
from collections.abc import Callable
from time import perf_counter
from types import TracebackType
from typing import Self


class Progress:
    """Passes on how much is done; this one to a function.

    Parameters
    ----------
    report : callable
        Called with how many are done and how many there are.
    """

    def __init__(self, report: Callable[[int, int], object]) -> None:
        self.report = report

    def update(self, done: int, total: int) -> None:
        """So much is done."""
        self.report(done, total)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing is left to do."""


class ProgressLine(Progress):
    """Writes one line to standard error, again and again, with the time left."""

    def __init__(self) -> None:
        super().__init__(self.write)
        self.start = perf_counter()
        self.before: int | None = None

    def write(self, done: int, total: int) -> None:
        """Tell how much is done; what was done already when it began took no time."""
        if self.before is None:
            self.before = done
        computed = done - self.before
        left = ""
        if computed:
            seconds = (perf_counter() - self.start) / computed * (total - done)
            left = f", {_in_words(seconds)} left"
        print(f"\r{done} of {total} folds{left}\033[K", end="", file=sys.stderr, flush=True)

    def __exit__(self, *arguments: object) -> None:
        """End the line."""
        print(file=sys.stderr)


def as_progress(progress: bool | Callable[[int, int], object]) -> Progress:
    """Take what a user gave: whether there is to be a line, or a function to call."""
    if callable(progress):
        return Progress(progress)
    return ProgressLine() if progress else Progress(lambda done, total: None)


def _in_words(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
