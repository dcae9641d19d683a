# SPDX-License-Identifier: BSD-3-Clause
"""How far the predictions on selected features can be from those on all of them.

The letters are the paper's. A test point is q = X^T c + z, with z outside the span of the training
points; f(q) = q^T X^T (K + alpha)^-1 y and f~(q) is the same on the selected, weighted features.
The paper's lambda is alpha. As printed, its Theorem 1 fails for test points outside the span; the
bounds here hold for any selected features and weights (see "The paper, corrected" in the
documentation). First the report for given test points, below the formulas that it uses.
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

from ridgewise._checks import check_number
from ridgewise._typing import BoolArray, FloatArray, is_sparse
from ridgewise.guarantees._interval import UNIT, Interval
from ridgewise.guarantees._selected_data import (
    SelectedData,
    data_error,
    precise_spectrum,
    smallest_value,
)
from ridgewise.models import DualPath
from ridgewise.spectrum import Spectrum, as_numeric, as_rows, compute_spectrum


@dataclass(frozen=True)
class PredictionBound:
    """A bound on abs(f~(q) - f(q)) for every test point: for what X spans of it, and the rest."""

    in_span: FloatArray
    out_of_span: FloatArray

    @property
    def total(self) -> FloatArray:
        """The bound itself: the sum of its parts."""
        return self.in_span + self.out_of_span


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
    targets = check_targets(y, data.X.shape[0])
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
    c_q = c_q + 3 * turned * max(data.max_weight, 1.0) * sizes
    z_norms = residual_norms(Q, mean, Q_U) + turned * sizes

    # By the interval: eta ||c|| ||y|| + tau c_q ||y||, the first sharpened for these c and y
    y_V = V.T @ targets
    theorem = PredictionBound(
        in_span_bound(a, b, S, alpha, data.mu, Q_U / S, y_V),
        scaled(tau(a, b, S, alpha, data.mu), check_number("the norm of y", norm(y_V)) * c_q),
    )
    # By the targets. Outside of the span p~^T z also is at most ||g|| c_q, since p~ = W U g with
    # g = S V^T (K~ + alpha)^-1 y
    uniform = uniform_bound(
        full.fitted - reduced.fitted,
        data.selected_rows,
        p_S,
        coefficient_norms=np.linalg.norm(Q_U / S, axis=1),
        residual_norms=z_norms,
    )
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
    columns = data.weighted_columns()
    if columns.any():
        spectrum = compute_spectrum(columns, center=data.spectrum.center, solver="qr")
        if spectrum.rank > 0:
            return ridge_model(spectrum, spectrum.singular_values, y, data.alpha)
    zeros = np.zeros(columns.shape[1])
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
    targets = check_targets(y, X.shape[0])
    spectrum, scale = precise_spectrum(X, False, alpha)
    Q = check_test_points(X_test, X.shape[1]) * scale
    zeros, S = np.zeros(Q.shape[1]), spectrum.singular_values * scale
    Q_U = projected(spectrum, Q, zeros)
    # rounding turns the span of X by delta / smin, and moves coefficients by that over smin
    turned = data_error(spectrum, S) / S[-1]
    sizes = np.sqrt(squared_norms(Q))
    if smallest_value(spectrum, S, alpha) == 0 or turned > 0.1:
        interval, turned = Interval(0.0, math.inf), 0.0
    return known_test_set_bound(
        *interval,
        S * (1 - turned),
        alpha * scale * scale,
        coefficient_norms=np.linalg.norm(Q_U / S, axis=1) + 2 * turned / S[-1] * sizes,
        residual_norms=residual_norms(Q, zeros, Q_U) + turned * sizes,
        target_norm=check_number("the norm of y", norm(targets) * (1 + 1e-12)),
    )


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


def norm(vector: FloatArray) -> float:
    """The Euclidean norm."""
    return float(np.linalg.norm(vector))


def scaled(factor: float, norms: FloatArray) -> FloatArray:
    """Multiply norms; 0 stays 0 where the factor is infinite."""
    return np.multiply(factor, norms, out=np.zeros_like(norms), where=norms > 0)


def check_targets(y: ArrayLike, n_samples: int) -> FloatArray:
    """The targets as a vector of finite floats."""
    targets = np.asarray(y, dtype=np.float64)
    if targets.shape != (n_samples,) or not np.all(np.isfinite(targets)):
        raise ValueError(
            f"expected y to be {n_samples} finite numbers, one a sample; got shape {targets.shape}"
        )
    return targets


def check_test_points(X_test: Any, n_features: int) -> Any:
    """The test points as an array or sparse array of finite numbers, in float64."""
    Q = as_numeric(X_test).astype(np.float64)
    if Q.shape[1] != n_features:
        raise ValueError(f"X_test has {Q.shape[1]} features, and X has {n_features}")
    assert_all_finite(Q.data if is_sparse(Q) else Q, input_name="X_test")
    return Q.tocsc() if is_sparse(Q) else Q


# Formulas. [a, b] is the certificate's interval, a (K + mu) <= K~ + mu <= b (K + mu): mu is 0, or
# its alpha, with which fewer features than the rank can be certified; alpha >= mu is the model's.
# Everything is in the basis of V: K is S^2, singular values above zero, and K~ is S G S,
# G = U^T W U. selected_rows and weights are U_S and w. Norms of test points are coefficient_norms
# ||c|| = ||S^-1 U^T q||, residual_norms ||z|| and cross_norms c_q = ||U^T W z||.


def eta(lower: float, upper: float) -> float:
    """Bound ||H~ - H|| for every spectrum and every alpha, H = K (K + alpha)^-1, at mu = 0.

    eta(a, b) = max{(1 - sqrt a) / (1 + sqrt a), (sqrt b - 1) / (sqrt b + 1)}, which no condition
    number enters. It is attained, at alpha = sqrt(a) k or sqrt(b) k. What BSS promises beforehand,
    a = (1 - s)^2 and b = (1 + s)^2, makes it s / (2 - s).
    """
    a, b = Interval(lower, upper).around_one
    # (1 - x)/(1 + x) = (1 - x^2)/(1 + x)^2, which keeps its digits near 1.
    below = (1 - a) / (1 + math.sqrt(a)) ** 2
    above = 1.0 if math.isinf(b) else (b - 1) / (1 + math.sqrt(b)) ** 2
    return max(below, above)


def regularized_eta(lower: float, upper: float) -> float:
    """Bound ||H~ - H|| for every spectrum and every alpha >= mu > 0: max(1 - a, 1 - 1/b).

    See `in_span_bound`: D2 = 1 - a, and D1 <= 1 - 1/b.
    """
    a, b = Interval(lower, upper).around_one
    return max(1 - a, 1 - 1 / b)


def spectral_eta(lower: float, upper: float, singular_values: ArrayLike, alpha: float) -> float:
    """Bound ||H~ - H|| for this spectrum and this alpha, at mu = 0: never above `eta`.

    The largest entry of D1 and D2. It is 0 at alpha = 0, as long as lower > 0.
    """
    D1, D2 = hat_deviations(lower, upper, singular_values, alpha)
    return float(max(D1.max(), D2.max()))


def hat_deviations(
    lower: float, upper: float, singular_values: ArrayLike, alpha: float, mu: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return the diagonals of D1 and D2, between which H~ - H lies: -D2 <= H~ - H <= D1.

    H~ - H = alpha (K + alpha)^-1 - alpha (K~ + alpha)^-1, and inverses are operator monotone. K~ +
    alpha is between a (k + mu) + alpha - mu and b (k + mu) + alpha - mu, k = S^2, so
    D1 = (b - 1) alpha (k + mu) / ((b (k + mu) + alpha - mu) (k + alpha)),
    D2 = (1 - a) alpha (k + mu) / ((a (k + mu) + alpha - mu) (k + alpha)).
    """
    a, b = Interval(lower, upper).around_one
    k = np.square(singular_values)
    share, rest = (k + mu) / (k + alpha), alpha - mu
    # Divided by b, so that an upper end that could not be certified (infinite) gives the limit.
    gain = 1.0 if math.isinf(b) else (b - 1) / b
    D1 = gain * share * (alpha / (k + mu + rest / b))
    # a = 0 and alpha = mu: nothing is known but 0 <= H~ <= 1 and H <= 1, so D2 = 1.
    least = a * (k + mu) + rest
    D2 = (1 - a) * share * np.divide(alpha, least, out=np.ones_like(k), where=least > 0)
    return D1, D2


def in_span_bound(
    lower: float,
    upper: float,
    singular_values: FloatArray,
    alpha: float,
    mu: float,
    x: FloatArray,
    y: FloatArray,
) -> FloatArray:
    """Bound abs(x^T (H~ - H) y) for every row of x.

    H~ >= 0, so that D2 may also be H; and at alpha, where D2 is (1/a - 1) (1 - H) at most, a times
    that and 1 - a times H add up to 1 - a. The smallest bound of the three is taken.
    """
    D1, D2 = hat_deviations(lower, upper, singular_values, alpha, mu)
    k = singular_values**2
    others = k / (k + alpha), np.full_like(k, 1 - min(lower, 1.0))
    return np.min([bilinear(D1, choice, x, y) for choice in (D2, *others)], axis=0)


def bilinear(D1: FloatArray, D2: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Bound abs(x^T M y) for -D2 <= M <= D1, diagonal: the sharpest that follows.

    abs(x^T (D1 - D2) y) / 2 + sqrt(x^T D x * y^T D y), D = (D1 + D2) / 2.
    """
    D = (D1 + D2) / 2
    centre: FloatArray = np.abs(x @ ((D1 - D2) * y)) / 2
    radius: FloatArray = np.sqrt((x**2 @ D) * (y**2 @ D))
    return centre + radius


def tau(
    lower: float, upper: float, singular_values: ArrayLike, alpha: float, mu: float = 0.0
) -> float:
    """Bound ||S (K~ + alpha)^-1||: what the out-of-span part is multiplied by.

    K <= (K~ + alpha - e) / a with e = alpha - mu + a mu, so the norm is at most the largest
    sqrt(x / a) / (x + e) over the eigenvalues x + e of K~ + alpha: at x = e, or as near as they
    come. It is never more than smax over the smallest of them, which also serves where a = 0.
    """
    k = np.square(singular_values)
    kmin, kmax, e = float(k.min()), float(k.max()), alpha - mu + lower * mu
    smallest = max(lower * kmin, (1 - lower) * mu)
    if smallest + e == 0:
        return math.inf
    by_norms = math.sqrt(kmax) / (smallest + e)
    if lower == 0:
        return by_norms
    x = min(max(e, smallest), upper * (kmax + mu) - lower * mu)
    return min(math.sqrt(x / lower) / (x + e), by_norms)


def cross_norms(
    selected_rows: FloatArray,
    weights: FloatArray,
    selected_values: FloatArray,
    projections: FloatArray,
) -> FloatArray:
    """Compute c_q = ||U^T W z|| of every test point q, z = q - U U^T q.

    U^T W z = U_S^T W q_S - G U^T q: the selected features of q (``selected_values``) and its
    projection suffice.
    """
    WU = selected_rows * weights[:, None]
    difference: FloatArray = selected_values @ WU - projections @ (selected_rows.T @ WU)
    return np.linalg.norm(difference, axis=1)


def c_star(selected_rows: FloatArray, weights: FloatArray) -> float:
    """Compute the largest c_q / ||z|| that any test point can have.

    c* = ||Uperp^T W U|| = sqrt(lmax(U^T W^2 U - G^2)), exact, from l x l matrices only. The paper's
    cross-term lemma puts epsilon in its place, which no selection of few features can reach.
    """
    WU = selected_rows * weights[:, None]
    square, G = WU.T @ WU, selected_rows.T @ WU
    largest = np.linalg.eigvalsh(square - G @ G)[-1]
    slack = 8 * len(G) * UNIT * np.trace(square)
    return math.sqrt(max(largest, 0.0) + slack)


def uniform_bound(
    training_difference: FloatArray,
    selected_rows: FloatArray,
    p_selected: FloatArray,
    *,
    coefficient_norms: FloatArray,
    residual_norms: FloatArray,
) -> PredictionBound:
    """Bound abs(f(q) - f~(q)) from two norms of the test point only, for these targets.

    ||X (p - p~)|| ||c|| + ||(I - U U^T) p~|| ||z||, p and p~ the coefficients of both models.
    """
    # ||(I - U U^T) p~||^2 = ||p~||^2 - ||U^T p~||^2, and p~ is zero outside S.
    square = float(p_selected @ p_selected)
    slack = 8 * len(p_selected) * UNIT * square  # of the difference
    inside = float(np.sum((p_selected @ selected_rows) ** 2))
    outside = math.sqrt(max(square - inside, 0.0) + slack)
    return PredictionBound(norm(training_difference) * coefficient_norms, outside * residual_norms)


def known_test_set_bound(
    lower: float,
    upper: float,
    singular_values: ArrayLike,
    alpha: float,
    *,
    coefficient_norms: ArrayLike,
    residual_norms: ArrayLike,
    target_norm: float,
) -> PredictionBound:
    """Bound the change of predictions for test points known, without labels, to the selector.

    [a, b] is the interval, at mu = 0, of training and test points together, with an orthonormal
    basis B. This is where the paper's cross-term lemma becomes true:
    abs(f~ - f) <= eta ||c|| ||y|| + tau (b - a)/2 ||z|| ||y||, where (b - a)/2 bounds c_q / ||z||:
    both U and z lie in the basis and are orthogonal, so a multiple of the identity may be taken off
    B^T W B, its middle. At alpha = 0 the first part is zero, and the second sharpens to
    `known_tangent` ||z|| ||y|| / smin.
    """
    c, z = (np.multiply(target_norm, norms) for norms in (coefficient_norms, residual_norms))
    in_span: FloatArray = spectral_eta(lower, upper, singular_values, alpha) * c
    factor = tau(lower, upper, singular_values, alpha) * (upper - lower) / 2
    if alpha == 0:
        factor = known_tangent(lower, upper) / np.min(singular_values)
    return PredictionBound(in_span, scaled(factor, z))


def known_tangent(lower: float, upper: float) -> float:
    """Bound ||G^-1 U^T W z|| / ||z|| for known test points: (b - a) / (2 sqrt(a b)).

    The tangent of Kantorovich's angle, whatever the scale of the weights. BSS promises
    2 s / (1 - s^2), s = sqrt(k / r).
    """
    if lower == 0 or math.isinf(upper):
        return math.inf
    return (upper - lower) / (2 * math.sqrt(lower) * math.sqrt(upper))
