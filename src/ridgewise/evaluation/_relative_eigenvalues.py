# SPDX-License-Identifier: BSD-3-Clause
"""What a selection keeps of the data, direction by direction."""

from typing import Any

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.spectrum import Spectrum


def relative_eigenvalues(spectrum: Spectrum, X_selected: Any) -> FloatArray:
    """Compute how much of the kernel the selected features keep, in every direction.

    With X = V S U^T, K = X X^T and K~ that of the selected features, these are the eigenvalues of
    K~ relative to K ::

        G = S^-1 V^T X_selected,    kept = eigenvalues of G G^T

    so that kept[-1] K <= K~ <= kept[0] K: the ends are what a certificate states.

    Parameters
    ----------
    spectrum : Spectrum
        Of X, with all its features.
    X_selected : array or sparse array of shape (n_samples, n_selected)
        What a selector's `transform` makes of X.

    Returns
    -------
    ndarray of shape (rank,)
        In descending order; 1 where nothing changed, and 0 where a direction is lost.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.evaluation import relative_eigenvalues
    >>> from ridgewise.spectrum import compute_spectrum
    >>> X = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 3.0, 4.0]])
    >>> relative_eigenvalues(compute_spectrum(X), X[:, [0, 3]]).round(2)
    array([0.64, 0.5 ])
    """
    G = (spectrum.V.T @ X_selected) / spectrum.singular_values[:, None]
    kept = np.linalg.eigvalsh(G @ G.T)[::-1]
    rounding = spectrum.rank * np.finfo(np.float64).eps * kept[0]
    return np.where(kept > rounding, kept, 0.0)
