# SPDX-License-Identifier: BSD-3-Clause
"""The compiled draws of ``_draws.c``, where installing could compile them.

They are found as a shared library beside this file. Without it, the engine makes the same draws by
NumPy: two to three times slower on small matrices, where calling costs more than computing.
"""

import ctypes
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._decomposition import Decomposition
from ridgewise.barrier._problem import NEAR_TIE, RULES
from ridgewise.barrier._shortlist import Pair

# Vectors longer than that go by NumPy: its BLAS makes more of large matrices than plain loops do.
MOST_RANK = 1000


class State(IntEnum):
    """Why no more draws were made."""

    DONE = 0
    NEEDS_ROWS = 1
    LOST_DEFINITENESS = 2
    NO_MEMORY = 3
    WRONG_SIZE = 4


class Block(ctypes.Structure):
    """What ``_draws.c`` calls a block, field by field."""

    _fields_ = (
        ("size", ctypes.c_int64),
        ("l", ctypes.c_int64),
        ("n_rows", ctypes.c_int64),
        ("rule", ctypes.c_int64),
        ("n_drawn", ctypes.c_int64),
        ("most", ctypes.c_int64),
        ("near_tie", ctypes.c_double),
        ("outside", ctypes.c_double),
        ("place", ctypes.c_double * 2),
        ("step", ctypes.c_double * 2),
        ("rows", ctypes.c_void_p * 2),
        ("diagonal", ctypes.c_void_p * 2),
        ("off", ctypes.c_void_p * 2),
        ("least", ctypes.c_double),
        ("selected", ctypes.c_void_p),
        ("potential", ctypes.c_double * 2),
        ("Z", ctypes.c_void_p * 2),
        ("t", ctypes.c_void_p),
        ("drawn", ctypes.c_void_p),
        ("passed", ctypes.c_void_p),
        ("n_looked_at", ctypes.c_int64),
        ("needed", ctypes.c_double),
        ("known", ctypes.c_void_p),
        ("n_known", ctypes.c_int64),
        ("known_at", ctypes.c_int64),
        ("known_place", ctypes.c_double),
    )


class Known:
    """What compiled code knows of the rows at hand, to go on from when there are more of them."""

    def __init__(self) -> None:
        self.numbers = np.empty((0, 4))  # a row of them for each
        self.n_rows, self.n_drawn, self.place = 0, -1, 0.0

    def make_room(self, n_rows: int) -> None:
        """Have room for so many rows."""
        if len(self.numbers) < n_rows:
            more = np.empty((n_rows - len(self.numbers), 4))
            self.numbers = np.concatenate([self.numbers, more])


class Ahead(NamedTuple):
    """Draws made, and what is known after them."""

    state: State
    drawn: IndexArray  # which of the rows at hand
    t: FloatArray
    passed: IndexArray  # how many unselected ones were passed over for each
    potentials: tuple[float, float]
    n_looked_at: int
    needed: float  # the rule "slack": a row of less squared norm could not have been the best


def load() -> Any:
    """The compiled function, or None where there is none that fits."""
    for path in Path(__file__).parent.glob("libdraws.*"):
        try:
            function = ctypes.CDLL(str(path)).draw_ahead
        except (OSError, AttributeError):  # for another machine, say
            continue
        function.argtypes = [ctypes.POINTER(Block)]
        no_draws = Block(size=ctypes.sizeof(Block))
        if function(ctypes.byref(no_draws)) == State.DONE:  # not if it is of another version
            return function
    return None


draw_ahead = load()


def serves(rule: str, rank: int, penalized: bool) -> bool:
    """Whether compiled draws are to be had, and faster, for such vectors."""
    if draw_ahead is None or rank > MOST_RANK:
        return False
    return rule == "norm" or (rule == "slack" and not penalized)


def draws(
    rule: str,
    rows: Pair,
    selected: BoolArray,
    outside: float,
    decomposition: tuple[Decomposition, Decomposition],
    places: tuple[float, float],
    steps: tuple[float, float],
    potentials: tuple[float, float],
    Z: Pair,
    t: FloatArray,
    known: Known,
) -> Ahead:
    """Make draws among some rows, given those made since the decomposition.

    Parameters
    ----------
    rule : {"norm", "slack"}
        Which feasible row is drawn.
    rows : pair of ndarrays of shape (n_rows, l)
        The rows at hand in scan order, in the coordinates of either barrier.
    selected : ndarray of shape (n_rows,)
        Those that are not to be drawn.
    outside : float
        The largest squared norm of a row that is not at hand, 0 if all are.
    decomposition : pair of Decomposition
        Of A, as either barrier sees it.
    places, steps : pair of float
        Where the barriers were at the decomposition, and what they move by a draw.
    potentials : pair of float
        At the present places.
    Z : pair of ndarrays of shape (most, l)
        Rows drawn since the decomposition, filled up with those drawn here.
    t : ndarray
        The weights of the rows drawn since the decomposition.
    known : Known
        Of these rows, from the last call since the decomposition, if there was one.
    """
    known.make_room(len(selected))
    most, n_drawn = len(Z[0]), len(t)
    taken = selected.astype(np.uint8)
    all_t, drawn, passed = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    all_t[:n_drawn] = t
    block = Block(
        size=ctypes.sizeof(Block),
        l=rows[0].shape[1],
        n_rows=len(taken),
        rule=RULES.index(rule),
        n_drawn=n_drawn,
        most=most,
        near_tie=NEAR_TIE,
        outside=outside,
        place=places,
        step=steps,
        rows=tuple(map(address, rows)),
        diagonal=tuple(address(side.diagonal) for side in decomposition),
        off=tuple(address(side.off) for side in decomposition),
        least=decomposition[0].least,
        selected=taken.ctypes.data,
        potential=potentials,
        Z=tuple(map(address, Z)),
        t=all_t.ctypes.data,
        drawn=drawn.ctypes.data,
        passed=passed.ctypes.data,
        known=address(known.numbers),
        n_known=known.n_rows,
        known_at=known.n_drawn,
        known_place=known.place,
    )
    state = State(draw_ahead(ctypes.byref(block)))
    if state is State.NO_MEMORY:
        raise MemoryError(f"no room for {most} draws among {len(taken)} rows of {block.l} numbers")
    known.n_rows, known.n_drawn = block.n_known, block.known_at
    known.place = block.known_place
    new = slice(n_drawn, block.n_drawn)
    potentials = block.potential[0], block.potential[1]
    return Ahead(
        state, drawn[new], all_t[new], passed[new], potentials, block.n_looked_at, block.needed
    )


def address(array: FloatArray) -> int:
    """Where the numbers are that the compiled code reads or writes."""
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise TypeError(f"compiled draws need rows of float64 in a row; got {array.dtype}")
    return array.ctypes.data
