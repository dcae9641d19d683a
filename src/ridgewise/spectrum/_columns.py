# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a dense or sparse array: blocks of them, one after the other, or single ones."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.linalg.blas import dtrmm, strmm
from scipy.sparse import csr_array
from sklearn import get_config
from sklearn.utils import assert_all_finite, gen_batches

from ridgewise._run import FEATURES, advance
from ridgewise._typing import BoolArray, FloatArray, IndexArray, is_sparse
from ridgewise.spectrum._containers import as_dense, is_dask, is_stored, transposed

BLOCK_BYTES = 2**24  # of a block of columns in float64: larger ones are no faster
AT_ONCE = 256  # columns that sparse ones are multiplied with at a time


class Columns:
    """The columns of an array or memory map, n values each. Subclasses read other containers.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    center : bool
        Subtract each column's mean.

    Attributes
    ----------
    scale : float
        Factor applied to all values: a power of two that prevents overflow of squares.
    holds_samples : bool
        Whether columns are samples (`as_rows`) instead of features.
    centers : bool
        Whether the features' means are subtracted.
    """

    def __init__(self, X: Any, *, center: bool = False) -> None:
        self.X, self.centers, self.holds_samples = X, center, False
        self.shape: tuple[int, int] = X.shape
        self.scale = 1.0
        self._offset: FloatArray | None = None

    @property
    def center(self) -> bool:
        """Whether each column's mean is subtracted: columns are features, and centred."""
        return self.centers and not self.holds_samples

    @property
    def offset(self) -> FloatArray | None:
        """Scaled means of the features, subtracted from each sample: two parts, shape (2, n).

        The first sample, and the mean of all differences from it: constant features become 0.
        """
        if self._offset is None and self.centers and self.holds_samples:
            self._offset = np.zeros((2, self.shape[0]))
            self._offset[0] = self.take(np.array([0]))[:, 0]
            self._offset[1] = self.column_sum() / self.shape[1]
        return self._offset

    def set_scale(self, scale: float) -> None:
        """Set the scale. Means are recomputed from scaled values: they can be subnormal."""
        self.scale, self._offset = scale, None

    def settings(self) -> dict[str, Any]:
        """State by which other columns are scaled and centred alike."""
        return {
            "scale": self.scale,
            "_offset": self.offset,
            "centers": self.centers,
            "holds_samples": self.holds_samples,
        }

    @property
    def is_sparse_enough(self) -> bool:
        """Whether sparse products are faster than dense ones of half the size."""
        return False

    @property
    def block_width(self) -> int:
        """Number of columns of a block: what fits into a fraction of the working memory."""
        limit = min(BLOCK_BYTES, get_config()["working_memory"] * 2**20 // 4)
        return max(1, int(limit // (8 * self.shape[0])))

    def slices(self) -> Iterator[slice]:
        """Slices of the blocks."""
        return gen_batches(self.shape[1], self.block_width)

    def stored(self, columns: slice | IndexArray) -> Any:
        """Columns as they are stored, by a slice or ascending indices."""
        return self.X[:, columns]

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """All columns as they are stored, block by block."""
        for place in self.slices():
            yield place, self.stored(place)
            advance(place.stop, self.shape[1], FEATURES)

    def dense_blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """All columns, scaled and centred, as float64 arrays of shape (n, width)."""
        self.offset  # noqa: B018  # its passes over the data end before this one begins
        for place, block in self.blocks():
            yield place, self.finish(block)

    def rounded_blocks(self, dtype: Any) -> Iterator[tuple[slice, FloatArray]]:
        """`dense_blocks` in another floating-point type; maybe views of X."""
        is_plain = self.scale == 1 and not self.centers  # values are then cast once
        for place, block in self.blocks() if is_plain else self.dense_blocks():
            yield place, as_dense(block).astype(dtype, copy=False)

    def take(self, indices: IndexArray) -> FloatArray:
        """The columns ``indices``, in any order, shape (n, len(indices))."""
        return self.finish(self.stored(indices))

    def take_rows(self, indices: IndexArray) -> Any:
        """`take`, transposed. If sparse, not centred: multiply by columns of mean 0."""
        return self.take(indices).T

    def finish(self, columns: Any) -> FloatArray:
        """Columns as stored -> dense float64, scaled and centred."""
        finished = as_dense(columns).astype(np.float64)
        if self.scale != 1:  # before means are computed: those of subnormal values lose digits
            finished *= self.scale
        if self.offset is not None:
            finished -= self.offset[0][:, None]
            finished -= self.offset[1][:, None]
        if self.center:
            mean = finished.mean(axis=0)
            constant = (finished == finished[0]).all(axis=0)
            mean[constant] = finished[0, constant]  # not rounded
            finished -= mean
            finished -= finished.mean(axis=0)  # rounding error of the first mean
        return finished

    def gram(self) -> FloatArray:
        """K = X X^T."""
        K = np.zeros((self.shape[0], self.shape[0]))
        for _, block in self.dense_blocks():
            K += block @ block.T
        return K

    def products(self, B: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """X^T B in the type of B, block by block, each of shape (width, B.shape[1])."""
        for place, block in self.rounded_blocks(B.dtype):
            yield place, (B.T @ block).T

    def forms(self, W: FloatArray) -> FloatArray:
        """Quadratic forms x_j^T W x_j of all columns, W symmetric, shape (d,)."""
        # W = T + T^T with a triangular T: half the work of a full product
        triangle = np.tril(W)
        triangle.ravel()[:: len(W) + 1] /= 2
        forms = np.empty(self.shape[1], W.dtype)
        for place, block in self.rounded_blocks(W.dtype):
            product = triangular_product(triangle.T, block, is_transposed=True)
            forms[place] = 2 * np.einsum("ij,ij->j", product, block)
        return forms

    def norms2(self, B: FloatArray) -> FloatArray:
        """Squared norms of the rows of X^T B, shape (d,)."""
        norms2 = np.empty(self.shape[1])
        if self.is_sparse_enough or 2 * B.shape[1] <= self.shape[0]:
            for place, rows in self.products(B):
                norms2[place] = np.einsum("ij,ij->i", rows, rows)
            return norms2
        # B^T = Q R, so that ||B^T x|| = ||R x||: a triangular product is half of a full one
        R = np.linalg.qr(B.T, mode="r")
        triangle = np.zeros((self.shape[0], self.shape[0]))
        triangle[: len(R)] = R
        for place, block in self.dense_blocks():
            product = triangular_product(triangle, block, overwrite=True)
            norms2[place] = np.einsum("ij,ij->j", product, product)
        return norms2

    def triangle(self) -> FloatArray:
        """R in X^T = Q R, updated block by block; Q is not formed."""
        R: FloatArray = np.empty((0, self.shape[0]))
        for _, block in self.dense_blocks():
            R = stacked_triangle(R, block.T)
        return R

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Apply a function to each block of columns, as it is stored."""
        return [function(block, *arguments) for _, block in self.blocks()]

    def column_sum(self) -> FloatArray:
        """The sum of the columns, scaled and centred, shape (n,)."""
        return sum((block.sum(axis=1) for _, block in self.dense_blocks()), np.zeros(self.shape[0]))

    def expect(self, scores: FloatArray) -> None:
        """Hint: `take` will mostly ask for columns of high scores."""

    def check_finite(self) -> None:
        """Raise scikit-learn's error if X has NaN or infinity."""
        for _, block in self.blocks():
            assert_all_finite(block, input_name="X")

    def largest(self) -> float:
        """The largest absolute value."""
        return max(max(float(block.max()), -float(block.min())) for _, block in self.blocks())


class SparseColumns(Columns):
    """Columns of a sparse array: never dense as a whole, and centred implicitly."""

    def __init__(self, X: Any, *, center: bool = False) -> None:
        super().__init__(X.tocsc(), center=center)

    def take_rows(self, indices: IndexArray) -> Any:
        """See `Columns.take_rows`. Sparse where that is faster to multiply."""
        if self.is_nearly_dense:
            return super().take_rows(indices)
        rows = self.rows[indices].astype(np.float64, copy=False)
        return rows if self.scale == 1 else rows * self.scale

    def gram(self) -> FloatArray:
        """K by a sparse product, or by dense blocks where that is faster."""
        if not self.is_sparse_enough:
            return super().gram()
        K = np.zeros((self.shape[0], self.shape[0]))
        sums = np.zeros(self.shape[0])
        for place, rows in self.sparse_blocks(self.shape[1]):
            if self.scale != 1:  # before the product, which would overflow or underflow
                rows = rows * self.scale
            if self.offset is not None:
                sums += np.asarray(rows.sum(axis=0)).ravel()
            if len(self.heavy) > 0:
                width = place.stop - place.start
                rows = rows[np.setdiff1d(np.arange(width), self.heavy - place.start)]
            # SciPy copies one factor, since their formats differ: hence the blocks
            K += (rows.T @ rows).todense()
        for start in range(0, len(self.heavy), self.block_width):
            some = self.heavy[start : start + self.block_width]
            block = as_dense(self.X[:, some]).astype(np.float64) * self.scale
            K += block @ block.T
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

    def sparse_blocks(
        self, width: int, starts: IndexArray | None = None, limit: int = 0
    ) -> Iterator[tuple[slice, Any]]:
        """Blocks of at most ``width`` columns as rows of sparse float64 arrays.

        A block is a copy unless it is all of X, so its non-zeros are limited too: or else, by
        ``limit``, what is counted in ``starts`` as ``indptr`` counts non-zeros.
        """
        if starts is None:
            starts = self.X.indptr
            # where n is large, so is K, and a sum of few products is faster
            limit = max(self.block_width * self.shape[0] // 2, self.shape[0] ** 2 // 4)
        d, start = self.shape[1], 0
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

    def norms2(self, B: FloatArray) -> FloatArray:
        """See `Columns.norms2`. By some columns of B at a time, which stay in the cache."""
        if not self.is_sparse_enough:
            return super().norms2(B)
        norms2 = np.zeros(self.shape[1])
        for start in range(0, B.shape[1], AT_ONCE):
            norms2 += super().norms2(B[:, start : start + AT_ONCE])
        return norms2

    def forms(self, W: FloatArray) -> FloatArray:
        """See `Columns.forms`. Centred: the rows of W must have mean 0."""
        if self.is_nearly_dense:
            return super().forms(W)
        forms, entries = np.empty(self.shape[1]), W.astype(np.float64, copy=False).ravel()
        for place, products in self.held_pairs or self.pairs():
            forms[place] = products @ entries
        if len(self.heavy) > 0:
            columns = Columns(self.X[:, self.heavy])
            vars(columns).update(self.settings())
            forms[self.heavy] = columns.forms(W)
        return forms

    @cached_property
    def heavy(self) -> IndexArray:
        """Columns with so many non-zeros that dense blocks are faster than pairs."""
        counts = np.diff(self.X.indptr)
        is_heavy = counts > max(128, self.shape[0] // 12)
        if np.sum(counts[~is_heavy] ** 2.0) > 2 * self.room:  # pairs are found anew each time
            is_heavy = counts > self.shape[0] // 12
        return np.flatnonzero(is_heavy)

    @property
    def room(self) -> int:
        """How many pairs are held at most."""
        return 4 * self.block_width * self.shape[0]

    @cached_property
    def held_pairs(self) -> list[tuple[slice, Any]]:
        """`pairs`, or an empty list where they are too many to be held."""
        return list(self.pairs()) if self.pair_starts[-1] <= self.room else []

    def pairs(self) -> Iterator[tuple[slice, Any]]:
        """`pair_products` of all columns, block by block."""
        size = self.block_width * self.shape[0] // 4
        for place, rows in self.sparse_blocks(self.shape[1], self.pair_starts, size):
            lengths = np.diff(self.pair_starts[place.start : place.stop + 1])
            yield place, pair_products(rows * self.scale, lengths > 0)

    @cached_property
    def pair_starts(self) -> IndexArray:
        """How many pairs of non-zeros all columns before each one have, `heavy` ones left out."""
        counts = np.diff(self.X.indptr).astype(np.intp)
        counts[self.heavy] = 0
        return np.concatenate([[0], np.cumsum(counts * (counts + 1) // 2)])


def pair_products(rows: Any, is_paired: BoolArray) -> Any:
    """x_a x_b of all pairs of non-zeros of a row x, at place n a + b, doubled if a != b.

    Times ``W.ravel()`` that is x^T W x. Other rows than ``is_paired`` are empty.
    """
    n, counts = rows.shape[1], np.diff(rows.indptr)
    # a non-zero's partners are itself and those after it in its row
    ends = np.where(is_paired, rows.indptr[1:], 0)
    lengths = np.maximum(np.repeat(ends, counts) - np.arange(rows.nnz), 0)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    partners = np.arange(starts[-1]) + np.repeat(np.arange(rows.nnz) - starts[:-1], lengths)
    indices = rows.indices.astype(np.int32 if n**2 < 2**31 else np.int64)
    places = np.repeat(n * indices, lengths) + indices[partners]
    products = np.repeat(2 * rows.data, lengths) * rows.data[partners]
    products[starts[:-1][lengths > 0]] /= 2
    return csr_array((products, places, starts[rows.indptr]), shape=(rows.shape[0], n**2))


def triangular_product(
    R: FloatArray, B: FloatArray, *, is_transposed: bool = False, overwrite: bool = False
) -> FloatArray:
    """R B, or R^T B, of an upper triangular R: B is in either order, and not copied to another."""
    multiply: Any = strmm if B.dtype == np.float32 else dtrmm
    if B.flags.f_contiguous:
        return multiply(1.0, R, B, trans_a=is_transposed, overwrite_b=overwrite)
    return multiply(1.0, R, B.T, side=1, trans_a=not is_transposed, overwrite_b=overwrite).T


def stacked_triangle(R: FloatArray, below: FloatArray) -> FloatArray:
    """The triangular factor of R stacked on other rows."""
    stacked = np.vstack([R, below])
    found: Any = qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0]
    return found[: R.shape[1]]


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
        from ridgewise.spectrum._stored import StoredColumns  # which is a subclass of `Columns`

        return StoredColumns
    return SparseColumns if is_sparse(X) else Columns
