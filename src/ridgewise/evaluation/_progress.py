# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a comparison, with the time left."""

from collections.abc import Callable

from ridgewise._progress import ProgressLine

Report = Callable[[int, int], object]


def as_report(progress: bool | Report) -> Report:
    """Return the function to call with the number of folds done and their total."""
    if callable(progress):
        return progress
    if not progress:
        return lambda done, total: None
    line = ProgressLine()

    def write(done: int, total: int) -> None:
        line(done, total, "folds")
        if done == total:
            line.end()

    return write
