# SPDX-License-Identifier: BSD-3-Clause
"""Vectors as the barrier method asks for them: single ones, and groups that are drawn whole."""

from typing import Any, Protocol

import numpy as np

from ridgewise._groups import Groups
from ridgewise._typing import FloatArray, IndexArray


class Vectors(Protocol):
    """Vectors u_1, ..., u_d with sum u_j u_j^T = I, of which any may be asked for."""

    @property
    def norms2(self) -> FloatArray:
        """Squared norm of each vector, shape (d,)."""

    @property
    def rank(self) -> int:
        """The length l of a vector."""

    def take(self, indices: IndexArray) -> FloatArray:
        """Vectors ``indices`` as rows, shape (len(indices), l)."""

    def hold(self, indices: IndexArray) -> Any:
        """The same, or anything that can be indexed, multiplied and converted as that array can."""

    def forms(self, W: FloatArray) -> FloatArray:
        """Quadratic forms u_j^T W u_j of all vectors, W symmetric, shape (d,).

        They may be rounded more than `take` is: the engine computes those anew that decide.
        """

    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        """Squared norms of all vectors with coordinate i multiplied by ``scale[i]``."""


class ArrayVectors:
    """The rows of an array U with orthonormal columns, for `sparsify`.

    Examples
    --------
    >>> ArrayVectors(np.eye(3)).norms2
    array([1., 1., 1.])
    """

    def __init__(self, U: FloatArray) -> None:
        self.U = U
        self.norms2: FloatArray = np.einsum("ij,ij->i", U, U)
        self.rank = U.shape[1]

    def take(self, indices: IndexArray) -> FloatArray:
        """Rows ``indices`` of U."""
        return self.U[indices]

    hold = take

    def forms(self, W: FloatArray) -> FloatArray:
        """u_j^T W u_j of all rows."""
        return np.einsum("ij,ij->i", self.U @ W, self.U)

    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        """Squared norms of U diag(scale)."""
        return (self.U * scale) ** 2 @ np.ones(self.rank)


class GroupedVectors:
    """Vectors in groups that are drawn whole; an index is that of a group.

    B_g = sum of u_j u_j^T over a group stands in the place of u u^T. L and U are linear in it, so
    that a group's are the sums of its rows'. A draw adds t B_g to A, and the promise is the same,
    whatever the ranks of the B_g.

    Attributes
    ----------
    sizes : ndarray of shape (n_groups,)
        How many rows `take` gives for each group: at most ``rank``.
    """

    def __init__(self, vectors: Vectors, groups: Groups) -> None:
        self.vectors, self.groups, self.rank = vectors, groups, vectors.rank
        self.norms2 = groups.sums(vectors.norms2)
        self.sizes: IndexArray = np.minimum(groups.sizes, self.rank)

    def take(self, indices: IndexArray) -> FloatArray:
        """Rows C_g with C_g^T C_g = B_g of these groups, one group below the other."""
        rows, sizes = self.vectors.take(self.groups.members(indices)), self.groups.sizes[indices]
        if sizes.max(initial=0) <= self.rank:
            return rows
        parts = np.split(rows, np.cumsum(sizes)[:-1])
        is_long = sizes > self.rank
        return np.vstack(
            [np.linalg.qr(C, mode="r") if is_long[i] else C for i, C in enumerate(parts)]
        )

    def hold(self, indices: IndexArray) -> Any:
        """`take`, as the vectors hold their rows, unless some are shortened."""
        if self.groups.sizes[indices].max(initial=0) > self.rank:
            return self.take(indices)
        return self.vectors.hold(self.groups.members(indices))

    def forms(self, W: FloatArray) -> FloatArray:
        """Tr B_g W of all groups."""
        return self.groups.sums(self.vectors.forms(W))

    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        """Tr B_g of all groups, with coordinate i multiplied by ``scale[i]``."""
        return self.groups.sums(self.vectors.scaled_norms2(scale))


def grouped(vectors: Vectors, groups: Groups | None) -> Vectors:
    """The vectors in groups, if there are any."""
    return vectors if groups is None or not groups.given else GroupedVectors(vectors, groups)


def sizes_of(vectors: Vectors) -> IndexArray:
    """How many rows `take` gives for each index: one, unless it is that of a group."""
    if isinstance(vectors, GroupedVectors):
        return vectors.sizes
    return np.ones(len(vectors.norms2), dtype=np.intp)
