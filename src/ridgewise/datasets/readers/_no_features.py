# SPDX-License-Identifier: BSD-3-Clause
"""Columns of a table that are plainly no features: row numbers, splits, other targets."""

import re
from collections.abc import Iterable

import numpy as np

from ridgewise._typing import AnyArray

ID = re.compile(r"(.*[ _.-])?(id|ids|idx|index|row|rows|rownames|rownum|nr|no|number)", re.I)
SPLIT = re.compile(r"((is|in)[ _.-]?)?(train|training|test|testing|validation|split|holdout)", re.I)
PARTS = {"train", "training", "test", "testing", "val", "valid", "validation", "holdout", "dev"}
YES_NO = {"true", "false", "t", "f", "yes", "no", "y", "n", "0", "1", "0.0", "1.0"}
TARGET = re.compile(r"targets?|labels?|class(es)?|outcome|response", re.I)
LIKELY = re.compile("|".join(f"(?:{each.pattern})" for each in (ID, SPLIT, TARGET)), re.I)
FEWEST_ROWS = 5  # fewer are in order by chance


def likely_no_features(columns: list[str]) -> set[int]:
    """Places of the columns to look at: the first one, and those with a telling name."""
    return {0, *(place for place, name in enumerate(columns) if LIKELY.fullmatch(name))}


def why_no_feature(
    place: int, name: str, numbers: AnyArray, texts: Iterable[str], target: str | None
) -> str | None:
    """Say why a column is plainly no feature, or return None.

    ``numbers`` are its cells, NaN where they are missing or text; ``texts`` those that are text.
    """
    if target is not None and name != target and TARGET.fullmatch(name):
        return "is another target"
    texts = {text.strip().casefold() for text in texts}
    if texts <= PARTS and texts and not np.isfinite(numbers).any():
        return "marks training and test samples"
    if SPLIT.fullmatch(name):
        found = texts | {str(value) for value in np.unique(numbers[np.isfinite(numbers)])}
        return "marks training and test samples" if found <= PARTS | YES_NO else None
    if place == 0 or ID.fullmatch(name):
        return None if texts else _why_id(name, numbers)
    return None


def _why_id(name: str, numbers: AnyArray) -> str | None:
    if len(numbers) < FEWEST_ROWS or not np.isfinite(numbers).all():
        return None
    if numbers[0] in (0, 1) and (np.diff(numbers) == 1).all():
        return "numbers the rows"
    is_whole = (numbers == np.trunc(numbers)).all()
    if ID.fullmatch(name) and is_whole and len(np.unique(numbers)) == len(numbers):
        return "has another number for each sample"
    return None
