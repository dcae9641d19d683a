# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a Dask array: its scheduler does the work, chunk by chunk, and results are small.

Each chunk of columns becomes dense or sparse `Columns` on a worker. Sums, such as K, are reduced
on the cluster.
"""

from collections.abc import Callable, Iterator
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
from ridgewise.spectrum._columns import Columns, SparseColumns, stacked_triangle
from ridgewise.spectrum._containers import as_dense, as_numeric, rescaled
from ridgewise.spectrum._stored import SlowColumns

AT_ONCE = 8  # results that are reduced in one task


class DaskColumns(SlowColumns):
    """Columns of a Dask array, chunked by columns, by rows or both, with dense or sparse chunks."""

    @cached_property
    def whole(self) -> Any:
        """The array in chunks of columns that a worker can hold with all their rows.

        Chunks are split where they must be, and never joined: the worker stacks them.
        """
        X = self.X
        if X.numblocks[0] == 1:
            return X
        width = max(1, max(X.chunks[0]) * max(X.chunks[1]) // self.shape[0])
        batches = [batch for chunk in X.chunks[1] for batch in gen_batches(chunk, width)]
        widths = tuple(batch.stop - batch.start for batch in batches)
        return each_chunk(as_scipy, X).rechunk({1: widths}, method="tasks")

    def tasks(self, method: str, *arguments: Any) -> list[Any]:
        """Delayed calls of a method of `Columns`, one for each chunk."""
        shared = delayed((method, arguments, self.settings()), pure=False, traverse=False)
        return [delayed(call)(shared, *parts) for parts in self.whole.to_delayed().T]

    def each(self, method: str, *arguments: Any) -> list[Any]:
        """Results of a method of `Columns` for each chunk."""
        return list(compute(*self.tasks(method, *arguments)))

    def total(self, method: str, add: Callable[[Any, Any], Any]) -> Any:
        """Results of a method of `Columns` for each chunk, reduced on the cluster."""
        parts = self.tasks(method)
        while len(parts) > 1:
            batches = gen_batches(len(parts), AT_ONCE)
            parts = [delayed(reduce)(add, parts[batch]) for batch in batches]
        return compute(parts[0])[0]

    def gram(self) -> FloatArray:
        return self.total("gram", np.add)

    def triangle(self) -> FloatArray:
        return self.total("triangle", stacked_triangle)

    def column_sum(self) -> FloatArray:
        return self.total("column_sum", np.add)

    def norms2(self, B: FloatArray) -> FloatArray:
        return np.concatenate(self.each("norms2", B))

    def forms(self, W: FloatArray) -> FloatArray:
        return np.concatenate(self.each("forms", W))

    def largest(self) -> float:
        return max(self.each("largest"))

    def check_finite(self) -> None:
        self.each("check_finite")

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        found = self.each("map", function, *arguments)
        return [result for results in found for result in results]

    def products(self, B: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """See `Columns.products`. A few chunks at a time, since the results are gathered here."""
        tasks = self.tasks("products", B)
        places = [slice(*ends) for ends in pairwise(np.cumsum([0, *self.whole.chunks[1]]).tolist())]
        room = 4 * self.block_width * self.shape[0]  # values
        largest = max(self.whole.chunks[1]) * B.shape[1]
        for batch in gen_batches(len(tasks), max(1, room // max(1, largest))):
            yield from zip(places[batch], compute(*tasks[batch]), strict=True)

    def stored(self, columns: slice | IndexArray) -> AnyArray:
        """See `Columns.stored`. One task for each chunk that holds some of these columns."""
        columns, widths = np.arange(self.shape[1])[columns], self.X.chunks[1]
        ends = np.cumsum(widths)
        owned = np.split(columns, np.searchsorted(columns, ends[:-1]))
        parts = [
            [delayed(pick)(chunk, own - start) for chunk in chunks]
            for chunks, own, start in zip(self.X.to_delayed().T, owned, ends - widths, strict=True)
            if len(own) > 0
        ]
        return np.hstack([np.vstack(found) for found in compute(parts)[0]])


def call(shared: tuple[str, tuple[Any, ...], dict[str, Any]], *parts: Any) -> Any:
    """On a worker: call a method of the columns of a chunk, given in parts stacked by rows."""
    method, arguments, settings = shared
    found = [as_scipy(part) for part in parts]
    has_sparse = is_sparse(found[0])
    whole = found[0] if len(found) == 1 else (sp.vstack if has_sparse else np.vstack)(found)
    columns = (SparseColumns if has_sparse else Columns)(as_numeric(whole))
    vars(columns).update(settings)
    with np.errstate(over="ignore", invalid="ignore"):  # the caller checks the result
        result = getattr(columns, method)(*arguments)
        if method == "products":
            return np.concatenate([part for _, part in result])
        return result


def pick(part: Any, columns: IndexArray) -> AnyArray:
    """On a worker: columns of a chunk."""
    return as_dense(as_scipy(part)[:, columns])


def each_chunk(function: Callable[[Any], Any], X: Any) -> Any:
    """Apply a function to each chunk, lazily."""
    return X.map_blocks(function, dtype=X.dtype, meta=X._meta)


def as_scipy(part: Any) -> Any:
    """Convert a chunk of the library ``sparse`` to SciPy's; a dense one is returned as it is."""
    return compressed(part.to_scipy_sparse() if hasattr(part, "to_scipy_sparse") else part)


def compressed(part: Any) -> Any:
    """Convert a SciPy chunk to a format that can be indexed; others are returned as they are."""
    return part.tocsc() if is_sparse(part) and part.format != "csr" else part


def lazy_columns(X: Any, places: IndexArray, scale: FloatArray | None) -> Any:
    """The columns ``places`` of a Dask array, each multiplied by its factor, lazily."""
    selected = each_chunk(compressed, X)[:, places]
    if scale is None:
        return selected
    dtype = selected.dtype if selected.dtype.kind == "f" else np.dtype(np.float64)
    factors = da.from_array(scale[None, :], chunks=((1,), selected.chunks[1]))
    meta = selected._meta.astype(dtype)
    return da.map_blocks(rescaled, selected, factors, dtype=dtype, meta=meta)
