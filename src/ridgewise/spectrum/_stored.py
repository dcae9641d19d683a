# SPDX-License-Identifier: BSD-3-Clause
"""Columns of arrays stored in files, with the next block prefetched."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config
from sklearn.utils import assert_all_finite, gen_batches

from ridgewise._typing import AnyArray, FloatArray, IndexArray
from ridgewise.spectrum._candidates import Candidates
from ridgewise.spectrum._columns import Columns
from ridgewise.spectrum._containers import read

Block = TypeVar("Block")


class StoredColumns(Columns):
    """Columns of a stored array, read by ``X[rows, columns]``: Zarr, HDF5, Parquet."""

    candidates: Candidates | None = None

    def slices(self) -> Iterator[slice]:
        """Slices of the blocks: whole chunks where they fit, since chunks are read whole."""
        width, chunk = self.block_width, self.X.chunks[1] if self.X.chunks else 1
        room = get_config()["working_memory"] * 2**20 // (4 * 8 * self.shape[0])
        if chunk <= max(width, room):
            width = max(chunk, width // chunk * chunk)
        yield from gen_batches(self.shape[1], width)

    def blocks(self) -> Iterator[tuple[slice, AnyArray]]:
        """Blocks of columns in their stored dtype."""
        return reading_ahead(lambda place: (place, self.read(place)), self.slices())

    def read(self, columns: slice | IndexArray) -> AnyArray:
        """Read columns in their stored dtype."""
        return read(self.X, slice(0, self.shape[0]), columns)

    def dense_blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """See `Columns.dense_blocks`."""
        for place, block in self.blocks():
            yield place, self.finish(block)

    def take(self, indices: IndexArray) -> FloatArray:
        """See `Columns.take`."""
        if self.candidates is not None:
            return self.candidates.take(indices)
        distinct, inverse = np.unique(indices, return_inverse=True)
        return self.finish(self.read(distinct)[:, inverse])

    def stored(self, indices: IndexArray) -> AnyArray:
        """See `Columns.stored`."""
        return self.read(indices)

    def expect(self, scores: FloatArray) -> None:
        """See `Columns.expect`."""
        self.candidates = Candidates(
            lambda indices: self.finish(self.read(indices)),
            scores,
            few=4 * self.shape[0],
            most=self.block_width,
        )

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """See `Columns.map`."""
        return [function(block, *arguments) for _, block in self.blocks()]

    def row_sums(self) -> FloatArray:
        """See `Columns.row_sums`."""
        found = [
            (block.sum(axis=1, dtype=np.float64), block.min(axis=1), block.max(axis=1))
            for _, block in self.blocks()
        ]
        sums, lows, highs = (np.array(part, dtype=np.float64) for part in zip(*found, strict=True))
        return np.array([sums.sum(axis=0), lows.min(axis=0), highs.max(axis=0)])

    def check_finite(self) -> None:
        """Raise scikit-learn's error if X has NaN or infinity."""
        for _, block in self.blocks():
            assert_all_finite(block, input_name="X")

    def largest(self) -> float:
        """The largest absolute value."""
        return max(float(abs(block).max()) for _, block in self.blocks())


def reading_ahead(read: Callable[[slice], Block], places: Iterable[slice]) -> Iterator[Block]:
    """Yield ``read(place)`` for each place, prefetching the next one in a thread.

    Examples
    --------
    >>> list(reading_ahead(lambda place: place.stop, [slice(0, 2), slice(2, 5)]))
    [2, 5]
    """
    with ThreadPoolExecutor(1) as reader:
        pending = None
        for place in places:
            following = reader.submit(read, place)
            if pending is not None:
                yield pending.result()
            pending = following
        if pending is not None:
            yield pending.result()
