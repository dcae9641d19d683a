# SPDX-License-Identifier: BSD-3-Clause
"""How far a long run is, and how long the rest will take."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from ridgewise._progress import ProgressLine


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


class FoldsLine(Progress):
    """Writes a line to standard error, with the time left."""

    def __init__(self) -> None:
        self.line = ProgressLine()
        super().__init__(lambda done, total: self.line(done, total, "folds"))

    def __exit__(self, *arguments: object) -> None:
        """End the line."""
        self.line.end()


def as_progress(progress: bool | Callable[[int, int], object]) -> Progress:
    """Take what a user gave: whether there is to be a line, or a function to call."""
    if callable(progress):
        return Progress(progress)
    return FoldsLine() if progress else Progress(lambda done, total: None)
