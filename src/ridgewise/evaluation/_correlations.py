# SPDX-License-Identifier: BSD-3-Clause
"""Correlations: among selected features, and with the left-out ones that they stand for."""

from typing import Any

import numpy as np

from ridgewise._typing import FloatArray, IndexArray
from ridgewise.spectrum import as_columns, as_numeric


def stand_ins(X: Any, selected: IndexArray, count: int = 3) -> tuple[IndexArray, FloatArray]:
    """Find the ``count`` left-out features that correlate most with each selected one.

    Returns their indices by descending absolute correlation (-1 where there are fewer), and
    Pearson's correlations (0 there), both of shape (len(selected), count).

    >>> X = np.array([[1.0, 2.0, 9.0], [2.0, 4.0, 1.0], [3.0, 6.0, 5.0]])
    >>> indices, correlations = stand_ins(X, np.array([0]), count=2)
    >>> indices.tolist(), correlations.round(2).tolist()
    ([[1, 2]], [[1.0, -0.5]])
    """
    columns = as_columns(as_numeric(X), center=True)
    chosen = _unit(columns.take(selected))
    indices = np.full((len(selected), count), -1, dtype=np.intp)
    strengths = np.zeros((len(selected), count))
    for place, block in columns.dense_blocks():
        found = chosen.T @ _unit(block)
        inside = selected[(selected >= place.start) & (selected < place.stop)]
        found[:, inside - place.start] = 0
        # the best of this block beside the best of those before it
        best = np.argsort(-np.abs(found), axis=1, kind="stable")[:, :count]
        values = np.hstack([strengths, np.take_along_axis(found, best, axis=1)])
        places = np.hstack([indices, best + place.start])
        order = np.argsort(-np.abs(values), axis=1, kind="stable")[:, :count]
        strengths = np.take_along_axis(values, order, axis=1)
        indices = np.take_along_axis(places, order, axis=1)
    return np.where(strengths == 0, -1, indices), np.clip(strengths, -1, 1)


def correlations(X: Any, indices: IndexArray) -> FloatArray:
    """Compute the correlations among a few features; 0 for a constant one."""
    chosen = _unit(as_columns(as_numeric(X), center=True).take(indices))
    return np.asarray(np.clip(chosen.T @ chosen, -1, 1))


def _unit(centred: FloatArray) -> FloatArray:
    """Scale centred columns to length 1; constant ones stay 0."""
    lengths = np.linalg.norm(centred, axis=0)
    return np.asarray(centred / np.where(lengths == 0, 1.0, lengths))
