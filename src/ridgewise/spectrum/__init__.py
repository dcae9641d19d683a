# SPDX-License-Identifier: BSD-3-Clause
"""The data's spectrum: column blocks of any container, K, V and S, leverage scores, rows of U.

This room knows containers and no algorithm.
"""

from ridgewise.spectrum._columns import Columns, as_columns
from ridgewise.spectrum._spectrum import Spectrum, compute_spectrum

__all__ = ["Columns", "Spectrum", "as_columns", "compute_spectrum"]
