# SPDX-License-Identifier: BSD-3-Clause
"""The spectrum of any container is that of numpy's SVD, without ever holding U."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from ridgewise.spectrum import Spectrum, _columns, compute_spectrum
from ridgewise.spectrum._spectrum import TallSpectrum, WideSpectrum

SPARSE_FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
SPARSE_TYPES = [f"{layout}_{kind}" for layout in SPARSE_FORMATS for kind in ("array", "matrix")]
SHAPES = {"wide": (9, 60), "tall": (60, 9), "square": (20, 20)}


def counts(shape, density=0.3, seed=0):
    """Small whole numbers: every container and type holds them exactly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 6, shape) * (rng.random(shape) < density)
    np.fill_diagonal(X, 7)  # of full rank
    return X


def reference(X, center=False):
    """V, S and U of the dense array, by numpy's SVD, up to the numerical rank."""
    X = np.asarray(X, dtype=np.float64)
    X = X - X.mean(axis=0) if center else X
    V, s, Ut = np.linalg.svd(X, full_matrices=False)
    kept = s > 1e-10 * s[0]
    return V[:, kept], s[kept], Ut[kept].T


def all_rows(spectrum):
    d = len(spectrum.leverage_scores)
    return spectrum.take(np.arange(d))


def all_projections(spectrum, directions):
    found = np.full((len(spectrum.leverage_scores), directions.shape[1]), np.nan)
    for place, block in spectrum.projections(directions):
        found[place] = block
    return found


def check_same(spectrum, X, center=False, tolerance=1e-9):
    """All that a spectrum offers, against numpy's SVD of the dense float64 array."""
    V, s, U = reference(X, center)
    assert spectrum.rank == spectrum.numerical_rank == len(s)
    assert spectrum.energy == 1
    assert_allclose(spectrum.singular_values, s, rtol=tolerance)
    assert spectrum.V.shape == V.shape
    # singular vectors have no sign, but the projections that they make up have
    assert_allclose(spectrum.V @ spectrum.V.T, V @ V.T, atol=tolerance)
    assert_allclose(
        (spectrum.V * spectrum.singular_values) @ spectrum.V.T, (V * s) @ V.T, atol=tolerance * s[0]
    )
    scores = spectrum.leverage_scores
    assert_allclose(scores, (U**2).sum(axis=1), atol=tolerance)
    assert scores.sum() == pytest.approx(spectrum.rank, rel=tolerance)
    rows = all_rows(spectrum)
    assert_allclose(rows.T @ rows, np.eye(spectrum.rank), atol=tolerance)
    assert_allclose((rows**2).sum(axis=1), scores, atol=tolerance)
    assert_allclose(rows @ rows.T, U @ U.T, atol=tolerance)
    directions = np.random.default_rng(3).standard_normal((spectrum.rank, 4))
    assert_allclose(all_projections(spectrum, directions), rows @ directions, atol=10 * tolerance)
    values = np.array([1.0, -2.0, 3.0, 0.5])
    forms = spectrum.forms((directions * values) @ directions.T)
    assert_allclose(forms, (rows @ directions) ** 2 @ values, atol=1000 * tolerance)
    scale = np.arange(1.0, spectrum.rank + 1)
    assert_allclose(
        spectrum.scaled_norms2(scale), ((rows * scale) ** 2).sum(axis=1), rtol=100 * tolerance
    )
    assert_array_equal(spectrum.norms2, scores)


# containers


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.uint16, np.int64, bool])
def test_types(dtype, shape):
    X = counts(shape).astype(dtype)
    before = X.copy()
    check_same(compute_spectrum(X), X)
    assert_array_equal(X, before)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_strides(dtype, shape):
    n, d = shape
    big = np.random.default_rng(0).standard_normal((3 * n, 2 * d)).astype(dtype)
    for X in (
        np.asfortranarray(big[:n, :d]),
        big[:n, :d],
        big[::3, ::2],
        big[:n, :d][::-1],
        big[:n, :d][:, ::-1],
        big[::-3, ::-2],
        np.asfortranarray(big)[::3, ::-2],
        np.broadcast_to(big[:1, :d], (n, d)),  # strides of 0
        big[:n, :d].astype(big.dtype.newbyteorder()),
    ):
        check_same(compute_spectrum(X), X)


def test_read_only():
    X = counts((9, 60)).astype(np.float64)
    X.flags.writeable = False
    check_same(compute_spectrum(X), X)
    check_same(compute_spectrum(X, center=True, solver="qr"), X, center=True)


@pytest.mark.parametrize("dtype", [np.float32, np.int8])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_memory_maps(tmp_path, shape, dtype, order):
    X = np.memmap(tmp_path / "X", dtype=dtype, mode="w+", shape=shape, order=order)
    X[:] = counts(shape)
    X.flush()
    read = np.memmap(tmp_path / "X", dtype=dtype, mode="r", shape=shape, order=order)
    check_same(compute_spectrum(read), counts(shape))
    check_same(compute_spectrum(read, center=True), counts(shape), center=True)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("density", [0.02, 0.4])
@pytest.mark.parametrize("sparse_type", SPARSE_TYPES)
def test_sparse(sparse_type, density, shape, center):
    X = counts(shape, density)
    S = getattr(sp, sparse_type)(X)
    check_same(compute_spectrum(S, center=center), X, center)
    assert S.format == sparse_type[:3]
    assert_array_equal(S.toarray(), X)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, bool])
@pytest.mark.parametrize("layout", ["csc", "csr", "coo"])
def test_sparse_types(layout, dtype):
    for shape in SHAPES.values():
        X = counts(shape, 0.1).astype(dtype)
        check_same(compute_spectrum(sp.coo_array(X).asformat(layout)), X)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("solver", ["gram", "qr"])
@pytest.mark.parametrize("layout", ["csc", "csr", "coo"])
def test_sparse_with_zeros_duplicates_and_disorder(layout, solver, center):
    """Entries that are stored as 0, stored twice, and not in order."""
    rng = np.random.default_rng(0)
    for n, d in SHAPES.values():
        rows, places = rng.integers(0, n, 300), rng.integers(0, d, 300)
        values = rng.integers(-2, 3, 300).astype(np.float64)
        X = sp.coo_array((values, (rows, places)), shape=(n, d)).toarray()
        if layout == "coo":
            S = sp.coo_array((values, (rows, places)), shape=(n, d))
        else:  # compressed by hand, since scipy would put it in order
            major, minor = (rows, places) if layout == "csr" else (places, rows)
            order = np.argsort(major, kind="stable")
            size = n if layout == "csr" else d
            starts = np.searchsorted(major[order], np.arange(size + 1))
            make = sp.csr_array if layout == "csr" else sp.csc_array
            S = make((values[order], minor[order], starts), shape=(n, d))
            assert not S.has_canonical_format
        assert S.nnz == 300
        check_same(compute_spectrum(S, solver=solver, center=center), X, center, tolerance=1e-8)


def test_64_bit_indices():
    X = counts((9, 60))
    S = sp.csr_array(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    check_same(compute_spectrum(S), X)
    check_same(compute_spectrum(S.tocsc()), X)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, bool])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames(frame, dtype, shape):
    X = counts(shape).astype(dtype)
    check_same(compute_spectrum(frame(X)), X)


def test_frames_of_mixed_types():
    columns = {"a": [1, 2, 0], "b": [0.5, 0.0, 1.0], "c": [3, 1, 4], "d": [1.5, 2.5, 0.0]}
    X = np.column_stack(list(columns.values()))
    for frame in (pd.DataFrame, pl.DataFrame):
        check_same(compute_spectrum(frame(columns)), X)
    nullable = pd.DataFrame(columns).convert_dtypes()
    check_same(compute_spectrum(nullable), X)


def test_lists():
    check_same(compute_spectrum([[1, 2, 3], [4, 5, 7]]), [[1, 2, 3], [4, 5, 7]])


# any shape and values


@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12),
        elements=st.integers(-3, 3) | st.floats(-10, 10, width=16),
    ),
    sparse=st.booleans(),
    center=st.booleans(),
    solver=st.sampled_from(["auto", "gram", "qr"]),
)
@settings(max_examples=150, deadline=None)
def test_any_small_array(X, sparse, center, solver):
    exact = X - X.mean(axis=0) if center else X
    s = np.linalg.svd(exact, compute_uv=False)
    # nothing between rounding errors and what K still resolves
    assume(s[0] > 1e-3 and not np.any((s > 1e-14 * s[0]) & (s < 1e-4 * s[0])))
    spectrum = compute_spectrum(sp.csr_array(X) if sparse else X, center=center, solver=solver)
    U = np.linalg.svd(exact)[2][: np.count_nonzero(s > 1e-4 * s[0])]
    assert spectrum.rank == len(U)
    assert_allclose(spectrum.singular_values, s[: len(U)], rtol=1e-6)
    assert_allclose(spectrum.leverage_scores, (U**2).sum(axis=0), atol=1e-6)
    rows = all_rows(spectrum)
    assert_allclose(rows.T @ rows, np.eye(len(U)), atol=1e-6)
    assert_allclose((spectrum.V * spectrum.singular_values) @ rows.T, exact, atol=1e-6 * s[0])


# tall data


def test_wide_and_tall_are_told_apart():
    assert isinstance(compute_spectrum(np.ones((3, 4))), WideSpectrum)
    assert isinstance(compute_spectrum(np.ones((3, 3))), WideSpectrum)
    assert isinstance(compute_spectrum(np.ones((4, 3))), TallSpectrum)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
def test_very_tall(solver, center):
    X = 3 + np.random.default_rng(0).standard_normal((10_000, 5))
    for container in (np.asarray, sp.csr_array, np.asfortranarray, np.float32):
        spectrum = compute_spectrum(container(X), solver=solver, center=center)
        assert spectrum.rank == 5
        exact = np.asarray(container(X).todense() if sp.issparse(container(X)) else container(X))
        exact = exact.astype(np.float64)
        exact = exact - exact.mean(axis=0) if center else exact
        s = np.linalg.svd(exact, compute_uv=False)
        assert_allclose(spectrum.singular_values, s, rtol=1e-10)
        assert_allclose(spectrum.leverage_scores, 1)
        rows = all_rows(spectrum)
        assert_allclose((spectrum.V * spectrum.singular_values) @ rows.T, exact, atol=1e-9)
        assert_allclose(spectrum.V.T @ spectrum.V, np.eye(5), atol=1e-9)


def test_tall_in_many_blocks(monkeypatch):
    X = np.random.default_rng(0).standard_normal((1000, 6))
    monkeypatch.setattr(_columns, "BLOCK_BYTES", 8 * 6 * 64)
    for container in (np.asarray, sp.csr_array):
        for solver in ("gram", "qr"):
            check_same(compute_spectrum(container(X), solver=solver), X)
            check_same(compute_spectrum(container(X), solver=solver, center=True), X, center=True)


# blocks


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("solver", ["gram", "qr"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_many_blocks_are_as_one(container, solver, center):
    X = np.random.default_rng(0).poisson(0.05, (40, 4000)).astype(np.float32)
    X[np.arange(40), np.arange(40)] = 9
    one = compute_spectrum(container(X), solver=solver, center=center)
    with sklearn.config_context(working_memory=0.1):
        many = compute_spectrum(container(X), solver=solver, center=center)
        assert len(list(many.columns.slices())) > 40
        assert_allclose(many.singular_values, one.singular_values, rtol=1e-12)
        assert_allclose(many.leverage_scores, one.leverage_scores, rtol=1e-9, atol=1e-15)
        directions = np.eye(many.rank)[:, -2:]
        assert_allclose(
            np.abs(all_projections(many, directions)),
            np.abs(all_projections(one, directions)),
            atol=1e-10,
        )
        assert_allclose(np.abs(many.take([3, 3999])), np.abs(one.take([3, 3999])), atol=1e-10)


# rank


@pytest.mark.parametrize("shape", [(6, 40), (40, 6)])
@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_rank_by_number(shape, solver):
    X = np.random.default_rng(0).standard_normal(shape)
    V, s, U = reference(X)
    for wanted in (1, 3, np.int64(4), 6, 7, 100):
        spectrum = compute_spectrum(X, rank=wanted, solver=solver)
        kept = min(wanted, 6)
        assert spectrum.rank == kept
        assert spectrum.numerical_rank == 6
        assert_allclose(spectrum.singular_values, s[:kept])
        assert_allclose(spectrum.leverage_scores, (U[:, :kept] ** 2).sum(axis=1))
        assert_allclose(np.abs(spectrum.V), np.abs(V[:, :kept]))
        assert spectrum.energy == pytest.approx(np.sum(s[:kept] ** 2) / np.sum(s**2))
        assert all_rows(spectrum).shape == (shape[1], kept)


@pytest.mark.parametrize("shape", [(4, 40), (40, 4)])
def test_rank_by_share_of_the_energy(shape):
    rng = np.random.default_rng(0)
    V, U = (np.linalg.qr(rng.standard_normal((size, 4)))[0] for size in shape)
    X = V * np.sqrt([50, 30, 15, 5]) @ U.T
    for share, rank in ((0.01, 1), (0.5, 1), (0.51, 2), (0.8, 2), (0.94, 3), (0.96, 4), (1.0, 4)):
        spectrum = compute_spectrum(X, rank=share)
        assert spectrum.rank == rank
        assert spectrum.energy >= share - 1e-9
        assert spectrum.energy == pytest.approx([0.5, 0.8, 0.95, 1][rank - 1])
    assert compute_spectrum(X, rank=np.float32(0.75)).rank == 2
    assert compute_spectrum(X).energy == 1


def test_share_of_the_energy_of_equal_singular_values():
    for share, rank in ((0.1, 1), (0.3, 3), (0.31, 4), (0.9, 9), (1.0, 10)):
        assert compute_spectrum(np.eye(10, 30), rank=share).rank == rank


@pytest.mark.parametrize("rank", [0, -1, 1.5, 0.0, -0.5, "x", True, np.nan, [3], 2.0])
def test_what_is_no_rank(rank):
    with pytest.raises(ValueError, match=r"rank must be None, an int >= 1 .* or a float in \(0, 1"):
        compute_spectrum(np.eye(3), rank=rank)


@pytest.mark.parametrize("solver", ["svd", None, 1, "QR"])
def test_what_is_no_solver(solver):
    with pytest.raises(ValueError, match="solver must be one of 'auto', 'gram', 'qr'; got"):
        compute_spectrum(np.eye(3), solver=solver)


def test_zero_has_no_spectrum_but_is_no_error():
    for X in (np.zeros((3, 7)), np.zeros((7, 3)), sp.csr_array((3, 7)), sp.csr_array((7, 3))):
        for rank in (None, 2, 0.5):
            spectrum = compute_spectrum(X, rank=rank)
            assert spectrum.rank == spectrum.numerical_rank == 0
            assert_array_equal(spectrum.leverage_scores, np.zeros(X.shape[1]))
            assert spectrum.V.shape == (X.shape[0], 0)
            assert spectrum.take([0, 2]).shape == (2, 0)
            assert spectrum.energy == 1


# centring


@pytest.mark.parametrize("shape", [(20, 300), (300, 20), (1, 5), (2, 5), (5, 2)])
@pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
@pytest.mark.parametrize("container", [np.asarray, np.float32, sp.csc_array, sp.csr_array])
def test_centring_is_as_explicit_centring(container, solver, shape):
    X = counts(shape, 0.05, seed=1)
    explicit = X - X.mean(axis=0)
    spectrum = compute_spectrum(container(X), center=True, solver=solver)
    if np.all(explicit == 0):
        assert spectrum.rank == 0
        return
    check_same(spectrum, explicit)
    if shape[0] <= shape[1]:
        assert spectrum.rank == shape[0] - 1
    assert_allclose(spectrum.V.sum(axis=0), 0, atol=1e-10)
    assert_allclose(
        all_projections(spectrum, np.eye(spectrum.rank)), all_rows(spectrum), atol=1e-10
    )


def test_centring_makes_shifts_irrelevant():
    rng = np.random.default_rng(0)
    for shape in ((10, 50), (50, 10)):
        X = rng.standard_normal(shape)
        scores = compute_spectrum(X, center=True).leverage_scores
        shifted = compute_spectrum(X + rng.uniform(-100, 100, shape[1]), center=True)
        assert_allclose(shifted.leverage_scores, scores, atol=1e-10)


def test_centring_leaves_constant_features_without_leverage():
    X = np.random.default_rng(0).standard_normal((12, 40))
    X[:, [3, 9]] = [2.0, -5.0]
    for container in (np.asarray, sp.csr_array):
        scores = compute_spectrum(container(X), center=True).leverage_scores
        assert_allclose(scores[[3, 9]], 0, atol=1e-28)


# invariances


@pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
@pytest.mark.parametrize("factor", [1e-300, 1e-200, 1e-150, 1e-20, 1e20, 1e100, 1e200, 1e300])
def test_scale_does_not_matter(factor, solver):
    for shape in ((8, 40), (40, 8)):
        X = counts(shape, 0.1).astype(np.float64)
        for container in (np.asarray, sp.csr_array):
            for center in (False, True):
                plain = compute_spectrum(container(X), solver=solver, center=center)
                scaled = compute_spectrum(container(X * factor), solver=solver, center=center)
                assert scaled.rank == plain.rank
                assert_allclose(scaled.singular_values / factor, plain.singular_values, rtol=1e-12)
                assert_allclose(scaled.leverage_scores, plain.leverage_scores, atol=1e-12)
                assert_allclose(np.abs(scaled.V), np.abs(plain.V), atol=1e-10)
                assert_allclose(np.abs(all_rows(scaled)), np.abs(all_rows(plain)), atol=1e-10)
                assert scaled.energy == pytest.approx(plain.energy)


def test_features_of_very_different_scale():
    """A feature that is alone in its direction has leverage 1, however small, within reason."""
    X = np.zeros((3, 6))
    X[0, :3], X[1, 3], X[2, 4:] = 1e4, 1.0, 1e-1
    for solver in ("auto", "gram", "qr"):
        scores = compute_spectrum(X, solver=solver).leverage_scores
        assert_allclose(scores, [1 / 3, 1 / 3, 1 / 3, 1, 1 / 2, 1 / 2], rtol=1e-6)
    X[2, 4:] = 1e-4
    for solver in ("auto", "qr"):
        scores = compute_spectrum(X, solver=solver).leverage_scores
        assert_allclose(scores, [1 / 3, 1 / 3, 1 / 3, 1, 1 / 2, 1 / 2], rtol=1e-6)


def test_features_in_different_units():
    X = np.random.default_rng(0).standard_normal((100, 5)) * [1e5, 1e3, 1, 1, 1e-4]
    assert_allclose(compute_spectrum(X).leverage_scores, 1, atol=1e-6)


@given(seed=st.integers(0, 1000), n=st.integers(1, 10), d=st.integers(1, 30))
@settings(max_examples=25, deadline=None)
def test_permutation_and_mixing(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = compute_spectrum(X).leverage_scores
    order = rng.permutation(d)
    assert_allclose(compute_spectrum(X[:, order]).leverage_scores, scores[order], atol=1e-7)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    assert_allclose(compute_spectrum(Q @ X).leverage_scores, scores, atol=1e-7)


# ill-conditioned data


@pytest.mark.parametrize("shape", [(12, 80), (80, 12)])
@pytest.mark.parametrize("center", [False, True])
def test_auto_finds_what_gram_loses(shape, center):
    rng = np.random.default_rng(0)
    V, U = (np.linalg.qr(rng.standard_normal((size, 11)))[0] for size in shape)
    if center:
        V = np.linalg.qr(V - V.mean(axis=0))[0]
    X = V * np.geomspace(1, 1e-9, 11) @ U.T
    spectrum = compute_spectrum(X, center=center)
    assert spectrum.solver == "qr"
    assert spectrum.rank == 11
    assert_allclose(spectrum.singular_values, np.geomspace(1, 1e-9, 11), rtol=1e-5)
    assert_allclose(spectrum.leverage_scores, (U**2).sum(axis=1), atol=1e-5)
    assert compute_spectrum(X, center=center, solver="gram").rank < 11
    assert spectrum.cutoff < 1e-12


@pytest.mark.parametrize("shape", [(10, 60), (60, 10), (40, 300)])
@pytest.mark.parametrize("small", [1e-8, 1e-9, 1e-10, 1e-11])
def test_auto_sees_past_a_gap(shape, small):
    """One singular value far below the others, of which K has no trace."""
    rng = np.random.default_rng(0)
    rank = min(shape)
    V, U = (np.linalg.qr(rng.standard_normal((size, rank)))[0] for size in shape)
    spectrum = compute_spectrum(V * np.r_[np.ones(rank - 1), small] @ U.T)
    assert spectrum.rank == rank
    assert spectrum.solver == "qr"
    assert_allclose(spectrum.leverage_scores, (U**2).sum(axis=1), atol=1e-3)


# bad values


@pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", [(4, 30), (30, 4)])
@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_what_is_not_finite(value, name, shape, center, solver):
    for container in (np.asarray, np.float32, sp.csr_array, sp.csc_matrix, pd.DataFrame):
        X = np.random.default_rng(0).standard_normal(shape)
        X[2, 3] = value
        with pytest.raises(ValueError, match=f"Input X contains {name}"):
            compute_spectrum(container(X), center=center, solver=solver)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.empty((0, 3)), r"Found array with 0 sample\(s\)"),
        (np.empty((3, 0)), r"Found array with 0 feature\(s\)"),
        (np.ones(3), "Expected 2D array, got 1D array"),
        (np.ones((2, 2), dtype=complex), "Complex data not supported"),
        (np.array([["a", "b"]]), "not compatible with arrays of bytes/strings"),
    ],
)
def test_what_is_no_data(X, message):
    with pytest.raises(ValueError, match=message):
        compute_spectrum(X)


# memory


def use_everything(X, **options):
    spectrum = compute_spectrum(X, **options)
    assert spectrum.leverage_scores.sum() == pytest.approx(spectrum.rank)
    for _ in spectrum.projections(np.eye(spectrum.rank)[:, :3]):
        pass
    spectrum.take(np.arange(50))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("solver", ["auto", "qr"])
def test_u_is_never_held(monkeypatch, solver, center, peak_memory):
    X = np.random.default_rng(0).standard_normal((100, 100_000), dtype=np.float32)
    monkeypatch.setattr(_columns, "BLOCK_BYTES", 2**20)
    # U would be 80 MB, as would X in float64
    assert peak_memory(lambda: use_everything(X, solver=solver, center=center)) < 8e6


def test_the_default_blocks_are_small_too(peak_memory):
    X = np.random.default_rng(0).standard_normal((100, 100_000), dtype=np.float32)
    assert peak_memory(lambda: use_everything(X)) < 60e6


@pytest.mark.parametrize("shape", [(50, 200_000), (200_000, 50)])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("layout", ["csc", "csr"])
def test_sparse_data_is_never_made_dense(monkeypatch, layout, center, shape, peak_memory):
    rng = np.random.default_rng(0)
    rows, places = rng.integers(0, shape[0], 100_000), rng.integers(0, shape[1], 100_000)
    X = sp.coo_array((np.ones(100_000), (rows, places)), shape=shape).asformat(layout)
    monkeypatch.setattr(_columns, "BLOCK_BYTES", 2**20)
    # dense it would be 80 MB; stored, it is 1.6
    assert peak_memory(lambda: use_everything(X, center=center)) < 16e6


def test_of_a_spectrum_little_is_kept():
    X = np.random.default_rng(0).standard_normal((50, 20_000))
    spectrum = compute_spectrum(X)
    held = [value for value in vars(spectrum).values() if isinstance(value, np.ndarray)]
    assert sum(value.nbytes for value in held) < 1e5
    assert np.shares_memory(spectrum.columns.X, X)
    assert isinstance(spectrum, Spectrum)
