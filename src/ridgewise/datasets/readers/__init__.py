# SPDX-License-Identifier: BSD-3-Clause
"""Users' files: one function reads every format, and says what it did."""

from ridgewise.datasets.readers._files import FORMATS
from ridgewise.datasets.readers._read import read_table
from ridgewise.datasets.readers._result import Source, Table
from ridgewise.datasets.readers._target import check_classes

__all__ = ["FORMATS", "Source", "Table", "check_classes", "read_table"]
