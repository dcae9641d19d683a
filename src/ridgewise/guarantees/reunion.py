# SPDX-License-Identifier: BSD-3-Clause
"""A certificate met with its data again: what its bounds on predictions and risk start from."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.guarantees._checks import check_not_negative, interval_around_one
from ridgewise.guarantees.interval import measured_interval
from ridgewise.guarantees.selection import Selection
from ridgewise.spectrum import Spectrum, as_numeric, compute_spectrum


@dataclass(frozen=True)
class Reunion:
    """Data, its spectrum in full rank, a selection, and the interval that holds for a model.

    Attributes
    ----------
    X : array or sparse array
        The training data.
    spectrum : Spectrum
        X = V S U^T.
    selection : Selection
        The selected features.
    selected_rows : ndarray of shape (n_selected, rank)
        U_S.
    interval : tuple of float
        [a, b], of K~ against K; where ``regularized``, of K~ + alpha against K + alpha.
    regularized : bool
    alpha : float
        The model's.
    """

    X: Any
    spectrum: Spectrum
    selection: Selection
    selected_rows: FloatArray
    interval: tuple[float, float]
    regularized: bool
    alpha: float

    @property
    def S(self) -> FloatArray:
        """The singular values."""
        return self.spectrum.singular_values

    @property
    def weighted_rows(self) -> FloatArray:
        """W^1/2 U_S, whose Gram matrix is G."""
        return np.sqrt(self.selection.w)[:, None] * self.selected_rows


def reunite(
    selection: Selection,
    interval: tuple[float, float],
    certified_alpha: float,
    X: Any,
    alpha: float,
) -> Reunion:
    """Bring a certificate's numbers together with the data, for the model with this alpha.

    Where the certificate was about some of the singular vectors only (``rank=``), its interval
    says nothing of models on all of X, and is measured anew.
    """
    alpha = check_model(alpha, certified_alpha)
    X = as_numeric(X)
    if X.shape[1] != selection.n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, and {selection.n_features} were certified: give the "
            "training data with all its features"
        )
    spectrum = precise_spectrum(X, selection.center, alpha)
    rows = spectrum.take(selection.indices)
    measured = measured_interval(spectrum, rows, selection.w, certified_alpha)
    if selection.rank is not None:
        interval = measured
    check_same_data(interval, measured)
    if certified_alpha > 0:
        interval = interval_around_one(*interval)  # so that it holds for larger alphas
    return Reunion(X, spectrum, selection, rows, interval, certified_alpha > 0, alpha)


def precise_spectrum(X: Any, center: bool, alpha: float) -> Spectrum:
    """The spectrum in full rank, by a QR where K + alpha would lose more than a few digits."""
    spectrum = compute_spectrum(X, center=center)
    if spectrum.rank == 0:
        raise ValueError(f"every feature of X is {'constant' if center else 'zero'}")
    k = spectrum.singular_values**2
    smallest = k[-1] if spectrum.rank == min(X.shape[0] - center, X.shape[1]) else 0.0
    if spectrum.solver == "gram" and k[0] > 1e6 * (smallest + alpha):
        return compute_spectrum(X, center=center, solver="qr")
    return spectrum


def check_model(alpha: float, certified_alpha: float) -> float:
    """Refuse a model that the certificate does not cover."""
    alpha = check_not_negative("alpha", alpha)
    if alpha < certified_alpha:
        raise ValueError(
            f"the certificate holds for ridge models with alpha >= {certified_alpha:.17g}, got "
            f"alpha={alpha}: certify(X, selector, alpha={alpha}) would cover it"
        )
    return alpha


def check_same_data(certified: tuple[float, float], measured: tuple[float, float]) -> None:
    """Refuse data on which the certificate does not hold, beyond any doubt of rounding."""
    tolerance = 1e-3 * max(measured[1], certified[1])
    if measured[0] < certified[0] - tolerance or measured[1] > certified[1] + tolerance:
        raise ValueError(
            f"this X has the interval [{measured[0]:.4g}, {measured[1]:.4g}], outside of the "
            f"certified [{certified[0]:.4g}, {certified[1]:.4g}]: give the training data, or "
            "certify(X, selector) anew"
        )
