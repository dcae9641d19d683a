# SPDX-License-Identifier: BSD-3-Clause
"""Preparation of features before selection: scaling and logarithms, and when to warn."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from ridgewise._run import check_one_of
from ridgewise._typing import is_sparse
from ridgewise.spectrum import column_variances

SCALES = ("none", "standard", "max-abs")
THOUSANDFOLD = 1000
LOW_QUANTILE = 0.05
N_NAMED = 3


def make_preparation(scale: str = "none", *, log1p: bool = False, sparse: bool = False) -> Any:
    """Make the transformer for the features, or None if there is nothing to do.

    "standard": variance 1, and mean 0 unless sparse. "max-abs": largest absolute value 1. Before
    that, with ``log1p``, log(1 + value).
    """
    check_one_of("scale", scale, SCALES)
    steps: list[Any] = [FunctionTransformer(log1p_counts, accept_sparse=True)] if log1p else []
    if scale == "standard":
        steps.append(StandardScaler(with_mean=not sparse))
    elif scale == "max-abs":
        steps.append(MaxAbsScaler())
    return make_pipeline(*steps) if steps else None


def log1p_counts(X: Any) -> Any:
    """Compute log(1 + X); raise if X has negative values."""
    smallest = X.min() if X.size else 0
    if smallest < 0:
        raise ValueError(f"log1p needs values of at least 0; the smallest is {smallest:g}")
    return X.log1p() if is_sparse(X) else np.log1p(X)


def unit_warning(X: Any, feature_names: ArrayLike) -> str | None:
    """Return a warning if scales differ a thousandfold, else None. A memory map is not read."""
    if isinstance(X, np.memmap) or not (is_sparse(X) or isinstance(X, np.ndarray)):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        deviations = np.sqrt(column_variances(X))
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
