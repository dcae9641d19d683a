# SPDX-License-Identifier: BSD-3-Clause
"""Columns of any container: the same numbers as its dense array, block by block."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from ridgewise.spectrum import _columns
from ridgewise.spectrum._columns import Columns, SparseColumns, as_columns, as_rows
from ridgewise.spectrum._containers import as_numeric

SPARSE_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
SPARSE_TYPES = [f"{layout}_{kind}" for layout in SPARSE_FORMATS for kind in ("array", "matrix")]


def counts(n=12, d=50, density=0.3, seed=0):
    """Small whole numbers, most of them zero: every container and type holds them exactly."""
    rng = np.random.default_rng(seed)
    return rng.integers(1, 6, (n, d)) * (rng.random((n, d)) < density)


def centred(X):
    return X - X.mean(axis=0)


def gathered(blocks, shape):
    """What blocks of (place, rows of the result) make up."""
    whole = np.full(shape, np.nan)
    for place, block in blocks:
        whole[place] = block
    return whole


# as_numeric


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint16, np.int64, bool])
def test_nothing_is_copied_or_converted(dtype):
    X = counts().astype(dtype)
    numeric = as_numeric(X)
    assert numeric.dtype == dtype
    assert np.shares_memory(numeric, X)
    S = sp.csr_array(X)
    numeric = as_numeric(S)
    assert numeric.dtype == dtype
    assert np.shares_memory(numeric.data, S.data)


def test_a_memory_map_is_not_read_into_memory(tmp_path):
    X = np.memmap(tmp_path / "X", dtype=np.float32, mode="w+", shape=(4, 6))
    assert np.shares_memory(as_numeric(X), X)


@pytest.mark.parametrize("sparse_type", SPARSE_TYPES)
def test_every_sparse_format_becomes_compressed(sparse_type):
    X = counts()
    numeric = as_numeric(getattr(sp, sparse_type)(X))
    assert numeric.format in ("csc", "csr")
    assert_array_equal(numeric.toarray(), X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, np.ndarray.tolist])
def test_frames_and_lists_become_arrays(frame):
    X = counts()
    assert_array_equal(as_numeric(frame(X)), X)


def test_a_frame_of_sparse_columns_stays_sparse():
    X = counts()
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csc_matrix(X))
    numeric = as_numeric(frame)
    assert sp.issparse(numeric)
    assert_array_equal(numeric.toarray(), X)


# the operations, of dense and sparse columns


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("density", [0.03, 0.3, 1.0])
@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sp.csc_array, sp.csr_matrix])
class TestOperations:
    """Columns against the dense float64 array, above and below where sparse products pay."""

    def test_blocks_and_take(self, container, density, center):
        X = counts(density=density)
        columns = as_columns(container(X), center=center)
        expected = centred(X) if center else X
        blocks = gathered(
            ((place, block.T) for place, block in columns.dense_blocks()), X.T.shape
        ).T
        assert blocks.dtype == np.float64
        assert_allclose(blocks, expected, atol=1e-14)
        indices = np.array([7, 3, 3, 49, 0])
        assert columns.take(indices).dtype == np.float64
        assert_allclose(columns.take(indices), expected[:, indices], atol=1e-14)
        assert columns.take(indices[:0]).shape == (12, 0)

    def test_gram(self, container, density, center):
        X = counts(density=density)
        expected = centred(X) if center else X
        K = as_columns(container(X), center=center).gram()
        assert K.dtype == np.float64
        assert_allclose(K, expected @ expected.T, atol=1e-12)

    def test_products(self, container, density, center):
        X = counts(density=density)
        expected = centred(X) if center else X
        B = np.random.default_rng(1).standard_normal((12, 4))
        if center:
            B -= B.mean(axis=0)
        columns = as_columns(container(X), center=center)
        assert_allclose(gathered(columns.products(B), (50, 4)), expected.T @ B, atol=1e-13)

    def test_norms2(self, container, density, center, monkeypatch):
        monkeypatch.setattr(_columns, "AT_ONCE", 5)
        X = counts(density=density)
        expected = centred(X) if center else X
        columns = as_columns(container(X), center=center)
        for width in (1, 4, 11, 12):
            B = np.random.default_rng(width).standard_normal((12, width))
            if center:
                B -= B.mean(axis=0)
            norms2 = np.sum((expected.T @ B) ** 2, axis=1)
            assert_allclose(columns.norms2(B), norms2, rtol=1e-12, atol=1e-12)

    def test_rows(self, container, density, center):
        X = counts(60, 8, density=density)
        expected = centred(X) if center else X
        rows = as_rows(container(X), center=center)
        assert rows.shape == (8, 60)
        assert_allclose(rows.gram(), expected.T @ expected, atol=1e-12)
        blocks = gathered(((place, block.T) for place, block in rows.dense_blocks()), (60, 8))
        assert_allclose(blocks, expected, atol=1e-14)
        assert_allclose(rows.take(np.array([5, 2])), expected[[5, 2]].T, atol=1e-14)


@pytest.mark.parametrize("block_bytes", [_columns.BLOCK_BYTES, 8 * 300 * 5])
@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@pytest.mark.parametrize("scale", [1, 0.25])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("density", [0.01, 0.5])
def test_forms_of_light_and_heavy_columns(monkeypatch, density, center, scale, dtype, block_bytes):
    monkeypatch.setattr(_columns, "BLOCK_BYTES", block_bytes)
    X = counts(300, 50, density).astype(dtype)
    X[:, [3, 4, 20]] = counts(300, 3, 0.9, seed=1)
    X[:, 10] = 0
    B = np.random.default_rng(2).standard_normal((300, 9))
    if center:
        B = centred(B)
    signs = np.array([1, 1, 1, -1, 1, 1, -1, 1, 1])
    expected = (scale * X.T.astype(np.float64) @ B) ** 2 @ signs
    for container in (np.asarray, np.asfortranarray, sp.csc_array):
        columns = as_columns(container(X), center=center)
        columns.scale = scale
        for _ in range(2):  # what is held is used the second time
            assert_allclose(columns.forms((B * signs) @ B.T), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("block_bytes", [_columns.BLOCK_BYTES, 8 * 300 * 2])
@pytest.mark.parametrize("dtype", [np.int8, np.float64])
@pytest.mark.parametrize("center", [False, True])
def test_gram_of_light_and_heavy_columns(monkeypatch, center, dtype, block_bytes):
    monkeypatch.setattr(_columns, "BLOCK_BYTES", block_bytes)
    X = counts(300, 2000, 0.01).astype(dtype)
    X[:, [0, 40, 1000, 1001, 1999]] = counts(300, 5, 0.9, seed=1)
    columns = SparseColumns(sp.csc_array(X), center=center)
    assert columns.is_sparse_enough
    assert len(columns.heavy) == 5
    columns.scale = 0.25
    dense = 0.25 * X.astype(np.float64)
    dense -= dense.mean(axis=0) if center else 0
    assert_allclose(columns.gram(), dense @ dense.T, rtol=1e-9, atol=1e-9)


def test_sparse_products_are_used_only_where_they_pay():
    assert SparseColumns(sp.csc_array(counts(100, 400, density=0.03))).is_sparse_enough
    assert not SparseColumns(sp.csc_array(counts(100, 400, density=0.5))).is_sparse_enough
    # a few full columns do not make the others dense
    X = counts(100, 4000, density=0.01)
    X[:, :20] = 1
    assert SparseColumns(sp.csc_array(X)).is_sparse_enough


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("density", [0.02, 0.5])
@pytest.mark.parametrize("container", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("width", [1, 7, 49, 50, 51])
def test_many_blocks_are_as_one(monkeypatch, container, density, center, width):
    X = counts(density=density)
    one = as_columns(container(X), center=center)
    assert len(list(one.slices())) == 1
    B = centred(np.random.default_rng(1).standard_normal((12, 3)))
    K, products, norms2 = one.gram(), gathered(one.products(B), (50, 3)), one.norms2(B)

    monkeypatch.setattr(_columns, "BLOCK_BYTES", 8 * 12 * width)
    many = as_columns(container(X), center=center)
    places = list(many.slices())
    assert len(places) == -(-50 // width)
    assert_array_equal(np.concatenate([np.arange(50)[place] for place in places]), np.arange(50))
    assert_allclose(many.gram(), K, rtol=1e-14, atol=1e-13)
    assert_allclose(gathered(many.products(B), (50, 3)), products, rtol=1e-14, atol=1e-13)
    assert_allclose(many.norms2(B), norms2, rtol=1e-13, atol=1e-13)


def test_blocks_follow_the_working_memory():
    columns = as_columns(np.zeros((1000, 3000)))
    width = columns.block_width
    assert 8 * 1000 * width <= _columns.BLOCK_BYTES
    with sklearn.config_context(working_memory=1):
        assert 8 * 1000 * columns.block_width <= 2**18
    with sklearn.config_context(working_memory=2**20):
        assert columns.block_width == width
    with sklearn.config_context(working_memory=0):
        assert columns.block_width == 1


@given(
    X=hnp.arrays(
        st.sampled_from([np.int8, np.uint8, np.float32, np.float64]),
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
        elements=st.integers(0, 100),
    ),
    sparse=st.booleans(),
    center=st.booleans(),
    flip=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_any_array(X, sparse, center, flip):
    X = X[::-1, ::-1] if flip else X
    exact = X.astype(np.float64)
    expected = centred(exact) if center else exact
    columns = as_columns(sp.csr_array(X) if sparse else X, center=center)
    scale = np.abs(exact).max() or 1
    assert_allclose(columns.gram(), expected @ expected.T, atol=1e-12 * scale**2)
    last = np.array([X.shape[1] - 1])
    assert_allclose(columns.take(last), expected[:, last], atol=1e-13 * scale)


# sums and types


def test_float32_and_integers_are_summed_in_float64():
    # the partial sums have more than float32's 24 bits; in int8 a product of two 100s wraps
    X = np.full((1, 2**16), 2**8 + 1, dtype=np.float32)
    assert as_columns(X).gram() == [[2**16 * (2**8 + 1) ** 2]]
    X = np.full((2, 40), 100, dtype=np.int8)
    for container in (np.asarray, sp.csr_array):
        assert_array_equal(as_columns(container(X)).gram(), np.full((2, 2), 400_000.0))
    assert_array_equal(as_columns(X.T).gram(), np.full((40, 40), 20_000.0))


def test_duplicate_entries_of_a_sparse_array_add_up():
    data, rows, places = np.array([1.0, 2.0, 4.0, -4.0]), [0, 0, 1, 1], [3, 3, 0, 0]
    for X in (
        sp.coo_array((data, (rows, places)), shape=(2, 5)),
        sp.csr_array((data, places, [0, 2, 4]), shape=(2, 5)),
        sp.csr_matrix((data, places, [0, 2, 4]), shape=(2, 5)),
    ):
        columns = as_columns(as_numeric(X))
        assert_array_equal(columns.gram(), [[9, 0], [0, 0]])
        assert_array_equal(columns.take(np.array([3, 0])), [[3, 0], [0, 0]])


# scale, largest, check_finite


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csc_array])
def test_scale_multiplies_all_that_is_read(container, center):
    for X, make in ((counts(12, 50, 0.05), as_columns), (counts(60, 8, 0.05), as_rows)):
        plain = make(container(X), center=center)
        scaled = make(container(X), center=center)
        scaled.scale = 0.25
        assert_allclose(scaled.gram(), plain.gram() / 16, atol=1e-15)
        indices = np.array([0, 4, 7])
        assert_allclose(scaled.take(indices), plain.take(indices) / 4, atol=1e-15)
        for (_, quarter), (_, whole) in zip(
            scaled.dense_blocks(), plain.dense_blocks(), strict=True
        ):
            assert_allclose(quarter, whole / 4, atol=1e-15)


def test_scale_multiplies_products():
    X, B = counts(density=0.05), np.eye(12)[:, :3]
    for container in (np.asarray, sp.csc_array):
        columns = as_columns(container(X))
        columns.scale = 0.25
        assert_allclose(gathered(columns.products(B), (50, 3)), X.T @ B / 4)
        assert_allclose(columns.norms2(B), np.sum((X.T @ B / 4) ** 2, axis=1))


def test_the_largest_value():
    X = counts() - 3.0
    X[2, 17] = -77
    for container in (np.asarray, sp.csc_array, sp.csr_array):
        assert as_columns(container(X)).largest() == 77
    assert as_columns(sp.csc_array((3, 4))).largest() == 0
    assert as_columns(np.ones((2, 3), dtype=bool)).largest() == 1
    assert as_columns(np.array([[3, 65535]], dtype=np.uint16)).largest() == 65535


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_what_is_not_finite_is_found_in_any_block(monkeypatch, value, name):
    monkeypatch.setattr(_columns, "BLOCK_BYTES", 8 * 12 * 5)
    for place in (0, 23, 49):
        X = counts().astype(np.float32)
        X[5, place] = value
        for container in (np.asarray, sp.csc_array):
            with pytest.raises(ValueError, match=f"Input X contains {name}"):
                as_columns(container(X)).check_finite()
    as_columns(counts()).check_finite()  # integers


def test_dense_and_sparse_are_told_apart():
    assert type(as_columns(counts())) is Columns
    assert isinstance(as_columns(sp.csr_array(counts())), SparseColumns)
    assert isinstance(as_rows(sp.csr_matrix(counts())), SparseColumns)
