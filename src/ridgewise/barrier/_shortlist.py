# SPDX-License-Identifier: BSD-3-Clause
"""The rows that the engine keeps at hand, and what it makes of one."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._problem import Vectors, is_feasible

Pair = tuple[FloatArray, FloatArray]  # one for the lower barrier, one for the upper


class Draw(NamedTuple):
    """A row, by its position in scan order, and its weight."""

    position: int
    row: FloatArray
    t: float


class Candidate(NamedTuple):
    """A row by its position in scan order, as it is and in both barriers' coordinates.

    With its quadratic forms u^T N^2 u and u^T N u at either barrier, L(u), U(u), and L's positive
    term.
    """

    position: int
    raw: FloatArray
    rotated: Pair
    lower: tuple[float, float]
    upper: tuple[float, float]
    lv: float
    uv: float
    term: float

    @property
    def is_feasible(self) -> bool:
        """Whether it may be drawn."""
        return bool(is_feasible(self.lv, self.uv, self.term))


class Known:
    """What compiled code knows of rows at hand, to go on from when there are more of them."""

    def __init__(self) -> None:
        self.numbers = np.empty((4, 0))  # a column of them for each
        self.n_rows, self.n_drawn, self.place, self.surveyed_at = 0, -1, 0.0, -1

    def make_room(self, n_rows: int) -> None:
        """Have room for so many rows."""
        more = n_rows - self.numbers.shape[1]
        if more > 0:
            self.numbers = np.hstack([self.numbers, np.empty((4, more))])


class Shortlist:
    """Rows at hand, in scan order and in the coordinates of each barrier's decomposition.

    Rows are named by their position in scan order throughout.
    """

    def __init__(self, vectors: Vectors, order: IndexArray, Q: Pair | None = None) -> None:
        self.vectors, self.order = vectors, order
        self.Q, self.known = Q or (np.eye(vectors.rank),) * 2, Known()
        self.hold(np.empty(0, dtype=np.intp), np.empty((0, vectors.rank)))

    def __len__(self) -> int:
        return len(self.positions)

    def hold(self, positions: IndexArray, raw: FloatArray) -> None:
        """Hold these rows and no others."""
        self.positions, self.raw = positions, raw
        self.place(*rotate(raw, self.Q))

    def extend(self, positions: IndexArray) -> None:
        """Hold these rows too, which come after the others."""
        raw = self.vectors.take(self.order[positions])
        self.positions = np.concatenate([self.positions, positions])
        self.raw = np.concatenate([self.raw, raw])
        self.place(*join((self.lower, self.upper), rotate(raw, self.Q)))

    def place(self, lower: FloatArray, upper: FloatArray) -> None:
        """Have these coordinates."""
        self.lower, self.upper = lower, upper
        self.norms2 = self.vectors.norms2[self.order[self.positions]]
        self.__dict__.pop("squares", None)

    @cached_property
    def squares(self) -> Pair:
        """The coordinates squared, made when they are asked for."""
        squares = self.lower**2
        return squares, squares if self.lower is self.upper else self.upper**2

    def take(self, which: IndexArray) -> FloatArray:
        """Some of these rows, as they are."""
        return self.raw[which]

    def given(self, most: int) -> dict[str, Any]:
        """What compiled draws take, however many until the next decomposition."""
        return {"rows": (self.lower, self.upper), "norms2": self.norms2}

    def refresh(self, Q: Pair, dropped: BoolArray, most: int) -> None:
        """Go over to other coordinates with the first rows whose vectors are not ``dropped``."""
        self.Q, self.known = Q, Known()
        keep = np.flatnonzero(~dropped[self.order[self.positions]])[:most]
        self.hold(self.positions[keep], self.raw[keep])


def rotate(raw: FloatArray, Q: Pair) -> Pair:
    """Rows in both barriers' coordinates; the same array twice where these are the same."""
    lower = raw @ Q[0]
    return lower, lower if Q[0] is Q[1] else raw @ Q[1]


def join(some: Pair, more: Pair) -> Pair:
    """Rows below rows, of both; the same array twice where it was."""
    lower = np.concatenate([some[0], more[0]])
    return lower, lower if some[0] is some[1] else np.concatenate([some[1], more[1]])
