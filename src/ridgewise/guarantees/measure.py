# SPDX-License-Identifier: BSD-3-Clause
"""The certificate of a weighted selection, as measured from the data's spectrum."""

from numpy.typing import ArrayLike

from ridgewise.guarantees._checks import check_not_negative
from ridgewise.guarantees.certificate import Certificate
from ridgewise.guarantees.interval import measured_interval
from ridgewise.guarantees.selection import Selection
from ridgewise.spectrum import Spectrum


def measured_certificate(
    spectrum: Spectrum,
    selected: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    alpha: float = 0.0,
    promised: tuple[float | None, float | None] = (None, None),
    confidence: float = 1.0,
    rank: int | float | None = None,
    interval: tuple[float, float] | None = None,
) -> Certificate:
    """Measure how well selected features stand for all: what a selector does when it is fitted.

    It costs the selected rows of U and one small decomposition, and no pass over the data. So
    rounding is not accounted for (``verified`` is False) unless everything was selected: `certify`
    does that.

    Parameters
    ----------
    spectrum : Spectrum
        Of the data.
    selected : array-like of shape (n_selected,)
        Feature indices, without repetition.
    weights : array-like of shape (n_selected,), default=None
        Their weights; None: ones.
    alpha : float, default=0
        What is on the diagonal in the statement.
    promised : tuple of two floats or Nones
        What the method promises beforehand.
    confidence : float, default=1
        The probability with which the promise holds.
    rank : int or float or None, default=None
        Which singular vectors were asked for when the spectrum was computed.

    interval : tuple of two floats, optional
        What was measured already, of these weights and this alpha.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.spectrum import compute_spectrum
    >>> spectrum = compute_spectrum(np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 1.0]]))
    >>> print(measured_certificate(spectrum, [0, 1], [1.0, 1.5]))
    measured [0.7500, 1.0000]
    epsilon  0.2500
    >>> print(measured_certificate(spectrum, [0], alpha=1.0))
    measured [0.3333, 1.0000]
    epsilon  0.6667
    for ridge models with alpha >= 1
    """
    alpha = check_not_negative("alpha", alpha)
    selection = Selection.of(
        selected,
        weights,
        n_features=spectrum.shape[1],
        center=spectrum.center,
        rank=rank,
    )
    if selection.keeps_all:
        return Certificate(1.0, 1.0, *promised, confidence, alpha, True, selection=selection)
    if interval is None:
        rows = spectrum.take(selection.indices)
        interval = measured_interval(spectrum, rows, selection.w, alpha)
    return Certificate(*interval, *promised, confidence, alpha, selection=selection)
