# SPDX-License-Identifier: BSD-3-Clause
"""What rooms share: checks of parameters, one BLAS thread, progress reports, a cache of results.

- `check_number` and the like raise errors that say what was given.
- `one_blas_thread` limits BLAS where more threads are slower.
- Loops call `advance`, which does nothing unless a listener is set.
- `remembered` caches what several selectors compute; each is charged the full time.
"""

import math
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from numbers import Real
from time import perf_counter
from typing import Any, Self, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from ridgewise._typing import AnyArray

Result = TypeVar("Result")
FEATURES = "features"
MOST_CLASSES = 20


def check_number(name: str, value: Any, *, positive: bool = False, otherwise: str = "") -> float:
    """Return value as a float; raise unless it is finite and at least (``positive``: above) 0."""
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:  # an integer beyond the largest float
        number = math.inf
    if not 0 <= number < math.inf or isinstance(value, bool) or (positive and number == 0):
        least = ">" if positive else ">="
        raise ValueError(f"{name} must be a finite number {least} 0{otherwise}; got {value!r}")
    return number


def check_one_of(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Raise if value is not one of those allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")


def check_bool(name: str, value: Any) -> bool:
    """Return value as a bool; raise if it is not one."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def are_classes(y: AnyArray) -> bool:
    """Whether targets are classes: no numbers, or whole ones with at most 20 different values."""
    if y.dtype.kind not in "iuf":
        return True
    return bool((y == np.round(y)).all()) and len(np.unique(y)) <= MOST_CLASSES


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS and LAPACK use one thread.

    For matrices of a few hundred rows, synchronizing threads costs more than it gains, above all
    on a busy machine.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    """The loaded BLAS libraries; finding them takes milliseconds."""
    return ThreadpoolController()


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
