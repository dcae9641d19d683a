# SPDX-License-Identifier: BSD-3-Clause
"""How much the selected features depend on which samples were seen."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from ridgewise._typing import FloatArray, IndexArray

BLOCK = 1000  # selections that are paired with all others at once


def selection_matrix(sets: Sequence[IndexArray], n_features: int) -> sp.csr_array:
    """Write selections (feature indices, each at most once) as rows of zeros and ones."""
    ends = np.cumsum([0, *map(len, sets)])
    features = np.concatenate([np.empty(0, dtype=np.intp), *sets]).astype(np.intp)
    return sp.csr_array((np.ones(ends[-1]), features, ends), shape=(len(sets), n_features))


def nogueira_stability(chosen: sp.csr_array) -> float:
    """Compute the stability of selections, corrected for chance; nan for fewer than two.

    With p_f the share of the M selections that hold feature f, k their mean size, and d the number
    of all features, it is ::

        1 - mean_f( M/(M-1) p_f (1-p_f) ) / ( k/d (1 - k/d) )

    1 if all are equal, 0 on average if they are random (Nogueira, Sechidis and Brown, "On the
    Stability of Feature Selection Algorithms", JMLR 18, 2018). nan if each is empty or everything.
    """
    n_sets, d = chosen.shape
    p = frequencies(chosen)
    by_chance = p.mean() * (1 - p.mean())
    if n_sets < 2 or by_chance < 1 / (10 * n_sets * d):  # that is 0, but for rounding
        return float("nan")
    return float(1 - n_sets / (n_sets - 1) * np.mean(p * (1 - p)) / by_chance)


def mean_jaccard(chosen: sp.csr_array) -> float:
    """Compute the mean Jaccard index over all pairs of selections; nan for fewer than two.

    Two empty selections are equal.
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
