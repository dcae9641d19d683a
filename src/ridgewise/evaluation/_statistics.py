# SPDX-License-Identifier: BSD-3-Clause
"""Paired tests of two methods, and the stability of what a method selects."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy import stats

from ridgewise._typing import FloatArray, IndexArray

RESOLUTION = 1e-12  # of differences, relative to the largest error
BLOCK = 1000  # selections that are paired with all others at once


@dataclass(frozen=True)
class PairedTest:
    """A comparison of two methods on the same splits, or on the same data sets."""

    difference: float  # mean error of the first minus that of the second
    p_value: float  # two-sided; nan if there are too few differences
    n: int  # number of differences
    test: str


def corrected_t_test(first: ArrayLike, second: ArrayLike, *, test_share: float) -> PairedTest:
    """Compare errors on the splits of a repeated cross-validation.

    The training parts of splits overlap, so a plain t-test finds differences where there are none.
    Nadeau and Bengio's correction (Machine Learning 52, 2003) widens the variance of the mean of J
    differences from 1/J to 1/J + n_test / n_train; ``test_share`` is the latter.
    """
    difference, differences = _differences(first, second)
    n = differences.size
    if n < 2:
        p_value = float("nan")
    elif (differences == differences[0]).all():
        # No difference at all, or the same one everywhere
        p_value = 1.0 if differences[0] == 0 else 0.0
    else:
        t = differences.mean() / np.sqrt(differences.var(ddof=1) * (1 / n + test_share))
        p_value = float(2 * stats.t.sf(abs(t), n - 1))
    return PairedTest(difference, p_value, n, "corrected resampled t-test")


def wilcoxon_test(first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Compare mean errors of two methods over data sets by Wilcoxon's signed-rank test.

    Exact, also with ties. Data sets on which both are equal have the lowest ranks, and count for
    neither (Pratt).
    """
    difference, differences = _differences(first, second)
    missing = differences.size == 0 or np.isnan(differences).any()
    p_value = float("nan") if missing else _signed_rank_p_value(differences)
    return PairedTest(difference, p_value, differences.size, "Wilcoxon signed-rank")


def _signed_rank_p_value(differences: FloatArray) -> float:
    """The exact two-sided p-value, over all signs of the ranks; SciPy's is not exact with ties."""
    ranks = np.rint(2 * stats.rankdata(np.abs(differences))).astype(int)  # whole, also where tied
    ranks, positive = ranks[differences != 0], differences[differences != 0] > 0
    chances = np.ones(1)  # that the positive ranks sum to 0, 1, 2, ...
    for rank in ranks:
        chances = (np.pad(chances, (0, rank)) + np.pad(chances, (rank, 0))) / 2
    found = ranks[positive].sum()
    return float(min(1.0, 2 * min(chances[: found + 1].sum(), chances[found:].sum())))


def _differences(first: ArrayLike, second: ArrayLike) -> tuple[float, FloatArray]:
    """The mean of first minus second, and all of them relative to the largest error, rounded.

    Relative, since squares of tiny errors underflow; rounded, so that ties remain ties.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(f"errors must have equal shapes; got {first.shape} and {second.shape}")
    differences = (first - second).ravel()
    if differences.size == 0:
        return float("nan"), differences
    largest = max(np.abs(first).max(), np.abs(second).max())
    relative = (first / largest - second / largest).ravel() if largest > 0 else differences
    return float(differences.mean()), np.round(relative / RESOLUTION) * RESOLUTION


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
    sizes = chosen.sum(axis=1)
    total = 0.0
    for start in range(0, n_sets, BLOCK):
        some = slice(start, start + BLOCK)
        shared = (chosen[some] @ chosen.T).toarray()
        either = sizes[some, None] + sizes - shared
        total += np.divide(shared, either, out=np.ones_like(shared), where=either > 0).sum()
    # Every selection was also paired with itself, which gives 1.
    return float((total - n_sets) / (n_sets * (n_sets - 1)))


def frequencies(chosen: sp.csr_array) -> FloatArray:
    """The share of the selections that hold each feature."""
    return np.asarray(chosen.sum(axis=0)).ravel() / max(chosen.shape[0], 1)
