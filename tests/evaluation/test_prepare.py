# SPDX-License-Identifier: BSD-3-Clause
"""Scaling, logarithms, and the warning where units differ."""

import numpy as np
import pytest
import scipy.sparse as sp

from ridgewise.evaluation import make_preparation, unit_warning
from ridgewise.spectrum import column_variances


def counts(seed=0):
    return np.random.default_rng(seed).poisson(0.7, size=(30, 12)).astype(float)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csc_array])
def test_log1p_then_scale(container):
    X = counts()
    found = make_preparation("standard", log1p=True, sparse=sp.issparse(container(X)))
    values = found.fit_transform(container(X))
    values = values.toarray() if sp.issparse(values) else values
    np.testing.assert_allclose(values.std(axis=0), 1)
    expected = np.log1p(X) / np.log1p(X).std(axis=0)
    np.testing.assert_allclose(np.ptp(values, axis=0), np.ptp(expected, axis=0))


def test_max_abs_and_none():
    found = make_preparation("max-abs").fit_transform(np.array([[1.0, 50.0], [2.0, 100.0]]))
    np.testing.assert_array_equal(found, [[0.5, 0.5], [1.0, 1.0]])
    assert make_preparation() is None


def test_what_cannot_be_done():
    with pytest.raises(
        ValueError, match="scale must be one of 'none', 'standard', 'max-abs'; got 'z'"
    ):
        make_preparation("z")
    with pytest.raises(ValueError, match="values of at least 0; the smallest is -1"):
        make_preparation(log1p=True).fit_transform(counts() - 1)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_units_that_differ(container):
    """A table like a bank's: ages, balances, calls, and categories as 0 and 1."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(40, 10, 200), rng.normal(1000, 3000, 200), rng.poisson(2, 200), rng.random(200)]
    )
    names = ["age", "balance", "calls", "share"]
    assert "(balance)" in unit_warning(container(X), names)
    assert "--scale standard" in unit_warning(container(X), names)
    assert unit_warning(container(np.delete(X, 1, axis=1)), names[:1] + names[2:]) is None


def test_constant_features_have_no_unit():
    X = np.column_stack([np.ones(9), np.arange(9.0), 5 * np.arange(9.0)])
    assert unit_warning(X, ["a", "b", "c"]) is None
    assert unit_warning(np.ones((3, 3)), ["a", "b", "c"]) is None


def test_units_are_compared_without_a_copy(peak_memory):
    X = np.random.default_rng(0).standard_normal((100, 100_000), dtype=np.float32)
    names = np.arange(100_000)
    assert peak_memory(lambda: unit_warning(X, names)) < X.nbytes / 2
    np.testing.assert_allclose(column_variances(X), X.var(axis=0, dtype=np.float64))
