# SPDX-License-Identifier: BSD-3-Clause
"""The interval of a weighted selection, measured from the data's spectrum."""

from ridgewise._typing import FloatArray
from ridgewise.barrier import weighted_spectrum
from ridgewise.spectrum import Spectrum


def measured_interval(
    spectrum: Spectrum, selected_rows: FloatArray, weights: FloatArray, alpha: float = 0.0
) -> tuple[float, float]:
    """Measure [a, b] with a (K + alpha) <= K~ + alpha <= b (K + alpha).

    With G = U^T W U and Z = S^2 (S^2 + alpha)^-1, the ends are the extreme eigenvalues of
    Z^1/2 G Z^1/2 + I - Z: of G itself at alpha = 0. Above that, what X does not span counts too,
    where both sides are alpha: the interval then holds 1.

    Parameters
    ----------
    spectrum : Spectrum
        Of the data.
    selected_rows : ndarray of shape (n_selected, rank)
        U_S, the rows of U that belong to the selected features.
    weights : ndarray of shape (n_selected,)
        Their weights.
    alpha : float, default=0
        What is on the diagonal.

    Returns
    -------
    lower, upper : float
        The interval, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.spectrum import compute_spectrum
    >>> spectrum = compute_spectrum(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 1.0]]))
    >>> rows = spectrum.take(np.array([0, 1]))
    >>> lower, upper = measured_interval(spectrum, rows, np.array([1.0, 1.5]))
    >>> round(lower, 12), round(upper, 12)
    (0.75, 1.0)
    """
    if alpha == 0:
        return weighted_spectrum(selected_rows, weights)
    lower, upper = weighted_spectrum(selected_rows, weights, alpha / spectrum.singular_values**2)
    if spectrum.rank < spectrum.shape[0]:
        return min(lower, 1.0), max(upper, 1.0)
    return lower, upper
