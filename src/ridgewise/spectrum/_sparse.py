# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a sparse array."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from ridgewise._typing import FloatArray, IndexArray
from ridgewise.spectrum._columns import Columns

FEW_NONZEROS = 6  # of a column: pairs of them are fewer than a product with W has terms


class SparseColumns(Columns):
    """Columns of a sparse array: never dense as a whole, and centred implicitly."""

    def __init__(self, X: Any, *, center: bool = False) -> None:
        super().__init__(X.tocsc(), center=center)

    def take(self, indices: IndexArray) -> FloatArray:
        """See `Columns.take`. Faster than SciPy's indexing for a few columns, the common case."""
        indices = np.asarray(indices)
        starts = self.X.indptr[indices]
        counts = self.X.indptr[indices + 1] - starts
        owner = np.repeat(np.arange(len(indices)), counts)
        entries = np.arange(len(owner)) + np.repeat(starts - np.cumsum(counts) + counts, counts)
        columns = np.bincount(
            self.X.indices[entries].astype(np.intp) * len(indices) + owner,
            weights=self.X.data[entries],
            minlength=self.shape[0] * len(indices),
        )
        return self.finish(columns.reshape(self.shape[0], len(indices)))

    def take_rows(self, indices: IndexArray) -> Any:
        """See `Columns.take_rows`. Sparse where that is faster to multiply."""
        if self.is_nearly_dense:
            return super().take_rows(indices)
        return self.rows[indices].astype(np.float64) * self.scale

    def gram(self) -> FloatArray:
        """K by a sparse product, or by dense blocks where that is faster."""
        if not self.is_sparse_enough:
            return super().gram()
        K = np.zeros((self.shape[0], self.shape[0]))
        sums = np.zeros(self.shape[0])
        for _, rows in self.sparse_blocks(self.shape[1]):
            if self.scale != 1:  # before the product, which would overflow or underflow
                rows = rows * self.scale
            # SciPy copies one factor, since their formats differ: hence the blocks
            K += (rows.T @ rows).todense()
            if self.offset is not None:
                sums += np.asarray(rows.sum(axis=0)).ravel()
        before = K.trace()
        if self.offset is not None:  # (X - b 1^T) (X - b 1^T)^T
            b = self.offset.sum(axis=0)
            cross = np.outer(sums, b)
            K += self.shape[1] * np.outer(b, b) - cross - cross.T
        if self.center:  # (I - 11^T/n) K (I - 11^T/n)
            K -= K.mean(axis=0)
            K -= K.mean(axis=1)[:, None]
        # cancellation: means are large compared with the deviations from them
        return K if K.trace() > before / 10 else super().gram()

    @cached_property
    def rows(self) -> Any:
        """X^T as a sparse array that shares the memory of X."""
        return self.X.T

    @property
    def is_nearly_dense(self) -> bool:
        """Whether products with a dense array are faster by dense blocks."""
        return 6 * self.X.nnz > self.shape[0] * self.shape[1]

    @cached_property
    def is_sparse_enough(self) -> bool:
        """Whether X X^T is faster by sparse arrays; dense operations are 64 times as fast."""
        counts = np.diff(self.X.indptr).astype(np.float64)
        return bool(64 * np.sum(counts**2) < self.shape[0] ** 2 * self.shape[1])

    def sparse_blocks(self, width: int) -> Iterator[tuple[slice, Any]]:
        """Blocks of at most ``width`` columns as rows of sparse float64 arrays.

        A block is a copy unless it is all of X, so its non-zeros are limited too.
        """
        d, starts = self.shape[1], self.X.indptr
        # where n is large, so is K, and a sum of few products is faster
        limit = max(self.block_width * self.shape[0] // 2, self.shape[0] ** 2 // 4)
        start = 0
        while start < d:
            full = bisect_right(starts, int(starts[start]) + limit, lo=start) - 1
            stop = min(d, start + width, max(start + 1, full))
            rows = self.rows if stop - start == d else self.rows[start:stop]
            yield slice(start, stop), rows.astype(np.float64, copy=False)
            start = stop

    def products(self, B: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """X^T B by sparse products. Centred: the columns of B must have mean 0."""
        if self.is_nearly_dense:
            yield from super().products(B)
            return
        scaled = B * self.scale
        # memory is limited by the product, not by the block
        width = max(1, self.block_width * self.shape[0] // max(1, B.shape[1]))
        for place, rows in self.sparse_blocks(width):
            yield place, np.asarray(rows.astype(B.dtype, copy=False) @ scaled)

    def forms(self, W: FloatArray) -> FloatArray:
        """See `Columns.forms`. Centred: the rows of W must have mean 0."""
        if self.is_nearly_dense:
            return super().forms(W)
        forms, scaled = np.zeros(self.shape[1]), self.scale**2 * W
        for count, columns in self.by_count:
            if count <= FEW_NONZEROS:  # x_a x_b W[a, b] of every pair of non-zeros
                entries = self.X.indptr[columns][:, None] + np.arange(count)
                at, x = self.X.indices[entries].T, self.X.data[entries].T.astype(np.float64)
                for a in range(count):
                    for b in range(a, count):
                        terms = x[a] * x[b] * scaled[at[a], at[b]]
                        forms[columns] += terms if a == b else 2 * terms
                continue
            for block in gen_batches(len(columns), self.block_width):
                rows = self.rows[columns[block]].astype(np.float64, copy=False)
                owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
                terms = rows.data * np.asarray(rows @ scaled)[owner, rows.indices]
                forms[columns[block]] = np.bincount(owner, terms, minlength=rows.shape[0])
        return forms

    @cached_property
    def by_count(self) -> list[tuple[int, IndexArray]]:
        """Columns by their number of non-zeros; all with more than FEW_NONZEROS come last."""
        counts = np.minimum(np.diff(self.X.indptr), FEW_NONZEROS + 1)
        found = ((count, np.flatnonzero(counts == count)) for count in range(1, FEW_NONZEROS + 2))
        return [(count, columns) for count, columns in found if len(columns) > 0]
