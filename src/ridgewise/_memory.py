# SPDX-License-Identifier: BSD-3-Clause
"""Work that several methods have in common, done once and charged to each."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass
class Memory:
    """What was computed so far, how long it took, and how much time remembering it has saved.

    Attributes
    ----------
    seconds_saved : float
        What the calls that were answered from memory took when they were computed.
    """

    seconds_saved: float = 0.0
    _results: dict[Hashable, tuple[Any, Any, float]] = field(default_factory=dict)

    def call(self, function: Callable[..., Result], subject: Any, **settings: Any) -> Result:
        """Call the function, or recall what it gave."""
        key = (function, id(subject), *_typed(settings))
        if key in self._results:
            result, _, seconds = self._results[key]
            self.seconds_saved += seconds
            return result
        start, saved = perf_counter(), self.seconds_saved
        result = function(subject, **settings)
        # What it recalled itself counts as if it had been computed.
        seconds = perf_counter() - start + self.seconds_saved - saved
        self._results[key] = (result, subject, seconds)  # the subject is held: ids are reused
        return result


def _typed(settings: dict[str, Any]) -> Iterator[Hashable]:
    """The settings in a fixed order, with their types: 1 is a number of things, and 1.0 all."""
    for name, value in sorted(settings.items()):
        # What cannot be hashed is refused by the function itself, which can say why.
        known = value if isinstance(value, Hashable) else repr(value)
        yield name, type(value), known


_current: ContextVar[Memory | None] = ContextVar("ridgewise_memory", default=None)


@contextmanager
def remembering() -> Iterator[Memory]:
    """Within it, `remembered` computes the same thing once.

    Yields
    ------
    Memory
        To be asked how much time was saved.

    Examples
    --------
    >>> from ridgewise._memory import remembered, remembering
    >>> calls = []
    >>> def double(numbers, times):
    ...     calls.append(times)
    ...     return [2 * times * number for number in numbers]
    >>> numbers = [1, 2]
    >>> with remembering():
    ...     remembered(double, numbers, times=1), remembered(double, numbers, times=1)
    ([2, 4], [2, 4])
    >>> calls
    [1]
    """
    memory = Memory()
    token = _current.set(memory)
    try:
        yield memory
    finally:
        _current.reset(token)


def remembered(function: Callable[..., Result], subject: Any, **settings: Any) -> Result:
    """Call a function, or, within `remembering`, recall what the same call has given.

    Parameters
    ----------
    function : callable
        Its result must depend on its arguments alone, and nobody may change it afterwards.
    subject : object
        Its first argument: the same object, not an equal one, makes the same call.
    **settings : hashable
        Its other arguments, compared by their values.

    Returns
    -------
    object
        What the function returns.
    """
    memory = _current.get()
    if memory is None:
        return function(subject, **settings)
    return memory.call(function, subject, **settings)
