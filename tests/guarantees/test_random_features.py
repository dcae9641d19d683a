# SPDX-License-Identifier: BSD-3-Clause
"""What random features of the same number get."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ridgewise import BSSSelector, RandomSelector, certify, make_ridge_synthetic
from ridgewise.guarantees import random_features
from ridgewise.spectrum import compute_spectrum


@pytest.mark.parametrize("alpha", [0.0, 50.0])
@pytest.mark.parametrize("center", [False, True])
def test_one_draw_is_what_certify_finds(alpha, center):
    X, _ = make_ridge_synthetic(20, 200, random_state=0)
    X -= X.mean(axis=0) * center
    found = random_features(X, 60, alpha=alpha, center=center, n_draws=1, random_state=3)
    certificate = certify(X, RandomSelector(60, random_state=3).fit(X), alpha=alpha)
    if center and alpha == 0:  # centred by hand, certify cannot tell that the rank is 19
        return
    assert_allclose(found.interval, (certificate.lower, certificate.upper), rtol=1e-7)


def test_rescaling_multiplies_the_kernel():
    X, _ = make_ridge_synthetic(20, 200, random_state=0)
    found = random_features(X, 50)
    assert_allclose(found.rescaled_interval, np.multiply(found.interval, 4))
    assert found.epsilon == min(1 - found.interval[0], max(found.rescaled_interval[1] - 1, 0))


def test_a_spectrum_gives_the_same_and_a_seed_repeats():
    X, _ = make_ridge_synthetic(20, 200, random_state=0)
    spectrum = compute_spectrum(X, center=True)
    assert random_features(spectrum, 50) == random_features(X, 50, center=True)
    assert random_features(X, 50) == random_features(X, 50)
    assert random_features(X, 50) != random_features(X, 50, random_state=1)


def test_bss_is_better():
    X, _ = make_ridge_synthetic(20, 400, random_state=0)
    assert (
        BSSSelector(80, rule="slack").fit(X).certificate_.epsilon < random_features(X, 80).epsilon
    )


def test_impossible_numbers_are_refused():
    X = np.eye(3)
    with pytest.raises(ValueError, match="n_features from 1 to 3"):
        random_features(X, 4)
    with pytest.raises(ValueError, match="every feature of X is constant"):
        random_features(np.ones((3, 4)), 2, center=True)
