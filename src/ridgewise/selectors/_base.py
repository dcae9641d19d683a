# SPDX-License-Identifier: BSD-3-Clause
"""Bases of the selectors: checks of X and parameters, fitted attributes, transform."""

from numbers import Integral, Real
from typing import Any, Self
from warnings import warn

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils.sparsefuncs import inplace_column_scale
from sklearn.utils.validation import check_is_fitted, validate_data

from ridgewise._groups import Groups, groups_of
from ridgewise._run import ProgressLine, check_number, listening, remembered
from ridgewise._typing import AnyArray, BoolArray, FloatArray, IndexArray, is_sparse
from ridgewise.guarantees import Certificate
from ridgewise.spectrum import (
    Spectrum,
    as_source,
    header_of,
    is_outside,
    scored_spectrum,
    select_columns,
)

DRAWS_PER_RANK = 4  # by default: promises [1/4, 9/4] where the method is BSS


class FeatureSelector(SelectorMixin, BaseEstimator):
    """Base of the selectors: a subclass implements ``_fit``, which ends in ``_set_selection``."""

    verbose: bool = False
    _needs_target = False
    selected_: IndexArray
    selected_groups_: AnyArray
    group_sizes_: IndexArray
    n_groups_: int
    weights_: FloatArray
    n_selected_: int
    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features of X.

        Parameters
        ----------
        X : array, sparse array or data frame, or stored or Dask array, of shape (n, d)
            `RRQRSelector` and `SklearnSelector` need it in memory.
        y : array-like of shape (n,) or (n, n_targets), default=None
            Classes or numbers. Ignored by the methods that use no target.

        Returns
        -------
        self
        """
        if not self.verbose:
            return self._fit(X, y)
        with ProgressLine() as line, listening(line):
            return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> Self:
        raise NotImplementedError

    def _set_selection(
        self, chosen: IndexArray, weights: FloatArray | None = None, groups: Groups | None = None
    ) -> Self:
        """Store the selected features or groups; default weights are 1."""
        chosen = np.asarray(chosen, dtype=np.intp)
        self.weights_ = np.ones(len(chosen)) if weights is None else weights
        self.selected_ = chosen
        if groups is not None and groups.given:
            self.selected_ = groups.members(chosen)
            self.selected_groups_ = groups.labels[chosen]
            self.group_sizes_ = groups.sizes[chosen]
            self.n_groups_ = len(groups)
        elif hasattr(self, "selected_groups_"):  # of an earlier fit
            del self.selected_groups_, self.group_sizes_, self.n_groups_
        self.n_selected_ = len(self.selected_)
        return self

    @property
    def feature_weights_(self) -> FloatArray:
        """The weight of each feature of ``selected_``: that of its group, if there are groups."""
        check_is_fitted(self)
        if not hasattr(self, "group_sizes_"):
            return self.weights_
        return np.repeat(self.weights_, self.group_sizes_)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask

    @property
    def _scale(self) -> FloatArray | None:
        """Factors of the selected columns, in their original order."""
        if not getattr(self, "rescale", False):
            return None
        return np.sqrt(self.feature_weights_[np.argsort(self.selected_)])

    def transform(self, X: Any) -> Any:
        """Keep the selected features, in their original order.

        Parameters
        ----------
        X : array, sparse array or data frame of shape (n, d)
            Or a container that `fit` takes: of a stored one the selected features are read, of a
            Dask array or data frame the result is a Dask array, not computed yet.

        Returns
        -------
        X_selected : of shape (n, n_selected)
            Where the selector rescales, each column is multiplied by the root of its weight, or
            of its group's.
        """
        if is_outside(X):
            check_is_fitted(self)
            X = validate_outside(self, X, reset=False)
            return select_columns(X, np.sort(self.selected_), self._scale)
        selected = self._take_columns(X)
        scale = self._scale
        if scale is None:
            return selected
        if hasattr(selected, "iloc"):  # a pandas data frame
            small = all(dtype == np.float32 for dtype in selected.dtypes)
            return selected * (scale.astype(np.float32) if small else scale)
        selected = as_floating(selected if is_sparse(selected) else np.asarray(selected))
        scale = scale.astype(selected.dtype)
        if not is_sparse(selected):
            return selected * scale
        inplace_column_scale(selected, scale)
        return selected

    def _take_columns(self, X: Any) -> Any:
        """As scikit-learn's transform; CSC without a copy of all columns."""
        if not (is_sparse(X) and X.format == "csc"):
            return super().transform(X)
        check_is_fitted(self)
        X = validate_data(self, X, dtype=None, accept_sparse="csc", reset=False)
        return X[:, np.sort(self.selected_)].tocsr()

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected features back to their places, undoing the rescaling; 0 elsewhere.

        Parameters
        ----------
        X : array or sparse array of shape (n, n_selected)

        Returns
        -------
        X_original : of shape (n, d)
        """
        check_is_fitted(self)
        X = as_floating(check_array(X, accept_sparse="csr", dtype="numeric", input_name="X"))
        if X.shape[1] != self.n_selected_:
            raise ValueError(
                f"X has a different shape than during fitting: it has {X.shape[1]} columns, "
                f"and {self.n_selected_} features were selected"
            )
        places = np.sort(self.selected_)
        scale = self._scale
        inverse = np.ones(len(places), X.dtype) if scale is None else (1 / scale).astype(X.dtype)
        shape = (len(places), self.n_features_in_)
        return X @ sp.csr_array((inverse, (np.arange(len(places)), places)), shape=shape)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self._needs_target
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = str(super().__repr__(N_CHAR_MAX=N_CHAR_MAX))
        if not hasattr(self, "selected_"):
            return text
        count = f"{self.n_selected_} of {self.n_features_in_} features"
        names: AnyArray = self.selected_
        if hasattr(self, "selected_groups_"):
            names = self.selected_groups_
            count = f"{len(names)} of {self.n_groups_} groups, {count}"
        elif hasattr(self, "feature_names_in_"):
            names = self.feature_names_in_[names]
        listed = ", ".join(str(name) for name in names[:3]) + (", ..." if len(names) > 3 else "")
        return f"<{text}: {count}: {listed}>"


class FewerFeaturesWarning(UserWarning):
    """Fewer distinct features could be selected than were asked for."""


class SpectralSelector(FeatureSelector):
    """Base of the selectors that draw from the rows of U in X = V S U^T."""

    certificate_: Certificate
    leverage_scores_: FloatArray
    singular_values_: FloatArray
    rank_: int
    alpha_: float

    n_features_to_select: int | float | None
    epsilon: float | None
    alpha: float | str
    rank: int | float | None
    center: bool
    solver: str
    groups: Any = None

    def _fit_spectrum(self, X: Any) -> tuple[Spectrum, Groups]:
        """Validate X, compute its spectrum, and resolve the groups of its features."""
        check_not_both(self.n_features_to_select, self.epsilon)
        X = validate_wide(self, X)
        groups = groups_of(self.groups, X)
        check_n_groups(self.n_features_to_select, groups, default=1)
        spectrum = remembered(
            scored_spectrum, X, rank=self.rank, center=self.center, solver=self.solver
        )
        if spectrum.rank == 0:
            what = "constant" if self.center else "zero"
            raise ValueError(
                f"every feature of X is {what} (n_samples={X.shape[0]}, n_features={X.shape[1]}): "
                "there is nothing to select from"
            )
        self.rank_ = spectrum.rank
        self.singular_values_ = spectrum.singular_values
        self.leverage_scores_ = spectrum.leverage_scores
        return spectrum, groups

    def _n_draws(self, groups: Groups, share: float = 1.0) -> int:
        """How many draws ``n_features_to_select`` asks for; by default at most this share."""
        default = max(1, min(int(share * len(groups)), DRAWS_PER_RANK * self.rank_))
        return check_n_groups(self.n_features_to_select, groups, default)

    def _warn_if_fewer(self, n_selected: int, groups: Groups, reason: str) -> None:
        """Warn if fewer distinct features, or groups, are selected than were asked for."""
        if self.n_features_to_select is None:
            return
        wanted = min(check_n_groups(self.n_features_to_select, groups, default=1), len(groups))
        if n_selected < wanted:
            what = "groups" if groups.given else "features"
            warn(
                f"{n_selected} {what} were selected of {wanted} asked for: {reason}",
                FewerFeaturesWarning,
                stacklevel=4,
            )


def validate_wide(selector: FeatureSelector, X: Any) -> Any:
    """Check X without converting it whole: types are converted, and NaN found, block by block."""
    if is_outside(X):
        return validate_outside(selector, X)
    return as_numbers(
        validate_data(
            selector, X, accept_sparse=("csc", "csr"), dtype="numeric", ensure_all_finite=False
        )
    )


def validate_outside(selector: FeatureSelector, X: Any, *, reset: bool = True) -> Any:
    """Check shape and feature names of a container that is not in memory; no values are read."""
    header = header_of(X)
    X = as_numbers(as_source(X, sized=reset))
    validate_data(selector, header, "ignored", skip_check_array=True, reset=reset)
    return X


def as_numbers(X: Any) -> Any:
    """Return X if it is numeric, objects as float64; raise if it is anything else."""
    if X.dtype.kind in "biuf":
        return X
    if X.dtype.kind == "O":
        return X.astype(np.float64)
    raise ValueError(f"X must hold numbers; got an array of {X.dtype}")


def as_floating(X: Any) -> Any:
    """Return X if it holds floats, else X as float64."""
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def check_n_groups(wanted: Any, groups: Groups, default: int) -> int:
    """The number of groups, or features if there are none, that ``wanted`` asks for."""
    found = check_n_features(wanted, len(groups), min(default, len(groups)))
    if groups.given and found > len(groups):
        raise ValueError(
            f"n_features_to_select counts groups: got {wanted}, and there are {len(groups)} groups "
            f"of the {len(groups.index)} features"
        )
    return found


def check_n_features(wanted: Any, n_features: int, default: int) -> int:
    """The number of features that ``wanted``, the value of n_features_to_select, asks for."""
    if wanted is None:
        return default
    if isinstance(wanted, Integral) and not isinstance(wanted, bool) and int(wanted) >= 1:
        return int(wanted)
    is_share = isinstance(wanted, Real) and not isinstance(wanted, Integral)
    if is_share and 0 < float(wanted) <= 1:
        return max(1, int(float(wanted) * n_features + 1e-9))
    raise ValueError(
        "n_features_to_select must be an int >= 1 (how many), a float in (0, 1] (share of the "
        f"features) or None (default); got {wanted!r}"
    )


def check_not_both(n_features_to_select: Any, epsilon: Any) -> None:
    """Raise if both are given, or if epsilon is not between 0 and 1."""
    if epsilon is None:
        return
    if n_features_to_select is not None:
        raise ValueError(
            "give n_features_to_select or epsilon, not both: epsilon finds the number itself; got "
            f"n_features_to_select={n_features_to_select!r} and epsilon={epsilon!r}"
        )
    if not isinstance(epsilon, Real) or not 0 < float(epsilon) < 1:
        raise ValueError(f"epsilon must be a number between 0 and 1; got {epsilon!r}")


def check_alpha(alpha: Any, *, auto: bool) -> None:
    """Raise if alpha is not a finite number >= 0, or "auto" where that is allowed."""
    if not (auto and isinstance(alpha, str) and alpha == "auto"):
        check_number("alpha", alpha, otherwise=' or "auto"' if auto else "")


def check_squares(singular_values: FloatArray, otherwise: str = "") -> None:
    """Raise if squares of X over- or underflow: no alpha can then be compared with them."""
    largest = singular_values[0]
    if not 1e-150 < largest < 1e150:
        advice = f"scale X, {otherwise}" if otherwise else "scale X"
        raise ValueError(
            f"squares of X over- or underflow (its largest singular value is {largest:.3g}), "
            f"so alpha cannot be compared with them: {advice}"
        )


def descending(scores: AnyArray) -> IndexArray:
    """Indices by descending score; scores that nearly tie by ascending index."""
    return np.argsort(-np.round(scores, 12), kind="stable")
