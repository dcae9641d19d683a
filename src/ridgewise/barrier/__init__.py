# SPDX-License-Identifier: BSD-3-Clause
"""Single-set spectral sparsification (BSS): the fast engine, and the paper's algorithm as oracle.

This room knows vectors and no containers.
"""

from ridgewise.barrier._engine import sparsify
from ridgewise.barrier._plain import ArrayVectors, sparsify_plain
from ridgewise.barrier._problem import (
    RULES,
    NumericalBreakdownError,
    Sparsifier,
    Vectors,
    penalized_norms2,
    weighted_spectrum,
)

__all__ = [
    "RULES",
    "ArrayVectors",
    "NumericalBreakdownError",
    "Sparsifier",
    "Vectors",
    "penalized_norms2",
    "sparsify",
    "sparsify_plain",
    "weighted_spectrum",
]
