# SPDX-License-Identifier: BSD-3-Clause
"""Vectors at hand as sparse rows times a basis, for compiled draws: each costs its non-zeros."""

from functools import cached_property
from typing import Any

import numpy as np

from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier._decomposition import Decomposition
from ridgewise.barrier._problem import Vectors
from ridgewise.barrier._shortlist import Known

FIRST_ROWS = 256
PAYS_OFF = 2  # from so many rows a row of the basis on, it is less work than dense rows are
MOST = 1000  # rows of the basis, of which matrices are made
MOST_NONZEROS = 2**22  # in the rows at hand


def pay_off(vectors: Vectors) -> bool:
    """Whether these vectors are sparse rows times a basis that is small enough."""
    return vectors.basis is not None and len(vectors.basis) <= min(MOST, 2 * vectors.rank + 100)


class SparseRows:
    """The first vectors in scan order, selected or not, u = B^T x each with few non-zeros in x.

    Parameters
    ----------
    vectors : Vectors
        Those that have a ``basis`` B.
    order : ndarray
        Scan order.
    """

    def __init__(self, vectors: Vectors, order: IndexArray) -> None:
        assert vectors.basis is not None
        self.vectors, self.order, self.basis = vectors, order, vectors.basis
        self.starts = np.zeros(1, dtype=np.int64)
        self.indices, self.values = np.empty(0, dtype=np.int32), np.empty(0)
        self.decomposition: Decomposition | None = None
        self.known = Known()

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def positions(self) -> IndexArray:
        """The rows' places in scan order."""
        return np.arange(len(self))

    @property
    def pays_off_at(self) -> int:
        """How many rows have to be looked at to make good for the matrices that they need."""
        return PAYS_OFF * len(self.basis)

    @property
    def is_whole(self) -> bool:
        """Whether all rows are at hand."""
        return len(self) == len(self.order)

    def extend(self) -> bool:
        """Hold twice as many rows, if there are any and there is room."""
        more = self.order[len(self) : 2 * len(self) + FIRST_ROWS]
        if len(more) == 0 or len(self.values) > MOST_NONZEROS:
            return False
        rows = self.vectors.sparse_rows(more)
        self.starts = np.concatenate([self.starts, self.starts[-1] + rows.indptr[1:]])
        self.indices = np.concatenate([self.indices, rows.indices.astype(np.int32)])
        self.values = np.concatenate([self.values, rows.data])
        return True

    def rotate(self, lower: Decomposition, upper: Decomposition) -> None:
        """Be in the coordinates of this decomposition of A."""
        if self.decomposition is lower:
            return
        self.decomposition, self.known = lower, Known()
        self.lengths2 = np.empty(0)
        first = self.basis @ lower.Q
        self.rotated = first, first if upper is lower else self.basis @ upper.Q

    def take(self, which: IndexArray) -> FloatArray:
        """Some of these rows, as vectors."""
        return self.vectors.take(self.order[which])

    @cached_property
    def room(self) -> dict[str, FloatArray]:
        """What compiled draws note here from call to call."""
        n = len(self.basis)
        return {"forms": np.empty((n, n, 4)), "roots": np.empty((n, 4))}

    def given(self, most: int) -> dict[str, Any]:
        """What compiled draws take, for at most so many until the next decomposition."""
        if len(self.lengths2) < most:
            self.lengths2, self.products = np.empty(most), np.empty((most, len(self.basis), 2))
        return {
            **self.room,
            "lengths2": self.lengths2,
            "products": self.products,
            "starts": self.starts,
            "indices": self.indices,
            "values": self.values,
            "n": len(self.basis),
            "basis": self.rotated,
            "norms2": self.vectors.norms2[self.order[: len(self)]],
            "is_whole": self.is_whole,
        }
