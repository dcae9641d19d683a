# SPDX-License-Identifier: BSD-3-Clause
"""The interval of a weighted selection, measured from the data's spectrum."""

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.barrier import weighted_spectrum
from ridgewise.spectrum import Spectrum
from ridgewise.spectrum._spectrum import TallSpectrum, WideSpectrum


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
    >>> from ridgewise.spectrum import compute_spectrum
    >>> spectrum = compute_spectrum(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 1.0]]))
    >>> rows = spectrum.take(np.array([0, 1]))
    >>> lower, upper = measured_interval(spectrum, rows, np.array([1.0, 1.5]))
    >>> round(lower, 12), round(upper, 12)
    (0.75, 1.0)
    """
    if alpha == 0:
        return weighted_spectrum(selected_rows, weights) if len(weights) else (0.0, 0.0)
    k = spectrum.singular_values**2
    Z = k / (k + alpha)
    # M^T M = Z^1/2 G Z^1/2 + I - Z: singular values of M keep small ends accurate
    weighted = np.sqrt(weights)[:, None] * selected_rows * np.sqrt(Z)
    M = np.vstack([weighted, np.diag(np.sqrt(alpha / (k + alpha)))])
    lower, upper = weighted_spectrum(M, np.ones(len(M)))
    if spectrum.rank < data_shape(spectrum)[0]:
        return min(lower, 1.0), max(upper, 1.0)
    return lower, upper


def data_shape(spectrum: Spectrum) -> tuple[int, int]:
    """How many samples and features the data has."""
    if isinstance(spectrum, TallSpectrum):
        n_features, n_samples = spectrum.rows.shape
        return n_samples, n_features
    assert isinstance(spectrum, WideSpectrum)
    return spectrum.columns.shape


def is_centered(spectrum: Spectrum) -> bool:
    """Whether the features' means were subtracted."""
    if isinstance(spectrum, TallSpectrum):
        return spectrum.rows.offset is not None
    assert isinstance(spectrum, WideSpectrum)
    return spectrum.columns.center
