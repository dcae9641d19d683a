# SPDX-License-Identifier: BSD-3-Clause
"""The effective dimension, and the alpha that brings it down to a target."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ridgewise.guarantees import alpha_for_dimension, effective_dimension

# Eigenvalues over 200 orders of magnitude, which no real kernel has, and some of them zero.
spectra = st.lists(
    st.one_of(st.just(0.0), st.floats(-100, 100).map(lambda power: 10.0**power)),
    min_size=1,
    max_size=12,
)


def test_it_is_the_trace_of_the_hat_matrix():
    X = np.random.default_rng(0).normal(size=(6, 4))
    K = X @ X.T
    hat = K @ np.linalg.inv(K + 0.7 * np.eye(6))
    found = effective_dimension(np.linalg.eigvalsh(K), 0.7)
    assert found == pytest.approx(np.trace(hat))


@given(eigenvalues=spectra, alpha=st.floats(0, 1e100))
def test_it_is_at_most_the_rank_and_falls_with_alpha(eigenvalues, alpha):
    rank = np.count_nonzero(eigenvalues)
    assert effective_dimension(eigenvalues, 0.0) == rank
    larger = effective_dimension(eigenvalues, 2 * alpha)
    assert larger <= effective_dimension(eigenvalues, alpha) <= rank


@given(eigenvalues=spectra, target=st.floats(0.01, 15))
def test_alpha_is_the_smallest_that_suffices(eigenvalues, target):
    alpha = alpha_for_dimension(eigenvalues, target)
    assert effective_dimension(eigenvalues, alpha) <= target
    if np.count_nonzero(eigenvalues) <= target:
        assert alpha == 0
    else:
        # d_eff may be so flat that its own rounding hides the difference.
        below = effective_dimension(eigenvalues, alpha * (1 - 1e-11))
        assert below > target * (1 - 1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e300])
def test_alpha_scales_with_the_kernel(scale):
    eigenvalues = np.array([5.0, 2.0, 1.0, 0.1])
    found = alpha_for_dimension(eigenvalues * scale, 2.0) / scale
    assert found == pytest.approx(alpha_for_dimension(eigenvalues, 2.0), rel=1e-11)


def test_equal_eigenvalues_have_a_closed_form():
    assert alpha_for_dimension(np.full(10, 3.0), 4.0) == pytest.approx(3 * (10 / 4 - 1), rel=1e-12)


def test_tiny_negative_eigenvalues_of_a_computed_kernel_count_for_nothing():
    assert effective_dimension([1.0, -1e-17], 0.0) == 1
    assert alpha_for_dimension([1.0, -1e-17], 1.0) == 0


@pytest.mark.parametrize("target", [0.0, -1.0, np.inf, np.nan])
def test_a_target_must_be_positive(target):
    with pytest.raises(ValueError, match="target"):
        alpha_for_dimension([1.0, 2.0], target)


def test_eigenvalues_must_be_finite():
    with pytest.raises(ValueError, match="finite"):
        effective_dimension([1.0, np.nan], 1.0)
    with pytest.raises(ValueError, match="alpha"):
        effective_dimension([1.0], -1.0)
