# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a Dask array: work goes to its chunks, and what comes back is small.

Every chunk of columns becomes `Columns` where it is, dense or sparse. Results that add up, such as
K, do so on the cluster. Whatever scheduler Dask is set to does the work.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any

import dask.array as da
import numpy as np
import scipy.sparse as sp
from dask.base import compute
from dask.delayed import delayed
from sklearn.utils import gen_batches

from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse
from ridgewise.spectrum._candidates import Candidates
from ridgewise.spectrum._columns import Columns, as_columns, as_numeric, as_vector, stacked_triangle

AT_ONCE = 8  # results that are added up in one task


class DaskColumns(Columns):
    """Columns of a Dask array, chunked by columns, by rows or both, with dense or sparse chunks."""

    candidates: Candidates | None = None

    @cached_property
    def whole(self) -> Any:
        """The array in chunks of columns that a worker can hold with all their rows.

        Chunks are split, if they must be, and never joined: row by row that is for the worker.
        """
        X = self.X
        if X.numblocks[0] == 1:
            return X
        largest = max(X.chunks[0]) * max(X.chunks[1])
        return split_columns(each_chunk(as_scipy, X), max(1, largest // self.shape[0]))

    def slices(self) -> Iterator[slice]:
        """The chunks' places."""
        ends = np.cumsum([0, *self.whole.chunks[1]]).tolist()
        yield from (slice(*pair) for pair in pairwise(ends))

    def tasks(self, method: str, *arguments: Any) -> list[Any]:
        """A call of this method of `Columns` for each chunk, not computed yet."""
        shared = delayed((method, arguments, self.settings()), pure=False, traverse=False)
        return [delayed(call)(shared, *parts) for parts in self.whole.to_delayed().T]

    def each(self, method: str, *arguments: Any) -> list[Any]:
        """What this method of `Columns` gives for each chunk."""
        return list(compute(*self.tasks(method, *arguments)))

    def total(self, method: str, add: Callable[[Any, Any], Any]) -> Any:
        """What this method of `Columns` gives for each chunk, added up on the cluster."""
        parts = self.tasks(method)
        while len(parts) > 1:
            batches = gen_batches(len(parts), AT_ONCE)
            parts = [delayed(add_up)(add, *parts[batch]) for batch in batches]
        return compute(parts[0])[0]

    def gram(self) -> FloatArray:
        """See `Columns.gram`."""
        return self.total("gram", np.add)

    def triangle(self) -> FloatArray:
        """See `Columns.triangle`."""
        return self.total("triangle", stacked_triangle)

    def row_sums(self) -> FloatArray:
        """See `Columns.row_sums`."""
        return self.total("row_sums", merged_sums)

    def block_sums(self) -> FloatArray:
        """See `Columns.block_sums`."""
        return self.total("block_sums", np.add)

    def norms2(self, B: FloatArray) -> FloatArray:
        """See `Columns.norms2`."""
        return np.concatenate(self.each("norms2", B))

    def products(self, B: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """See `Columns.products`. They come here, some chunks' at a time."""
        return self.some_at_a_time(self.tasks("products", B), B.shape[1])

    def forms(self, W: FloatArray) -> FloatArray:
        """See `Columns.forms`."""
        return np.concatenate(self.each("forms", W))

    def some_at_a_time(self, tasks: list[Any], width: int) -> Iterator[tuple[slice, FloatArray]]:
        """Results of so many numbers a feature, for every chunk."""
        places, widest = list(self.slices()), max(self.whole.chunks[1])
        room = 4 * self.block_width * self.shape[0]  # values
        for batch in gen_batches(len(tasks), max(1, room // max(1, widest * width))):
            yield from zip(places[batch], compute(*tasks[batch]), strict=True)

    def largest(self) -> float:
        """See `Columns.largest`."""
        return max(self.each("largest"))

    def check_finite(self) -> None:
        """See `Columns.check_finite`."""
        self.each("check_finite")

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """See `Columns.map`."""
        found = self.each("map", function, *arguments)
        return [result for results in found for result in results]

    def dense_blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """See `Columns.dense_blocks`. They come here, a block at a time."""
        for place in gen_batches(self.shape[1], self.block_width):
            yield place, self.finish(self.stored(np.arange(place.start, place.stop)))

    def take(self, indices: IndexArray) -> FloatArray:
        """See `Columns.take`."""
        if self.candidates is not None:
            return self.candidates.take(indices)
        distinct, inverse = np.unique(indices, return_inverse=True)
        return self.finish(self.stored(distinct)[:, inverse])

    def expect(self, scores: FloatArray) -> None:
        """See `Columns.expect`."""
        self.candidates = Candidates(
            lambda indices: self.finish(self.stored(indices)),
            scores,
            few=4 * self.shape[0],
            most=self.block_width,
        )

    def stored(self, indices: IndexArray) -> AnyArray:
        """See `Columns.stored`. Only chunks that hold some of these columns are asked."""
        ends = np.cumsum(self.X.chunks[1])
        chunk_of = np.searchsorted(ends, indices, side="right")
        chunks, starts = np.unique(chunk_of, return_index=True)
        if len(chunks) == 0:
            return np.empty((self.shape[0], 0), dtype=self.X.dtype)
        blocks = self.X.to_delayed()
        within = indices - np.concatenate([[0], ends])[chunk_of]
        wanted = list(zip(chunks, np.split(within, starts[1:]), strict=True))
        found = compute(*[delayed(pick)(row[chunk], at) for row in blocks for chunk, at in wanted])
        rows = gen_batches(len(found), len(wanted))
        return np.vstack([np.hstack(found[row]) for row in rows])


def call(shared: tuple[str, tuple[Any, ...], dict[str, Any]], *parts: Any) -> Any:
    """On a worker: call a method of the columns of a chunk, given in parts, one below the other."""
    method, arguments, settings = shared
    columns = as_columns(stacked(parts)).with_settings(settings)
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at
        result = getattr(columns, method)(*arguments)
        if method == "products":
            return np.concatenate([part for _, part in result])
        return result


def add_up(add: Callable[[Any, Any], Any], *results: Any) -> Any:
    """On a worker: several results as one."""
    return reduce(add, results)


def pick(part: Any, places: IndexArray) -> AnyArray:
    """On a worker: some columns of a part of a chunk, dense."""
    columns = as_scipy(part)[:, places]
    return columns.toarray() if is_sparse(columns) else np.asarray(columns)


def stacked(given: Iterable[Any]) -> Any:
    """Parts of a chunk, one below the other, as an array or compressed sparse array."""
    parts = [as_scipy(part) for part in given]
    if len(parts) == 1:
        return as_numeric(parts[0])
    return as_numeric(sp.vstack(parts) if is_sparse(parts[0]) else np.vstack(parts))


def each_chunk(function: Callable[[Any], Any], X: Any) -> Any:
    """The array with its chunks in another form, not computed yet."""
    return X.map_blocks(function, dtype=X.dtype, meta=X._meta)


def as_scipy(part: Any) -> Any:
    """A chunk of the library ``sparse`` as SciPy's, compressed; a dense one as it is."""
    return compressed(part.to_scipy_sparse() if hasattr(part, "to_scipy_sparse") else part)


def compressed(part: Any) -> Any:
    """A chunk in a format that can be indexed, if it is SciPy's; others as they are."""
    return part.tocsc() if is_sparse(part) and part.format != "csr" else part


def merged_sums(some: FloatArray, others: FloatArray) -> FloatArray:
    """`Columns.row_sums` of two chunks as one."""
    low, high = np.minimum(some[1], others[1]), np.maximum(some[2], others[2])
    return np.array([some[0] + others[0], low, high])


def split_columns(X: Any, width: int) -> Any:
    """The array with no chunk of more columns than that. Every new chunk is part of an old one."""
    places = [gen_batches(chunk, width) for chunk in X.chunks[1]]
    widths = tuple(place.stop - place.start for batches in places for place in batches)
    return X.rechunk({1: widths}, method="tasks")


def lazy_columns(X: Any, places: IndexArray, scale: FloatArray | None) -> Any:
    """The columns ``places`` of a Dask array, each multiplied: a Dask array, not computed yet."""
    selected = each_chunk(compressed, X)[:, places]
    if scale is None:
        return selected
    dtype = selected.dtype if selected.dtype.kind == "f" else np.dtype(np.float64)
    factors = da.from_array(as_vector(scale)[None, :], chunks=((1,), selected.chunks[1]))
    meta = selected._meta.astype(dtype)
    return da.map_blocks(scaled, selected, factors, dtype=dtype, meta=meta)


def scaled(part: Any, factors: FloatArray) -> Any:
    """On a worker: columns, each multiplied."""
    part = part if part.dtype.kind == "f" else part.astype(np.float64)
    if is_sparse(part):
        return (part @ sp.diags_array(factors[0].astype(part.dtype))).asformat(part.format)
    return part * factors.astype(part.dtype)
