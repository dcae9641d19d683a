# SPDX-License-Identifier: BSD-3-Clause
"""The compiled draws of ``_draws.c``, where installing could compile them.

They are found as a shared library beside this file. Without it, the engine makes the same draws by
NumPy, more slowly on small matrices, where calling costs more than computing.
"""

import ctypes
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._problem import NEAR_TIE, RULES
from ridgewise.barrier._resolvent import Decomposition

Pair = tuple[FloatArray, FloatArray]  # one for the lower barrier, one for the upper


class State(IntEnum):
    """Why no more draws were made."""

    DONE = 0
    NONE_FEASIBLE = 1
    LOST_DEFINITENESS = 2
    NO_MEMORY = 3


class Block(ctypes.Structure):
    """What ``_draws.c`` calls a block, field by field."""

    _fields_ = (
        ("l", ctypes.c_int64),
        ("n_rows", ctypes.c_int64),
        ("n_groups", ctypes.c_int64),
        ("rule", ctypes.c_int64),
        ("again", ctypes.c_int64),
        ("n_drawn", ctypes.c_int64),
        ("most", ctypes.c_int64),
        ("n_stale", ctypes.c_int64),
        ("most_stale", ctypes.c_int64),
        ("n_looked_at", ctypes.c_int64),
        ("near_tie", ctypes.c_double),
        ("least", ctypes.c_double),
        ("place", ctypes.c_double * 2),
        ("step", ctypes.c_double * 2),
        ("potential", ctypes.c_double * 2),
        ("rows", ctypes.c_void_p * 2),
        ("starts", ctypes.c_void_p),
        ("diagonal", ctypes.c_void_p * 2),
        ("off", ctypes.c_void_p * 2),
        ("selected", ctypes.c_void_p),
        ("Z", ctypes.c_void_p * 2),
        ("t", ctypes.c_void_p),
        ("drawn", ctypes.c_void_p),
    )


class Ahead(NamedTuple):
    """Draws made, and what is known after them."""

    state: State
    drawn: IndexArray  # places in the pool
    t: FloatArray
    potentials: tuple[float, float]
    n_looked_at: int


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
    places = {name: getattr(Block, name).offset for name, _ in Block._fields_}
    return {**places, "size": ctypes.sizeof(Block)}


draw_ahead = load()


def draws(
    rule: str,
    rows: Pair,
    starts: IndexArray,
    selected: BoolArray,
    again: bool,
    decomposition: tuple[Decomposition, Decomposition],
    places: tuple[float, float],
    steps: tuple[float, float],
    potentials: tuple[float, float],
    Z: Pair,
    t: FloatArray,
    n_drawn: int,
    most: int,
    most_stale: int,
) -> Ahead:
    """Make draws among the groups of rows of a pool, given those made since the decomposition.

    ``rows`` are the pool in the coordinates of either barrier's decomposition, those of group g
    from starts[g] to starts[g + 1]; ``selected`` groups are drawn only ``again``, if allowed.
    ``places`` are the barriers' at the decomposition, ``steps`` what they move by a draw,
    ``potentials`` the present ones. ``Z`` has the rows drawn since the decomposition, of weights
    ``t``, and is filled up to ``most_stale`` rows or ``most`` draws: ``n_drawn`` were made.
    """
    taken = selected.astype(np.uint8)
    sizes, n_stale, room = np.diff(starts), len(t), len(Z[0])
    assert most_stale + sizes.max() - 1 <= room
    all_t, drawn = np.empty(room), np.empty(most, np.int64)
    all_t[:n_stale] = t
    block = Block(
        l=Z[0].shape[1],
        n_rows=len(rows[0]),
        n_groups=len(taken),
        rule=RULES.index(rule),
        again=again,
        n_drawn=n_drawn,
        most=most,
        n_stale=n_stale,
        most_stale=most_stale,
        near_tie=NEAR_TIE,
        least=decomposition[0].least,
        place=places,
        step=steps,
        potential=potentials,
        rows=tuple(map(address, rows)),
        starts=starts.ctypes.data,
        diagonal=tuple(address(side.diagonal) for side in decomposition),
        off=tuple(address(side.off) for side in decomposition),
        selected=taken.ctypes.data,
        Z=tuple(map(address, Z)),
        t=address(all_t),
        drawn=drawn.ctypes.data,
    )
    state = State(draw_ahead(ctypes.byref(block)))
    if state is State.NO_MEMORY:
        raise MemoryError(f"no room for {most} draws among {len(taken)} rows of {block.l} numbers")
    potentials = block.potential[0], block.potential[1]
    drawn = drawn[n_drawn : block.n_drawn]
    first = n_stale + np.cumsum(sizes[drawn]) - sizes[drawn]
    return Ahead(state, drawn, all_t[first], potentials, block.n_looked_at)


def address(array: FloatArray) -> int:
    """Where the numbers are that the compiled code reads or writes."""
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise TypeError(f"compiled draws need C-contiguous float64; got {array.dtype}")
    return array.ctypes.data
