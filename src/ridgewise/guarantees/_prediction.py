# SPDX-License-Identifier: BSD-3-Clause
"""What a selection does to the predictions for given test points: bounds, and the exact change.

The formulas, and their letters, are in `_prediction_bounds`.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from sklearn.utils import assert_all_finite
from sklearn.utils.extmath import row_norms

from ridgewise._run import check_number
from ridgewise._typing import BoolArray, FloatArray, is_sparse
from ridgewise.guarantees._interval import UNIT, Interval
from ridgewise.guarantees._prediction_bounds import (
    PredictionBound,
    c_star,
    cross_norms,
    in_span_bound,
    known_test_set_bound,
    norm,
    scaled,
    tau,
    uniform_bound,
)
from ridgewise.guarantees._selected_data import (
    SelectedData,
    check_vector,
    data_error,
    precise_spectrum,
    smallest_value,
)
from ridgewise.models import DualPath
from ridgewise.spectrum import Spectrum, as_columns, as_numeric, as_rows, compute_spectrum


@dataclass(frozen=True)
class PredictionReport:
    """Predictions on all and on the selected features, and how far apart they can be.

    Arrays have one entry a test point. Where the selector centres, both models have an intercept.

    Attributes
    ----------
    in_span, out_of_span : ndarray of shape (n_test,)
        Parts of ``bound``: for what the training points span of a test point, and for the rest.
        Each is the smaller one of what ``theorem`` has and of what holds for these targets.
    rounding : ndarray of shape (n_test,)
        Its third part: how far rounding may have moved both predictions. Infinite where X has so
        few digits left that nothing can be said.
    theorem : PredictionBound
        What follows from the certificate's interval: the paper's Theorem 1, corrected.
    full, selected : ndarray of shape (n_test,)
        f and f~: the predictions on all features and on the selected, weighted ones.
    seen_difference : ndarray of shape (n_test,)
        The part of abs(f~ - f) that the selected features of the test point account for.
    unseen_factor : float
        The norm of f's coefficients outside of the selected features.
    cross_factor : float
        c* = ||U^T W z|| / ||z|| of the worst test point. The paper's lemma has epsilon here.

    Examples
    --------
    >>> from ridgewise import BSSSelector, make_ridge_synthetic
    >>> X, y = make_ridge_synthetic(random_state=0)
    >>> certificate = BSSSelector(90).fit(X[:25]).certificate_
    >>> report = certificate.prediction_bound(X[:25], y[:25], X[25:], alpha=1.0)
    >>> bool((abs(report.difference) <= report.bound).all())
    True
    """

    in_span: FloatArray
    out_of_span: FloatArray
    rounding: FloatArray
    theorem: PredictionBound
    full: FloatArray
    selected: FloatArray
    seen_difference: FloatArray
    unseen_factor: float
    cross_factor: float

    @property
    def bound(self) -> FloatArray:
        """A bound on abs(f~ - f): the sum of its parts."""
        return self.in_span + self.out_of_span + self.rounding

    @property
    def relative_bound(self) -> FloatArray:
        """The bound in units of abs(f), infinite where f is 0: the paper's Theorem 2, corrected.

        Where a test point q = X^T c lies in the span, it is at most max(1 - lower, upper - 1) omega
        with omega = sqrt(c^T H c * y^T H y) / abs(f), H = K (K + alpha)^-1 (for a certificate with
        alpha = 0). The paper has another omega, times the condition number of X.
        """
        size = np.abs(self.full)
        return np.divide(self.bound, size, out=np.full_like(size, np.inf), where=size > 0)

    @property
    def difference(self) -> FloatArray:
        """The change itself, f~ - f."""
        return self.selected - self.full

    @property
    def sign_certain(self) -> BoolArray:
        """Where f surely has the sign of f~: abs(f~) > bound, rounding of f~ included."""
        return np.abs(self.selected) > self.bound + self.rounding

    def disagreement_bound(self, delta: float = 0.05) -> float:
        """Bound how often the signs of f and f~ differ, on points like these test points.

        Parameters
        ----------
        delta : float, default=0.05
            The probability with which the bound may fail.

        Returns
        -------
        float
            Above the share in the population with probability 1 - delta at least, if the test
            points are drawn from it independently; they need no labels (Clopper and Pearson).
        """
        if not 0 < delta < 1:
            raise ValueError(f"expected delta between 0 and 1, got {delta}")
        m, k = len(self.full), int(np.sum(np.sign(self.full) != np.sign(self.selected)))
        # the share p with P(Binomial(m, p) <= k) = delta
        return 1.0 if k == m else float(betaincinv(k + 1, m - k, 1 - delta))

    def bound_from_selected(self, unseen_norm: ArrayLike) -> FloatArray:
        """Bound abs(f~ - f) where only the selected features of the test points are known.

        Parameters
        ----------
        unseen_norm : float or array-like of shape (n_test,)
            At least the norm of the other features (less their means, where the selector centres):
            sqrt(1 - ||q_S||^2) for documents of norm one, for example.

        Returns
        -------
        ndarray of shape (n_test,)
            abs((p - p~)_S^T q_S) + ||p outside S|| unseen_norm: nothing smaller follows.
        """
        return self.seen_difference + self.unseen_factor * np.asarray(unseen_norm, np.float64)


def report_predictions(data: SelectedData, y: ArrayLike, X_test: Any) -> PredictionReport:
    """Fit both models, predict, and bound: see `Certificate.prediction_bound`."""
    targets = check_vector("y", y, data.X.shape[0])
    Q = check_test_points(X_test, data.X.shape[1]) * data.scale
    mean, intercept = np.zeros(Q.shape[1]), 0.0
    if data.spectrum.center:
        mean, intercept = scaled_means(data), float(targets.mean())
        targets = targets - intercept

    indices, root_w = data.selection.indices, np.sqrt(data.selection.w)
    V, S, alpha, (a, b) = data.spectrum.V, data.S, data.alpha, data.interval
    full = ridge_model(data.spectrum, S, targets, alpha)
    reduced = selected_model(data, targets)
    p_S = root_w * reduced.coef
    Q_U = projected(data.spectrum, Q, mean)
    Q_S = (Q[:, indices].toarray() if is_sparse(Q) else Q[:, indices]) - mean[indices]
    sizes = np.sqrt(squared_norms(Q)) + norm(mean)
    turned = min(full.turned + reduced.turned, 1.0)
    c_q = cross_norms(data.selected_rows, data.selection.w, Q_S, Q_U)
    c_q = c_q + 3 * turned * max(data.selection.max_weight, 1.0) * sizes
    z_norms = residual_norms(Q, mean, Q_U) + turned * sizes

    # By the interval: eta ||c|| ||y|| + tau c_q ||y||, the first sharpened for these c and y
    y_V = V.T @ targets
    theorem = PredictionBound(
        in_span_bound(a, b, S, alpha, data.mu, Q_U / S, y_V),
        scaled(tau(a, b, S, alpha, data.mu), check_number("the norm of y", norm(y_V)) * c_q),
    )
    # By the targets. Outside of the span p~^T z also is at most ||g|| c_q, since p~ = W U g with
    # g = S V^T (K~ + alpha)^-1 y
    change, c_norms = full.fitted - reduced.fitted, np.linalg.norm(Q_U / S, axis=1)
    uniform = uniform_bound(change, data.selected_rows, p_S, c_norms, z_norms)
    g = S * (V.T @ reduced.dual_coef)
    out_of_span = np.minimum(uniform.out_of_span, norm(g) * c_q)
    return PredictionReport(
        np.minimum(theorem.in_span, uniform.in_span) * (1 + 8 * turned),
        np.minimum(theorem.out_of_span, out_of_span) * (1 + 8 * turned),
        rounding=prediction_rounding(full, reduced, sizes, np.linalg.norm(Q_S * root_w, axis=1))
        + 8 * len(targets) * UNIT * abs(intercept),
        theorem=theorem,
        full=Q @ full.coef - mean @ full.coef + intercept,
        selected=Q_S @ p_S + intercept,
        seen_difference=np.abs(Q_S @ (p_S - full.coef[indices])),
        unseen_factor=norm(np.delete(full.coef, indices)) * data.scale,
        cross_factor=c_star(data.selected_rows, data.selection.w),
    )


@dataclass(frozen=True)
class RidgeModel:
    """A ridge model, and how much rounding can move what it predicts.

    A prediction p^T q is off by at most ``sensitivity`` ||q||: infinite where rounding hides
    singular values that alpha = 0 would invert.
    """

    coef: FloatArray  # p = X^T (K + alpha)^-1 y
    dual_coef: FloatArray  # (K + alpha)^-1 y; K^+ y at alpha = 0
    fitted: FloatArray  # X p
    sensitivity: float
    turned: float = 0.0  # how far the directions that it inverts may be turned: delta / s


def ridge_model(spectrum: Spectrum, S: FloatArray, y: FloatArray, alpha: float) -> RidgeModel:
    """Fit y by the spectrum, with these (scaled) singular values.

    Rounding acts like a change of X by ``data_error``, delta. With s^2 the smallest eigenvalue of
    K + alpha and r = y - X p, it moves p by delta (||p|| / s + ||r|| / s^2).
    """
    dual_coef = DualPath(spectrum.V, S**2).dual_coef(y, [alpha])[:, 0]
    shrunk = S / (S**2 + alpha) * (spectrum.V.T @ y)
    coef = np.empty(spectrum.shape[1])
    for place, block in spectrum.projections(shrunk[:, None]):
        coef[place] = block[:, 0]
    fitted = spectrum.V @ (S * shrunk)
    delta, s = data_error(spectrum, S), smallest_value(spectrum, S, alpha)
    if s == 0:
        return RidgeModel(coef, dual_coef, fitted, math.inf)
    sensitivity = delta * (norm(coef) / s + norm(y - fitted) / s**2)
    if delta > 0.1 * s:  # no first-order estimate holds
        sensitivity = math.inf
    return RidgeModel(coef, dual_coef, fitted, sensitivity, delta / s)


def selected_model(data: SelectedData, y: FloatArray) -> RidgeModel:
    """Fit y on the selected, weighted features: the coefficients are of X_S W^1/2."""
    center = data.spectrum.center
    columns = as_columns(data.X, center=center)  # centred first, since products are rounded
    columns.set_scale(data.scale)
    X_S = columns.take(data.selection.indices) * np.sqrt(data.selection.w)
    if X_S.any():
        spectrum = compute_spectrum(X_S, center=center, solver="qr")
        if spectrum.rank > 0:
            return ridge_model(spectrum, spectrum.singular_values, y, data.alpha)
    zeros = np.zeros(X_S.shape[1])
    return RidgeModel(zeros, y / data.alpha if data.alpha else 0 * y, 0 * y, 0.0)


def prediction_rounding(
    full: RidgeModel, reduced: RidgeModel, sizes: FloatArray, selected_sizes: FloatArray
) -> FloatArray:
    """How far rounding may have moved the predictions of both models together."""
    products = 8 * math.sqrt(len(full.coef)) * UNIT * (norm(full.coef) + norm(reduced.coef))
    moved = scaled(full.sensitivity, sizes) + scaled(reduced.sensitivity, selected_sizes)
    return moved + products * np.maximum(sizes, selected_sizes)


def bound_known_test_set(
    interval: Interval, X: Any, y: ArrayLike, X_test: Any, alpha: float
) -> PredictionBound:
    """Bound by the joint interval: see `Certificate.known_test_set_bound`."""
    X = as_numeric(X)
    alpha = check_number("alpha", alpha)
    targets = check_vector("y", y, X.shape[0])
    spectrum, scale = precise_spectrum(X, False, alpha)
    Q = check_test_points(X_test, X.shape[1]) * scale
    zeros, S = np.zeros(Q.shape[1]), spectrum.singular_values * scale
    Q_U = projected(spectrum, Q, zeros)
    # rounding turns the span of X by delta / smin, and moves coefficients by that over smin
    turned = data_error(spectrum, S) / S[-1]
    sizes = np.sqrt(squared_norms(Q))
    if smallest_value(spectrum, S, alpha) == 0 or turned > 0.1:
        interval, turned = Interval(0.0, math.inf), 0.0
    y_norm = check_number("the norm of y", norm(targets) * (1 + 1e-12))
    c_norms = np.linalg.norm(Q_U / S, axis=1) + 2 * turned / S[-1] * sizes
    z_norms = residual_norms(Q, zeros, Q_U) + turned * sizes
    norms = y_norm * c_norms, y_norm * z_norms
    return known_test_set_bound(*interval, S * (1 - turned), alpha * scale * scale, *norms)


def stacked(X: Any, X_test: Any) -> Any:
    """Training and test points as one array, or sparse array."""
    parts = [as_numeric(X), as_numeric(X_test)]
    return sp.vstack(parts, "csr") if any(map(is_sparse, parts)) else np.vstack(parts)


def scaled_means(data: SelectedData) -> FloatArray:
    """Means of the features, scaled before they are computed."""
    rows = as_rows(data.X, center=True)
    rows.set_scale(data.scale)
    assert rows.offset is not None
    return rows.offset.sum(axis=0)


def projected(spectrum: Spectrum, Q: Any, mean: FloatArray) -> FloatArray:
    """Compute U^T q of every test point, less the means."""
    Q_U = np.zeros((Q.shape[0], spectrum.rank))
    for place, U in spectrum.projections(np.eye(spectrum.rank)):
        Q_U += Q[:, place] @ U - mean[place] @ U
    return Q_U


def residual_norms(Q: Any, mean: FloatArray, Q_U: FloatArray) -> FloatArray:
    """Compute ||z||, z = q - U U^T q, of every test point; the rounding is added."""
    size = squared_norms(Q) + mean @ mean
    z2 = size - 2 * (Q @ mean) - np.sum(Q_U**2, axis=1)
    slack = 16 * Q_U.shape[1] * UNIT * size
    return np.sqrt(np.maximum(z2, 0.0) + slack)


def squared_norms(Q: Any) -> FloatArray:
    """||q||^2 of every test point."""
    return row_norms(Q.tocsr() if is_sparse(Q) else Q, squared=True)


def check_test_points(X_test: Any, n_features: int) -> Any:
    """The test points as an array or sparse array of finite numbers, in float64."""
    Q = as_numeric(X_test).astype(np.float64)
    if Q.shape[1] != n_features:
        raise ValueError(f"X_test has {Q.shape[1]} features, and X has {n_features}")
    assert_all_finite(Q.data if is_sparse(Q) else Q, input_name="X_test")
    return Q.tocsc() if is_sparse(Q) else Q
