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
from scipy.linalg import cython_blas

from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._decomposition import Decomposition
from ridgewise.barrier._problem import NEAR_TIE, RULES
from ridgewise.barrier._shortlist import Pair, Shortlist
from ridgewise.barrier._sparse_rows import SparseRows

# Vectors longer than that go by NumPy: its BLAS makes more of large matrices than plain loops do.
MOST_RANK = 1000
TYPES = np.float64, np.int64, np.int32


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
        ("is_whole", ctypes.c_int64),
        ("place", ctypes.c_double * 2),
        ("step", ctypes.c_double * 2),
        ("rows", ctypes.c_void_p * 2),
        ("n", ctypes.c_int64),
        ("starts", ctypes.c_void_p),
        ("indices", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("basis", ctypes.c_void_p * 2),
        ("forms", ctypes.c_void_p),
        ("roots", ctypes.c_void_p),
        ("surveyed_at", ctypes.c_int64),
        ("products", ctypes.c_void_p),
        ("lengths2", ctypes.c_void_p),
        ("gemm", ctypes.c_void_p),
        ("syrk", ctypes.c_void_p),
        ("norms2", ctypes.c_void_p),
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
        ("n_repeats", ctypes.c_int64),
        ("needed", ctypes.c_double),
        ("known", ctypes.c_void_p * 4),
        ("n_known", ctypes.c_int64),
        ("known_at", ctypes.c_int64),
        ("known_place", ctypes.c_double),
    )


class Ahead(NamedTuple):
    """Draws made, and what is known after them."""

    state: State
    drawn: IndexArray  # which of the rows at hand
    t: FloatArray
    passed: IndexArray  # how many unselected ones were passed over for each
    potentials: tuple[float, float]
    n_looked_at: int
    n_repeats: int
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


def blas(name: str) -> int:
    """Where a routine of SciPy's BLAS is."""
    routines: dict[str, Any] = dict(cython_blas.__pyx_capi__)
    capsule = routines[name]
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetName.argtypes = [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    return int(python.PyCapsule_GetPointer(capsule, python.PyCapsule_GetName(capsule)))


draw_ahead = load()
BLAS = {} if draw_ahead is None else {"gemm": blas("dgemm"), "syrk": blas("dsyrk")}


def serves(rule: str, rank: int, is_penalized: bool, is_sparse: bool) -> bool:
    """Whether compiled draws are to be had, and faster, for such vectors."""
    if draw_ahead is None or rank > MOST_RANK:
        return False
    # these look at more rows than are at hand as vectors, or go by other norms
    looks_far = rule == "ratio" or (rule == "slack" and is_penalized)
    return is_sparse or not looks_far


def draws(
    rule: str,
    rows: Shortlist | SparseRows,
    selected: BoolArray,
    outside: float,
    decomposition: tuple[Decomposition, Decomposition],
    places: tuple[float, float],
    steps: tuple[float, float],
    potentials: tuple[float, float],
    Z: Pair,
    t: FloatArray,
    n_repeats: int,
) -> Ahead:
    """Make draws among some rows, given those made since the decomposition.

    Parameters
    ----------
    rule : {"norm", "slack", "ratio"}
        Which feasible row is drawn.
    rows : Shortlist or SparseRows
        The rows at hand in scan order, in the coordinates of either barrier.
    selected : ndarray of shape (n_rows,)
        Those that are not to be drawn, unless the rows are whole and no other is feasible.
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
    n_repeats : int
        Draws of selected rows until now.
    """
    known = rows.known
    known.make_room(len(selected))
    most, n_drawn = len(Z[0]), len(t)
    taken = selected.astype(np.uint8)
    all_t, drawn, passed = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    all_t[:n_drawn] = t
    given = rows.given(most)  # kept until the draws are made
    block = Block(
        size=ctypes.sizeof(Block),
        l=Z[0].shape[1],
        n_rows=len(taken),
        rule=RULES.index(rule),
        n_drawn=n_drawn,
        most=most,
        near_tie=NEAR_TIE,
        outside=outside,
        place=places,
        step=steps,
        diagonal=tuple(address(side.diagonal) for side in decomposition),
        off=tuple(address(side.off) for side in decomposition),
        least=decomposition[0].least,
        selected=taken.ctypes.data,
        potential=potentials,
        Z=tuple(map(address, Z)),
        t=all_t.ctypes.data,
        drawn=drawn.ctypes.data,
        passed=passed.ctypes.data,
        n_repeats=n_repeats,
        known=as_field(tuple(known.numbers)),
        n_known=known.n_rows,
        known_at=known.n_drawn,
        known_place=known.place,
        surveyed_at=known.surveyed_at,
        **BLAS,
        **{name: as_field(value) for name, value in given.items()},
    )
    state = State(draw_ahead(ctypes.byref(block)))
    if state is State.NO_MEMORY:
        raise MemoryError(f"no room for {most} draws among {len(taken)} rows of {block.l} numbers")
    known.n_rows, known.n_drawn = block.n_known, block.known_at
    known.place, known.surveyed_at = block.known_place, block.surveyed_at
    new = slice(n_drawn, block.n_drawn)
    potentials = block.potential[0], block.potential[1]
    return Ahead(
        state,
        drawn[new],
        all_t[new],
        passed[new],
        potentials,
        block.n_looked_at,
        block.n_repeats,
        block.needed,
    )


def as_field(value: Any) -> Any:
    """Arrays by their addresses, in a tuple too; other values as they are."""
    if isinstance(value, tuple):
        return tuple(map(as_field, value))
    return address(value) if isinstance(value, np.ndarray) else value


def address(array: FloatArray) -> int:
    """Where the numbers are that the compiled code reads or writes."""
    if array.dtype not in TYPES or not array.flags.c_contiguous:
        raise TypeError(f"compiled draws need float64 or integers, in a row; got {array.dtype}")
    return array.ctypes.data
