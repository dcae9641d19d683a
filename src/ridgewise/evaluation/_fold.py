# SPDX-License-Identifier: BSD-3-Clause
"""One fold: every method selects from its training samples, and is tested on the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from sklearn.base import clone

from ridgewise._memory import Memory, remembering
from ridgewise._threads import one_blas_thread
from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse
from ridgewise.models import DualPath

EPS = float(np.finfo(np.float64).eps)
WIDE = 4  # so many times more features than samples, a sparse kernel is cheaper than dense features


@dataclass(frozen=True)
class Cell:
    """One selector with one number of features: a line of the comparison.

    Attributes
    ----------
    method : str
        The selector's name.
    n_features : int or None
        How many features it is asked for. None: as the selector was given.
    selector : selector or None
        Not fitted. None: all features are kept.
    """

    method: str
    n_features: int | None
    selector: Any

    @property
    def label(self) -> str:
        """What to call it in messages."""
        return self.method if self.n_features is None else f"{self.method}, {self.n_features}"


@dataclass(frozen=True)
class Plan:
    """What every fold does.

    Attributes
    ----------
    cells : tuple of Cell
        What is compared.
    alphas : tuple of float
        Of the ridge models.
    classify : bool
        Whether the targets are classes.
    fit_intercept : bool
        Whether the models have an intercept.
    n_tries : int
        How often a random selector draws anew.
    seed : int
        Of everything random.
    """

    cells: tuple[Cell, ...]
    alphas: tuple[float, ...]
    classify: bool
    fit_intercept: bool
    n_tries: int
    seed: int


class Split(NamedTuple):
    """Which samples are trained on and which are tested on."""

    repeat: int
    fold: int
    train: IndexArray
    test: IndexArray


class FoldResult(NamedTuple):
    """What came out of a fold, cell by cell.

    Attributes
    ----------
    errors : ndarray of shape (n_cells, n_alphas)
        The share of wrong classes, or the mean squared error, averaged over the tries.
    seconds : ndarray of shape (n_cells,)
        Of the selector's `fit`, averaged over the tries; shared work is charged to each.
    sets : list of list of ndarray
        The features of each try, in ascending order.
    """

    errors: FloatArray
    seconds: FloatArray
    sets: list[list[IndexArray]]


def run_fold(plan: Plan, X: Any, y: AnyArray, split: Split) -> FoldResult:
    """Compute a fold.

    Parameters
    ----------
    plan : Plan
        What to compare.
    X : ndarray or sparse array of shape (n, d)
        All samples. Selectors see those of the training part only.
    y : ndarray of shape (n,)
        Their targets.
    split : Split
        Which samples are which.

    Returns
    -------
    FoldResult
    """
    data = _FoldData(plan, X, y, split)
    outcomes = []
    # Several of the methods need the same spectrum, and the machine's cores are for other folds.
    with one_blas_thread(), remembering() as memory:
        for cell in plan.cells:
            try:
                outcomes.append(_try_cell(plan, cell, data, memory, split))
            except (ValueError, ArithmeticError) as error:
                raise ValueError(f"{cell.label}: {error}") from error
    errors, seconds, sets = zip(*outcomes, strict=True)
    return FoldResult(np.array(errors), np.array(seconds), list(sets))


class _FoldData:
    """The parts of the data, in forms that are quick to work with."""

    def __init__(self, plan: Plan, X: Any, y: AnyArray, split: Split) -> None:
        self.X_train, self.X_test = _rows(X, split.train), _rows(X, split.test)
        self.y_train = y[split.train]
        self.classify, self.fit_intercept = plan.classify, plan.fit_intercept
        if self.classify:
            classes, y = np.unique(y, return_inverse=True)
            columns = np.arange(len(classes))[1 if len(classes) == 2 else 0 :]
            self.Y = np.where(np.equal.outer(y[split.train], columns), 1.0, -1.0)
        else:
            y = y.astype(np.float64)
            self.Y = y[split.train, None]
        self.truth = y[split.test, None]

    def errors(self, A_train: Any, A_test: Any, alphas: tuple[float, ...]) -> FloatArray:
        """The errors of the models of some features, one an alpha."""
        path, K_test = _dual(A_train, A_test, center=self.fit_intercept)
        y_mean = self.Y.mean(axis=0) if self.fit_intercept else 0.0
        scores = path.predict(K_test, self.Y - y_mean, alphas) + y_mean
        if not self.classify:
            return np.mean((scores[:, :, 0] - self.truth) ** 2, axis=0)
        # As RLSClassifier decides: 0 is the first class.
        chosen = scores[:, :, 0] > 0 if scores.shape[2] == 1 else scores.argmax(axis=2)
        return np.mean(chosen != self.truth, axis=0)


def _rows(X: Any, indices: IndexArray) -> Any:
    part = X[indices]
    return part.tocsc() if is_sparse(part) else part


class _Try(NamedTuple):
    """What one selection gave."""

    errors: FloatArray
    seconds: float
    chosen: IndexArray

    def same_as(self, other: "_Try") -> bool:
        """Whether nothing but time was different."""
        alike = np.array_equal(self.chosen, other.chosen)
        return alike and np.array_equal(self.errors, other.errors)


def _try_cell(
    plan: Plan, cell: Cell, data: _FoldData, memory: Memory, split: Split
) -> tuple[FloatArray, float, list[IndexArray]]:
    """Try one cell: once, or several times where its selector is random."""
    if cell.selector is None:
        return data.errors(data.X_train, data.X_test, plan.alphas), 0.0, []
    place = (split.repeat, split.fold, crc32(cell.label.encode()))
    tries = [
        _try(cell.selector, seed_for(plan.seed, *place, number), data, memory, plan.alphas)
        for number in range(plan.n_tries if _is_random(cell.selector) else 1)
    ]
    if all(one.same_as(tries[0]) for one in tries):
        tries = tries[:1]  # not random after all: its random state breaks ties, say
    errors, seconds, sets = zip(*tries, strict=True)
    return np.mean(errors, axis=0), float(np.mean(seconds)), list(sets)


def _try(
    selector: Any, seed: int, data: _FoldData, memory: Memory, alphas: tuple[float, ...]
) -> _Try:
    """Select from the training samples, with a clock, and test what was selected."""
    selector = with_seed(selector, seed)
    with _numpy_seeded(seed):
        start, saved = perf_counter(), memory.seconds_saved
        selector.fit(data.X_train, data.y_train)
        seconds = perf_counter() - start + memory.seconds_saved - saved
    support, d = np.asarray(selector.get_support()), data.X_train.shape[1]
    if support.shape != (d,):
        raise ValueError(f"get_support is about {support.size} features, and X has {d}")
    kept = selector.transform(data.X_train), selector.transform(data.X_test)
    return _Try(data.errors(*kept, alphas), seconds, np.flatnonzero(support))


@contextmanager
def _numpy_seeded(seed: int) -> Iterator[None]:
    """Seed NumPy's global generator for a while: what has no `random_state` may draw from it."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _dual(A_train: Any, A_test: Any, *, center: bool) -> tuple[DualPath, FloatArray]:
    """The path of some features' kernel, and the kernel of the test samples."""
    n, d = A_train.shape
    if is_sparse(A_train) and d > WIDE * n:
        return _sparse_dual(_checked(A_train), _checked(A_test), center=center)
    A_train, A_test = _checked(_dense(A_train)), _checked(_dense(A_test))
    if center:
        mean = A_train.mean(axis=0)
        A_train, A_test = A_train - mean, A_test - mean
    return DualPath.from_features(A_train), A_test @ A_train.T


def _sparse_dual(A_train: Any, A_test: Any, *, center: bool) -> tuple[DualPath, FloatArray]:
    """The same without the features' zeros, and with the kernels centred instead of them."""
    K, K_test = (A_train @ A_train.T).toarray(), (A_test @ A_train.T).toarray()
    if not center:
        return DualPath.from_kernel(K), K_test
    mean = K.mean(axis=0)
    K_test = K_test - K_test.mean(axis=1, keepdims=True) - mean + mean.mean()
    path = DualPath.from_kernel(K - mean[:, None] - mean + mean.mean())
    # What was subtracted leaves rounding of its own size, n |mean|^2 = sum(K) / n, in place of 0.
    above = path.eigenvalues > A_train.shape[1] * EPS * mean.sum()
    return DualPath(path.basis[:, above], path.eigenvalues[above]), K_test


def _dense(A: Any) -> AnyArray:
    return np.asarray(A.toarray() if is_sparse(A) else A)


def _checked(A: Any) -> Any:
    """In float64, of which a kernel can be computed."""
    A = A.astype(np.float64, copy=False)
    values = A.data if is_sparse(A) else A
    if not np.isfinite(np.vdot(values, values)):
        raise ValueError("squares of the features overflow: scale X")
    return A


def seed_for(seed: int, *place: int) -> int:
    """Derive a seed that depends on its place alone, not on what was computed before it."""
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=place)
    return int(sequence.generate_state(1)[0] >> 1)  # below 2^31, which every library takes


def with_seed(selector: Any, seed: int) -> Any:
    """Clone a selector, with another random state wherever it has one."""
    selector = clone(selector)
    return selector.set_params(**dict.fromkeys(_random_states(selector), seed))


def _is_random(selector: Any) -> bool:
    """Whether it has a random state, and does not say that it makes no use of it."""
    return bool(_random_states(selector)) and getattr(selector, "is_random", True)


def _random_states(selector: Any) -> list[str]:
    """Name the parameters that are random states, its own and its parts'."""
    return [name for name in selector.get_params() if f"__{name}".endswith("__random_state")]
