# SPDX-License-Identifier: BSD-3-Clause
"""What users say of a subset: how many features, at which costs, which ones, which target."""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_array, column_or_1d

from ridgewise._groups import Groups
from ridgewise._run import are_classes
from ridgewise._typing import AnyArray, FloatArray, IndexArray
from ridgewise.models import class_targets
from ridgewise.selectors._base import check_n_groups
from ridgewise.subset import Limits


def read_limits(
    size: Any,
    costs: Any,
    budget: Any,
    include: Any,
    exclude: Any,
    *,
    n_samples: int,
    groups: Groups,
    names: AnyArray | None,
) -> Limits:
    """The subsets that a selector's parameters allow: of features with names, or of groups."""
    d, what = len(groups), "group" if groups.given else "feature"
    if groups.given:
        names = groups.labels
    find = group_indices if groups.given else feature_indices
    included, excluded = find("include", include, d, names), find("exclude", exclude, d, names)
    both = np.intersect1d(included, excluded)
    if len(both) > 0:
        first = both[0] if names is None else repr(names[both[0]])
        raise ValueError(f"include and exclude overlap: {what} {first} is in both")
    if costs is not None or budget is not None:
        return priced(size, costs, budget, included, excluded, d, what)
    most = d - len(excluded)
    default = max(len(included), min(n_samples, most))
    found = min(most, check_n_groups(size, groups, default))
    if found < max(len(included), 1):
        raise ValueError(
            f"n_features_to_select={size!r} is impossible: {len(included)} of {d} {what}s are "
            f"included and {len(excluded)} excluded"
        )
    return Limits(np.ones(d), found, included, excluded)


def priced(
    size: Any,
    costs: Any,
    budget: Any,
    include: IndexArray,
    exclude: IndexArray,
    d: int,
    what: str,
) -> Limits:
    """The subsets that a budget allows."""
    if budget is None or costs is None:
        given, missing = ("budget", "costs") if costs is None else ("costs", "budget")
        raise ValueError(f"{given} is given and {missing} is not: give both, or neither")
    if size is not None:
        raise ValueError(
            f"give n_features_to_select or budget, not both; got {size!r} and {budget!r}"
        )
    if not isinstance(budget, Real) or not 0 <= float(budget) < np.inf:
        raise ValueError(f"budget must be a number >= 0; got {budget!r}")
    prices = np.asarray(costs, dtype=np.float64)
    if prices.shape != (d,):
        raise ValueError(
            f"costs must have one number for each of {d} {what}s; got shape {prices.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(prices) & (prices >= 0)))
    if len(bad) > 0:
        raise ValueError(f"costs must be >= 0; got {prices[bad[0]]:g} for {what} {bad[0]}")
    limits = Limits(prices, float(budget), include, exclude)
    if limits.room < -1e-12 * limits.budget:
        raise ValueError(f"include costs {prices[include].sum():g}, over budget={budget:g}")
    cheapest = prices[limits.free].min(initial=np.inf)
    if len(include) == 0 and cheapest > limits.budget:
        raise ValueError(f"budget={budget:g} buys no {what}: the cheapest costs {cheapest:g}")
    return limits


def group_indices(what: str, given: Any, d: int, labels: AnyArray | None) -> IndexArray:
    """Groups by their labels, as numbers in the order given.

    Examples
    --------
    >>> group_indices("include", ["b"], 2, np.array(["a", "b"]))
    array([1])
    """
    if given is None:
        return np.empty(0, dtype=np.intp)
    assert labels is not None
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"{what} must be a sequence of the groups' labels; got {given!r}")
    number = {label: place for place, label in enumerate(labels.tolist())}
    wanted = list(given.tolist() if hasattr(given, "tolist") else given)
    unknown = [label for label in wanted if label not in number]
    if unknown:
        raise ValueError(f"{what}: there is no group {unknown[0]!r}")
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"{what} has a group twice: {wanted!r}")
    return np.array([number[label] for label in wanted], dtype=np.intp)


def feature_indices(what: str, given: Any, d: int, names: AnyArray | None) -> IndexArray:
    """Features by index or by name, as indices in the order given.

    Examples
    --------
    >>> feature_indices("include", ["b", 0, -1], 3, np.array(["a", "b", "c"]))
    array([1, 0, 2])
    """
    if given is None:
        return np.empty(0, dtype=np.intp)
    if isinstance(given, str | Integral) or np.ndim(given) != 1:
        raise ValueError(f"{what} must be a sequence of indices or names; got {given!r}")
    found = [feature_index(what, item, d, names) for item in given]
    if len(set(found)) < len(found):
        raise ValueError(f"{what} has a feature twice: {list(given)!r}")
    return np.array(found, dtype=np.intp)


def feature_index(what: str, item: Any, d: int, names: AnyArray | None) -> int:
    """One feature by index or by name."""
    if isinstance(item, str):
        if names is None:
            raise ValueError(f"{what} has the name {item!r}, but X has no names: give indices")
        places = np.flatnonzero(names == item)
        if len(places) == 0:
            close = get_close_matches(item, [str(name) for name in names], n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"{what}: X has no feature {item!r}{hint}")
        return int(places[0])
    if not isinstance(item, Integral) or isinstance(item, bool | np.bool_):
        raise ValueError(f"{what} must hold indices (int) or names (str); got {item!r}")
    if not -d <= int(item) < d:
        raise ValueError(f"{what}: there is no feature {item!r}, X has {d}")
    return int(item) % d


def as_targets(y: Any) -> FloatArray:
    """Targets in columns; classes are coded as -1 and +1, one against the rest.

    Examples
    --------
    >>> as_targets(["ill", "well", "ill"]).ravel()
    array([-1.,  1., -1.])
    >>> as_targets([0.5, 2.0]).ravel()
    array([0.5, 2. ])
    """
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
    if y.ndim == 2:
        return y.astype(np.float64)
    y = column_or_1d(y)
    if not are_classes(y):
        return y[:, None].astype(np.float64)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has one class only, {classes.tolist()[0]!r}: there is nothing to fit")
    return class_targets(codes, np.arange(len(classes)))
