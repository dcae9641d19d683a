# SPDX-License-Identifier: BSD-3-Clause
"""Rows of matrices with orthonormal columns, of many kinds."""

import os
import shutil

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from ridgewise.barrier import _compiled as compiled

FAMILIES = (
    "gaussian",
    "heavy-tailed",
    "counts",
    "axis-aligned",
    "duplicates",
    "tiny rows",
    "zero rows",
    "rank-deficient",
)


def orthonormal(X):
    """An orthonormal basis of the columns of X, at its numerical rank."""
    left, s, _ = np.linalg.svd(X, full_matrices=False)
    return left[:, s > 1e-9 * s[0]]


def rows_of(family, rng):
    """A matrix U of the family, U^T U = I."""
    ell = int(rng.integers(2, 9))
    d = int(rng.integers(2 * ell, 90))
    X = rng.standard_normal((d, ell))
    if family == "heavy-tailed":
        X = rng.standard_t(1.2, size=(d, ell))
    elif family == "counts":
        X = rng.poisson(0.3, size=(d, ell)) * (1.0 + rng.integers(0, 4, size=(d, 1)))
        X[:ell] += np.eye(ell)
    elif family == "axis-aligned":
        X = np.zeros((d, ell))
        X[np.arange(d), np.arange(d) % ell] = rng.uniform(0.1, 1, size=d)
    elif family == "duplicates":
        X = np.vstack([X[: d // 2], X[: d // 2]])
    elif family == "tiny rows":
        X[d // 2 :] *= 10.0 ** rng.uniform(-9, 0, size=(d - d // 2, 1))
    elif family == "zero rows":
        X[rng.random(d) < 0.4] = 0
        X[:ell] = np.eye(ell)
    elif family == "rank-deficient":
        X = np.hstack([X, X @ rng.standard_normal((ell, 2))])
    return orthonormal(X)


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture(autouse=True)
def one_thread():
    """Small matrices, on machines with other things to do: BLAS threads only hinder."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def by_numpy(monkeypatch):
    """No compiled draws, as where installing could not compile them."""
    monkeypatch.setattr(compiled, "draw_ahead", None)


@pytest.fixture
def by_compiled_code():
    """Compiled draws; the test is skipped where there are none."""
    if compiled.draw_ahead is not None:
        return
    compilers = os.environ.get("CC", "cc"), "gcc", "clang"
    if os.environ.get("RIDGEWISE_PURE", "0") == "0" and any(map(shutil.which, compilers)):
        pytest.fail("there is a C compiler, but no compiled draws: install ridgewise again")
    pytest.skip("the draws were not compiled: there is no C compiler, or RIDGEWISE_PURE is set")


@pytest.fixture(params=["numpy", "compiled_code"])
def arithmetic(request):
    """Either way of drawing."""
    request.getfixturevalue(f"by_{request.param}")


@pytest.fixture
def make_rows():
    return rows_of


@pytest.fixture
def gaussian_rows():
    """An orthonormal basis of Gaussian data, d x l."""
    return lambda d, ell, seed=0: orthonormal(np.random.default_rng(seed).standard_normal((d, ell)))


@pytest.fixture
def scaled_rows():
    """An orthonormal basis of data whose columns differ much in length, as words do, d x l."""

    def make(d, ell, seed=0):
        rng = np.random.default_rng(seed)
        return orthonormal(rng.standard_normal((d, ell)) * rng.lognormal(0, 2, size=(d, 1)))

    return make
