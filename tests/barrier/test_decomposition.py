# SPDX-License-Identifier: BSD-3-Clause
"""A tridiagonal matrix tells of A what its eigenvalues would."""

import math

import numpy as np
import pytest

from ridgewise.barrier._draws import TOLERANCE, eigendecomposition, tridiagonalization


def symmetric(size, seed=0, rank=None):
    rows = np.random.default_rng(seed).standard_normal((rank or 2 * size, size))
    return rows.T @ rows


@pytest.mark.parametrize("decompose", [eigendecomposition, tridiagonalization])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 33, 70])
def test_is_the_same_matrix(decompose, size):
    A = symmetric(size)
    found = decompose(A)
    T = np.diag(found.diagonal) + np.diag(found.off[:-1], 1) + np.diag(found.off[:-1], -1)
    np.testing.assert_allclose(found.Q @ T @ found.Q.T, A, atol=1e-12 * np.abs(A).max())
    np.testing.assert_allclose(found.Q.T @ found.Q, np.eye(size), atol=1e-13)
    assert found.off[-1] == 0


@pytest.mark.parametrize("size", [3, 10, 60])
@pytest.mark.parametrize("rank", [None, 2])
def test_least_eigenvalue_from_below(size, rank):
    A = symmetric(size, rank=rank)
    least = np.linalg.eigvalsh(A)[0]
    assert least - 4 * TOLERANCE <= tridiagonalization(A).least <= least + 1e-9


@pytest.mark.parametrize("size", [3, 10, 60])
@pytest.mark.parametrize("gap", [1e-3, 1.0, 100.0])
def test_potentials(size, gap):
    A = symmetric(size)
    eigenvalues = np.linalg.eigvalsh(A)
    found = tridiagonalization(A)
    for sign, place in ((+1, eigenvalues[0] - gap), (-1, eigenvalues[-1] + gap)):
        expected = np.sum(sign / (eigenvalues - place))
        assert found.potential(sign, place) == pytest.approx(expected, rel=1e-9)
        assert eigendecomposition(A).potential(sign, place) == pytest.approx(expected, rel=1e-9)


def test_no_potential_beyond_an_eigenvalue():
    found = tridiagonalization(symmetric(9))
    assert math.isnan(found.potential(+1, 1e3))
    assert math.isnan(found.potential(-1, 0.0))


def test_zeros():
    found = tridiagonalization(np.zeros((5, 5)))
    assert found.is_diagonal
    np.testing.assert_array_equal(found.Q, np.eye(5))
