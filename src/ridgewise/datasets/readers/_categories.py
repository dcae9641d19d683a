# SPDX-License-Identifier: BSD-3-Clause
"""Columns of text as categories: a column of zeros and ones for each level."""

import numpy as np

from ridgewise._typing import AnyArray, FloatArray
from ridgewise.datasets.readers._raw import count, shortened

ALWAYS_ALLOWED = 20  # levels, however few samples there are
SAMPLES_A_LEVEL = 4  # on average; fewer make it free text


def one_hot(name: str, cells: AnyArray) -> tuple[FloatArray, list[str]]:
    """Expand a column of text to one-hot columns, NaN where it is None, and their names."""
    is_there = np.array([cell is not None for cell in cells])
    levels, codes = np.unique(cells[is_there].astype(str), return_inverse=True)
    if len(levels) > max(ALWAYS_ALLOWED, len(cells) // SAMPLES_A_LEVEL):
        raise ValueError(
            f"column {shortened(name)} has {count(len(levels), 'different text')} in "
            f"{count(len(cells), 'sample')}, too many for a category: drop it, or name it as ids"
        )
    values = np.full((len(cells), len(levels)), np.nan)
    values[is_there] = codes[:, np.newaxis] == np.arange(len(levels))
    return values, [f"{name}={level}" for level in levels]
