# SPDX-License-Identifier: BSD-3-Clause
"""Names of the array types that the rooms hand to each other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]
