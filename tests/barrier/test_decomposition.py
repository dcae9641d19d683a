# SPDX-License-Identifier: BSD-3-Clause
"""A tridiagonal matrix tells of A what its eigenvalues would."""

import math

import numpy as np
import pytest

from ridgewise.barrier._draws import TOLERANCE, eigendecomposition, tridiagonalization


@pytest.mark.parametrize("decompose", [eigendecomposition, tridiagonalization])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 33, 70])
@pytest.mark.parametrize("rank", [2, 140])
def test_is_the_same_matrix(decompose, size, rank):
    rows = np.random.default_rng(0).standard_normal((rank, size))
    A = rows.T @ rows
    found, eigenvalues = decompose(A), np.linalg.eigvalsh(A)
    T = np.diag(found.diagonal) + np.diag(found.off[:-1], 1) + np.diag(found.off[:-1], -1)
    np.testing.assert_allclose(found.Q @ T @ found.Q.T, A, atol=1e-12 * np.abs(A).max())
    np.testing.assert_allclose(found.Q.T @ found.Q, np.eye(size), atol=1e-13)
    assert found.off[-1] == 0
    assert eigenvalues[0] - 4 * TOLERANCE <= found.least <= eigenvalues[0] + 1e-9
    for gap in (1e-3, 1.0, 100.0):
        for sign, place in ((+1, eigenvalues[0] - gap), (-1, eigenvalues[-1] + gap)):
            expected = np.sum(sign / (eigenvalues - place))
            assert found.potential(sign, place) == pytest.approx(expected, rel=1e-9)
    if not found.is_diagonal:  # none beyond an eigenvalue
        assert math.isnan(found.potential(+1, 1e3))
        assert math.isnan(found.potential(-1, 0.0))


def test_zeros():
    found = tridiagonalization(np.zeros((5, 5)))
    assert found.is_diagonal
    np.testing.assert_array_equal(found.Q, np.eye(5))
