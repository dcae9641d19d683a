# SPDX-License-Identifier: BSD-3-Clause
"""Any container as columns: blocks of features, one after the other, or those asked for."""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import qr
from scipy.linalg.blas import dtrmm, strmm
from sklearn import get_config
from sklearn.utils import assert_all_finite, check_array, gen_batches

from ridgewise._progress import FEATURES, advance
from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse
from ridgewise.spectrum._containers import as_source, is_dask, is_outside, is_stored, transposed

FEW_NONZEROS = 6  # of a column: pairs of them are fewer than a product with W has terms
BLOCK_BYTES = 2**24  # of a block of columns in float64: larger ones are no faster


def as_numeric(X: Any) -> Any:
    """An array, memory map, sparse array or matrix, or data frame, as an array or sparse array.

    Nothing is copied that is one: types are converted block by block, so that what is stored as
    float32, integers or booleans stays so. Nor are NaN and infinities looked for here. What is not
    in memory (see `is_outside`) stays where it is.
    """
    if is_outside(X):
        return as_source(X)
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.char in "?bBhHiIlLefd" and X.size:
        return X  # as it must be: a selector has checked it already
    array = check_array(
        X,
        accept_sparse=("csc", "csr"),
        dtype="numeric",
        ensure_all_finite=False,
        estimator="the spectrum",
    )
    return array.astype(np.float64) if array.dtype == np.longdouble else array


def as_columns(X: Any, *, center: bool = False) -> "Columns":
    """The features of X (what `as_numeric` gives) as columns."""
    return columns_class(X)(X, center=center)


def as_rows(X: Any, *, center: bool = False) -> "Columns":
    """The samples of X as columns; with ``center``, less the features' means."""
    rows = columns_class(X)(transposed(X))
    rows.holds_samples, rows.centers = True, center
    return rows


def columns_class(X: Any) -> type["Columns"]:
    """The kind of columns that this container has. What it takes to read it is imported here."""
    if is_dask(X):
        from ridgewise.spectrum._dask import DaskColumns

        return DaskColumns
    if is_stored(X):
        from ridgewise.spectrum._stored import StoredColumns

        return StoredColumns
    return SparseColumns if is_sparse(X) else DenseColumns


def as_vector(row: Any) -> FloatArray:
    """A row or a column, sparse or not, as a vector."""
    return np.asarray(row.todense() if is_sparse(row) else row, dtype=np.float64).ravel()


class Columns:
    """The columns of an array, n values each.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    center : bool
        Subtract each column's mean.

    Attributes
    ----------
    scale : float
        Multiplies what is read: a power of two that keeps squares from over- or underflowing.
    holds_samples : bool
        Whether columns are samples (`as_rows`), and not features.
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
        """What is subtracted from each column that is a sample: the features' means, scaled.

        In two parts, shape (2, n): the second has the digits that the first has no room for.
        """
        if self._offset is None and self.centers and self.holds_samples:
            self._offset = np.zeros((2, self.shape[0]))
            self._offset[0] = self.row_means()
            self._offset[1] = self.block_sums() / self.shape[1]
        return self._offset

    def set_scale(self, scale: float) -> None:
        """Change the scale. Means are taken anew, from scaled numbers: they can be subnormal."""
        self.scale, self._offset = scale, None

    def settings(self) -> dict[str, Any]:
        """What other columns need to treat theirs as these do: see `with_settings`."""
        return {
            "scale": self.scale,
            "_offset": self.offset,
            "centers": self.centers,
            "holds_samples": self.holds_samples,
        }

    def with_settings(self, settings: dict[str, Any]) -> Self:
        """Scale and centre as other columns do."""
        vars(self).update(settings)
        return self

    @property
    def block_width(self) -> int:
        """How many columns a block has: what fits into a fraction of the working memory."""
        limit = min(BLOCK_BYTES, get_config()["working_memory"] * 2**20 // 4)
        return max(1, int(limit // (8 * self.shape[0])))

    def slices(self) -> Iterator[slice]:
        """The blocks' places."""
        for place in gen_batches(self.shape[1], self.block_width):
            yield place
            advance(place.stop, self.shape[1], FEATURES)

    def dense_blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Blocks of columns as float64 arrays of shape (n, width), centred if asked for."""
        raise NotImplementedError

    def rounded_blocks(self, dtype: Any) -> Iterator[tuple[slice, FloatArray]]:
        """The same as arrays of another floating-point type."""
        for place, block in self.dense_blocks():
            yield place, block.astype(dtype, copy=False)

    def take(self, indices: IndexArray) -> FloatArray:
        """The columns ``indices`` as a float64 array of shape (n, len(indices))."""
        raise NotImplementedError

    def take_rows(self, indices: IndexArray) -> Any:
        """The same as rows; where sparse, not centred: multiply them by columns of mean 0 then."""
        return self.take(indices).T

    def stored(self, indices: IndexArray) -> Any:
        """The columns ``indices``, ascending, as an array or sparse array of what is stored."""
        return self.X[:, indices]

    def gram(self) -> FloatArray:
        """K = X X^T, in float64; of the centred columns if asked for."""
        K = np.zeros((self.shape[0], self.shape[0]))
        for _, block in self.dense_blocks():
            K += block @ block.T
        return K

    def products(self, B: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """X^T B, block by block: an array of shape (width, B.shape[1]) each."""
        for place, block in self.dense_blocks():
            yield place, block.T @ B

    def forms(self, W: FloatArray) -> FloatArray:
        """Quadratic forms x_j^T W x_j of all columns, W symmetric, shape (d,)."""
        # W = T + T^T with a triangular T: half the work of a full product
        triangle = np.tril(W)
        triangle.ravel()[:: len(W) + 1] /= 2
        forms = np.empty(self.shape[1])
        multiply = strmm if W.dtype == np.float32 else dtrmm
        for place, block in self.rounded_blocks(W.dtype):
            rows = block.T
            product = multiply(2.0, triangle.T, rows, side=1)
            forms[place] = np.einsum("ij,ij->i", product, rows)
        return forms

    def norms2(self, B: FloatArray) -> FloatArray:
        """Squared norms of the rows of X^T B, shape (d,)."""
        # B^T = Q R, so that ||B^T x|| = ||R x||: a triangular product is half of a full one
        R = np.linalg.qr(B.T, mode="r")
        triangle = np.zeros((self.shape[0], self.shape[0]))
        triangle[: len(R)] = R
        norms2 = np.empty(self.shape[1])
        for place, block in self.dense_blocks():
            product = dtrmm(1.0, triangle, block.T, side=1, trans_a=1, overwrite_b=1)
            norms2[place] = np.einsum("ij,ij->i", product, product)
        return norms2

    def triangle(self) -> FloatArray:
        """R in X^T = Q R, made block by block: X^T never stands whole, and Q not at all."""
        R: FloatArray = np.empty((0, self.shape[0]))
        for _, block in self.dense_blocks():
            R = stacked_triangle(R, block.T)
        return R

    def map(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """What the function makes of each block of columns, as it is stored."""
        return [function(self.X[:, place], *arguments) for place in self.slices()]

    def row_means(self) -> FloatArray:
        """Means over the columns, scaled, in float64, shape (n,): of equal values, the value."""
        total, low, high = self.row_sums() * self.scale
        return np.where(low == high, low, total / self.shape[1])

    def block_sums(self) -> FloatArray:
        """Sums over the columns, scaled and centred, shape (n,)."""
        return sum((block.sum(axis=1) for _, block in self.dense_blocks()), np.zeros(self.shape[0]))

    def row_sums(self) -> FloatArray:
        """Over the columns: sums, the smallest and the largest values, shape (3, n)."""
        found = self.X.sum(axis=1, dtype=np.float64), self.X.min(axis=1), self.X.max(axis=1)
        return np.array([as_vector(column) for column in found])

    def expect(self, scores: FloatArray) -> None:
        """Be told that `take` will ask for columns of high scores, mostly."""

    def check_finite(self) -> None:
        """Raise scikit-learn's error if there is a NaN or an infinity."""
        for place in self.slices():
            assert_all_finite(self.X[:, place], input_name="X")

    def largest(self) -> float:
        """The largest absolute value."""
        return max(float(abs(self.X[:, place]).max()) for place in self.slices())

    def finish(self, columns: AnyArray) -> FloatArray:
        """Columns as stored -> in float64, scaled and centred."""
        finished = columns.astype(np.float64)
        if self.scale != 1:  # before means are taken, whose digits subnormal numbers would lose
            finished *= self.scale
        if self.offset is not None:
            finished -= self.offset[0][:, None]
            finished -= self.offset[1][:, None]
        if self.center:
            mean = finished.mean(axis=0)
            constant = (finished == finished[0]).all(axis=0)
            mean[constant] = finished[0, constant]  # not rounded
            finished -= mean
            finished -= finished.mean(axis=0)  # what the first mean lost of its digits
        return finished


def stacked_triangle(R: FloatArray, below: FloatArray) -> FloatArray:
    """The triangular factor of R above other rows."""
    stacked = np.vstack([R, below])
    found: Any = qr(stacked, mode="r", overwrite_a=True, check_finite=False)[0]
    return found[: R.shape[1]]


class DenseColumns(Columns):
    """Columns of an array or a memory map, of any type and strides."""

    def dense_blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """See `Columns.dense_blocks`."""
        for place in self.slices():
            yield place, self.finish(self.X[:, place])

    def rounded_blocks(self, dtype: Any) -> Iterator[tuple[slice, FloatArray]]:
        """See `Columns.rounded_blocks`. What is used as it is stored is converted once."""
        if self.scale != 1 or self.centers:
            yield from super().rounded_blocks(dtype)
            return
        for place in self.slices():
            yield place, self.X[:, place].astype(dtype, order="C", copy=False)

    def products(self, B: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """See `Columns.products`. Blocks that are used as they are stored are not copied."""
        if self.X.dtype != np.float64 or self.scale != 1 or self.centers:
            yield from super().products(B)
            return
        for place in self.slices():
            yield place, (B.T @ self.X[:, place]).T

    def take(self, indices: IndexArray) -> FloatArray:
        """See `Columns.take`."""
        return self.finish(self.X[:, indices])


class SparseColumns(Columns):
    """Columns of a sparse array, never made dense as a whole, and centred only by implication."""

    def __init__(self, X: Any, *, center: bool = False) -> None:
        super().__init__(X.tocsc(), center=center)

    def dense_blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """See `Columns.dense_blocks`."""
        for place in self.slices():
            yield place, self.finish(self.X[:, place].toarray())

    def take(self, indices: IndexArray) -> FloatArray:
        """See `Columns.take`. Written out: a few columns at a time are asked for very often."""
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
        """See `Columns.take_rows`. Sparse, where that is quicker to multiply."""
        if 6 * self.X.nnz > self.shape[0] * self.shape[1]:
            return super().take_rows(indices)
        return self.rows[indices].astype(np.float64) * self.scale

    def gram(self) -> FloatArray:
        """K by a sparse product, or by dense blocks where columns are too full for that."""
        if not self.is_sparse_enough:
            return super().gram()
        K = np.zeros((self.shape[0], self.shape[0]))
        sums = np.zeros(self.shape[0])
        for _, rows in self.sparse_blocks(self.shape[1]):
            if self.scale != 1:  # before the product, which would over- or underflow
                rows = rows * self.scale
            # SciPy's product of unlike formats copies one of them: hence the blocks
            K += (rows.T @ rows).todense()
            if self.offset is not None:
                sums += as_vector(rows.sum(axis=0))
        before = K.trace()
        if self.offset is not None:  # (X - b 1^T) (X - b 1^T)^T
            b = self.offset.sum(axis=0)
            cross = np.outer(sums, b)
            K += self.shape[1] * np.outer(b, b) - cross - cross.T
        if self.center:  # (I - 11^T/n) K (I - 11^T/n)
            K -= K.mean(axis=0)
            K -= K.mean(axis=1)[:, None]
        # where means are large, their squares cancelled the digits
        return K if K.trace() > before / 10 else super().gram()

    @cached_property
    def rows(self) -> Any:
        """The same as rows of a sparse array, which shares its memory."""
        return self.X.T

    @cached_property
    def is_sparse_enough(self) -> bool:
        """Whether products of non-zeros beat dense arithmetic, about 64 times as fast."""
        counts = np.diff(self.X.indptr).astype(np.float64)
        return bool(64 * np.sum(counts**2) < self.shape[0] ** 2 * self.shape[1])

    def sparse_blocks(self, width: int) -> Iterator[tuple[slice, Any]]:
        """Blocks of at most so many columns as the rows of sparse arrays, in float64.

        A block is a copy, unless it is all of X: so their non-zeros are limited too.
        """
        d, starts = self.shape[1], self.X.indptr
        # where n is large, so is K, and a sum of few products is quicker
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
        if 6 * self.X.nnz > self.shape[0] * self.shape[1]:
            yield from super().products(B)
            return
        scaled = self.scale * B
        # what takes room here is the product: where it is thin, blocks may be long
        width = max(1, self.block_width * self.shape[0] // max(1, B.shape[1]))
        for place, rows in self.sparse_blocks(width):
            yield place, np.asarray(rows @ scaled)

    def norms2(self, B: FloatArray) -> FloatArray:
        """Squared norms of the rows of X^T B, shape (d,)."""
        if not self.is_sparse_enough:
            return super().norms2(B)
        norms2 = np.empty(self.shape[1])
        for place, rows in self.products(B):
            norms2[place] = np.einsum("ij,ij->i", rows, rows)
        return norms2

    def forms(self, W: FloatArray) -> FloatArray:
        """See `Columns.forms`. Centred: the rows of W must have mean 0."""
        if 6 * self.X.nnz > self.shape[0] * self.shape[1]:
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
        """Columns by their number of non-zeros; those with many together, as the last."""
        counts = np.minimum(np.diff(self.X.indptr), FEW_NONZEROS + 1)
        found = ((count, np.flatnonzero(counts == count)) for count in range(1, FEW_NONZEROS + 2))
        return [(count, columns) for count, columns in found if len(columns) > 0]

    def check_finite(self) -> None:
        """Raise scikit-learn's error if there is a NaN or an infinity."""
        assert_all_finite(self.X.data, input_name="X")

    def largest(self) -> float:
        """The largest absolute value."""
        data = self.X.data
        return max(float(data.max(initial=0)), -float(data.min(initial=0)))
