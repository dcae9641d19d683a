# SPDX-License-Identifier: BSD-3-Clause
"""A cache for computations that several selectors share; each is charged their full time."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

Result = TypeVar("Result")


@dataclass
class Memory:
    """Results of earlier calls, and the time that reusing them saved."""

    seconds_saved: float = 0.0  # sum of the original times of the calls answered from the cache
    _results: dict[Hashable, tuple[Any, Any, float]] = field(default_factory=dict)

    def call(self, function: Callable[..., Result], subject: Any, **settings: Any) -> Result:
        """Call the function, or return the cached result of the same call."""
        key = (function, id(subject), *_typed(settings))
        if key in self._results:
            result, _, seconds = self._results[key]
            self.seconds_saved += seconds
            return result
        start, saved = perf_counter(), self.seconds_saved
        result = function(subject, **settings)
        # Nested calls answered from the cache count with their original time.
        seconds = perf_counter() - start + self.seconds_saved - saved
        self._results[key] = (result, subject, seconds)  # keeps the subject alive: ids are reused
        return result


def _typed(settings: dict[str, Any]) -> Iterator[Hashable]:
    """The settings sorted by name, with their types: rank=1 and rank=1.0 differ."""
    for name, value in sorted(settings.items()):
        # The function itself raises for an unhashable value, with a better message.
        known = value if isinstance(value, Hashable) else repr(value)
        yield name, type(value), known


_current: ContextVar[Memory | None] = ContextVar("ridgewise_memory", default=None)


@contextmanager
def remembering() -> Iterator[Memory]:
    """A context in which `remembered` computes each result once; yields the cache."""
    memory = Memory()
    token = _current.set(memory)
    try:
        yield memory
    finally:
        _current.reset(token)


def remembered(function: Callable[..., Result], subject: Any, **settings: Any) -> Result:
    """Call a pure function, or, within `remembering`, return the result of the same call.

    ``subject`` is compared by identity, and ``settings`` by value. Results are shared: callers must
    not modify them.
    """
    memory = _current.get()
    if memory is None:
        return function(subject, **settings)
    return memory.call(function, subject, **settings)
