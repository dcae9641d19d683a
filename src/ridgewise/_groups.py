# SPDX-License-Identifier: BSD-3-Clause
"""Groups of features that are selected whole."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from ridgewise._typing import AnyArray, FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of the features, which are single where no groups are given.

    Attributes
    ----------
    index : ndarray of shape (n_features,)
        The group of each feature, a number from 0.
    labels : ndarray of shape (n_groups,)
        The groups' labels, in the order in which they first appear.
    given : bool
        Whether there are groups. If not, each feature is one of its own.

    Examples
    --------
    >>> groups = resolve_groups(["b", "a", "b", "c"], 4)
    >>> groups.labels
    array(['b', 'a', 'c'], dtype=object)
    >>> groups.members(np.array([0, 2]))
    array([0, 2, 3])
    >>> groups.sums(np.array([1.0, 10.0, 100.0, 1000.0]))
    array([ 101.,   10., 1000.])
    """

    index: IndexArray
    labels: AnyArray
    given: bool = True

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def sizes(self) -> IndexArray:
        """The number of features of each group."""
        return np.bincount(self.index, minlength=len(self))

    @cached_property
    def order(self) -> IndexArray:
        """All features, group by group, in ascending order within a group."""
        return np.argsort(self.index, kind="stable")

    @cached_property
    def starts(self) -> IndexArray:
        """Where each group starts in ``order``."""
        return np.cumsum(self.sizes) - self.sizes

    def sums(self, scores: FloatArray) -> FloatArray:
        """The sum of the features' scores, for each group."""
        return sums(scores[self.order], self.sizes) if self.given else scores

    def members(self, chosen: IndexArray) -> IndexArray:
        """The features of the groups ``chosen``, one group after the other."""
        if not self.given:
            return chosen
        return self.order[spans(self.starts[chosen], self.sizes[chosen])]


def spans(starts: IndexArray, sizes: IndexArray) -> IndexArray:
    """So many consecutive numbers from each start on.

    >>> spans(np.array([3, 0]), np.array([3, 2]))
    array([3, 4, 5, 0, 1])
    """
    return np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


def sums(values: FloatArray, sizes: IndexArray) -> FloatArray:
    """Sums of so many consecutive values.

    >>> sums(np.array([1.0, 10.0, 100.0]), np.array([1, 2]))
    array([  1., 110.])
    """
    if len(values) == len(sizes):
        return values
    return np.add.reduceat(values, np.cumsum(sizes) - sizes)


def resolve_groups(groups: Any, n_features: int) -> Groups:
    """Make the partition that a selector's ``groups`` describes.

    >>> resolve_groups(2, 6).index
    array([0, 0, 1, 1, 2, 2])
    """
    if groups is None:
        single = np.arange(n_features)
        return Groups(single, single, given=False)
    if isinstance(groups, Integral) and not isinstance(groups, bool):
        return consecutive(int(groups), n_features)
    labels = as_labels(groups)
    if len(labels) != n_features:
        raise ValueError(
            f"groups needs one label a feature: got {len(labels)} labels, and X has {n_features} "
            "features"
        )
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "iu":  # fast, for many features
        found, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return Groups(np.argsort(order)[inverse], label_array(found[order].tolist()))
    number: dict[Hashable, int] = {}
    for feature, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(f"groups has no label for feature {feature}: got {label!r}")
        try:
            number.setdefault(label, len(number))
        except TypeError:
            raise ValueError(
                f"labels of groups must be hashable; got {label!r} for feature {feature}"
            ) from None
    index = np.fromiter((number[label] for label in labels), dtype=np.intp, count=n_features)
    return Groups(index, label_array(number))


def groups_of(groups: Any, X: Any) -> Groups:
    """The partition that ``groups`` describes; if None, that of an expanded X."""
    return resolve_groups(
        getattr(X, "feature_groups", None) if groups is None else groups, X.shape[1]
    )


def consecutive(size: int, n_features: int) -> Groups:
    """Groups of ``size`` consecutive features, labelled from 0."""
    if size < 1 or n_features % size != 0:
        raise ValueError(
            "groups as an int is the number of consecutive features of each group, at least 1, and "
            f"must divide the number of features: got groups={size}, and X has {n_features} "
            "features. Give one label a feature if groups differ in size"
        )
    index = np.arange(n_features) // size
    return Groups(index, np.arange(n_features // size))


def as_labels(groups: Any) -> list[Any]:
    """The labels as Python objects."""
    shape = getattr(groups, "shape", (0,))
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable) or len(shape) != 1:
        what = f"an array of shape {shape}" if len(shape) != 1 else repr(groups)
        raise ValueError(
            "groups must be None, an int (consecutive features of each group) or a list of "
            f"labels, one a feature; got {what}"
        )
    return list(groups.tolist() if hasattr(groups, "tolist") else groups)


def is_missing(label: Any) -> bool:
    """Whether it is None, NaN, another missing value or an empty string."""
    if label is None or (isinstance(label, str) and not label):
        return True
    try:
        return bool(label != label)
    except TypeError:  # pandas.NA is neither
        return True
    except ValueError:  # an array, which is not hashable either
        return False


def label_array(labels: Iterable[Hashable]) -> AnyArray:
    """Labels as an array: of integers if all are, else of objects."""
    found = np.fromiter(labels, dtype=object)
    whole = all(type(label) is int and abs(label) < 2**62 for label in found)
    return found.astype(np.int64) if whole else found
