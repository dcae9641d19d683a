# SPDX-License-Identifier: BSD-3-Clause
"""One fold: every method selects from its training samples, and is tested on the others."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter
from zlib import crc32

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ridgewise._run import Memory, one_blas_thread, remembering
from ridgewise._typing import AnyArray, FloatArray, IndexArray, is_sparse
from ridgewise.models import DualPath, choose_alpha, class_targets, dual_path
from ridgewise.selectors import FewerFeaturesWarning

EDGES = {"smallest": -1.0, "": 0.0, "largest": 1.0}


@dataclass(frozen=True)
class Cell:
    """One selector with one number of features: a row of the comparison."""

    method: str
    n_features: int | None  # None: as set in the selector
    selector: Any  # not fitted; None: all features

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.method if self.n_features is None else f"{self.method}, {self.n_features}"


@dataclass(frozen=True)
class Plan:
    """What is compared, and how: the same in every fold."""

    cells: tuple[Cell, ...]
    alphas: tuple[float, ...] | None  # None: each model's own, by leave-one-out
    relative: bool  # whether alphas are relative to the mean diagonal of the model's kernel
    classify: bool
    fit_intercept: bool
    n_tries: int  # of a random selector
    seed: int
    prepare: Any  # transformer or None, fitted to the training samples


class Split(NamedTuple):
    """Which samples are trained on and which are tested on."""

    repeat: int
    fold: int
    train: IndexArray
    test: IndexArray


class CellResult(NamedTuple):
    """Results of a cell in a fold, averaged over its tries."""

    errors: FloatArray  # (n_alphas,): misclassification rate or mean squared error
    # (n_alphas, 3): alpha, alpha / mean diagonal of the kernel, and -1 or 1 if leave-one-out chose
    # the smallest or the largest of its grid
    tuning: FloatArray
    seconds: float  # of `fit`; shared work is charged to each
    sets: list[IndexArray]  # features of each try, ascending


def run_fold(plan: Plan, X: Any, y: AnyArray, split: Split) -> list[CellResult]:
    """Compute a fold: fit every selector to the training samples, and test its features."""
    data = _FoldData(plan, X, y, split)
    results = []
    # Methods share spectra; other folds use the other cores.
    with one_blas_thread(), remembering() as memory:
        for cell in plan.cells:
            try:
                results.append(_run_cell(plan, cell, data, memory, split))
            except (ValueError, ArithmeticError) as error:
                raise ValueError(f"{cell.label}: {error}") from error
    return results


class _FoldData:
    """The training and test parts of the data."""

    def __init__(self, plan: Plan, X: Any, y: AnyArray, split: Split) -> None:
        parts = X[split.train], X[split.test]
        if plan.prepare is not None:
            prepare = clone(plan.prepare).fit(parts[0])
            parts = prepare.transform(parts[0]), prepare.transform(parts[1])
        self.X_train, self.X_test = (part.tocsc() if is_sparse(part) else part for part in parts)
        self.y_train, self.plan = y[split.train], plan
        if plan.classify:
            classes, y = np.unique(y, return_inverse=True)
            self.Y = class_targets(y[split.train], np.arange(len(classes)))
        else:
            y = y.astype(np.float64)
            self.Y = y[split.train, None]
        self.truth = y[split.test, None]

    def errors(self, A_train: Any, A_test: Any) -> tuple[FloatArray, FloatArray]:
        """The errors of the models with some features, one for each alpha, and their tuning."""
        path, K_test = dual_path(A_train, A_test, center=self.plan.fit_intercept)
        tuning = self._tune(path)
        y_mean = self.Y.mean(axis=0) if self.plan.fit_intercept else 0.0
        scores = path.predict(K_test, self.Y - y_mean, tuning[:, 0]) + y_mean
        if not self.plan.classify:
            return np.mean((scores[:, :, 0] - self.truth) ** 2, axis=0), tuning
        # As RLSClassifier decides: 0 is the first class.
        chosen = scores[:, :, 0] > 0 if scores.shape[2] == 1 else scores.argmax(axis=2)
        return np.mean(chosen != self.truth, axis=0), tuning

    def _tune(self, path: DualPath) -> FloatArray:
        """The alphas, the same relative to the kernel's mean diagonal, and edges reached."""
        if self.plan.alphas is None:
            choice = choose_alpha(path, self.Y, fit_intercept=self.plan.fit_intercept)
            return np.array([[choice.alpha, choice.relative, EDGES[choice.edge]]])
        scale = path.eigenvalues.sum() / len(self.Y) or 1.0
        given = np.array(self.plan.alphas)
        alphas = given * scale if self.plan.relative else given
        return np.column_stack([alphas, alphas / scale, np.zeros(len(given))])


def _run_cell(plan: Plan, cell: Cell, data: _FoldData, memory: Memory, split: Split) -> CellResult:
    """Try one cell: once, or several times where its selector is random."""
    if cell.selector is None:
        return CellResult(*data.errors(data.X_train, data.X_test), 0.0, [])
    is_random = _random_states(cell.selector) and getattr(cell.selector, "is_random", True)
    place = (split.repeat, split.fold, crc32(cell.label.encode()))
    tries = [
        _try(cell.selector, seed_for(plan.seed, *place, number), data, memory)
        for number in range(plan.n_tries if is_random else 1)
    ]
    if len({(one.errors.tobytes(), one.sets[0].tobytes()) for one in tries}) == 1:
        return tries[0]  # deterministic: its random state only breaks ties, for example
    errors, tuning, seconds, sets = zip(*tries, strict=True)
    means = np.mean(errors, axis=0), np.mean(tuning, axis=0), float(np.mean(seconds))
    return CellResult(*means, [chosen for (chosen,) in sets])


def _try(selector: Any, seed: int, data: _FoldData, memory: Memory) -> CellResult:
    """Select from the training samples, with a clock, and test what was selected."""
    selector = clone(selector)
    selector.set_params(**dict.fromkeys(_random_states(selector), seed))
    with _numpy_seeded(seed), catch_warnings():
        simplefilter("ignore", FewerFeaturesWarning)  # the table says how many there were
        start, saved = perf_counter(), memory.seconds_saved
        selector.fit(data.X_train, data.y_train)
        seconds = perf_counter() - start + memory.seconds_saved - saved
    support, d = np.asarray(last_step(selector).get_support()), data.X_train.shape[1]
    if support.shape != (d,):
        raise ValueError(f"get_support() has {support.size} entries, but X has {d} features")
    errors, tuning = data.errors(selector.transform(data.X_train), selector.transform(data.X_test))
    return CellResult(errors, tuning, seconds, [np.flatnonzero(support)])


def last_step(selector: Any) -> Any:
    """Return a pipeline's last step; anything else as it is."""
    return selector.steps[-1][1] if isinstance(selector, Pipeline) else selector


@contextmanager
def _numpy_seeded(seed: int) -> Iterator[None]:
    """Seed NumPy's global generator temporarily: selectors without `random_state` may use it."""
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def seed_for(seed: int, *place: int) -> int:
    """Derive a seed from its place alone, independent of the order of computation."""
    sequence = np.random.SeedSequence(entropy=seed, spawn_key=place)
    return int(sequence.generate_state(1)[0] >> 1)  # below 2^31, which every library takes


def _random_states(selector: Any) -> list[str]:
    """Names of the parameters that are random states, also nested ones."""
    return [name for name in selector.get_params() if f"__{name}".endswith("__random_state")]
