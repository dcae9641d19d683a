# SPDX-License-Identifier: BSD-3-Clause
"""Whether one method did better than another, or was lucky."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True)
class PairedTest:
    """A comparison of two methods on the same splits, or on the same data sets.

    Attributes
    ----------
    difference : float
        Mean error of the first minus that of the second: below 0 where the first is better.
    p_value : float
        How probable a difference at least as large, to either side, would be by chance. nan where
        there is too little to tell from.
    n : int
        How many differences it rests on.
    test : str
        Which test it was.
    """

    difference: float
    p_value: float
    n: int
    test: str


def corrected_t_test(first: ArrayLike, second: ArrayLike, *, test_share: float) -> PairedTest:
    """Compare errors on the splits of a repeated cross-validation.

    The training parts of splits overlap, so that a plain t-test finds differences where there are
    none. Nadeau and Bengio's correction (Machine Learning 52, 2003) widens the variance of the
    mean of J differences from 1/J to 1/J + n_test / n_train.

    Parameters
    ----------
    first, second : array-like of shape (n_splits,)
        Errors of two methods on the same splits.
    test_share : float
        n_test / n_train of a split: 1 / (k - 1) in k-fold cross-validation.

    Returns
    -------
    PairedTest
        Two-sided.

    Examples
    --------
    >>> from ridgewise.evaluation import corrected_t_test
    >>> found = corrected_t_test([0.1, 0.2, 0.1, 0.2], [0.3, 0.3, 0.4, 0.3], test_share=1 / 3)
    >>> round(found.difference, 3), round(found.p_value, 3)
    (-0.175, 0.096)
    """
    differences = np.subtract(first, second, dtype=np.float64).ravel()
    n, mean = differences.size, float(differences.mean())
    variance = float(differences.var(ddof=1)) if n > 1 else float("nan")
    if variance > 0:
        t = mean / np.sqrt(variance * (1 / n + test_share))
        p_value = float(2 * stats.t.sf(abs(t), n - 1))
    else:  # all alike: no difference at all, or one that chance has no part in
        p_value = float("nan") if n < 2 else 1.0 if mean == 0 else 0.0
    return PairedTest(mean, p_value, n, "corrected resampled t-test")


def wilcoxon_test(first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Compare mean errors of two methods over data sets.

    Wilcoxon's signed-rank test, which needs no assumption about how errors on different data sets
    compare. Data sets on which both are equal are counted half to each side (Pratt).

    Parameters
    ----------
    first, second : array-like of shape (n_data_sets,)
        Mean errors of two methods, one a data set.

    Returns
    -------
    PairedTest
        Two-sided.

    Examples
    --------
    >>> from ridgewise.evaluation import wilcoxon_test
    >>> wilcoxon_test([0.1, 0.2, 0.3, 0.2, 0.1, 0.2], [0.2, 0.4, 0.6, 0.6, 0.6, 0.8]).p_value
    0.03125
    """
    differences = np.subtract(first, second, dtype=np.float64).ravel()
    if not differences.any():
        p_value = 1.0 if differences.size else float("nan")
    else:
        p_value = float(stats.wilcoxon(differences, zero_method="pratt").pvalue)
    return PairedTest(float(differences.mean()), p_value, differences.size, "Wilcoxon signed-rank")
