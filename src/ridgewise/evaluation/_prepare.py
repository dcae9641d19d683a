# SPDX-License-Identifier: BSD-3-Clause
"""What is done to the features before selection: scaling, logarithms; and whether it is needed."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler
from sklearn.utils.sparsefuncs import mean_variance_axis

from ridgewise._typing import is_sparse

SCALES = ("none", "standard", "max-abs")
THOUSANDFOLD = 1000
LOW_QUANTILE = 0.05
N_NAMED = 3


def make_preparation(scale: str = "none", *, log1p: bool = False, sparse: bool = False) -> Any:
    """Make the transformer that prepares features before they are selected.

    Parameters
    ----------
    scale : {"none", "standard", "max-abs"}, default="none"
        "standard": each feature has variance 1, and mean 0 unless the data is sparse. "max-abs":
        each feature's largest absolute value is 1.
    log1p : bool, default=False
        Whether values are first replaced by log(1 + value), for counts.
    sparse : bool, default=False
        Whether the data is sparse, which it then remains.

    Returns
    -------
    transformer or None
        None where nothing is to be done.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.evaluation import make_preparation
    >>> make_preparation("max-abs").fit_transform(np.array([[1.0, 50.0], [2.0, 100.0]]))
    array([[0.5, 0.5],
           [1. , 1. ]])
    """
    if scale not in SCALES:
        raise ValueError(f"scale must be one of {', '.join(SCALES)}; got {scale!r}")
    steps: list[Any] = [FunctionTransformer(log1p_counts, accept_sparse=True)] if log1p else []
    if scale == "standard":
        steps.append(StandardScaler(with_mean=not sparse))
    elif scale == "max-abs":
        steps.append(MaxAbsScaler())
    return make_pipeline(*steps) if steps else None


def log1p_counts(X: Any) -> Any:
    """Compute log(1 + X); raise if X has negative values.

    Parameters
    ----------
    X : array or sparse array
        Counts, or other values of at least 0.

    Returns
    -------
    array or sparse array
    """
    smallest = X.min() if X.size else 0
    if smallest < 0:
        raise ValueError(f"log1p needs values of at least 0; the smallest is {smallest:g}")
    return X.log1p() if is_sparse(X) else np.log1p(X)


def unit_warning(X: Any, feature_names: ArrayLike) -> str | None:
    """Say which features dominate where standard deviations differ a thousandfold.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
        The samples. A memory map is not looked at.
    feature_names : array-like of shape (d,)
        The features' names.

    Returns
    -------
    str or None
        One sentence that names the features and what to do; None where nothing is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.evaluation import unit_warning
    >>> X = np.array([[1.0, 2.0, 30000.0], [2.0, 1.0, 10000.0], [3.0, 5.0, 20000.0]])
    >>> unit_warning(X, ["age", "children", "balance"])
    'Scales differ 10,000-fold, so features with large values (balance) dominate: ...'
    """
    if isinstance(X, np.memmap) or not (is_sparse(X) or isinstance(X, np.ndarray)):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        variances = (
            mean_variance_axis(X.tocsr().astype(np.float64), axis=0)[1]
            if is_sparse(X)
            else np.var(X, axis=0, dtype=np.float64)
        )
    deviations = np.sqrt(variances)
    varying = deviations[np.isfinite(deviations) & (deviations > 0)]
    if varying.size < 2:
        return None
    ratio = varying.max() / np.quantile(varying, LOW_QUANTILE, method="lower")
    if ratio < THOUSANDFOLD:
        return None
    large = np.argsort(-np.nan_to_num(deviations), kind="stable")[:N_NAMED]
    large = large[deviations[large] >= varying.max() / THOUSANDFOLD**0.5]
    names = ", ".join(str(np.asarray(feature_names)[place])[:40] for place in large)
    fold = f"{float(f'{ratio:.1g}'):,.0f}"
    return (
        f"Scales differ {fold}-fold, so features with large values ({names}) dominate: "
        "--scale standard gives all features the same weight, --log1p is for counts."
    )
