# SPDX-License-Identifier: BSD-3-Clause
"""Prediction bounds for test points that were known, without labels, when features were selected.

BSS then runs on an orthonormal basis of training and test points together, of rank k, and [a, b] is
the interval of that basis. This is where the paper's cross-term lemma becomes true.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ridgewise._typing import FloatArray, is_sparse
from ridgewise.guarantees._checks import check_interval, check_not_negative, squared_spectrum
from ridgewise.guarantees.prediction import PredictionBound, spectral_eta, tau
from ridgewise.guarantees.prediction_report import (
    check_targets,
    check_test_points,
    residual_norms,
)
from ridgewise.guarantees.reunion import precise_spectrum
from ridgewise.spectrum import as_numeric


def bound_known_test_set(
    interval: tuple[float, float], X: Any, y: ArrayLike, X_test: Any, alpha: float
) -> PredictionBound:
    """Bound by the joint interval: see `Certificate.known_test_set_bound`."""
    X = as_numeric(X)
    targets, Q = check_targets(y, X.shape[0]), check_test_points(X_test, X.shape[1])
    spectrum = precise_spectrum(X, False, check_not_negative("alpha", alpha))
    S, Q_U = spectrum.singular_values, np.zeros((Q.shape[0], spectrum.rank))
    for place, U in spectrum.projections(np.eye(spectrum.rank)):
        Q_U += Q[:, place] @ U
    return known_test_set_bound(
        *interval,
        S,
        alpha,
        coefficient_norms=np.linalg.norm(Q_U / S, axis=1),
        residual_norms=residual_norms(Q, np.zeros(Q.shape[1]), Q_U),
        target_norm=float(np.linalg.norm(spectrum.V.T @ targets)),
    )


def stacked(X: Any, X_test: Any) -> Any:
    """Training and test points as one array, or sparse array."""
    parts = [as_numeric(X), as_numeric(X_test)]
    return sp.vstack(parts, "csr") if any(map(is_sparse, parts)) else np.vstack(parts)


def known_test_set_bound(
    lower: float,
    upper: float,
    singular_values: ArrayLike,
    alpha: float,
    *,
    coefficient_norms: ArrayLike,
    residual_norms: ArrayLike,
    target_norm: float,
) -> PredictionBound:
    """Bound the change of the predictions for known test points.

    abs(f~ - f) <= eta ||c|| ||y|| + tau (b - a)/2 ||z|| ||y||; at alpha = 0 the first part is
    zero and tau (b - a)/2 sharpens to (b - a) / (2 sqrt(a b) smin).

    Parameters
    ----------
    lower, upper : float
        The extreme eigenvalues of B^T W B, B an orthonormal basis of training and test points.
    singular_values : array-like of shape (rank,)
        The non-zero singular values of the training X.
    alpha : float
        What is added to the kernel's diagonal.
    coefficient_norms, residual_norms : array-like of shape (n_test,)
        ||c|| = ||S^-1 U^T q|| and ||z|| = ||q - U U^T q|| of every test point.
    target_norm : float
        ||y||.

    Returns
    -------
    PredictionBound
        One number a test point, in its two parts.

    Examples
    --------
    >>> known_test_set_bound(
    ...     0.25, 1.0, [2.0, 1.0], 0.0,
    ...     coefficient_norms=[1.0], residual_norms=[2.0], target_norm=1.0,
    ... ).total
    array([1.5])
    """
    y = check_not_negative("target_norm", target_norm)
    c = np.asarray(coefficient_norms, dtype=np.float64)
    z = np.asarray(residual_norms, dtype=np.float64)
    in_span: FloatArray = spectral_eta(lower, upper, singular_values, alpha) * y * c
    factor = tau(lower, upper, singular_values, alpha) * known_cross_factor(lower, upper)
    if alpha == 0:
        smin = math.sqrt(squared_spectrum(singular_values).min())
        factor = known_tangent(lower, upper) / smin
    out = np.zeros_like(z)
    np.multiply(factor * y, z, out=out, where=z * y > 0)
    return PredictionBound(in_span, out)


def known_cross_factor(lower: float, upper: float) -> float:
    """Bound c_q / ||z|| for known test points: (b - a) / 2.

    BSS with the paper's weights promises 2 s, s = sqrt(k / r). Both U and z lie in the basis and
    are orthogonal, so a multiple of the identity may be taken off B^T W B: its middle.

    Examples
    --------
    >>> known_cross_factor(0.25, 2.25)
    1.0
    """
    a, b = check_interval(lower, upper)
    return (b - a) / 2


def known_tangent(lower: float, upper: float) -> float:
    """Bound ||G^-1 U^T W z|| / ||z|| for known test points: (b - a) / (2 sqrt(a b)).

    The tangent of Kantorovich's angle, whatever the scale of the weights. BSS promises
    2 s / (1 - s^2), s = sqrt(k / r).

    Examples
    --------
    >>> known_tangent(0.25, 1.0)
    0.75
    """
    a, b = check_interval(lower, upper)
    if a == 0 or math.isinf(b):
        return math.inf
    return (b - a) / (2 * math.sqrt(a) * math.sqrt(b))
