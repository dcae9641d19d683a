# SPDX-License-Identifier: BSD-3-Clause
"""Missing and infinite values."""

from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from ridgewise._typing import AnyArray, IndexArray, is_sparse
from ridgewise.datasets.readers._raw import Missing, Raw, count, listed, shortened
from ridgewise.datasets.readers._target import as_target, is_missing

BLOCK = 2**22  # values tested at a time
WAYS_OUT = "missing='drop-features', 'drop-samples' or 'mean' lets them in"


def settle_missing(raw: Raw, missing: Missing) -> None:
    """Raise on missing values, drop them or impute means; raise or drop for the target."""
    rows, columns = find_places(raw.X, np.isnan)
    if len(rows) and missing == "error":
        raise ValueError(_describe(raw, rows, columns))
    n_samples, n_features = raw.X.shape
    if len(rows) and missing == "drop-features":
        keep_features(raw, np.setdiff1d(np.arange(n_features), columns), "missing values")
    elif len(rows) and missing == "drop-samples":
        _keep_samples(raw, np.setdiff1d(np.arange(n_samples), rows), "missing values")
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
    features = np.unique(columns)
    shown = features[:3] if raw.feature_names is None else raw.feature_names[features]
    return (
        f"{count(len(rows), 'value')} missing, in {count(len(features), 'feature')} "
        f"({listed(shown)}) and {count(len(np.unique(rows)), 'sample')}, the first "
        f"{_first(raw, rows, columns)}: {WAYS_OUT}"
    )


def _first(raw: Raw, rows: IndexArray, columns: IndexArray) -> str:
    at = np.lexsort((columns, rows))[0]
    row, column = rows[at], columns[at]
    sample = row + 1 if raw.sample_names is None else shortened(raw.sample_names[row])
    feature = column + 1 if raw.feature_names is None else shortened(raw.feature_names[column])
    return f"in sample {sample}, feature {feature}"


def keep_features(raw: Raw, kept: IndexArray, reason: str) -> None:
    """Drop all other features, and note why."""
    n_dropped = raw.X.shape[1] - len(kept)
    if not len(kept):
        raise ValueError(f"every feature has {reason}: nothing is left when they are dropped")
    raw.X = raw.X[:, kept]
    raw.feature_names, raw.groups = _taken(raw.feature_names, kept), _taken(raw.groups, kept)
    raw.notes.append(f"{count(n_dropped, 'feature')} with {reason} dropped.")
    _note_copy(raw)


def _keep_samples(raw: Raw, kept: IndexArray, reason: str) -> None:
    n_dropped = raw.X.shape[0] - len(kept)
    if not len(kept):
        raise ValueError(f"every sample has {reason}: nothing is left when they are dropped")
    raw.X = raw.X[kept]
    raw.sample_names, raw.y = _taken(raw.sample_names, kept), _taken(raw.y, kept)
    raw.notes.append(f"{count(n_dropped, 'sample')} with {reason} dropped.")
    _note_copy(raw)


def _note_copy(raw: Raw) -> None:
    """Note that a memory map was copied."""
    if raw.is_mapped:
        raw.notes.append("What is left was copied into memory.")
        raw.is_mapped = False


def _taken(values: AnyArray | None, kept: IndexArray) -> AnyArray | None:
    return None if values is None else values[kept]


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
        keep_features(raw, np.flatnonzero(n_gaps < n_samples), "missing values only")


def _settle_target(raw: Raw, missing: Missing) -> None:
    gaps = np.zeros(0, dtype=bool) if raw.y is None else is_missing(raw.y)
    if not gaps.any():
        return
    if missing != "drop-samples":
        first = np.flatnonzero(gaps)[0]
        sample = first + 1 if raw.sample_names is None else shortened(raw.sample_names[first])
        raise ValueError(
            f"the target {shortened(raw.target_name)} is missing for "
            f"{count(int(gaps.sum()), 'sample')}, the first {sample}: "
            "missing='drop-samples' drops them"
        )
    _keep_samples(raw, np.flatnonzero(~gaps), "no target")
    raw.y = None if raw.y is None else as_target(raw.y)
