# SPDX-License-Identifier: BSD-3-Clause
"""Readers of users' files: `read_table` reads every format."""

from ridgewise.datasets.readers._opening import COMPRESSIONS, FORMATS
from ridgewise.datasets.readers._raw import Categorical, FeaturesIn, Missing, Source, Table
from ridgewise.datasets.readers._read import read_table
from ridgewise.datasets.readers._target import check_classes, describe_target

__all__ = [
    "COMPRESSIONS",
    "FORMATS",
    "Categorical",
    "FeaturesIn",
    "Missing",
    "Source",
    "Table",
    "check_classes",
    "describe_target",
    "read_table",
]
