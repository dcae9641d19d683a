# SPDX-License-Identifier: BSD-3-Clause
"""The synthetic data has the distribution that the paper states."""

import numpy as np
import pytest

from ridgewise.datasets import make_ridge_regression, make_ridge_synthetic


def test_defaults_are_the_papers_sizes():
    X, y = make_ridge_synthetic(random_state=0)
    assert X.shape == (30, 1000)
    assert y.shape == (30,)
    assert X.dtype == np.float64
    assert np.issubdtype(y.dtype, np.integer)
    assert set(y) == {-1, 1}


def test_features_have_the_stated_means_and_unit_variance():
    n_samples, n_features, n_relevant = 20_000, 12, 7
    X, y = make_ridge_synthetic(n_samples, n_features, n_relevant, random_state=0)
    # y x is N(-j, 1) for relevant feature j and N(0, 1) for the others.
    signed = y[:, np.newaxis] * X
    expected = np.r_[-np.arange(1, n_relevant + 1), np.zeros(n_features - n_relevant)]
    five_deviations = 5 / np.sqrt(n_samples)
    np.testing.assert_allclose(signed.mean(axis=0), expected, atol=five_deviations)
    np.testing.assert_allclose(signed.std(axis=0), 1, atol=five_deviations)
    correlations = np.corrcoef(signed, rowvar=False) - np.eye(n_features)
    np.testing.assert_allclose(correlations, 0, atol=five_deviations)


def test_labels_are_equally_likely():
    _, y = make_ridge_synthetic(20_000, 1, 0, random_state=0)
    assert abs(y.mean()) < 5 / np.sqrt(len(y))


def test_an_int_seed_gives_the_same_data_and_another_does_not():
    X, y = make_ridge_synthetic(random_state=3)
    X_again, y_again = make_ridge_synthetic(random_state=3)
    X_other, _ = make_ridge_synthetic(random_state=4)
    np.testing.assert_array_equal(X, X_again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, X_other)


def test_a_random_state_instance_moves_on():
    generator = np.random.RandomState(0)
    first, _ = make_ridge_synthetic(5, 5, 2, random_state=generator)
    second, _ = make_ridge_synthetic(5, 5, 2, random_state=generator)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("n_relevant", [0, 4])
def test_none_or_all_features_may_be_relevant(n_relevant):
    X, _ = make_ridge_synthetic(1, 4, n_relevant, random_state=0)
    assert X.shape == (1, 4)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_samples": 0}, ValueError, "n_samples == 0, must be >= 1"),
        ({"n_features": -1}, ValueError, "n_features == -1, must be >= 1"),
        ({"n_relevant": -1}, ValueError, "n_relevant == -1, must be >= 0"),
        ({"n_samples": 2.5}, TypeError, "n_samples must be an instance of int"),
        ({"n_features": 50}, ValueError, "n_relevant=90 must be at most n_features=50"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        make_ridge_synthetic(**arguments)


def test_regression_has_the_features_of_the_classification():
    X, y, z = make_ridge_regression(random_state=3)
    np.testing.assert_array_equal(X, make_ridge_synthetic(random_state=3)[0])
    assert y.shape == z.shape == (30,)
    assert y.dtype == z.dtype == np.float64


def test_regression_target_is_linear_with_standard_normal_coefficients():
    X, y, z = make_ridge_regression(400, 300, 5, noise_variance=0, random_state=0)
    np.testing.assert_array_equal(y, z)
    beta, _, rank, _ = np.linalg.lstsq(X, z, rcond=None)
    assert rank == 300
    np.testing.assert_allclose(X @ beta, z, atol=1e-8)
    assert abs(beta.mean()) < 5 / np.sqrt(300)
    assert abs(beta.std() - 1) < 5 / np.sqrt(2 * 300)


def test_regression_noise_has_the_stated_variance():
    _, y, z = make_ridge_regression(20_000, 3, 2, noise_variance=4.0, random_state=0)
    noise = y - z
    assert abs(noise.mean()) < 5 * 2 / np.sqrt(20_000)
    assert abs(noise.var() / 4 - 1) < 5 * np.sqrt(2 / 20_000)
    assert abs(np.corrcoef(noise, z)[0, 1]) < 5 / np.sqrt(20_000)


def test_regression_noise_alone_depends_on_its_variance():
    _, y, z = make_ridge_regression(noise_variance=1, random_state=0)
    _, y_more, z_more = make_ridge_regression(noise_variance=9, random_state=0)
    np.testing.assert_array_equal(z, z_more)
    np.testing.assert_allclose(y_more - z_more, 3 * (y - z))


@pytest.mark.parametrize("variance", [-1.0, np.nan, np.inf])
def test_regression_needs_a_variance(variance):
    with pytest.raises(ValueError, match="noise_variance"):
        make_ridge_regression(noise_variance=variance)
