# SPDX-License-Identifier: BSD-3-Clause
"""The greedy selection as its definition says it, on a dense X: the oracle of the fast one."""

import numpy as np

from ridgewise._groups import Groups
from ridgewise._typing import FloatArray, IndexArray


def target_matrix(X: FloatArray, target: str, alpha: float, Y: FloatArray | None) -> FloatArray:
    """M, shape (n, n)."""
    n, K = len(X), X @ X.T
    if target == "data":
        return np.eye(n) + K / alpha
    assert Y is not None
    if target == "y":
        return Y @ Y.T
    H = np.linalg.inv(K + alpha * np.eye(n))
    predicted = K @ H @ Y
    covariance = K - K @ H @ K
    return predicted @ predicted.T + np.trace(Y.T @ H @ Y) / n * covariance


def plain_objective(X: FloatArray, M: FloatArray, alpha: float, selected: IndexArray) -> float:
    """Alpha tr M (X_S X_S^T + alpha)^-1."""
    X_S = X[:, selected]
    return float(alpha * np.trace(np.linalg.solve(X_S @ X_S.T + alpha * np.eye(len(X)), M)))


def plain_greedy(
    X: FloatArray, M: FloatArray, alpha: float, size: int, groups: Groups | None = None
) -> list[int]:
    """Select features of a dense X one by one, or groups of them, trying each.

    Examples
    --------
    >>> X = np.array([[3.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 4.0]])
    >>> plain_greedy(X, target_matrix(X, "data", 1.0, None), 1.0, 2)
    [3, 0]
    """
    selected: list[int] = []
    for _ in range(size):
        chosen = np.array(selected, dtype=np.intp)
        X_S = X[:, chosen if groups is None else groups.members(chosen)]
        R = np.linalg.inv(X_S @ X_S.T + alpha * np.eye(len(X)))
        N = R @ M @ R
        if groups is None:
            g, h = np.einsum("ij,ik,kj->j", X, R, X), np.einsum("ij,ik,kj->j", X, N, X)
            gains = h / (1 + g)
        else:  # tr (I + X_g^T R X_g)^-1 X_g^T N X_g
            parts = [X[:, groups.index == number] for number in range(len(groups))]
            gains = np.array(
                [
                    np.trace(np.linalg.solve(np.eye(x.shape[1]) + x.T @ R @ x, x.T @ N @ x))
                    for x in parts
                ]
            )
        gains[selected] = -1
        selected.append(int(np.argmax(gains >= gains.max() * (1 - 1e-10))))
    return selected
