# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that are right where rounding could hide singular values, or add one."""

import numpy as np
import pytest
import scipy.sparse as sp
from mpmath import mp
from numpy.testing import assert_allclose

from ridgewise.spectrum import as_columns, compute_spectrum, rank_limit
from ridgewise.spectrum._spectrum import attainable_rank


@pytest.mark.parametrize("solver", ["auto", "gram", "qr"])
@pytest.mark.parametrize("offset", [1.0, 30.0, 1e4, 1e8])
@pytest.mark.parametrize("shape", [(5, 30), (6, 6), (2, 3), (7, 4)])
def test_centred_data_has_one_dimension_less_than_samples(solver, offset, shape):
    for seed in range(20):
        X = offset + np.random.default_rng(seed).normal(size=shape)
        spectrum = compute_spectrum(X, center=True, solver=solver)
        assert spectrum.rank == rank_limit(*shape, center=True)
        assert spectrum.is_whole


@pytest.mark.parametrize("offset", [1e5, 1e6, 1e7, 1e8, 1e9])
def test_auto_notices_that_the_kernel_lost_directions(offset):
    X = offset + np.random.default_rng(0).normal(size=(30, 1000))
    spectrum = compute_spectrum(X)
    assert spectrum.rank == 30
    assert_allclose(spectrum.singular_values, np.linalg.svd(X)[1], rtol=1e-5)


def test_a_pair_of_nearly_equal_samples_is_no_pair_of_equal_ones():
    X = np.random.default_rng(0).normal(size=(10, 50))
    X[1] = X[0] + 1e-7 * np.random.default_rng(1).normal(size=50)
    assert compute_spectrum(X).rank == 10
    X[1] = X[0]
    spectrum = compute_spectrum(X)
    assert (spectrum.rank, spectrum.solver, spectrum.is_whole) == (9, "gram", True)


def test_a_dependency_that_rounding_hides_is_not_called_whole():
    X = np.random.default_rng(0).normal(size=(5, 20))
    X[4] = X[0] + X[1]
    spectrum = compute_spectrum(X)
    assert (spectrum.rank, spectrum.is_whole) == (4, False)
    assert not compute_spectrum(X[:4], rank=2).is_whole


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("transpose", [False, True])
def test_equal_and_zero_samples_and_features_are_counted(container, transpose):
    X = np.array([[1.0, 0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0]])
    X = container(X.T if transpose else X)
    assert attainable_rank(as_columns(X)) == 1
    assert compute_spectrum(X).is_whole


def exact_mean(X):
    with mp.workdps(60):
        return [mp.fsum(map(mp.mpf, column)) / len(X) for column in X.T.tolist()]


@pytest.mark.parametrize("shape", [(6, 20), (20, 6)])
@pytest.mark.parametrize(
    ("scale", "offset"), [(1e-309, 0.0), (1e-300, 1e5), (1.0, 1e7), (1e300, 1e7)]
)
def test_centring_keeps_the_digits_at_every_scale(shape, scale, offset):
    X = (offset + np.random.default_rng(0).normal(size=shape)) * (scale / max(offset, 1.0))
    spectrum = compute_spectrum(X, center=True)
    with mp.workdps(60):
        rows = [[mp.mpf(x) - m for x, m in zip(row, exact_mean(X), strict=True)] for row in X]
        exact = mp.matrix(rows)
        gram = exact * exact.T if shape[0] < shape[1] else exact.T * exact
        squares = sorted(mp.eigsy(gram, eigvals_only=True), reverse=True)
        expected = [float(mp.sqrt(abs(k)) / mp.mpf(scale)) for k in squares[: spectrum.rank]]
    assert spectrum.rank == rank_limit(*shape, center=True)
    assert_allclose(spectrum.singular_values / scale, expected, rtol=1e-10)
