# SPDX-License-Identifier: BSD-3-Clause
"""Names of the array types that the rooms hand to each other."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse array or matrix (and, unlike ``issparse``, no more about its type)."""
    return bool(sp.issparse(X))
