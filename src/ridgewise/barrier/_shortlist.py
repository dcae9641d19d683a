# SPDX-License-Identifier: BSD-3-Clause
"""The rows that the engine keeps at hand, and the bounds that let it leave the others alone."""

import numpy as np
from scipy.linalg import block_diag
from scipy.linalg.lapack import dpotrf

from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._problem import NEAR_TIE, Vectors

SMALLEST = 1e-300  # above 0, so that growing it leads somewhere
LEADING = 40  # directions accounted for row by row in the tighter bounds

Pair = tuple[FloatArray, FloatArray]  # one for the lower barrier, one for the upper


class Shortlist:
    """Rows at hand, in scan order and in the coordinates of each barrier's decomposition.

    Rows are named by their position in scan order throughout.
    """

    def __init__(self, vectors: Vectors, order: IndexArray) -> None:
        self.vectors, self.order = vectors, order
        self.Q = (np.eye(vectors.rank),) * 2
        self.hold(np.empty(0, dtype=np.intp), np.empty((0, vectors.rank)))

    def __len__(self) -> int:
        return len(self.positions)

    def hold(self, positions: IndexArray, raw: FloatArray) -> None:
        """Hold these rows and no others."""
        self.positions, self.raw = positions, raw
        self.lower, self.upper = rotate(raw, self.Q)
        self.squares = square(self.lower, self.upper)
        self.norms2 = self.vectors.norms2[self.order[positions]]

    def extend(self, positions: IndexArray) -> None:
        """Hold these rows too, which come after the others."""
        raw = self.vectors.take(self.order[positions])
        lower, upper = rotate(raw, self.Q)
        squares = square(lower, upper)
        self.positions = np.concatenate([self.positions, positions])
        self.raw = np.concatenate([self.raw, raw])
        self.norms2 = np.concatenate([self.norms2, self.vectors.norms2[self.order[positions]]])
        self.lower, self.upper = join((self.lower, self.upper), (lower, upper))
        self.squares = join(self.squares, squares)

    def replace(self, positions: IndexArray) -> None:
        """Hold the rows at ``positions`` (ascending), asking only for those not held yet."""
        held = np.isin(positions, self.positions, assume_unique=True)
        raw = np.empty((len(positions), self.vectors.rank))
        raw[held] = self.raw[np.isin(self.positions, positions, assume_unique=True)]
        raw[~held] = self.vectors.take(self.order[positions[~held]])
        self.hold(positions, raw)

    def refresh(self, Q: Pair, dropped: BoolArray, most: int) -> None:
        """Go over to other coordinates with the first rows not marked in ``dropped``."""
        self.Q = Q
        keep = np.flatnonzero(~dropped[self.positions])[:most]
        self.hold(self.positions[keep], self.raw[keep])


class Screen:
    """Bounds on L(u) and U(u) of every row, from their values some draws ago.

    Both are quadratic forms u^T W u. When W has become W + D, and D <= c Z, a row's value has grown
    by at most c u^T Z u: one number c serves all rows, and few rows survive it. Z = I, and u^T Z u
    is the squared norm, where there is no penalty; else Z is 1 / (1 + penalty).
    """

    def __init__(
        self, vectors: Vectors, order: IndexArray, sizes: FloatArray, penalty: FloatArray | None
    ) -> None:
        self.vectors, self.order, self.sizes = vectors, order, sizes[order]
        self.z = np.ones(vectors.rank) if penalty is None else 1 / (1 + penalty)
        self.is_set = False

    def set(self, Q: Pair, w: Pair) -> None:
        """Compute both values of every row for W = Q diag(w) Q^T, in one pass over the vectors."""
        shared = Q[0] is Q[1]
        directions = Q[0] if shared else np.hstack(Q)
        forms = np.column_stack(w) if shared else block_diag(w[0][:, None], w[1][:, None])
        values = np.empty((2, len(self.vectors.norms2)))
        for block, coordinates in self.vectors.projections(directions):
            np.square(coordinates, out=coordinates)
            values[:, block] = (coordinates @ forms).T
        self.lv, self.uv = values[:, self.order]
        self.W = [(side * form) @ side.T for side, form in zip(Q, w, strict=True)]
        # what rounding may do to the values is far below this
        self.growth_margin = 10 * NEAR_TIE * float(np.abs(w).max())
        self.growth = [self.growth_margin] * 2
        self.is_set = True
        self.rotate(Q)

    def rotate(self, Q: Pair) -> None:
        """Go over to other coordinates."""
        self.rotated_W = [side.T @ W @ side for side, W in zip(Q, self.W, strict=True)]
        self.rotated_Z = [side.T @ (self.z[:, None] * side) for side in Q]

    def bounds(self, W_lower: FloatArray, W_upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of every row, at most its L(u) and at least its U(u), for the forms as they are now."""
        changes = W_lower - self.rotated_W[0], self.rotated_W[1] - W_upper
        for side, D in enumerate(changes):
            self.growth[side] = bound_growth(D, self.rotated_Z[side], self.growth[side])
        return self.lv + self.growth[0] * self.sizes, self.uv - self.growth[1] * self.sizes

    def slack_bounds(self, W_lower: FloatArray, W_upper: FloatArray, Q: Pair) -> FloatArray:
        """At most L(u) - U(u) of every row: tighter, for a pass over the vectors' leading parts.

        With D = sum theta_i q_i q_i^T in the metric of Z, the few largest theta are accounted for
        row by row, and only the others by the largest of them.
        """
        D = Q[0] @ (W_lower - self.rotated_W[0]) @ Q[0].T
        D -= Q[1] @ (W_upper - self.rotated_W[1]) @ Q[1].T
        root = np.sqrt(self.z)
        theta, q = np.linalg.eigh(D / np.outer(root, root))
        few = min(LEADING, len(theta) - 1)
        rest = max(theta[-few - 1], 0.0) + self.growth_margin
        leading = np.maximum(theta[-few:] - rest, 0.0)
        grown = np.empty(len(self.vectors.norms2))
        for block, coordinates in self.vectors.projections(root[:, None] * q[:, -few:]):
            grown[block] = coordinates**2 @ leading
        return self.lv - self.uv + rest * self.sizes + grown[self.order]


def rotate(raw: FloatArray, Q: Pair) -> Pair:
    """Rows in both barriers' coordinates; the same array twice where these are the same."""
    lower = raw @ Q[0]
    return lower, lower if Q[0] is Q[1] else raw @ Q[1]


def join(some: Pair, more: Pair) -> Pair:
    """Rows below rows, of both; the same array twice where it was."""
    lower = np.concatenate([some[0], more[0]])
    return lower, lower if some[0] is some[1] else np.concatenate([some[1], more[1]])


def square(lower: FloatArray, upper: FloatArray) -> Pair:
    """Both squared, with no work done twice."""
    squares = lower**2
    return squares, squares if lower is upper else upper**2


def bound_growth(D: FloatArray, Z: FloatArray, bound: float) -> float:
    """``bound`` if D <= bound Z, else a larger one that is.

    D <= bound Z where bound Z - D has a Cholesky factor: trying a few bounds costs less than
    eigenvalues. The ratios of the diagonals are a start from below.
    """
    while dpotrf(bound * Z - D, clean=0)[1] != 0:
        bound = 1.15 * max(bound, float(np.max(np.diagonal(D) / np.diagonal(Z))), SMALLEST)
    return bound
