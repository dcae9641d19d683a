# SPDX-License-Identifier: BSD-3-Clause
"""Missing and infinite values."""

from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from ridgewise._typing import AnyArray, IndexArray, is_sparse
from ridgewise.datasets.readers._raw import Missing, Raw, count, group_labels, listed, shortened
from ridgewise.datasets.readers._target import as_target, is_missing

BLOCK = 2**22  # values tested at a time
WAYS_OUT = (
    "missing='mean' fills them in, missing='drop-features' or missing='drop-samples' drops them"
)


def settle_missing(raw: Raw, missing: Missing) -> None:
    """Raise on missing values, drop them or impute means; raise or drop for the target."""
    rows, columns = find_places(raw.X, np.isnan)
    if len(rows) and missing == "error":
        raise ValueError(_describe(raw, rows, columns))
    n_samples, n_features = raw.X.shape
    if len(rows) and missing == "drop-features":
        keep(raw, np.setdiff1d(np.arange(n_features), columns), "feature", "missing values")
    elif len(rows) and missing == "drop-samples":
        keep(raw, np.setdiff1d(np.arange(n_samples), rows), "sample", "missing values")
    elif len(rows):
        _fill_means(raw, rows, columns)
    _settle_target(raw, missing)


def refuse_infinite(raw: Raw) -> None:
    """Raise if a value is infinite."""
    rows, columns = find_places(raw.X, np.isinf)
    if len(rows):
        raise ValueError(
            f"{count(len(rows), 'value')} of X not finite, the first {_first(raw, rows, columns)}: "
            "replace or remove them"
        )
    if raw.y is not None and raw.y.dtype.kind == "f" and np.isinf(raw.y).any():
        raise ValueError(f"the target {shortened(raw.target_name)} has infinite values")


def find_places(X: Any, test: Any) -> tuple[IndexArray, IndexArray]:
    """Rows and columns of the stored values that pass a test, such as isnan."""
    values = X.data if is_sparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        # a cheap first test; overflow of finite values costs time only
        if np.isfinite(values.sum()):
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    if not is_sparse(X):
        return _dense_places(X, test)
    entries = X.tocoo()  # in the order of X.data
    found = test(entries.data)
    return entries.row[found].astype(np.intp), entries.col[found].astype(np.intp)


def _dense_places(X: AnyArray, test: Any) -> tuple[IndexArray, IndexArray]:
    """The same for an array, block by block: X may be a memory map."""
    if X.flags.f_contiguous and not X.flags.c_contiguous:
        columns, rows = _dense_places(X.T, test)
        return rows, columns
    blocks = gen_batches(len(X), max(1, BLOCK // X.shape[1]))
    found = [np.argwhere(test(X[block])) + np.array([block.start, 0]) for block in blocks]
    rows, columns = np.concatenate(found).T
    return rows, columns


def _describe(raw: Raw, rows: IndexArray, columns: IndexArray) -> str:
    if raw.groups is not None and raw.feature_names is not None:
        # the columns of a category miss the same values: its first counts
        labels = [place if group is None else group for place, group in enumerate(raw.groups)]
        firsts = {label: place for place, label in reversed(list(enumerate(labels)))}
        kept = np.isin(columns, list(firsts.values()))
        rows, columns = rows[kept], columns[kept]
        raw.feature_names = group_labels(raw.groups, raw.feature_names)
    features = np.unique(columns)
    shown = features[:3] if raw.feature_names is None else raw.feature_names[features]
    return (
        f"{count(len(rows), 'value')} missing, in {count(len(features), 'feature')} "
        f"({listed(shown)}) and {count(len(np.unique(rows)), 'sample')}, the first "
        f"{_first(raw, rows, columns)}: {WAYS_OUT}"
    )


def _first(raw: Raw, rows: IndexArray, columns: IndexArray) -> str:
    at = np.lexsort((columns, rows))[0]
    sample, feature = _name(raw.sample_names, rows[at]), _name(raw.feature_names, columns[at])
    return f"in sample {sample}, feature {feature}"


def _name(names: AnyArray | None, place: int) -> str:
    """The quoted name, or the number from 1."""
    return str(place + 1) if names is None else shortened(names[place])


def keep(raw: Raw, kept: IndexArray, what: str, reason: str) -> None:
    """Drop all other features or samples, and note why."""
    is_feature = what == "feature"
    n_dropped = raw.X.shape[is_feature] - len(kept)
    if not len(kept):
        raise ValueError(f"every {what} has {reason}: nothing is left when they are dropped")
    raw.X = raw.X[:, kept] if is_feature else raw.X[kept]
    for name in ("feature_names", "groups") if is_feature else ("sample_names", "y"):
        if (values := getattr(raw, name)) is not None:
            setattr(raw, name, values[kept])
    raw.notes.append(f"{count(n_dropped, what)} with {reason} dropped.")
    if raw.is_mapped:
        raw.notes.append("What is left was copied into memory.")
        raw.is_mapped = False


def _fill_means(raw: Raw, rows: IndexArray, columns: IndexArray) -> None:
    """Impute the mean of each feature; drop features without any value."""
    n_samples, n_features = raw.X.shape
    n_gaps = np.bincount(columns, minlength=n_features)
    if not is_sparse(raw.X) and not raw.X.flags.writeable:
        raw.X = raw.X.copy()
    # of sparse data the stored values, in the order of `rows` and `columns`
    values, gaps = (
        (raw.X.data, np.isnan(raw.X.data)) if is_sparse(raw.X) else (raw.X, (rows, columns))
    )
    values[gaps] = 0
    sums = np.asarray(raw.X.sum(axis=0, dtype=np.float64)).ravel()
    values[gaps] = (sums / np.maximum(n_samples - n_gaps, 1))[columns]
    raw.notes.append(
        f"{count(len(rows), 'missing value')} in {count(int((n_gaps > 0).sum()), 'feature')} "
        "replaced by the mean of the feature."
    )
    if (n_gaps == n_samples).any():
        keep(raw, np.flatnonzero(n_gaps < n_samples), "feature", "missing values only")


def _settle_target(raw: Raw, missing: Missing) -> None:
    if raw.y is None or not (gaps := is_missing(raw.y)).any():
        return
    if missing != "drop-samples":
        raise ValueError(
            f"the target {shortened(raw.target_name)} is missing for "
            f"{count(int(gaps.sum()), 'sample')}, the first "
            f"{_name(raw.sample_names, int(np.argmax(gaps)))}: missing='drop-samples' drops them"
        )
    keep(raw, np.flatnonzero(~gaps), "sample", "no target")
    raw.y = as_target(raw.y)
