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
    results: dict[Hashable, tuple[Any, Any, float]] = field(default_factory=dict)


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

    ``subject`` is compared by identity, and ``settings`` by type and value: rank=1 and rank=1.0
    differ. Results are shared: callers must not modify them.
    """
    memory = _current.get()
    hashable = all(isinstance(value, Hashable) for value in settings.values())
    if memory is None or not hashable:  # the function raises for the latter, with its own message
        return function(subject, **settings)
    typed = ((name, type(settings[name]), settings[name]) for name in sorted(settings))
    key = (function, id(subject), *typed)
    if key in memory.results:
        result, _, seconds = memory.results[key]
        memory.seconds_saved += seconds
        return result
    start, saved = perf_counter(), memory.seconds_saved
    result = function(subject, **settings)
    # Nested calls answered from the cache count with their original time.
    seconds = perf_counter() - start + memory.seconds_saved - saved
    memory.results[key] = (result, subject, seconds)  # keeps the subject alive: ids are reused
    return result
