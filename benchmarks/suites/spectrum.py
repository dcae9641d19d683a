# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: D102 (the names of methods, which asv knows them by, say what they measure)
"""K, V, S and the leverage scores, in memory and from a file."""

import tempfile
from pathlib import Path

import numpy as np
import sklearn

from ridgewise.spectrum import as_columns, compute_spectrum

from .data import make_data


class InMemory:
    """Dense and sparse, wide."""

    params = ([50, 500], [1000, 100_000], [0.01, 0.1, 1.0])
    param_names = ("n", "d", "density")

    def setup(self, n: int, d: int, density: float) -> None:
        self.X = make_data(n, d, density)
        self.spectrum = compute_spectrum(self.X)
        self.some = np.random.default_rng(0).integers(0, d, size=256)

    def time_kernel(self, *_: object) -> None:
        as_columns(self.X).gram()

    def time_leverage_scores(self, *_: object) -> None:
        _ = compute_spectrum(self.X).leverage_scores

    def peakmem_leverage_scores(self, *_: object) -> None:
        _ = compute_spectrum(self.X).leverage_scores

    def time_qr(self, *_: object) -> None:
        compute_spectrum(self.X, solver="qr")

    def time_rows_of_u(self, *_: object) -> None:
        self.spectrum.take(self.some)


class MemoryMap:
    """A file of float32, with a limit."""

    params = ([50, 200], [1000, 100_000], [10, 500])
    param_names = ("n", "d", "megabytes")

    def setup(self, n: int, d: int, megabytes: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / "X.npy"
        np.save(path, make_data(n, d, 1.0).astype(np.float32))
        self.X = np.load(path, mmap_mode="r")

    def teardown(self, *_: object) -> None:
        del self.X
        self.folder.cleanup()

    def time_leverage_scores(self, n: int, d: int, megabytes: int) -> None:
        with sklearn.config_context(working_memory=megabytes):
            _ = compute_spectrum(self.X).leverage_scores

    def peakmem_leverage_scores(self, n: int, d: int, megabytes: int) -> None:
        with sklearn.config_context(working_memory=megabytes):
            _ = compute_spectrum(self.X).leverage_scores
