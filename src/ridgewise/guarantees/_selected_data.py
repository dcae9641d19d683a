# SPDX-License-Identifier: BSD-3-Clause
"""Training data and a selection of its features: what bounds on predictions and risk start from.

X and test points are multiplied by a power of two, alpha by its square, so that the largest
singular value of X is near 1: squares do not overflow, and predictions and risk stay the same.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ridgewise._run import check_number
from ridgewise._typing import FloatArray
from ridgewise.guarantees._interval import (
    UNIT,
    Interval,
    Selection,
    check_rank,
    measured_interval,
    verified_interval,
)
from ridgewise.spectrum import Spectrum, as_numeric, compute_spectrum

if TYPE_CHECKING:
    from ridgewise.guarantees._certificate import Certificate

QR_SIZE = 1000  # samples or features up to which a QR, which keeps all digits, is quick
KERNEL_CONDITION = 1e6  # of K + alpha: above it, K has lost too many digits for predictions


@dataclass(frozen=True)
class SelectedData:
    """Data, its spectrum in full rank, a selection, and the interval that holds for a model."""

    X: Any  # not scaled
    spectrum: Spectrum  # of X, not scaled
    selection: Selection
    selected_rows: FloatArray  # U_S
    interval: Interval  # of K~ + mu against K + mu; if regularized, it holds 1
    regularized: bool  # whether the certificate's alpha is above 0
    scale: float  # the power of two
    mu: float  # the certificate's alpha, scaled
    alpha: float  # the model's, scaled: at least mu

    @property
    def S(self) -> FloatArray:
        """The singular values, scaled."""
        return self.spectrum.singular_values * self.scale

    @property
    def weighted_rows(self) -> FloatArray:
        """W^1/2 U_S, whose Gram matrix is G."""
        return np.sqrt(self.selection.w)[:, None] * self.selected_rows


def select_data(certificate: "Certificate", X: Any, alpha: float) -> SelectedData:
    """Check X against the certificate, and compute what bounds for a model with this alpha need.

    An interval that is not verified, or about some singular vectors only, is verified now.
    """
    selection, certified_alpha = certificate.selection, certificate.alpha
    if selection is None:
        raise ValueError(
            "this certificate has no selected features: use one from certify(X, selector)"
        )
    alpha = check_number("alpha", alpha)
    if alpha < certified_alpha:
        raise ValueError(
            f"the certificate holds for ridge models with alpha >= {certified_alpha:.17g}, got "
            f"alpha={alpha}: certify(X, selector, alpha={alpha}) would cover it"
        )
    X = as_numeric(X)
    if X.shape[1] != selection.n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, and {selection.n_features} were certified: give the "
            "training data with all its features"
        )
    spectrum, scale = precise_spectrum(X, selection.center, alpha)
    rows = spectrum.take(selection.indices)
    interval = Interval(certificate.lower, certificate.upper)
    if selection.rank is None or selection.cutoff is not None:
        check_same_data(interval, measured_interval(spectrum, rows, selection.w, certified_alpha))
    if not certificate.verified or selection.rank is not None:
        interval = Interval(0.0, math.inf)
        if certified_alpha > 0 or spectrum.is_whole:
            interval = verified_interval(spectrum, selection, certified_alpha)
    regularized = certified_alpha > 0
    return SelectedData(
        X,
        spectrum,
        selection,
        selected_rows=rows,
        interval=interval.around_one if regularized else interval,
        regularized=regularized,
        scale=scale,
        mu=certified_alpha * scale * scale,
        alpha=alpha * scale * scale,
    )


def precise_spectrum(X: Any, center: bool, alpha: float) -> tuple[Spectrum, float]:
    """The spectrum in full rank, by a QR where K + alpha would lose digits, and the scale."""
    solver = "qr" if min(X.shape) <= QR_SIZE else "auto"
    spectrum = compute_spectrum(X, center=center, solver=solver)
    check_rank(spectrum)
    S = spectrum.singular_values
    scale = float(np.ldexp(1.0, -int(np.frexp(S[0])[1])))
    with np.errstate(over="ignore", under="ignore"):
        scaled_alpha = alpha * scale * scale
    if not scaled_alpha < 1e150 or (alpha > 0 and scaled_alpha < 1e-150):
        raise ValueError(
            f"alpha={alpha:g} is too {'large' if scaled_alpha > 1 else 'small'} beside X, whose "
            f"largest singular value is {S[0]:.3g}, for predictions in double precision"
        )
    k = (S * scale) ** 2
    smallest = k[-1] if spectrum.is_whole else 0.0
    if spectrum.solver == "gram" and k[0] > KERNEL_CONDITION * (smallest + scaled_alpha):
        spectrum = compute_spectrum(X, center=center, solver="qr")
    return spectrum, scale


def data_error(spectrum: Spectrum, S: FloatArray) -> float:
    """Bound the backward error: the change of X, in Frobenius norm, that rounding amounts to."""
    error = 16 * math.sqrt(max(spectrum.shape[0], spectrum.rank)) * UNIT * float(np.linalg.norm(S))
    if spectrum.solver == "gram":  # an error of K moves small singular values more
        error *= float(S[0] / S[-1])
    if not spectrum.is_whole:  # singular values that were cut off
        error += spectrum.cutoff * float(S[0] / spectrum.singular_values[0]) * len(S) ** 0.5
    return error


def smallest_value(spectrum: Spectrum, S: FloatArray, alpha: float) -> float:
    """The root of the smallest eigenvalue of K + alpha that a model inverts; 0: unknown."""
    whole = spectrum.is_whole
    if alpha > 0 and not (whole and spectrum.rank == spectrum.shape[0]):
        return math.sqrt(alpha)
    return math.hypot(float(S[-1]), math.sqrt(alpha)) if whole else 0.0


def check_vector(name: str, values: ArrayLike, n_samples: int) -> FloatArray:
    """Return one finite float for each sample; raise if there are others."""
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != (n_samples,) or not np.all(np.isfinite(vector)):
        raise ValueError(
            f"expected {name} to be {n_samples} finite numbers, one for each sample; got shape "
            f"{vector.shape}"
        )
    return vector


def check_same_data(certified: Interval, measured: Interval) -> None:
    """Raise if the certificate does not hold on this data, by more than rounding."""
    tolerance = 1e-3 * max(certified.upper, 1.0)
    if not math.isfinite(measured.upper) or measured.lower == 0:
        return
    if measured.lower < certified.lower - tolerance or measured.upper > certified.upper + tolerance:
        raise ValueError(
            f"this X has the interval [{measured.lower:.4g}, {measured.upper:.4g}], outside of the "
            f"certified [{certified.lower:.4g}, {certified.upper:.4g}]: give the training data, or "
            "call certify(X, selector) again"
        )
