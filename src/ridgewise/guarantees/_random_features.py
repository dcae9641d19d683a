# SPDX-License-Identifier: BSD-3-Clause
"""The interval that random features of the same number get: what a certificate is compared with."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ridgewise.guarantees._checks import check_not_negative
from ridgewise.guarantees._interval import measured_interval
from ridgewise.spectrum import Spectrum, compute_spectrum


@dataclass(frozen=True)
class RandomFeatures:
    """Intervals of random features: medians over a few draws, measured and not certified.

    Attributes
    ----------
    interval : tuple of float
        lower and upper of the features as they are (weight 1).
    rescaled_interval : tuple of float
        lower and upper with weight d / r each, so that K~ has K's size on average.
    n_features : int
        r, the number of features of a draw.
    alpha : float
        What is on the diagonal in the statement.
    """

    interval: tuple[float, float]
    rescaled_interval: tuple[float, float]
    n_features: int
    alpha: float

    @property
    def epsilon(self) -> float:
        """The smaller epsilon = max(1 - lower, upper - 1, 0) of the two."""
        both = (self.interval, self.rescaled_interval)
        return min(max(1 - lower, upper - 1, 0.0) for lower, upper in both)


def random_features(
    X: Any,
    n_features: int,
    *,
    alpha: float = 0.0,
    center: bool = False,
    n_draws: int = 5,
    random_state: Any = 0,
) -> RandomFeatures:
    """Measure what so many features, drawn uniformly without replacement, keep of X.

    Parameters
    ----------
    X : array, sparse array or data frame of shape (n_samples, n_features), or Spectrum
        The data; or its spectrum, where there is one, which saves most of the time.
    n_features : int
        How many to draw, at most all.
    alpha : float, default=0
        What is on the diagonal in the statement; that of the certificate to compare with.
    center : bool, default=False
        Subtract the features' means. A Spectrum knows that itself.
    n_draws : int, default=5
        How many selections to take the median of.
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    RandomFeatures

    Examples
    --------
    >>> from ridgewise import make_ridge_synthetic
    >>> from ridgewise.guarantees import random_features
    >>> X, y = make_ridge_synthetic(random_state=0)
    >>> random = random_features(X, 90)
    >>> lower, upper = random.rescaled_interval
    >>> 0 < lower < 1 < upper
    True
    """
    alpha = check_not_negative("alpha", alpha)
    spectrum = X if isinstance(X, Spectrum) else compute_spectrum(X, center=center)
    if spectrum.rank == 0:
        raise ValueError(f"every feature of X is {'constant' if spectrum.center else 'zero'}")
    d = spectrum.shape[1]
    if not 1 <= n_features <= d or n_draws < 1:
        raise ValueError(
            f"expected n_features from 1 to {d} and n_draws of at least 1, got "
            f"n_features={n_features}, n_draws={n_draws}"
        )
    generator = check_random_state(random_state)
    intervals = []
    for _ in range(n_draws):
        rows = spectrum.take(np.sort(generator.permutation(d)[:n_features]))
        weights = np.ones(n_features)
        intervals.append(
            [
                measured_interval(spectrum, rows, weights * scale, alpha)
                for scale in (1.0, d / n_features)
            ]
        )
    plain, rescaled = np.median(intervals, axis=0).tolist()
    return RandomFeatures(tuple(plain), tuple(rescaled), n_features, alpha)
