# SPDX-License-Identifier: BSD-3-Clause
"""What a selection keeps, direction by direction, is what its certificate states."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from ridgewise import BSSSelector, LeverageSelector, make_ridge_synthetic
from ridgewise.evaluation._demo import relative_eigenvalues
from ridgewise.spectrum import compute_spectrum


@pytest.fixture
def X():
    return make_ridge_synthetic(n_samples=20, n_features=200, n_relevant=5, random_state=0)[0]


@pytest.mark.parametrize("container", [np.asarray, csr_array])
@pytest.mark.parametrize("selector", [BSSSelector(60), LeverageSelector(60, random_state=0)])
def test_ends_are_the_certificate(X, selector, container):
    X = container(X)
    selected = selector.fit(X).transform(X)
    kept = relative_eigenvalues(compute_spectrum(X), selected)
    assert kept[-1] == pytest.approx(selector.certificate_.lower, rel=1e-9)
    assert kept[0] == pytest.approx(selector.certificate_.upper, rel=1e-9)
    assert (np.diff(kept) <= 0).all()


def test_ends_bound_the_kernel(X):
    """lower K <= K~ <= upper K: neither difference has a negative eigenvalue."""
    selected = X[:, :30]
    K, K_selected = X @ X.T, selected @ selected.T
    kept = relative_eigenvalues(compute_spectrum(X), selected)
    tolerance = 1e-9 * np.linalg.norm(K)
    assert np.linalg.eigvalsh(K_selected - kept[-1] * K).min() >= -tolerance
    assert np.linalg.eigvalsh(kept[0] * K - K_selected).min() >= -tolerance


def test_too_few_features_lose_directions(X):
    kept = relative_eigenvalues(compute_spectrum(X), X[:, :7])
    assert len(kept) == 20
    assert np.count_nonzero(kept) == 7
