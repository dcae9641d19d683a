# SPDX-License-Identifier: BSD-3-Clause
"""L(u) and U(u) of all rows at once, closely enough to leave nearly all rows alone.

Both barriers need h(x) = u^T N(x) u of a row u, N(x) = sign (A - x)^-1 with x the barrier's place,
and its derivative, since N^2 = sign dN/dx. As a function of x, h is smooth as long as x keeps its
distance from the eigenvalues y of A: h at a few nodes x_i tells it in between, for tens of draws.

A map s(x) = k / (e - x) - S takes the nodes' interval to [-1, 1] and all eigenvalues beyond S, on
both sides: then (e - x) h(x) is nearly a polynomial in s. With p Chebyshev nodes, the error of h is

    T_p(s(x)) / T_p(s(y)) / (y - x),    at most 1 / T_p(S) of what it is an error of.

So a row is p numbers a barrier. A new row z in A, of weight t, changes N by a matrix of rank one,
and those numbers by a square (Sherman-Morrison):

    N(x) <- N(x) - sign c c^T,    c = N(x) z / sqrt(1 / t + sign z^T N(x) z).

To set the numbers takes one pass over the vectors with l directions, to follow a draw one with p.
"""

import math

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier._problem import NEAR_TIE, Vectors
from ridgewise.barrier._resolvent import LostDefinitenessError
from ridgewise.barrier._shortlist import Pair

# of the lower barrier, and of the upper one, which is farther away for its speed
NODES = 7, 5
REACH = 0.6, 0.4  # how much of its distance to the eigenvalues a barrier may move through
# Where no eigenvalue may be, between the nodes (0) and the eigenvalues (1) as they are: they move
# away from the lower barrier, and may come nearer to the upper one.
GUARD = 0.95, 0.5
MOST_HELD = 2**21  # numbers in the rows that it is about, if it is not about all of them


class Profile:
    """One barrier's nodes, and N at each of them in the coordinates of the decomposition."""

    def __init__(self, sign: int, n_nodes: int, guard: float) -> None:
        self.sign, self.guard_share = sign, guard
        self.degrees = np.arange(n_nodes + 1)
        self.s = np.cos(np.pi * (np.arange(n_nodes) + 0.5) / n_nodes)
        # from T_0(s), ..., T_{p-1}(s) to the Lagrange polynomials of the nodes
        self.lagrange = chebvander(self.s, n_nodes - 1).T * 2 / n_nodes
        self.lagrange[0] /= 2

    def place(self, start: float, stop: float, nearest: float) -> None:
        """Choose nodes for a barrier from ``start`` to ``stop``, given the nearest eigenvalue."""
        # an eighth more at both ends, where polynomials are at their worst
        near, far = stop + 0.125 * (stop - start), start - 0.125 * (stop - start)
        if self.sign < 0:
            near, far = far, near
        self.stop = stop
        self.guard = near + self.guard_share * (nearest - near)
        root = math.sqrt((self.guard - far) / (self.guard - near))
        self.S = (root + 1) / (root - 1)
        self.e = (near * (self.S + 1) - far * (self.S - 1)) / 2
        self.k = (self.S - 1) * (self.e - far)
        self.nodes = self.e - self.k / (self.s + self.S)
        self.basis = self.lagrange * (self.e - self.nodes)
        self.worst = 1 / math.cosh(len(self.s) * math.acosh(self.S))

    def decomposed(self, eigenvalues: FloatArray, most: int) -> None:
        """Start from a decomposition of A, with at most so many rows to be added."""
        gaps = self.sign * (eigenvalues - np.append(self.nodes, self.guard)[:, None])
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
        pole = self.e - x
        angle = math.acos(self.k / pole - self.S)
        T = np.cos(self.degrees * angle)
        slope = self.degrees * np.sin(self.degrees * angle) * (self.k / (math.sin(angle) * pole**2))
        gap = abs(self.guard - x)
        error = (abs(slope[-1]) + abs(T[-1]) / gap) / change + abs(T[-1])
        rounding = 10 * NEAR_TIE * (1 / (gap * change) + 1)
        share = (error * self.worst + rounding) / (1 - self.worst)
        values = (slope + T / pole) / change + (share - 1) * T
        return np.asarray(values[:-1] @ self.basis / pole)


class Screen:
    """Bounds on L(u) and U(u) of every row, or of the longer ones, kept up with the draws."""

    h: FloatArray

    def __init__(self, vectors: Vectors) -> None:
        self.all_vectors = vectors
        self.include(0.0)
        self.sides = Profile(+1, NODES[0], GUARD[0]), Profile(-1, NODES[1], GUARD[1])
        self.columns = slice(0, NODES[0]), slice(NODES[0], sum(NODES))

    def reaches(self, L: float, U: float) -> bool:
        """Whether it can tell about barriers at these places."""
        return self.is_set and bool(self.sides[0].stop >= L and self.sides[1].stop >= U)

    @property
    def is_whole(self) -> bool:
        """Whether it is about all rows."""
        return len(self.members) == len(self.all_vectors.norms2)

    def include(self, norm2: float) -> None:
        """Be about all rows of at least this squared norm, or about all; it has to be set then."""
        members = np.flatnonzero(self.all_vectors.norms2 >= norm2)
        self.take_in(members if self.can_hold(members) else np.arange(len(self.all_vectors.norms2)))
        self.is_set = False

    def can_hold(self, members: IndexArray) -> bool:
        """Whether these rows are few enough to be held."""
        return len(members) * self.all_vectors.rank <= MOST_HELD

    def leave_out(self, norm2: float) -> None:
        """No longer be about rows of less than this squared norm."""
        left = np.flatnonzero(self.vectors.norms2 >= norm2)
        if len(left) <= len(self.members) // 2 and self.can_hold(left):
            self.take_in(self.members[left])
            self.h = self.h[left]

    def take_in(self, members: IndexArray) -> None:
        """Be about these rows."""
        self.members, self.vectors = members, self.all_vectors
        self.most_outside = 0.0
        if not self.is_whole:
            self.vectors = self.all_vectors.subset(members)
            outside = np.delete(self.all_vectors.norms2, members)
            self.most_outside = float(outside.max())  # the largest squared norm

    def set(self, Q: Pair, eigenvalues: Pair, L: float, U: float, most: int) -> None:
        """Place nodes anew, from a decomposition of A, where they do not reach L or U."""
        self.Q, shared = Q, Q[0] is Q[1]
        if not self.is_set:
            self.h = np.empty((len(self.vectors.norms2), sum(NODES)))  # sign h at the nodes
        nearest = float(eigenvalues[0][0]), float(eigenvalues[1][-1])
        for i, (side, x) in enumerate(zip(self.sides, (L, U), strict=True)):
            if self.is_set and side.stop >= x and not shared:
                continue
            side.place(x, x + REACH[i] * abs(nearest[i] - x), nearest[i])
            side.decomposed(eigenvalues[i], most)
            if not shared:
                self.fill(Q[i], self.columns[i], side.sign * side.g[:-1].T)
        if shared:  # both in one pass
            self.fill(Q[0], slice(None), np.hstack([s.sign * s.g[:-1].T for s in self.sides]))
        self.is_set = True

    def fill(self, Q: FloatArray, columns: slice, values: FloatArray) -> None:
        """Compute h where N = Q diag(values) Q^T: one pass over the vectors."""
        for block, forms in self.vectors.forms(Q, values):
            self.h[block, columns] = forms

    def decomposed(self, Q: Pair, eigenvalues: Pair, most: int) -> None:
        """Go over to the coordinates of another decomposition of the same A."""
        self.Q = Q
        try:
            for side, values in zip(self.sides, eigenvalues, strict=True):
                side.decomposed(values, most)
        except LostDefinitenessError:
            self.is_set = False

    def follow(self, Z: Pair, t_inverse: FloatArray) -> None:
        """Take in the draws made since the decomposition, rotated, that it has not seen yet."""
        added = range(self.sides[0].n_added, len(t_inverse))
        if len(added) == 0:
            return
        try:
            directions = [self.directions((Z[0][i], Z[1][i]), t_inverse[i]) for i in added]
        except LostDefinitenessError:
            self.is_set = False
            return
        # squares of the same node add up
        values = None if len(added) == 1 else np.tile(np.eye(sum(NODES)), (len(added), 1))
        for block, forms in self.vectors.forms(np.hstack(directions), values):
            self.h[block] -= forms

    def directions(self, z: Pair, t_inverse: float) -> FloatArray:
        """The c of every node of both barriers, for one new row, in the vectors' coordinates."""
        lower, upper = (side.add(z[i], t_inverse) for i, side in enumerate(self.sides))
        if self.Q[0] is self.Q[1]:
            return np.asarray(self.Q[0] @ np.concatenate([lower, upper]).T)
        return np.hstack([self.Q[0] @ lower.T, self.Q[1] @ upper.T])

    def pays_off(self, n_draws: int) -> bool:
        """Whether following so many draws costs less than setting the screen anew would."""
        return (n_draws - self.sides[0].n_added) * sum(NODES) <= self.vectors.rank

    def bounds(self, places: tuple[float, float], changes: tuple[float, float]) -> FloatArray:
        """Of every row that it is about, L(u) or more and U(u) or less, one row each."""
        coefficients = np.zeros((sum(NODES), 2))
        for i, side in enumerate(self.sides):
            coefficients[self.columns[i], i] = side.bound(places[i], changes[i])
        return np.asarray(self.h @ coefficients)
