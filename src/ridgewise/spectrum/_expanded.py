# SPDX-License-Identifier: BSD-3-Clause
"""Features expanded into several columns each, computed when they are read."""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import gen_batches
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from ridgewise._typing import AnyArray, IndexArray, is_sparse
from ridgewise.spectrum._containers import Computed, as_dense


class FeatureExpansion(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Expand each feature into several columns, for additive models: splines, one-hot, powers.

    ``transform`` returns a container of shape (n_samples, n_columns) for the selectors. Columns are
    computed when they are read, a block of features at a time, and are never all in memory.
    Selectors with ``groups`` select the columns of a feature together by default.

    Parameters
    ----------
    transformer : scikit-learn transformer
        Such as `SplineTransformer` or `OneHotEncoder`. One that combines features, such as
        `PolynomialFeatures`, is applied to one feature at a time.
    block : int, default=16
        How many features share one fitted transformer. All columns of a block are computed if
        one of them is read.

    Attributes
    ----------
    groups_ : ndarray of shape (n_columns,)
        The feature of each column: its name, or its index where X has no distinct names.
    n_columns_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only where X has feature names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import SplineTransformer
    >>> from ridgewise import LeverageSelector
    >>> from ridgewise.spectrum import FeatureExpansion
    >>> X = np.random.default_rng(0).standard_normal((40, 300))
    >>> splines = FeatureExpansion(SplineTransformer(n_knots=4, include_bias=False))
    >>> splines.fit_transform(X).shape
    (40, 1500)
    >>> selector = LeverageSelector(10, sampling="top")
    >>> model = make_pipeline(splines, selector, Ridge()).fit(X, X[:, 7] ** 2)
    >>> selector.selected_groups_.shape, selector.selected_.shape
    ((10,), (50,))
    """

    n_features_in_: int

    def __init__(self, transformer: Any, *, block: int = 16) -> None:
        self.transformer = transformer
        self.block = block

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit one transformer for each block of features.

        Parameters
        ----------
        X : array, sparse array or data frame of shape (n_samples, n_features)
        y : array-like, optional
            Passed on to the transformers.

        Returns
        -------
        self
        """
        if not isinstance(self.block, int) or self.block < 1:
            raise ValueError(f"block must be an int >= 1; got {self.block!r}")
        X = self._validate(X, reset=True)
        self._blocks = self._fit_blocks(X, y, self.block)
        counts = [len(block.owners) for block in self._blocks]
        self._edges: IndexArray = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        self.n_columns_ = int(self._edges[-1])
        owners = np.concatenate([block.owners for block in self._blocks])
        names = getattr(self, "feature_names_in_", ())
        distinct = len(set(names)) == self.n_features_in_
        self.groups_: AnyArray = names[owners] if distinct else owners
        return self

    def _fit_blocks(self, X: Any, y: Any, width: int) -> "list[Block]":
        blocks = []
        for features in gen_batches(X.shape[1], width):
            values = values_of(X, slice(None), features)
            fitted = clone(self.transformer).fit(values, y)
            first = expand(fitted, values[:1])
            owners = owners_of(fitted, values.shape[1])
            if values.shape[1] == 1:
                owners = np.zeros(first.shape[1], dtype=np.intp)
            elif owners is None:  # features are combined
                return self._fit_blocks(X, y, 1)
            blocks.append(Block(features, fitted, features.start + owners, first.dtype))
        return blocks

    def transform(self, X: Any) -> "Expanded":
        """Return the columns of X as a container for selectors, which refers to X."""
        check_is_fitted(self)
        return Expanded(self._validate(X, reset=False), self)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Check names and number of the features; the transformer checks the values."""
        validate_data(self, X, "no_validation", skip_check_array=True, reset=reset)
        X = X if is_sparse(X) or is_frame(X) else np.asarray(X)
        if len(X.shape) != 2 or 0 in X.shape:
            raise ValueError(
                f"expected samples x features, at least one of each; got the shape {X.shape}"
            )
        return X.tocsc() if is_sparse(X) else X

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the columns, which the transformer makes of the features' names."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        parts = [block.names(names[block.features]) for block in self._blocks]
        return np.concatenate(parts)


class Block(NamedTuple):
    """Features that are expanded together."""

    features: slice
    transformer: Any
    owners: IndexArray
    dtype: np.dtype[Any]

    def names(self, features: AnyArray) -> AnyArray:
        """Names of the columns."""
        names = names_of(self.transformer, features)
        if names is None:
            names = [f"{features[0]}_{number}" for number in range(len(self.owners))]
        return np.array(names, dtype=object)


class Expanded(Computed):
    """The columns of an expansion: a stored array, whose chunks are the columns of a block.

    ``feature_groups`` has the feature of each column. ``header`` is an empty data frame with the
    columns' names, if X is a data frame.
    """

    def __init__(self, X: Any, expansion: FeatureExpansion) -> None:
        self.X, self.expansion = X, expansion
        blocks = expansion._blocks
        self.shape = (X.shape[0], expansion.n_columns_)
        self.dtype = np.result_type(*(block.dtype for block in blocks))
        widths = {len(block.owners) for block in blocks[:-1]} or {1}
        self.chunks = (X.shape[0], widths.pop() if len(widths) == 1 else 1)
        self.feature_groups = expansion.groups_
        self.header = None
        if is_frame(X) and hasattr(expansion, "feature_names_in_"):
            named = {"columns" if hasattr(X, "iloc") else "schema": list(self.names)}
            self.header = type(X)(**named)

    @property
    def names(self) -> AnyArray:
        """Names of the columns."""
        return self.expansion.get_feature_names_out()

    def fill(self, values: AnyArray, rows: IndexArray, columns: IndexArray) -> None:
        """See `Computed.fill`: expands the blocks of features that these columns are made of."""
        edges = self.expansion._edges
        bounds = np.searchsorted(columns, edges)
        for number in np.flatnonzero(np.diff(bounds)):
            inside = slice(bounds[number], bounds[number + 1])
            block = self.expansion._blocks[number]
            expanded = expand(block.transformer, values_of(self.X, rows, block.features))
            values[:, inside] = expanded[:, columns[inside] - edges[number]]


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars data frame."""
    return hasattr(X, "columns") and hasattr(X, "to_numpy")


def values_of(X: Any, rows: Any, features: slice) -> AnyArray:
    """Values of some features, without names."""
    if hasattr(X, "iloc"):
        return np.asarray(X.iloc[rows, features].to_numpy())
    part = X[:, features][rows]
    if is_frame(X):
        return np.asarray(part.to_numpy())
    return as_dense(part)


def expand(fitted: Any, values: AnyArray) -> AnyArray:
    """Columns that a fitted transformer makes, dense."""
    with config_context(transform_output="default"):
        return as_dense(fitted.transform(values))


def owners_of(fitted: Any, n_features: int) -> IndexArray | None:
    """The feature of each column of a fitted transformer, from its name; None if of several."""
    names = names_of(fitted, [f"\0{feature}\0" for feature in range(n_features)])
    parts = [name.split("\0") for name in names or [""]]
    if any(len(part) != 3 for part in parts):
        return None
    return np.array([part[1] for part in parts], dtype=np.intp)


def names_of(fitted: Any, features: Any) -> list[str] | None:
    """Names of the columns of a fitted transformer; None if it has none for them."""
    try:
        return [str(name) for name in fitted.get_feature_names_out(features)]
    except AttributeError:
        return None
