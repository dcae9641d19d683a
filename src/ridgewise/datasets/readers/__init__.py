# SPDX-License-Identifier: BSD-3-Clause
"""Users' files: one function reads every format, and says what it did."""

from ridgewise.datasets.readers._opening import FORMATS
from ridgewise.datasets.readers._read import read_table
from ridgewise.datasets.readers._result import Source, Table
from ridgewise.datasets.readers._target import check_classes, describe_target

__all__ = ["FORMATS", "Source", "Table", "check_classes", "describe_target", "read_table"]
