# SPDX-License-Identifier: BSD-3-Clause
"""L(u) and U(u) of all rows at once, closely enough to leave nearly all rows alone.

Both barriers need h(x) = u^T N(x) u of a row u, N(x) = sign (A - x)^-1 with x the barrier's place,
and its derivative, since N^2 = sign dN/dx. As a function of x, h is smooth as long as x keeps its
distance from the eigenvalues of A: a polynomial through its values at a few places serves for all
draws of which the barrier is between these. With p Chebyshev nodes, and no eigenvalue y nearer to
them than some guard,

    |1 / (y - x) - sum_i l_i(x) / (y - x_i)| <= 1 / |T_p(guard) (y - x)|

(T_p in the variable that takes the nodes' interval to [-1, 1]). So a row is p numbers a barrier.
A new row in A changes N by a matrix of rank one, and those numbers by a square:

    N(x) <- N(x) - sign c c^T,    c = N(x) z / sqrt(1 / t + sign z^T N(x) z)    (Sherman-Morrison).

To set the numbers takes one pass over the vectors with l directions, to follow a draw one with p.
"""

import math

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.barrier._problem import NEAR_TIE, Vectors
from ridgewise.barrier._resolvent import LostDefinitenessError
from ridgewise.barrier._shortlist import Pair

NODES = 8, 6  # the lower barrier moves faster, for its distance from the eigenvalues
REACH = 0.5  # how much of its distance to the eigenvalues a barrier may move through


class Profile:
    """One barrier's nodes, and N at each of them in the coordinates of the decomposition."""

    def __init__(self, sign: int, n_nodes: int) -> None:
        self.sign = sign
        self.degrees = np.arange(n_nodes + 1)
        self.cosines = np.cos(np.pi * (np.arange(n_nodes) + 0.5) / n_nodes)
        # from T_0(x), ..., T_p(x) to the Lagrange polynomials l_i(x), of degree p - 1
        self.lagrange = 2 / n_nodes * np.polynomial.chebyshev.chebvander(self.cosines, n_nodes).T
        self.lagrange[0] /= 2

    def place(self, eigenvalues: FloatArray, start: float, length: float) -> None:
        """Choose nodes for a barrier that moves on from ``start`` by ``length``."""
        # an eighth more at both ends, where polynomials are at their worst
        self.middle, self.half = start + 0.5 * length, 0.625 * length
        self.end = start + length
        edge = self.middle + self.sign * self.half
        nearest = eigenvalues[0] if self.sign > 0 else eigenvalues[-1]
        # eigenvalues move away from the lower barrier, and may come nearer to the upper one
        self.guard = edge + (0.95 if self.sign > 0 else 0.5) * (nearest - edge)
        self.places = np.append(self.middle + self.half * self.cosines, self.guard)
        distance = abs(self.guard - self.middle) / self.half
        self.worst = 1 / math.cosh(self.degrees[-1] * math.acosh(distance))

    def decomposed(self, eigenvalues: FloatArray, most: int) -> None:
        """Start from a decomposition of A, with at most so many rows to be added."""
        gaps = self.sign * (eigenvalues - self.places[:, None])
        if gaps.min() <= 0:
            raise LostDefinitenessError
        self.g = 1 / gaps
        self.C = np.empty((len(gaps), most, len(eigenvalues)))
        self.n_added = 0

    def add(self, z: FloatArray, t_inverse: float) -> FloatArray:
        """Account for A + t z z^T: c at every node."""
        C = self.C[:, : self.n_added]
        Nz = self.g * z - self.sign * np.matmul((C @ z)[:, None], C)[:, 0]
        scale2 = t_inverse + self.sign * (Nz @ z)
        if not scale2.min() > 0:  # an eigenvalue has passed the guard
            raise LostDefinitenessError
        c = self.C[:, self.n_added] = Nz / np.sqrt(scale2)[:, None]
        self.n_added += 1
        return c[:-1]

    def bound(self, x: float, change: float) -> FloatArray:
        """Coefficients of sign h at the nodes: they give L or more, U or less.

        L and U are sign (h' / change - h). The errors of h and h' are in proportion to h itself.
        """
        angle = math.acos((x - self.middle) / self.half)
        T = np.cos(self.degrees * angle)
        slope = self.degrees * np.sin(self.degrees * angle) / (math.sin(angle) * self.half)
        gap = abs(self.guard - x)
        error = (abs(slope[-1]) + abs(T[-1]) / gap) / change + abs(T[-1])
        rounding = 10 * NEAR_TIE * (1 / (gap * change) + 1)
        share = (error * self.worst + rounding) / (1 - self.worst)
        values = slope / change + (share - 1) * T
        return np.asarray(values[:-1] @ self.lagrange[:-1])


class Screen:
    """Bounds on L(u) and U(u) of every row, kept up with the draws."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        self.sides = Profile(+1, NODES[0]), Profile(-1, NODES[1])
        self.is_set = False

    def reaches(self, L: float, U: float) -> bool:
        """Whether it can tell about barriers at these places."""
        return self.is_set and bool(self.sides[0].end >= L and self.sides[1].end >= U)

    def set(self, Q: Pair, eigenvalues: Pair, L: float, U: float, speed: float, most: int) -> None:
        """Begin at a decomposition of A, barriers at L and U, the upper one ``speed`` as fast."""
        draws = REACH * min(eigenvalues[0][0] - L, (U - eigenvalues[1][-1]) / speed)
        self.sides[0].place(eigenvalues[0], L, draws)
        self.sides[1].place(eigenvalues[1], U, draws * speed)
        self.decomposed(Q, eigenvalues, most)
        values = [side.sign * side.g[:-1].T for side in self.sides]
        directions = Q[0] if Q[0] is Q[1] else np.hstack(Q)
        rank = self.vectors.rank
        self.h = np.empty((len(self.vectors.norms2), sum(NODES)))  # sign h at the nodes
        for block, coordinates in self.vectors.projections(directions):
            np.square(coordinates, out=coordinates)
            np.matmul(coordinates[:, :rank], values[0], out=self.h[block, : NODES[0]])
            np.matmul(coordinates[:, -rank:], values[1], out=self.h[block, NODES[0] :])
        self.is_set = True

    def decomposed(self, Q: Pair, eigenvalues: Pair, most: int) -> None:
        """Go over to the coordinates of another decomposition of the same A."""
        self.Q = Q
        for side, values in zip(self.sides, eigenvalues, strict=True):
            side.decomposed(values, most)

    def follow(self, Z: Pair, t_inverse: FloatArray) -> None:
        """Take in the draws made since the decomposition, rotated, that it has not seen yet."""
        added = range(self.sides[0].n_added, len(t_inverse))
        if len(added) == 0:
            return
        directions = [
            Q @ side.add(z[i], t_inverse[i]).T
            for i in added
            for side, Q, z in zip(self.sides, self.Q, Z, strict=True)
        ]
        for block, coordinates in self.vectors.projections(np.hstack(directions)):
            np.square(coordinates, out=coordinates)
            for start in range(0, coordinates.shape[1], sum(NODES)):
                self.h[block] -= coordinates[:, start : start + sum(NODES)]

    def bounds(self, places: tuple[float, float], changes: tuple[float, float]) -> FloatArray:
        """Of every row, L(u) or more and U(u) or less, shape (d, 2)."""
        coefficients = np.zeros((sum(NODES), 2))
        coefficients[: NODES[0], 0] = self.sides[0].bound(places[0], changes[0])
        coefficients[NODES[0] :, 1] = self.sides[1].bound(places[1], changes[1])
        return np.asarray(self.h @ coefficients)
