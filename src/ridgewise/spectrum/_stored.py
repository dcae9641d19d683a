# SPDX-License-Identifier: BSD-3-Clause
"""Columns of containers that are slow to read: stored arrays, read ahead, and kept for a while."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.utils import gen_batches

from ridgewise._typing import AnyArray, FloatArray, IndexArray
from ridgewise.spectrum._columns import Columns
from ridgewise.spectrum._containers import read

Block = TypeVar("Block")


class SlowColumns(Columns):
    """Columns of a container in which reading one column costs as much as reading a hundred.

    `take` keeps columns for its next call, at most a block of them. With them it reads columns of
    high scores, twice as many each time.
    """

    def __init__(self, X: Any, *, center: bool = False) -> None:
        super().__init__(X, center=center)
        self.held: IndexArray = np.empty(0, dtype=np.intp)  # ascending
        self.values = np.empty((self.shape[0], 0), dtype=X.dtype)  # of these columns, as stored
        self.likely, self.n_read = self.held, 0  # by descending score; how many to read at least

    def expect(self, scores: FloatArray) -> None:
        room = min(self.block_width, len(scores))  # more are never held
        likely = np.argpartition(-scores, room - 1)[:room]
        self.likely, self.n_read = likely[np.argsort(-scores[likely])], 4 * self.shape[0]

    def take(self, indices: IndexArray) -> FloatArray:
        wanted = np.unique(indices)
        if len(wanted) > self.block_width:
            return self.finish(self.stored(wanted))[:, np.searchsorted(wanted, indices)]
        missing = np.setdiff1d(wanted, self.held)
        if len(self.held) + len(missing) > self.block_width:  # start over
            self.held, self.values, missing = wanted[:0], self.values[:, :0], wanted
        if len(missing) > 0:
            room = self.block_width - len(self.held) - len(missing)
            n_others = min(self.n_read - len(wanted), room)
            if n_others > 0:
                unread = self.likely[~np.isin(self.likely, [*self.held, *missing])]
                missing = np.union1d(missing, unread[:n_others])
                self.n_read *= 2
            held = np.concatenate([self.held, missing])
            order = np.argsort(held)
            self.held = held[order]
            self.values = np.hstack([self.values, self.stored(missing)])[:, order]
        return self.finish(self.values[:, np.searchsorted(self.held, indices)])


class StoredColumns(SlowColumns):
    """Columns of a stored array, read by ``X[rows, columns]``: Zarr, HDF5, Parquet."""

    def slices(self) -> Iterator[slice]:
        """Slices of the blocks: whole chunks where they fit, since chunks are read whole."""
        width, chunk = self.block_width, self.X.chunks[1] if self.X.chunks else 1
        room = get_config()["working_memory"] * 2**20 // (4 * 8 * self.shape[0])
        if chunk <= max(width, room):
            width = max(chunk, width // chunk * chunk)
        return gen_batches(self.shape[1], width)

    def stored(self, columns: slice | IndexArray) -> AnyArray:
        return read(self.X, slice(0, self.shape[0]), columns)

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        return reading_ahead(lambda place: (place, self.stored(place)), self.slices())


def reading_ahead(read: Callable[[slice], Block], places: Iterable[slice]) -> Iterator[Block]:
    """Yield ``read(place)`` for each place, prefetching the next one in a thread."""
    with ThreadPoolExecutor(1) as reader:
        pending = None
        for place in places:
            following = reader.submit(read, place)
            if pending is not None:
                yield pending.result()
            pending = following
        if pending is not None:
            yield pending.result()
