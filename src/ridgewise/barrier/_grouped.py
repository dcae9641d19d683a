# SPDX-License-Identifier: BSD-3-Clause
"""Groups of vectors that are drawn whole: B_g = sum of u_j u_j^T in the place of u u^T.

L and U are linear in B, so that a group's are the sums of its rows'. A draw adds t B_g to A, and
the promise is the same, whatever the ranks of the B_g.
"""

from typing import Any

import numpy as np
from scipy.linalg import qr

from ridgewise._groups import Groups
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier._problem import Vectors


class GroupedVectors:
    """Vectors in groups; an index is that of a group.

    Parameters
    ----------
    vectors : Vectors
        The vectors that the groups consist of.
    groups : Groups

    Attributes
    ----------
    sizes : ndarray of shape (n_groups,)
        How many rows `take` gives for each group: at most ``rank``.
    """

    def __init__(self, vectors: Vectors, groups: Groups) -> None:
        self.vectors, self.groups = vectors, groups
        self.rank = vectors.rank
        self.norms2 = groups.sums(vectors.norms2)
        self.sizes: IndexArray = np.minimum(groups.sizes, self.rank)

    def take(self, indices: IndexArray) -> FloatArray:
        """Rows C_g with C_g^T C_g = B_g of these groups, one group below the other."""
        rows = self.vectors.take(self.groups.members(indices))
        sizes = self.groups.sizes[indices]
        if sizes.max(initial=0) <= self.rank:
            return rows
        parts = np.split(rows, np.cumsum(sizes)[:-1])
        return np.vstack([self.reduced(part) for part in parts])

    def hold(self, indices: IndexArray) -> tuple[Any, FloatArray | None]:
        """See `Held`: the rows of `take` as the vectors have them, where none is reduced."""
        hold = getattr(self.vectors, "hold", None)
        if hold is None or self.groups.sizes[indices].max(initial=0) > self.rank:
            return self.take(indices), None
        found: tuple[Any, FloatArray | None] = hold(self.groups.members(indices))
        return found

    def reduced(self, rows: FloatArray) -> FloatArray:
        """At most ``rank`` rows with the same B."""
        return rows if len(rows) <= self.rank else triangle(rows)

    def forms(self, W: FloatArray) -> FloatArray:
        """Tr B_g W of all groups."""
        return self.groups.sums(self.vectors.forms(W))

    def scaled_norms2(self, scale: FloatArray) -> FloatArray:
        """Tr B_g of all groups, with coordinate i multiplied by ``scale[i]``."""
        return self.groups.sums(self.vectors.scaled_norms2(scale))


def grouped(vectors: Vectors, groups: Groups | None) -> Vectors:
    """The vectors in groups, if there are any."""
    return vectors if groups is None or not groups.given else GroupedVectors(vectors, groups)


def triangle(rows: FloatArray) -> FloatArray:
    """R with R^T R = rows^T rows."""
    R: Any = qr(rows, mode="r")[0]
    found: FloatArray = R[: rows.shape[1]]
    return found
