# SPDX-License-Identifier: BSD-3-Clause
"""What a selection keeps of the data, direction by direction."""

from typing import Any

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.spectrum import Spectrum


def relative_eigenvalues(spectrum: Spectrum, X_selected: Any) -> FloatArray:
    """Compute the eigenvalues of the selected features' kernel K~ relative to K, descending.

    With X = V S U^T and G = S^-1 V^T X_selected they are the eigenvalues of G G^T, so that
    kept[-1] K <= K~ <= kept[0] K, as in a certificate. Lost directions are exactly 0.
    """
    G = (spectrum.V.T @ X_selected) / spectrum.singular_values[:, None]
    kept = np.linalg.eigvalsh(G @ G.T)[::-1]
    rounding = spectrum.rank * np.finfo(np.float64).eps * kept[0]
    return np.where(kept > rounding, kept, 0.0)
