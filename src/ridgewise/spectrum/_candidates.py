# SPDX-License-Identifier: BSD-3-Clause
"""Columns that are asked for a few at a time, read ahead where each reading takes long."""

from collections.abc import Callable

import numpy as np

from ridgewise._typing import FloatArray, IndexArray


class Candidates:
    """Columns read so far, with those that are likely to be asked for next.

    A method looks at features of high leverage first. To read one column of a compressed chunk, or
    from a cluster, takes as long as to read a hundred: so a reading brings more of those that have
    the highest scores, twice as many each time.

    Parameters
    ----------
    read : callable
        From indices, ascending, to an array of shape (n, len(indices)).
    scores : ndarray of shape (d,)
        Columns of higher scores are asked for earlier.
    few : int
        How many columns to read at least, at first.
    most : int
        How many columns to hold.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0).reshape(2, 4)
    >>> readings = []
    >>> def read(indices):
    ...     readings.append(indices.tolist())
    ...     return X[:, indices]
    >>> candidates = Candidates(read, np.array([3, 0, 2, 1]), few=2, most=4)
    >>> candidates.take(np.array([2]))
    array([[2.],
           [6.]])
    >>> candidates.take(np.array([0, 2]))
    array([[0., 2.],
           [4., 6.]])
    >>> readings
    [[0, 2]]
    """

    def __init__(
        self, read: Callable[[IndexArray], FloatArray], scores: FloatArray, few: int, most: int
    ) -> None:
        self.read, self.few, self.most = read, few, most
        self.order = np.argsort(-scores, kind="stable")
        self.forget()

    def forget(self) -> None:
        """Hold nothing."""
        self.position = np.full(len(self.order), -1)
        self.held: FloatArray = np.empty((0, 0))
        self.n_held = 0

    def take(self, indices: IndexArray) -> FloatArray:
        """The columns ``indices``, in any order, each as often as asked for."""
        distinct, inverse = np.unique(indices, return_inverse=True)
        if len(distinct) > self.most or len(distinct) == 0:
            return self.read(distinct)[:, inverse]
        missing = distinct[self.position[distinct] < 0]
        if self.n_held + len(missing) > self.most:
            self.forget()
            missing = distinct
        if len(missing) > 0:
            self.hold(self.with_others(missing, len(distinct)))
        return self.held[:, self.position[indices]]

    def with_others(self, missing: IndexArray, n_asked: int) -> IndexArray:
        """Those missing and, as far as there is room, those most likely to be next."""
        room = self.most - self.n_held - len(missing)
        ahead = min(self.few - n_asked, room)
        if ahead <= 0:  # so many at once are no hint at which come next
            return missing
        unread = self.position < 0
        unread[missing] = False
        likely = self.order[unread[self.order]][:ahead]
        self.few *= 2
        return np.union1d(missing, likely)

    def hold(self, indices: IndexArray) -> None:
        """Read these, and hold them beside the others."""
        columns = self.read(indices)
        self.held = np.hstack([self.held, columns]) if self.n_held > 0 else columns
        self.position[indices] = self.n_held + np.arange(len(indices))
        self.n_held += len(indices)
