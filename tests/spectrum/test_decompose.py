# SPDX-License-Identifier: BSD-3-Clause
"""The two solvers: what each gets right, and when "auto" goes over to the other."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from ridgewise.spectrum import TallSpectrum, _columns, as_columns, compute_spectrum
from ridgewise.spectrum._columns import as_rows
from ridgewise.spectrum._spectrum import SOLVERS, decompose, is_safe, rescale

CONDITIONS = [1e2, 1e4, 1e6, 1e8, 1e10, 1e12]


def orthonormal(n, rank, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, rank)))[0]


def with_spectrum(singular_values, n=12, d=80, seed=0):
    """X = V S U^T with these singular values, and its U."""
    V, U = (orthonormal(size, len(singular_values), seed + size) for size in (n, d))
    return V * singular_values @ U.T, U


def exact_singular_values(X):
    """Of X as stored, in 60 digits."""
    with mpmath.workdps(60):
        X = mpmath.matrix(X.tolist())
        eigenvalues = mpmath.eigsy(X * X.T, eigvals_only=True)
        return np.array([float(mpmath.sqrt(value)) for value in eigenvalues])[::-1]


def decompose_unscaled(columns, solver):
    """`decompose`, with the singular values of the columns as they are given."""
    found = decompose(columns, solver)
    return found._replace(
        singular_values=found.singular_values / columns.scale, cutoff=found.cutoff / columns.scale
    )


def leverage_error(X, U, solver):
    """Largest error of the rows' norms, by the singular vectors that a solver finds."""
    found = decompose_unscaled(as_columns(X), solver)
    rows = X.T @ (found.vectors / found.singular_values)
    return np.abs((rows**2).sum(axis=1) - (U**2).sum(axis=1)).max()


# accuracy


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(12, 80), (80, 80), (5, 3)])
def test_well_conditioned(solver, shape):
    X = np.random.default_rng(0).standard_normal(shape)
    X[0, 0] = 7
    found = decompose_unscaled(as_columns(X), solver)
    V, s, _ = np.linalg.svd(X, full_matrices=False)
    assert_allclose(found.singular_values, s, rtol=1e-8)
    assert_allclose(np.abs(np.sum(found.vectors * V, axis=0)), 1, rtol=1e-8)
    assert found.solver == ("qr" if solver == "qr" else "gram")


@pytest.mark.parametrize("condition", CONDITIONS)
def test_qr_keeps_small_singular_values(condition):
    X, U = with_spectrum(np.geomspace(1, 1 / condition, 12))
    found = decompose_unscaled(as_columns(X), "qr")
    exact = exact_singular_values(X)
    assert len(found.singular_values) == 12
    assert_allclose(found.singular_values, exact, rtol=3e-16 * 12 * condition, atol=0)
    assert leverage_error(X, U, "qr") < 1e-15 * 12 * condition


@pytest.mark.parametrize("condition", CONDITIONS[3:])
def test_gram_loses_small_singular_values(condition):
    """Why there is a second solver: K squares the condition number."""
    X, U = with_spectrum(np.geomspace(1, 1 / condition, 12))
    found = decompose(as_columns(X), "gram")
    assert len(found.singular_values) < 12  # it does not make them up
    assert found.singular_values[-1] > 1e-9
    assert leverage_error(X, U, "gram") > 0.01


@pytest.mark.parametrize("condition", CONDITIONS)
def test_auto_goes_to_qr_where_digits_are_lost(condition):
    X, U = with_spectrum(np.geomspace(1, 1 / condition, 12))
    found = decompose(as_columns(X), "auto")
    assert found.solver == ("gram" if condition < 1e5 else "qr")
    assert len(found.singular_values) == 12
    assert leverage_error(X, U, "auto") < 1e-4


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_auto_on_tall_data(container):
    X, U = with_spectrum(np.geomspace(1, 1e-7, 6), n=90, d=6)
    rows = as_rows(container(X))
    found = decompose_unscaled(rows, "auto")
    assert found.solver == "qr"
    assert_allclose(found.singular_values, np.geomspace(1, 1e-7, 6), rtol=1e-8)
    assert_allclose((found.vectors**2).sum(axis=1), (U**2).sum(axis=1), rtol=1e-8)


@pytest.mark.parametrize("shape", [(30, 200), (200, 200), (64, 4096)])
def test_auto_stays_with_gram_on_ordinary_data(shape):
    rng = np.random.default_rng(0)
    for X in (
        rng.standard_normal(shape),
        rng.poisson(0.1, shape) + np.eye(*shape),
        rng.integers(-128, 128, shape).astype(np.int8),
        rng.standard_normal(shape)[np.arange(shape[0]) // 2],  # duplicates
    ):
        found = decompose_unscaled(as_columns(X), "auto")
        s = np.linalg.svd(X.astype(float), compute_uv=False)
        kept = s[s > 1e-10 * s[0]]
        assert_allclose(found.singular_values, kept, rtol=1e-5)
        assert found.solver == ("gram" if kept[-1] > 1e-5 * s[0] else "qr")


# rank


def repeated_rows(rng):
    return rng.standard_normal((6, 100))[np.arange(15) % 6], 6


def zero_rows(rng):
    X = rng.standard_normal((15, 100))
    X[[0, 4, 14]] = 0
    return X, 12


def a_sum_of_rows(rng):
    X = rng.standard_normal((15, 100))
    X[7] = X[:3].sum(axis=0)
    return X, 14


def centred_rows(rng):
    X = 5 + rng.standard_normal((15, 100))
    return X - X.mean(axis=0), 14


def repeated_columns(rng):
    return rng.standard_normal((15, 4))[:, np.arange(100) % 4], 4


def zero_columns(rng):
    return rng.poisson(0.5, (15, 100)) * (np.arange(100) % 10 == 0), 10


def a_product(rng):
    return rng.standard_normal((15, 3)) @ rng.standard_normal((3, 100)), 3


def integers_of_low_rank(rng):
    return rng.integers(-5, 6, (15, 2)) @ rng.integers(-5, 6, (2, 100)), 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "make",
    [
        repeated_rows,
        zero_rows,
        a_sum_of_rows,
        centred_rows,
        repeated_columns,
        zero_columns,
        a_product,
        integers_of_low_rank,
    ],
)
def test_rank_of_deficient_data(make, solver, seed):
    X, rank = make(np.random.default_rng(seed))
    for columns in (
        as_columns(X),
        as_columns(sp.csr_array(X)),
        as_rows(X.T.copy()),
        as_columns(X * 1e6),
        as_columns(X.astype(np.float32) if make is not centred_rows else X),
    ):
        if columns.X.dtype == np.float32 and make in (a_sum_of_rows, a_product):
            continue  # rounding to float32 makes these of full rank, truly
        assert len(decompose(columns, solver).singular_values) == rank


@pytest.mark.parametrize("solver", SOLVERS)
def test_rank_does_not_grow_with_the_number_of_columns(solver):
    """Sums over many columns round more: they must not make up a direction."""
    X = np.random.default_rng(0).standard_normal((20, 30_000))[np.arange(40) // 2]
    found = decompose(as_columns(X.astype(np.float32)), solver)
    assert len(found.singular_values) == 20
    assert found.cutoff < 1e-6 * found.singular_values[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_zero_has_rank_zero(solver):
    for X in (np.zeros((4, 9)), sp.csr_array((4, 9)), np.zeros((4, 9), dtype=np.int8)):
        found = decompose(as_columns(X), solver)
        assert found.singular_values.shape == (0,)
        assert found.vectors.shape == (4, 0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_row_and_one_column(solver):
    found = decompose_unscaled(as_columns(np.array([[3.0, -4.0]])), solver)
    assert_allclose(found.singular_values, [5])
    found = decompose_unscaled(as_columns(np.array([[3.0], [-4.0]])), solver)
    assert_allclose(found.singular_values, [5])
    assert_allclose(np.abs(found.vectors), [[0.6], [0.8]])


# blocks


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("width", [1, 5, 12, 33])
def test_many_blocks_are_as_one(monkeypatch, solver, center, width):
    """Also blocks narrower than X has rows, of which the first R's are trapezoids."""
    X, _ = with_spectrum(np.geomspace(1, 1e-4, 12))
    one = decompose_unscaled(as_columns(X, center=center), solver)
    monkeypatch.setattr(_columns, "BLOCK_BYTES", 8 * 12 * width)
    many = decompose_unscaled(as_columns(X, center=center), solver)
    tolerance = 1e-10 if solver == "qr" else 1e-6
    assert_allclose(many.singular_values, one.singular_values, rtol=tolerance)
    assert_allclose(np.abs(np.sum(many.vectors * one.vectors, axis=0)), 1, rtol=tolerance)


# scale


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("exponent", [-1000, -530, -430, 430, 530, 900])
def test_huge_and_tiny_values(solver, exponent):
    """Powers of two, of which not one digit changes; their squares do not fit into a float64."""
    X = np.random.default_rng(0).standard_normal((6, 30))
    expected = decompose_unscaled(as_columns(X), solver)
    found = decompose_unscaled(as_columns(np.ldexp(X, exponent)), solver)
    assert_allclose(
        np.ldexp(found.singular_values, -exponent),
        expected.singular_values,
        rtol=1e-14,
    )


def test_rescaling_is_by_a_power_of_two():
    for largest in (3e200, 1e-200, 1e308, 2.3e-308, 1.0, 0.75, 7, 128):
        columns = as_columns(np.array([[0.0, largest, -largest / 3]]))
        rescale(columns)
        assert np.frexp(columns.scale)[0] == 0.5
        assert 0.5 <= columns.scale * largest < 1
    columns = as_columns(np.zeros((2, 3)))
    rescale(columns)
    assert columns.scale == 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_rescaling_looks_for_what_is_not_finite(solver):
    for value, name in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        X = np.ones((3, 4))
        X[1, 2] = value
        for container in (np.asarray, sp.csr_array):
            with pytest.raises(ValueError, match=f"Input X contains {name}"):
                decompose(as_columns(container(X)), solver)


def test_safe_kernels():
    assert is_safe(np.diag([1.0, 1e100]))
    for unsafe in (np.inf, np.nan, 1e150, 1e-150):
        assert not is_safe(np.diag([0.0, unsafe]))


def test_left_vectors_of_tall_data_are_orthonormal():
    """X U S^-1 was orthonormal up to 2e-4: the objective of a subset was wrong by as much."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3)) @ np.diag([1, 1e-6, 1e-12]) @ rng.standard_normal((3, 3))
    spectrum = compute_spectrum(X)
    assert isinstance(spectrum, TallSpectrum)
    assert spectrum.rank == 3
    assert_allclose(spectrum.V.T @ spectrum.V, np.eye(3), atol=1e-14)
    assert_allclose(spectrum.V * spectrum.singular_values @ spectrum.U.T, X, atol=1e-14)


def test_vectors_are_orthonormal_and_contiguous():
    X = np.random.default_rng(0).standard_normal((20, 90))
    for solver in ("gram", "qr"):
        V = decompose(as_columns(X), solver).vectors
        assert_allclose(V.T @ V, np.eye(20), atol=1e-13)
        assert V.flags.c_contiguous
        s = decompose(as_columns(X), solver).singular_values
        assert_array_equal(s, np.sort(s)[::-1])
