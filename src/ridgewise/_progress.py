# SPDX-License-Identifier: BSD-3-Clause
"""How far long work is, for whoever listens: loops call `advance`, which else costs nothing."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FEATURES = "features"

_listener: ContextVar[Callable[[int, int, str], object] | None] = ContextVar(
    "ridgewise_progress", default=None
)


def advance(done: int, total: int, unit: str) -> None:
    """Report how much is done of the step that runs.

    Parameters
    ----------
    done, total : int
        Of anything that takes about equal time each.
    unit : str
        What is counted: `FEATURES` for a pass over the data, which may be one of many, or anything
        else for a loop that is all of a step, such as "draws".
    """
    listener = _listener.get()
    if listener is not None:
        listener(done, total, unit)


@contextmanager
def listening(listener: Callable[[int, int, str], object]) -> Iterator[None]:
    """Have a function called with what is reported within.

    Parameters
    ----------
    listener : callable
        Called with how much is done, how much there is, and of what.

    Examples
    --------
    >>> from ridgewise._progress import advance, listening
    >>> with listening(print):
    ...     advance(3, 10, "draws")
    3 10 draws
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
