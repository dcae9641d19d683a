# SPDX-License-Identifier: BSD-3-Clause
"""The rows that the engine keeps at hand, and the bounds that let it leave the others alone."""

import numpy as np
from scipy.linalg.lapack import dpotrf

from ridgewise._typing import BoolArray, FloatArray, IndexArray
from ridgewise.barrier._problem import NEAR_TIE, Vectors


class Shortlist:
    """Rows at hand, in scan order and in the coordinates of the last decomposition.

    Rows are named by their position in scan order throughout.
    """

    def __init__(self, vectors: Vectors, order: IndexArray) -> None:
        self.vectors, self.order = vectors, order
        self.Q: FloatArray | None = None
        self.hold(np.empty(0, dtype=np.intp), np.empty((0, vectors.rank)))

    def __len__(self) -> int:
        return len(self.positions)

    def hold(self, positions: IndexArray, raw: FloatArray) -> None:
        """Hold these rows and no others."""
        self.positions, self.raw = positions, raw
        self.rotated = self.rotate(raw)
        self.squares = self.rotated**2
        self.norms2 = self.vectors.norms2[self.order[positions]]

    def extend(self, positions: IndexArray) -> None:
        """Hold these rows too, which come after the others."""
        raw = self.vectors.take(self.order[positions])
        rotated = self.rotate(raw)
        self.positions = np.concatenate([self.positions, positions])
        self.raw = np.concatenate([self.raw, raw])
        self.rotated = np.concatenate([self.rotated, rotated])
        self.squares = np.concatenate([self.squares, rotated**2])
        self.norms2 = np.concatenate([self.norms2, self.vectors.norms2[self.order[positions]]])

    def rotate(self, raw: FloatArray) -> FloatArray:
        """Rows in the coordinates of the last decomposition."""
        return raw if self.Q is None else np.asarray(raw @ self.Q)

    def replace(self, positions: IndexArray) -> None:
        """Hold the rows at ``positions`` (ascending), asking only for those not held yet."""
        held = np.isin(positions, self.positions, assume_unique=True)
        raw = np.empty((len(positions), self.vectors.rank))
        raw[held] = self.raw[np.isin(self.positions, positions, assume_unique=True)]
        raw[~held] = self.vectors.take(self.order[positions[~held]])
        self.hold(positions, raw)

    def refresh(self, Q: FloatArray, dropped: BoolArray) -> None:
        """Go over to the coordinates of Q, and let go of the rows marked in ``dropped``."""
        self.Q = Q
        keep = ~dropped[self.positions]
        self.hold(self.positions[keep], self.raw[keep])


class Screen:
    """Bounds on L(u) and U(u) of every row, from their values some draws ago.

    Both are quadratic forms u^T W u. When W has become W + D, a row's value has grown by at most
    lambda_max(D) ||u||^2: one number serves all rows, and few rows survive it.
    """

    def __init__(self, vectors: Vectors, order: IndexArray) -> None:
        self.vectors, self.order = vectors, order
        self.norms2 = vectors.norms2[order]
        self.is_set = False

    def set(self, Q: FloatArray, w_lower: FloatArray, w_upper: FloatArray) -> None:
        """Compute both values of every row for W = Q diag(w) Q^T, in one pass over the vectors."""
        values = np.empty((2, len(self.vectors.norms2)))
        for block, coordinates in self.vectors.projections(Q):
            np.square(coordinates, out=coordinates)
            values[:, block] = (coordinates @ np.column_stack([w_lower, w_upper])).T
        self.lv, self.uv = values[:, self.order]
        self.W = [(Q * w) @ Q.T for w in (w_lower, w_upper)]
        # what rounding may do to the values is far below this
        self.growth = [10 * NEAR_TIE * float(np.abs(w).max()) for w in (w_lower, w_upper)]
        self.is_set = True
        self.rotate(Q)

    def rotate(self, Q: FloatArray) -> None:
        """Go over to the coordinates of Q."""
        self.rotated_W = [Q.T @ W @ Q for W in self.W]

    def bounds(self, W_lower: FloatArray, W_upper: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of every row, at most its L(u) and at least its U(u), for the forms as they are now."""
        lower, upper = self.rotated_W
        self.growth[0] = bound_eigenvalues(W_lower - lower, self.growth[0])
        self.growth[1] = bound_eigenvalues(upper - W_upper, self.growth[1])
        return self.lv + self.growth[0] * self.norms2, self.uv - self.growth[1] * self.norms2


def bound_eigenvalues(D: FloatArray, bound: float) -> float:
    """``bound`` if no eigenvalue of the symmetric matrix D exceeds it, else a larger one.

    That bound I - D has a Cholesky factor costs a fraction of D's eigenvalues.
    """
    M = -D
    M.flat[:: len(M) + 1] += bound
    if dpotrf(M, clean=0)[1] == 0:
        return bound
    largest = float(np.linalg.eigvalsh(D)[-1])
    return 1.2 * max(largest, 0.0) + 1e-12 * float(np.abs(D).max())
