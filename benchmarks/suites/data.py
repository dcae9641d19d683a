# SPDX-License-Identifier: BSD-3-Clause
"""Data of any size and density, the same on every run."""

from typing import Any

import numpy as np
import scipy.sparse as sp


def make_data(n: int, d: int, density: float) -> Any:
    """Gaussian features of varying scale: an array, or a sparse array where density is below 1."""
    rng = np.random.default_rng(0)
    scale = rng.lognormal(0, 1, size=d)
    if density == 1:
        return rng.standard_normal((n, d)) * scale
    X = sp.random_array(
        (n, d), density=density, format="csc", random_state=rng, data_sampler=rng.standard_normal
    )
    X.data *= np.repeat(scale, np.diff(X.indptr))
    return X
