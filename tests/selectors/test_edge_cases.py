# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that once gave a wrong answer or a poor message."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from ridgewise import BSSSelector, InformationGainSelector, LeverageSelector, RandomSelector


def gaussian(n=8, d=60, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


# IG
@pytest.mark.parametrize("threshold", [0.0, 1.5, "median"])
def test_ig_duplicates(threshold):
    for make in (sp.csr_array, sp.csr_matrix):
        entries = np.array([1.0, -1, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 2, 4, 4, 4])
        S, y = make(entries, shape=(4, 2)), [0, 1, 0, 1]
        selector = InformationGainSelector(1, threshold=threshold)
        expected = selector.fit(S.toarray(), y).scores_
        for T in (S, S.tocsc()):
            nnz = T.nnz
            assert_allclose(selector.fit(T, y).scores_, expected)
            assert T.nnz == nnz


def test_ig_int8_minimum():
    A = np.array([[-128, 1], [-128, 0], [0, 1], [0, 0]], dtype=np.int8)
    for c in (np.asarray, sp.csr_array):
        assert_array_equal(InformationGainSelector(1).fit(c(A), [0, 0, 1, 1]).scores_, [1, 0])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint16, bool])
def test_ig_sparse_median_of_integers(dtype):
    rng = np.random.default_rng(0)
    most = 2 if dtype is bool else np.iinfo(dtype).max
    A = rng.integers(most // 2 if most > 2 else 0, most, (10, 30)).astype(dtype)
    y = rng.integers(0, 3, 10)
    selector = InformationGainSelector(threshold="median")
    expected = selector.fit(A, y).scores_
    assert_allclose(selector.fit(sp.csr_array(A), y).scores_, expected, atol=1e-14)


# base
def test_float32_frames():
    X = pd.DataFrame(gaussian().astype(np.float32))
    X.columns = [f"c{j}" for j in X.columns]
    Z = BSSSelector(20).set_output(transform="pandas").fit(X).transform(X)
    assert set(Z.dtypes) == {np.dtype(np.float32)}
    selector = BSSSelector(20).set_output(transform="pandas").fit(X)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        Z = selector.transform(X.to_numpy())
    assert set(Z.dtypes) == {np.dtype(np.float32)}


def test_share():
    assert RandomSelector(0.29).fit(np.ones((2, 100))).n_selected_ == 29
    assert RandomSelector(0.07).fit(np.ones((2, 100))).n_selected_ == 7


def test_advice_for_one_feature():
    with pytest.raises(ValueError, match="rank of X") as error:
        BSSSelector(1, alpha=0).fit(gaussian())
    assert "rank=" not in str(error.value)


@pytest.mark.parametrize("delta", ["x", None, [0.1]])
def test_delta(delta):
    with pytest.raises(ValueError, match="delta must be a probability"):
        LeverageSelector(delta=delta).fit(gaussian())


def test_inverse_transform_names_x():
    s = RandomSelector(2, random_state=0).fit(gaussian())
    with pytest.raises(ValueError, match="Input X contains NaN"):
        s.inverse_transform([[np.nan, 1.0]])


@pytest.mark.parametrize("selector", [InformationGainSelector(), RandomSelector(), BSSSelector()])
def test_polars_strings(selector):
    with pytest.raises(ValueError, match="could not convert string to float"):
        selector.fit(pl.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}), [0, 1])


# sparse formats
@pytest.mark.parametrize("layout", ["dok", "lil"])
def test_random_finds_nan_in_any_format(layout):
    X = np.ones((4, 6))
    X[1, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        RandomSelector(2).fit(getattr(sp, f"{layout}_array")(X))


# epsilon where nothing can be left out
@pytest.mark.parametrize("shape", [(60, 15), (60, 2), (60, 1), (8, 8), (8, 9)])
@pytest.mark.parametrize("alpha", ["auto", 0])
def test_epsilon_of_full_rank_data_keeps_all(shape, alpha):
    X = gaussian(*shape)
    selector = BSSSelector(epsilon=0.5, alpha=alpha).fit(X)
    U = np.linalg.svd(X, full_matrices=False)[2].T[selector.selected_]
    e = np.linalg.eigvalsh(U.T @ (selector.weights_[:, None] * U))
    assert selector.alpha_ == 0
    assert e[0] >= 0.5
    assert e[-1] <= 1.5


def test_advice_is_within_the_features():
    with pytest.raises(ValueError, match="Select at least 15"):
        BSSSelector(14, alpha=0).fit(gaussian(60, 15))


@pytest.mark.parametrize("polish", ["x", None, 1])
def test_polish(polish):
    with pytest.raises(ValueError, match="polish must be True or False"):
        BSSSelector(20, polish=polish).fit(gaussian())


def test_dates_are_no_numbers():
    X = np.zeros((3, 4), dtype="datetime64[s]")
    with pytest.raises((ValueError, TypeError)):
        BSSSelector(2).fit(X)


def test_no_alpha_for_huge_values():
    with pytest.raises(ValueError, match="scale X, or select more than its rank, 8"):
        BSSSelector(5).fit(gaussian() * 1e200)
