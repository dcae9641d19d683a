# SPDX-License-Identifier: BSD-3-Clause
"""The paper's synthetic data: a few relevant features of increasing strength."""

from numbers import Integral, Real

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state, check_scalar

from ridgewise._typing import FloatArray


def make_ridge_synthetic(
    n_samples: int = 30,
    n_features: int = 1000,
    n_relevant: int = 90,
    *,
    random_state: int | RandomState | None = None,
) -> tuple[FloatArray, NDArray[np.int_]]:
    """Generate two classes, separated by the first features with increasing strength.

    A label y is -1 or 1, with equal probability. Relevant feature j = 1, ..., `n_relevant` is
    y N(-j, 1); every other feature is N(0, 1), independent of the label. So the last relevant
    feature, column ``n_relevant - 1``, separates the classes best.

    Parameters
    ----------
    n_samples : int, default=30
    n_features : int, default=1000
    n_relevant : int, default=90
        Number of relevant features, from 0 to `n_features`. The paper uses 90 and 100.
    random_state : int, RandomState instance or None, default=None
        An int gives the same data on every call.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        The samples.
    y : ndarray of shape (n_samples,), int
        Their labels, -1 or 1.

    Notes
    -----
    The labels are independent, as in the paper, so a class is absent with probability
    2 ** (1 - n_samples).

    Examples
    --------
    >>> from ridgewise.datasets import make_ridge_synthetic
    >>> X, y = make_ridge_synthetic(random_state=0)
    >>> X.shape, y.shape
    ((30, 1000), (30,))
    >>> strength = abs(y @ X) / len(y)
    >>> print(strength[[0, 44, 88, 89, 90]].round(1))  # features 1, 45, 89, 90 and 91
    [ 0.6 44.7 89.1 89.5  0.1]
    """
    check_scalar(n_samples, "n_samples", Integral, min_val=1)
    check_scalar(n_features, "n_features", Integral, min_val=1)
    check_scalar(n_relevant, "n_relevant", Integral, min_val=0)
    if n_relevant > n_features:
        raise ValueError(
            f"n_relevant={n_relevant} must be at most n_features={n_features}: "
            "the relevant features are among the features."
        )
    generator = check_random_state(random_state)
    y = generator.choice([-1, 1], size=n_samples)
    X = generator.standard_normal((n_samples, n_features))
    means = -np.arange(1, n_relevant + 1)
    X[:, :n_relevant] = y[:, np.newaxis] * (X[:, :n_relevant] + means)
    return X, y


def make_ridge_regression(
    n_samples: int = 30,
    n_features: int = 1000,
    n_relevant: int = 90,
    *,
    noise_variance: float = 1.0,
    random_state: int | RandomState | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Generate the paper's synthetic regression: y = X beta + noise, with beta ~ N(0, 1).

    The features are those of `make_ridge_synthetic` with the same int as `random_state`. Every
    feature has a coefficient, also those that are not relevant there.

    Parameters
    ----------
    n_samples, n_features, n_relevant, random_state
        As of `make_ridge_synthetic`.
    noise_variance : float, default=1.0
        Variance of the independent normal noise; 0 for none. The paper does not state it.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        The samples.
    y : ndarray of shape (n_samples,), float64
        Their targets with noise, for fitting.
    z : ndarray of shape (n_samples,), float64
        Their targets without noise, X beta, for `ridgewise.ridge_risk`.

    Examples
    --------
    >>> from ridgewise import ridge_risk
    >>> from ridgewise.datasets import make_ridge_regression
    >>> X, y, z = make_ridge_regression(noise_variance=1.0, random_state=0)
    >>> X.shape, y.shape, z.shape
    ((30, 1000), (30,), (30,))
    >>> small, large = (ridge_risk(X @ X.T, z, 1.0, alpha) for alpha in (3, 3000))
    >>> bool(small.bias < large.bias), bool(small.variance > large.variance)
    (True, True)
    """
    check_scalar(noise_variance, "noise_variance", Real)
    if not 0 <= noise_variance < np.inf:
        raise ValueError(f"noise_variance={noise_variance} must be at least 0, and finite")
    generator = check_random_state(random_state)
    X, _ = make_ridge_synthetic(n_samples, n_features, n_relevant, random_state=generator)
    z = X @ generator.standard_normal(n_features)
    y = z + np.sqrt(noise_variance) * generator.standard_normal(n_samples)
    return X, y, z
