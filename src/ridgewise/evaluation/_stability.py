# SPDX-License-Identifier: BSD-3-Clause
"""How much the selected features depend on which samples were seen."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import FloatArray, IndexArray

BLOCK = 1000  # selections that are paired with all others at once


def selection_matrix(sets: Sequence[IndexArray], n_features: int) -> sp.csr_array:
    """Write selections as a matrix of zeros and ones.

    Parameters
    ----------
    sets : sequence of arrays of int
        The features of each selection, each at most once.
    n_features : int
        The number of all features.

    Returns
    -------
    csr_array of shape (len(sets), n_features)
    """
    ends = np.cumsum([0, *map(len, sets)])
    features = np.concatenate([np.empty(0, dtype=np.intp), *sets]).astype(np.intp)
    return sp.csr_array((np.ones(ends[-1]), features, ends), shape=(len(sets), n_features))


def nogueira_stability(chosen: sp.csr_array) -> float:
    """Measure how alike selections are, with chance taken out.

    With p_f the share of the M selections that hold feature f, k the mean number of features in
    one, and d that of all, it is ::

        1 - mean_f( M/(M-1) p_f (1-p_f) ) / ( k/d (1 - k/d) )

    1 where all are the same, and 0 on average where they are random (Nogueira, Sechidis and Brown,
    "On the Stability of Feature Selection Algorithms", JMLR 18, 2018). For selections of equal
    sizes it is Kuncheva's index.

    Parameters
    ----------
    chosen : sparse array of shape (M, d)
        Zeros and ones, a row a selection.

    Returns
    -------
    float
        nan where there are fewer than two selections, or where each holds nothing or everything.

    Examples
    --------
    >>> from ridgewise.evaluation import nogueira_stability, selection_matrix
    >>> nogueira_stability(selection_matrix([[0, 1], [0, 1], [0, 2]], n_features=10))
    0.583...
    """
    n_sets, d = chosen.shape
    p = frequencies(chosen)
    by_chance = p.mean() * (1 - p.mean())
    if n_sets < 2 or by_chance < 1 / (10 * n_sets * d):  # that is 0, but for rounding
        return float("nan")
    return float(1 - n_sets / (n_sets - 1) * np.mean(p * (1 - p)) / by_chance)


def mean_jaccard(chosen: sp.csr_array) -> float:
    """Average over all pairs of selections how many features they share, of those in either.

    Parameters
    ----------
    chosen : sparse array of shape (M, d)
        Zeros and ones, a row a selection.

    Returns
    -------
    float
        1 where all are the same, 0 where no two share a feature; nan for fewer than two. Two
        that hold nothing are the same.

    Examples
    --------
    >>> from ridgewise.evaluation import mean_jaccard, selection_matrix
    >>> mean_jaccard(selection_matrix([[0, 1], [0, 1], [0, 2]], n_features=10))
    0.555...
    """
    n_sets = chosen.shape[0]
    if n_sets < 2:
        return float("nan")
    total = sum(
        _jaccard_sum(chosen[start : start + BLOCK], chosen) for start in range(0, n_sets, BLOCK)
    )
    # Every selection was also paired with itself, which gives 1.
    return (total - n_sets) / (n_sets * (n_sets - 1))


def _jaccard_sum(some: sp.csr_array, others: sp.csr_array) -> float:
    """Over the pairs of one of some and one of the others."""
    shared = (some @ others.T).toarray()
    either = some.sum(axis=1)[:, None] + others.sum(axis=1) - shared
    return float(np.divide(shared, either, out=np.ones_like(shared), where=either > 0).sum())


def frequencies(chosen: sp.csr_array) -> FloatArray:
    """Tell in which share of the selections each feature is."""
    return np.asarray(chosen.sum(axis=0)).ravel() / max(chosen.shape[0], 1)
