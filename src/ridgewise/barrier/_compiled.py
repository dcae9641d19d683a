# SPDX-License-Identifier: BSD-3-Clause
"""The compiled draws of ``_draws.c``, where installing could compile them.

They are found as a shared library beside this file. Without it, the engine makes the same draws by
NumPy, more slowly on small matrices, where calling costs more than computing.
"""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.barrier._draws import Ahead, State, Task
from ridgewise.barrier._problem import NEAR_TIE, RULES


class Block(ctypes.Structure):
    """What ``_draws.c`` calls a block, field by field."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("l", "n_groups", "rule", "again", "most")),
        *((name, ctypes.c_int64) for name in ("enough", "wanted", "most_stale", "n_drawn")),
        *((name, ctypes.c_int64) for name in ("n_stale", "n_new", "n_looked_at")),
        *((name, ctypes.c_double) for name in ("near_tie", "least")),
        *((name, ctypes.c_double * 2) for name in ("place", "step", "potential")),
        *((name, ctypes.c_void_p * 2) for name in ("rows", "diagonal", "off", "Z")),
        *((name, ctypes.c_void_p) for name in ("t", "starts", "selected", "drawn")),
    )


def load() -> Any:
    """The compiled function, or None where there is none that fits."""
    for path in Path(__file__).parent.glob("libdraws.*"):
        try:
            library = ctypes.CDLL(str(path))
            function = library.draw_ahead
            is_same = layout(library) == own_layout()
        except (OSError, AttributeError, ValueError):  # for another machine, say
            continue
        if is_same:  # not one of another version
            function.argtypes = [ctypes.POINTER(Block)]
            return function
    return None


def layout(library: Any) -> dict[str, int]:
    """Where each field of the library's block is, and its size."""
    n_fields = ctypes.c_int64.in_dll(library, "n_fields").value
    names = (ctypes.c_char_p * n_fields).in_dll(library, "field_names")
    offsets = (ctypes.c_int64 * n_fields).in_dll(library, "field_offsets")
    return {name.decode(): offset for name, offset in zip(names, offsets, strict=True)}


def own_layout() -> dict[str, int]:
    """The same of `Block`."""
    places = {name: getattr(Block, name).offset for name, *_ in Block._fields_}
    return {**places, "size": ctypes.sizeof(Block)}


draw_ahead = load()


def draws(task: Task) -> Ahead:
    """Make the draws of :func:`ridgewise.barrier._draws.draws`."""
    starts, selected = task.starts.astype(np.int64), task.selected.astype(np.uint8)
    sizes, n_stale = np.diff(starts), len(task.t)
    room = task.most_stale + int(sizes.max()) - 1  # the last draw may exceed `most_stale`
    Z = [np.concatenate([side, np.empty((room - n_stale, side.shape[1]))]) for side in task.Z]
    t = np.concatenate([task.t, np.empty(room - n_stale)])
    drawn = np.empty(task.most, np.int64)
    block = Block(
        l=Z[0].shape[1],
        n_groups=len(sizes),
        rule=RULES.index(task.rule),
        again=task.again,
        most=task.most,
        enough=task.enough,
        wanted=task.wanted,
        most_stale=task.most_stale,
        n_stale=n_stale,
        near_tie=NEAR_TIE,
        least=task.decompositions[0].least,
        place=task.places,
        step=task.steps,
        potential=task.potentials,
        rows=tuple(map(address, task.rows)),
        diagonal=tuple(address(side.diagonal) for side in task.decompositions),
        off=tuple(address(side.off) for side in task.decompositions),
        Z=tuple(map(address, Z)),
        t=address(t),
        starts=starts.ctypes.data,
        selected=selected.ctypes.data,
        drawn=drawn.ctypes.data,
    )
    state = State(draw_ahead(ctypes.byref(block)))
    if state is State.NO_MEMORY:
        raise MemoryError(f"no room for {task.most} draws among {len(sizes)} rows of {block.l}")
    drawn = drawn[: block.n_drawn]
    first = n_stale + np.cumsum(sizes[drawn]) - sizes[drawn]
    return Ahead(state, drawn, t[first], tuple(block.potential), block.n_looked_at)


def address(array: FloatArray) -> int:
    """Where the numbers are that the compiled code reads or writes."""
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise TypeError(f"compiled draws need C-contiguous float64; got {array.dtype}")
    return array.ctypes.data
