# SPDX-License-Identifier: BSD-3-Clause
"""Vectors at hand as sparse rows times a basis, for compiled draws: each costs its non-zeros."""

from typing import Any

import numpy as np

from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier._decomposition import Decomposition
from ridgewise.barrier._problem import Vectors
from ridgewise.barrier._shortlist import Known

FIRST_ROWS = 256
PAYS_OFF = 2  # from so many rows a row of the basis on, it is less work than dense rows are
MOST_NONZEROS = 2**22  # in the rows at hand


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
        basis = vectors.basis
        assert basis is not None
        self.vectors, self.order, self.basis = vectors, order, basis
        self.starts = np.zeros(1, dtype=np.int64)
        self.indices, self.values = np.empty(0, dtype=np.int32), np.empty(0)
        n = len(basis)
        self.forms, self.roots = np.empty((n, n, 4)), np.empty((n, 4))  # for compiled draws to fill
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
        first = self.basis @ lower.Q
        self.rotated = first, first if upper is lower else self.basis @ upper.Q

    def take(self, which: IndexArray) -> FloatArray:
        """Some of these rows, as vectors."""
        return self.vectors.take(self.order[which])

    def given(self) -> dict[str, Any]:
        """What compiled draws take."""
        return {
            "starts": self.starts,
            "indices": self.indices,
            "values": self.values,
            "n": len(self.basis),
            "basis": self.rotated,
            "forms": self.forms,
            "roots": self.roots,
            "norms2": self.vectors.norms2[self.order[: len(self)]],
            "is_whole": self.is_whole,
        }
