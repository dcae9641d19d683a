# SPDX-License-Identifier: BSD-3-Clause
"""Data at the edges of arithmetic: huge, tiny, constant, cancelling, nearly deficient."""

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from ridgewise.spectrum import compute_spectrum


def gaussian(n=8, d=60, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


# spectrum: underflow
@pytest.mark.parametrize("factor", [1e-170, 1e-200, 1e-300])
@pytest.mark.parametrize("shape", [(8, 60), (60, 8)])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_tiny_values(factor, shape, container):
    X = gaussian(*shape)
    tiny = compute_spectrum(container(X * factor))
    assert_allclose(tiny.leverage_scores, compute_spectrum(X).leverage_scores, atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "qr"])
def test_subnormal_values(solver):
    X = np.zeros((2, 4))
    X[0, :2] = X[1, 2:] = 1e-310
    assert_allclose(compute_spectrum(X, solver=solver).leverage_scores, 0.5)


# share of energy
@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_energy_of_huge_and_tiny(factor):
    X = gaussian()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compute_spectrum(X * factor, rank=0.8, solver="qr")
    assert found.rank == compute_spectrum(X, rank=0.8).rank


# overflow warning
def test_no_warning_on_huge_values():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute_spectrum(gaussian() * 1e200)
        for center, shape, container in product(
            (False, True), ((8, 60), (60, 8)), (np.asarray, sp.csr_array)
        ):
            X = gaussian(*shape)
            X[2, 3] = np.inf
            with pytest.raises(ValueError, match="infinity"):
                compute_spectrum(container(X), center=center)


# constants
@pytest.mark.parametrize("shape", [(7, 40), (50, 7), (30, 30)])
@pytest.mark.parametrize("value", [1.0, 0.1, 0.3, 1e6 / 7])
@pytest.mark.parametrize("container", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_constant_is_nothing(shape, value, container, solver):
    assert compute_spectrum(container(np.full(shape, value)), center=True, solver=solver).rank == 0


# cancellation
@pytest.mark.parametrize("shape", [(50, 20000), (2000, 50)])
@pytest.mark.parametrize("constant", [1e4, 1e6, 1e8])
def test_sparse_centring_does_not_cancel(shape, constant):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.02, shape).astype(float)
    X[:, 0] = constant
    S = sp.csr_array(X)
    a, b = compute_spectrum(X, center=True), compute_spectrum(S, center=True)
    assert a.rank == b.rank == min(shape) - 1
    assert_allclose(a.leverage_scores, b.leverage_scores, atol=1e-10)


# auto
@pytest.mark.parametrize("shape", [(10, 60), (60, 10), (40, 300)])
@pytest.mark.parametrize("small", [1e-8, 1e-9, 1e-10, 1e-11])
def test_auto_sees_a_gap(shape, small):
    V, U = (np.linalg.qr(gaussian(size, 10))[0] for size in shape)
    X = V * np.r_[np.ones(9), small] @ U.T
    s = compute_spectrum(X)
    assert s.rank == 10
    assert s.solver == "qr"
    assert_allclose(s.leverage_scores, (U**2).sum(1), atol=1e-3)


def test_auto_sees_coarse_decay():
    V, U = (np.linalg.qr(gaussian(size, 6))[0] for size in (6, 80))
    assert compute_spectrum(V * np.geomspace(1, 1e-9, 6) @ U.T).rank == 6


def test_features_in_different_units():
    X = gaussian(100, 5) * [1e5, 1e3, 1, 1, 1e-4]
    assert_allclose(compute_spectrum(X).leverage_scores, 1, atol=1e-6)


def test_auto_stays_with_gram_where_duplicates_explain_the_rank():
    rng = np.random.default_rng(0)
    for X in (
        gaussian(20, 3000)[np.arange(40) // 2],
        rng.poisson(0.05, (60, 3000))[np.arange(90) % 60],
        gaussian(300, 20)[:, np.arange(60) % 20],
        rng.poisson(0.3, (100, 2000)).astype(float)[np.arange(150) % 100],
    ):
        assert compute_spectrum(X).solver == "gram"


# sparse arrays of huge or tiny values
@pytest.mark.parametrize("factor", [1e-200, 1e160, 1e200, 1e300])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("solver", ["auto", "gram"])
def test_scale_of_truly_sparse_data(factor, center, solver):
    X = np.random.default_rng(0).poisson(0.03, (30, 400)).astype(float)
    X[np.arange(30), np.arange(30)] = 9
    for S in (sp.csr_array(X), sp.csr_array(X.T)):
        plain = compute_spectrum(S, center=center, solver=solver)
        scaled = compute_spectrum(S * factor, center=center, solver=solver)
        assert scaled.rank == plain.rank
        assert_allclose(scaled.leverage_scores, plain.leverage_scores, atol=1e-10)
