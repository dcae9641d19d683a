# SPDX-License-Identifier: BSD-3-Clause
"""Array types that the rooms hand to each other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IndexArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]

# `issparse`, without its narrowing of types
is_sparse: Callable[[Any], bool] = sp.issparse
