# SPDX-License-Identifier: BSD-3-Clause
"""The exact change of a linear model's predictions, and what follows for points not yet seen.

Both models are linear in the test point: f(q) = p^T q and f~(q) = p~^T q. So once the two primal
vectors are there, the change f(q) - f~(q) = (p - p~)^T q needs no bound; bounds are for test points
that are known in part, or not at all.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from ridgewise._typing import FloatArray
from ridgewise.guarantees._checks import check_not_negative


def uniform_bound(
    training_difference: ArrayLike,
    selected_rows: ArrayLike,
    p_selected: ArrayLike,
    *,
    coefficient_norms: ArrayLike,
    residual_norms: ArrayLike,
) -> FloatArray:
    """Bound abs(f(q) - f~(q)) from two norms of the test point only, for these targets.

    ||X (p - p~)|| ||c|| + ||(I - U U^T) p~|| ||z||, q = X^T c + z.

    Parameters
    ----------
    training_difference : array-like of shape (n_samples,)
        X (p - p~): the change of the predictions at the training points.
    selected_rows : array-like of shape (n_selected, rank)
        U_S, the rows of U that belong to the selected features.
    p_selected : array-like of shape (n_selected,)
        The entries of p~ at the selected features.
    coefficient_norms, residual_norms : array-like of shape (n_test,)
        ||c|| = ||S^-1 U^T q|| and ||z|| = ||q - U U^T q|| of every test point.

    Returns
    -------
    ndarray of shape (n_test,)
        The bound for every test point.

    Examples
    --------
    >>> uniform_bound(
    ...     [0.0], [[0.5**0.5]], [1.0], coefficient_norms=[3.0], residual_norms=[1.0]
    ... ).round(3)
    array([0.707])
    """
    U_S, p_S = np.asarray(selected_rows, np.float64), np.asarray(p_selected, np.float64)
    # ||(I - U U^T) p~||^2 = ||p~||^2 - ||U^T p~||^2, and p~ is zero outside S.
    square = float(p_S @ p_S)
    slack = 4 * len(p_S) * float(np.finfo(np.float64).eps) * square  # what the difference may lose
    outside = math.sqrt(max(square - float(np.sum((p_S @ U_S) ** 2)), 0.0) + slack)
    c = np.asarray(coefficient_norms, dtype=np.float64)
    z = np.asarray(residual_norms, dtype=np.float64)
    inside = float(np.linalg.norm(np.asarray(training_difference, np.float64)))
    return inside * c + outside * z


def sign_certain(predictions: ArrayLike, bound: ArrayLike) -> NDArray[np.bool_]:
    """Tell where f and f~ surely agree in sign: bound < abs(f~(q)).

    Examples
    --------
    >>> sign_certain([0.5, -0.5], [0.4, 0.6])
    array([ True, False])
    """
    return np.asarray(bound, np.float64) < np.abs(np.asarray(predictions, np.float64))


def disagreement_bound(n_disagreements: int, n_points: int, *, delta: float = 0.05) -> float:
    """Bound how often f and f~ differ in sign in the population (Clopper and Pearson).

    The share p with P(Binomial(n_points, p) <= n_disagreements) = delta: above the true share with
    probability at least 1 - delta over independent unlabelled points.

    Parameters
    ----------
    n_disagreements, n_points : int
        Of n_points independent points, how many the two models labelled differently.
    delta : float, default=0.05
        The probability with which the bound may fail.

    Returns
    -------
    float
        An upper bound on the probability of disagreement.

    Examples
    --------
    >>> round(disagreement_bound(0, 100), 4)
    0.0295
    """
    if not 0 <= n_disagreements <= n_points or n_points < 1:
        raise ValueError(
            f"expected 0 <= n_disagreements <= n_points, got {n_disagreements} of {n_points}"
        )
    if not 0 < delta < 1:
        raise ValueError(f"expected delta between 0 and 1, got {delta}")
    if n_disagreements == n_points:
        return 1.0
    return float(betaincinv(n_disagreements + 1, n_points - n_disagreements, 1 - delta))


def primal_ridge(X: FloatArray, y: FloatArray, alpha: float) -> FloatArray:
    """Solve U S (S^2 + alpha)^-1 V^T y by the thin decomposition X = V S U^T."""
    alpha = check_not_negative("alpha", alpha)
    V, S, Ut = np.linalg.svd(X, full_matrices=False)
    cutoff = max(X.shape) * np.finfo(np.float64).eps * S.max(initial=0.0)
    shrunk = np.divide(S, S**2 + alpha, out=np.zeros_like(S), where=cutoff < S)
    return Ut.T @ (shrunk * (V.T @ y))
