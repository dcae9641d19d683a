# SPDX-License-Identifier: BSD-3-Clause
"""A sign of life while there is nothing to show yet."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
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
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        yield lambda step: None
        return
    with console.status("") as status:
        yield lambda step: status.update(Text(f"{step} ..."))
