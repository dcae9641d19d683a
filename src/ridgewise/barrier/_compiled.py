# SPDX-License-Identifier: BSD-3-Clause
"""The compiled draws of ``_draws.c``, where installing could compile them.

They are found as a shared library beside this file. Without it, the engine makes the same draws by
explicit inverses, more slowly.
"""

import ctypes
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dorgqr, dormqr, dstebz, dsytrd

from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._problem import NEAR_TIE, RULES

Pair = tuple[FloatArray, FloatArray]  # one for the lower barrier, one for the upper

BLOCK_SIZE = 64  # at most, of LAPACK's blocked algorithms
MANY_ROWS = 2  # times as many as columns: Q is formed
TOLERANCE = 1e-3  # of the least eigenvalue: barriers move by 1


class State(IntEnum):
    """Why no more draws were made."""

    DONE = 0
    NONE_FEASIBLE = 1
    LOST_DEFINITENESS = 2
    NO_MEMORY = 3


class Block(ctypes.Structure):
    """What ``_draws.c`` calls a block, field by field."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("l", "n_groups", "rule", "again", "distinct")),
        ("wanted", ctypes.c_int64 * 2),
        *((name, ctypes.c_int64) for name in ("most", "most_stale", "room", "n_drawn")),
        *((name, ctypes.c_int64) for name in ("n_stale", "n_looked_at")),
        *((name, ctypes.c_double) for name in ("near_tie", "least")),
        *((name, ctypes.c_double * 2) for name in ("place", "step", "potential")),
        *((name, ctypes.c_void_p * 2) for name in ("rows", "diagonal", "off", "Z")),
        *((name, ctypes.c_void_p) for name in ("t", "starts", "selected", "drawn")),
    )


def load() -> Any:
    """The compiled function, or None where there is none that fits."""
    own_layout = {name: getattr(Block, name).offset for name, *_ in Block._fields_}
    own_layout["size"] = ctypes.sizeof(Block)
    for path in Path(__file__).parent.glob("libdraws.*"):
        try:
            library = ctypes.CDLL(str(path))
            function = library.draw_ahead
            is_same = layout(library) == own_layout
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


draw_ahead = load()


@dataclass(frozen=True)
class Rotation:
    """An orthogonal matrix Q by its reflectors: it is formed only where many rows are rotated."""

    reflectors: FloatArray
    scales: FloatArray

    __array_ufunc__ = None  # rows @ Q is left to `__rmatmul__`

    def __rmatmul__(self, rows: FloatArray) -> FloatArray:
        if len(self.scales) == 0 or len(rows) == 0:  # without reflectors, Q = I
            return np.ascontiguousarray(rows)
        if "matrix" in vars(self) or len(rows) > MANY_ROWS * len(self.scales):
            return rows @ self.matrix
        lwork = (len(rows) + BLOCK_SIZE) * (BLOCK_SIZE + 1)
        return np.ascontiguousarray(
            dormqr("L", "T", self.reflectors, self.scales, rows.T, lwork)[0].T
        )

    @cached_property
    def matrix(self) -> FloatArray:
        """Q."""
        found: FloatArray = dorgqr(self.reflectors, self.scales, BLOCK_SIZE * len(self.scales))[0]
        return found


@dataclass(frozen=True)
class Decomposition:
    """A = Q T Q^T, T tridiagonal, by its diagonal and what is beside it, with a zero at the end."""

    Q: Rotation
    diagonal: FloatArray
    off: FloatArray

    @cached_property
    def least(self) -> float:
        """The least eigenvalue, or a little less."""
        if not self.off.any():
            return float(self.diagonal.min())
        d, e, by_index, first = self.diagonal, self.off[:-1], 2, 1
        _, found, *_ = dstebz(d, e, by_index, 0.0, 0.0, first, first, TOLERANCE, "E")
        return float(found[0]) - 2 * TOLERANCE


def tridiagonalize(A: FloatArray) -> Decomposition:
    """Decompose a symmetric matrix."""
    diagonal, off = np.diagonal(A).copy(), np.append(np.diagonal(A, 1), 0.0)
    if len(A) < 3 or np.count_nonzero(A) == np.count_nonzero(diagonal):  # before the first draw
        return Decomposition(Rotation(A[:0], A[:0, 0]), diagonal, off)
    # reflectors leave the first coordinate as it is: as those of a QR factorization, after I
    found = np.concatenate([np.zeros((1, len(A))), A])
    _, diagonal, off, scales, _ = dsytrd(
        found[1:].T, lower=1, lwork=BLOCK_SIZE * len(A), overwrite_a=1
    )
    Q = Rotation(found[:-1].T, np.append(0.0, scales))
    return Decomposition(Q, diagonal, np.append(off, 0.0))


class Ahead(NamedTuple):
    """Draws made, and what is known after them."""

    state: State
    drawn: IndexArray  # groups
    t: FloatArray
    Z: Pair
    potentials: tuple[float, float]
    n_looked_at: int


def draws(
    rule: str,
    *,
    rows: Pair,  # in the coordinates of either decomposition
    sizes: IndexArray,  # of the groups that they are in, most of them of one row
    selected: BoolArray,  # groups to draw only where no other is feasible, and ...
    again: bool,  # ... only if that is allowed, and ...
    distinct: bool,  # ... by their slack, with the largest weight
    decompositions: tuple[Decomposition, Decomposition],
    places: tuple[float, float],  # of the barriers, before the first of these draws
    steps: tuple[float, float],  # by which they move before each draw
    potentials: tuple[float, float],
    Z: Pair,  # rows drawn since the decomposition, in its coordinates, and ...
    t: FloatArray,  # ... their weights
    wanted: tuple[int, int],  # draws, and distinct groups, to go on for, but ...
    most: int,  # ... no more draws, and ...
    most_stale: int,  # ... none where Z has so many rows
) -> Ahead:
    """Make draws until there are as many as wanted, or something else has to be done first."""
    n_stale, starts = len(t), np.append(0, np.cumsum(sizes)).astype(np.int64)
    room = most_stale + int(sizes.max()) - 1  # the last draw may exceed `most_stale`
    lower, upper = (np.concatenate([side, np.empty((room - n_stale, side.shape[1]))]) for side in Z)
    t = np.concatenate([t, np.empty(room - n_stale)])
    is_selected, drawn = selected.astype(np.uint8), np.empty(most, np.int64)
    block = Block(
        l=lower.shape[1],
        n_groups=len(sizes),
        rule=RULES.index(rule),
        again=again,
        distinct=distinct,
        wanted=wanted,
        most=most,
        most_stale=most_stale,
        room=room,
        n_stale=n_stale,
        near_tie=NEAR_TIE,
        least=decompositions[0].least,
        place=places,
        step=steps,
        potential=potentials,
        rows=tuple(map(address, rows)),
        diagonal=tuple(address(side.diagonal) for side in decompositions),
        off=tuple(address(side.off) for side in decompositions),
        Z=(address(lower), address(upper)),
        t=address(t),
        starts=starts.ctypes.data,
        selected=is_selected.ctypes.data,
        drawn=drawn.ctypes.data,
    )
    state = State(draw_ahead(ctypes.byref(block)))
    if state is State.NO_MEMORY:
        raise MemoryError(f"no room for {most} draws among {len(sizes)} rows of {block.l}")
    drawn = drawn[: block.n_drawn]
    first = n_stale + np.cumsum(sizes[drawn]) - sizes[drawn]
    Z = lower[: block.n_stale], upper[: block.n_stale]
    return Ahead(state, drawn, t[first], Z, tuple(block.potential), block.n_looked_at)


def address(array: FloatArray) -> int:
    """Where the numbers are that the compiled code reads or writes."""
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise TypeError(f"compiled draws need C-contiguous float64; got {array.dtype}")
    return array.ctypes.data
