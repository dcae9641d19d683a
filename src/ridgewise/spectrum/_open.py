# SPDX-License-Identifier: BSD-3-Clause
"""Any container as `Columns`: its features, or its samples. Slow ones are read ahead."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.utils import gen_batches

from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse
from ridgewise.spectrum._columns import Columns, SparseColumns
from ridgewise.spectrum._containers import is_dask, is_stored, read, transposed

Block = TypeVar("Block")


def as_columns(X: Any, *, center: bool = False) -> Columns:
    """Return the features of X, a result of `as_numeric`, as columns."""
    return columns_class(X)(X, center=center)


def as_rows(X: Any, *, center: bool = False) -> Columns:
    """Return the samples of X as columns; with ``center``, minus the features' means."""
    rows = columns_class(X)(transposed(X))
    rows.holds_samples, rows.centers = True, center
    return rows


def columns_class(X: Any) -> type[Columns]:
    """Return the class of columns for this container."""
    if is_dask(X):
        from ridgewise.spectrum._dask import DaskColumns  # an optional dependency

        return DaskColumns
    if is_stored(X):
        return StoredColumns
    return SparseColumns if is_sparse(X) else Columns


class SlowColumns(Columns):
    """Columns of a container in which reading one column costs as much as reading a hundred."""

    candidates: "Candidates | None" = None

    def take(self, indices: IndexArray) -> FloatArray:
        if self.candidates is not None:
            return self.candidates.take(indices)
        distinct, inverse = np.unique(indices, return_inverse=True)
        return super().take(distinct)[:, inverse]

    def expect(self, scores: FloatArray) -> None:
        few, most = 4 * self.shape[0], self.block_width
        self.candidates = Candidates(super().take, scores, few=few, most=most)


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


class Candidates:
    """Cache of at most ``most`` columns, which also reads those of the highest ``scores``.

    ``read`` maps ascending indices to an array of shape (n, len(indices)). It gets at least ``few``
    of them the first time, and twice as many each time after.
    """

    def __init__(
        self, read: Callable[[IndexArray], FloatArray], scores: FloatArray, few: int, most: int
    ) -> None:
        self.read, self.few, self.most = read, few, most
        self.order = np.argsort(-scores, kind="stable")
        self.forget()

    def forget(self) -> None:
        """Empty the cache."""
        self.position = np.full(len(self.order), -1)
        self.held: FloatArray = np.empty((0, 0))
        self.n_held = 0

    def take(self, indices: IndexArray) -> FloatArray:
        """The columns ``indices``, in any order, with repetitions."""
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
        """The missing columns and, as far as there is room, those of the highest scores."""
        room = self.most - self.n_held - len(missing)
        ahead = min(self.few - n_asked, room)
        if ahead <= 0:  # so many at once do not tell which come next
            return missing
        unread = self.position < 0
        unread[missing] = False
        likely = self.order[unread[self.order]][:ahead]
        self.few *= 2
        return np.union1d(missing, likely)

    def hold(self, indices: IndexArray) -> None:
        """Read columns into the cache."""
        columns = self.read(indices)
        self.held = np.hstack([self.held, columns]) if self.n_held > 0 else columns
        self.position[indices] = self.n_held + np.arange(len(indices))
        self.n_held += len(indices)
