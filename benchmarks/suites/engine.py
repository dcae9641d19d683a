# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: D102 (the names of methods, which asv knows them by, say what they measure)
"""The engine alone, on a spectrum that is there already."""

from functools import partial

from ridgewise.barrier import RULES, Sparsifier, sparsify
from ridgewise.guarantees import alpha_for_dimension, polish
from ridgewise.spectrum import Spectrum, compute_spectrum

from .data import make_data


def scored(n: int, d: int, density: float) -> Spectrum:
    """A spectrum with its leverage scores."""
    spectrum = compute_spectrum(make_data(n, d, density))
    _ = spectrum.leverage_scores
    return spectrum


class Rules:
    """Each rule, with r draws a sample."""

    params = ([50, 200], [1000, 20_000], [2, 4], [0.05, 1.0], list(RULES))
    param_names = ("n", "d", "r", "density", "rule")

    def setup(self, n: int, d: int, r: int, density: float, rule: str) -> None:
        spectrum = scored(n, d, density)
        self.run = partial(sparsify, spectrum, r * n, rule)

    def time_sparsify(self, *_: object) -> None:
        self.run()

    def peakmem_sparsify(self, *_: object) -> None:
        self.run()

    def track_rows(self, n: int, d: int, r: int, density: float, rule: str) -> float:
        """Rows of U looked at, a draw."""
        return self.run().counts.get("rows", 0) / (r * n)

    track_rows.unit = "rows"  # type: ignore[attr-defined]

    def track_decompositions(self, *_: object) -> float:
        """Eigendecompositions in all."""
        return self.run().counts["decompositions"]

    track_decompositions.unit = "decompositions"  # type: ignore[attr-defined]


class RidgeModels:
    """Fewer draws than samples, for ridge models: r = n / 2, by effective dimension."""

    params = ([50, 200], [1000, 20_000], [0.05, 1.0])
    param_names = ("n", "d", "density")

    def setup(self, n: int, d: int, density: float) -> None:
        spectrum = scored(n, d, density)
        squares = spectrum.singular_values**2
        penalty = alpha_for_dimension(squares, n / 8) / squares
        self.run = partial(sparsify, spectrum, n // 2, "norm", penalty)

    def time_sparsify(self, *_: object) -> None:
        self.run()

    def peakmem_sparsify(self, *_: object) -> None:
        self.run()


class Polish:
    """Weights adjusted after the draws."""

    params = ([50, 200], [1000, 20_000], [2, 4])
    param_names = ("n", "d", "r")

    def setup(self, n: int, d: int, r: int) -> None:
        spectrum = scored(n, d, 1.0)
        self.found: Sparsifier = sparsify(spectrum, r * n)
        self.rows = spectrum.take(self.found.selected)

    def time_polish(self, *_: object) -> None:
        polish(self.rows, self.found.weights)
