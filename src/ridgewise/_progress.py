# SPDX-License-Identifier: BSD-3-Clause
"""Progress reports: loops call `advance`, which does nothing unless a listener is set."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Self

FEATURES = "features"

_listener: ContextVar[Callable[[int, int, str], object] | None] = ContextVar(
    "ridgewise_progress", default=None
)


def advance(done: int, total: int, unit: str) -> None:
    """Report how much is done of the step that runs.

    ``unit`` is `FEATURES` for a pass over the data, which may be one of many, or the unit of a loop
    that is all of a step, such as "draws".
    """
    listener = _listener.get()
    if listener is not None:
        listener(done, total, unit)


@contextmanager
def listening(listener: Callable[[int, int, str], object]) -> Iterator[None]:
    """Call ``listener`` with what `advance` reports within this context."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class ProgressLine:
    """One line on standard error, rewritten as work goes on, with the time left; a context.

    Passes over the data are not shown once a loop around them is.
    """

    def __init__(self) -> None:
        self.unit, self.done, self.written = "", 0, False

    def __call__(self, done: int, total: int, unit: str) -> None:
        """Write how much is done; the time left is estimated from the first report of a unit."""
        if unit == FEATURES and self.unit not in ("", FEATURES):
            return
        if unit != self.unit or done < self.done:
            self.unit, self.before, self.start = unit, done, perf_counter()
        self.done, self.written = done, True
        left = ""
        if done > self.before:
            seconds = (perf_counter() - self.start) / (done - self.before) * (total - done)
            left = f", {_in_words(seconds)} left"
        print(f"\r{done} of {total} {unit}{left}\033[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.written:
            print(file=sys.stderr)


def _in_words(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
