# SPDX-License-Identifier: BSD-3-Clause
"""What a selection does to the predictions for given test points: bounds, and the exact change."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import assert_all_finite
from sklearn.utils.extmath import row_norms

from ridgewise._typing import BoolArray, FloatArray, is_sparse
from ridgewise.guarantees.difference import (
    disagreement_bound,
    primal_ridge,
    sign_certain,
    uniform_bound,
)
from ridgewise.guarantees.prediction import (
    PredictionBound,
    bilinear_bound,
    c_star,
    cross_norms,
    theorem1_bound,
)
from ridgewise.guarantees.regularized import regularized_tau
from ridgewise.guarantees.reunion import Reunion
from ridgewise.guarantees.verify import column_means
from ridgewise.spectrum import as_columns, as_numeric


@dataclass(frozen=True)
class PredictionReport:
    """Predictions on all and on the selected features, and how far apart they can be.

    Arrays have one entry a test point. Where the selector centres, both models have an intercept.

    Attributes
    ----------
    in_span, out_of_span : ndarray of shape (n_test,)
        The two parts of ``bound``: for what the training points span of a test point, and for the
        rest. Each is the smaller one of what ``theorem`` has and of what holds for these targets.
    theorem : PredictionBound
        What follows from the certificate's interval: the paper's Theorem 1, corrected.
    full, selected : ndarray of shape (n_test,)
        f and f~: the predictions on all features and on the selected, weighted ones.
    seen_difference : ndarray of shape (n_test,)
        The part of abs(f~ - f) that the selected features of the test point account for.
    unseen_factor : float
        The norm of f's coefficients outside of the selected features.
    cross_factor : float
        c*: how much more a model on the selected features can see of what the training points do
        not span, ||U^T W z|| / ||z|| of the worst test point. The paper's lemma has epsilon here.
    """

    in_span: FloatArray
    out_of_span: FloatArray
    theorem: PredictionBound
    full: FloatArray
    selected: FloatArray
    seen_difference: FloatArray
    unseen_factor: float
    cross_factor: float

    @property
    def bound(self) -> FloatArray:
        """A bound on abs(f~ - f): the sum of its two parts."""
        return self.in_span + self.out_of_span

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
        """Where f surely has the sign of f~: abs(f~) > bound."""
        return sign_certain(self.selected, self.bound)

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
        n_different = int(np.sum(np.sign(self.full) != np.sign(self.selected)))
        return disagreement_bound(n_different, len(self.full), delta=delta)

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


def report_predictions(reunion: Reunion, y: ArrayLike, X_test: Any) -> PredictionReport:
    """Fit both models, predict, and bound: see `Certificate.prediction_bound`."""
    targets = check_targets(y, reunion.X.shape[0])
    Q = check_test_points(X_test, reunion.X.shape[1])
    center = reunion.spectrum.center
    mean = column_means(reunion.X) if center else np.zeros(Q.shape[1])
    intercept = float(targets.mean()) if center else 0.0
    targets = targets - intercept

    indices = reunion.selection.indices
    p, Q_U = full_model(reunion, targets, Q, mean)
    p_S = selected_model(reunion, targets)
    Q_S = take_columns(Q, indices) - mean[indices]
    y_V = reunion.spectrum.V.T @ targets
    c_q = cross_norms(reunion.selected_rows, reunion.selection.w, Q_S, Q_U)
    theorem = by_theorem(reunion, y_V, Q_U, c_q)
    parts = by_targets(reunion, y_V, Q_U, c_q, residual_norms(Q, mean, Q_U))
    return PredictionReport(
        np.minimum(theorem.in_span, parts.in_span),
        np.minimum(theorem.out_of_span, parts.out_of_span),
        theorem,
        full=Q @ p - mean @ p + intercept,
        selected=Q_S @ p_S + intercept,
        seen_difference=np.abs(Q_S @ (p_S - p[indices])),
        unseen_factor=float(np.linalg.norm(np.delete(p, indices))),
        cross_factor=c_star(reunion.selected_rows, reunion.selection.w),
    )


def full_model(
    reunion: Reunion, y: FloatArray, Q: Any, mean: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Compute p = U S (S^2 + alpha)^-1 V^T y, and U^T q of every test point, in one pass."""
    spectrum, S = reunion.spectrum, reunion.S
    shrunk = S / (S**2 + reunion.alpha) * (spectrum.V.T @ y)
    p, Q_U = np.empty(Q.shape[1]), np.zeros((Q.shape[0], len(S)))
    for place, U in spectrum.projections(np.eye(len(S))):
        p[place] = U @ shrunk
        Q_U += Q[:, place] @ U - mean[place] @ U
    return p, Q_U


def selected_model(reunion: Reunion, y: FloatArray) -> FloatArray:
    """Compute p~ on the selected features: W X_S^T (K~ + alpha)^-1 y."""
    columns = as_columns(reunion.X, center=reunion.spectrum.center)
    root_w = np.sqrt(reunion.selection.w)
    X_S = columns.take(reunion.selection.indices)
    return root_w * primal_ridge(X_S * root_w, y, reunion.alpha)


def by_theorem(
    reunion: Reunion, y_V: FloatArray, Q_U: FloatArray, c_q: FloatArray
) -> PredictionBound:
    """Bound the change by the certificate's interval; c_q is ||U^T W z||, z outside of the span."""
    S, alpha, (a, b) = reunion.S, reunion.alpha, reunion.interval
    x, y_norm = Q_U / S, float(np.linalg.norm(y_V))
    if reunion.regularized:
        out = regularized_tau(a, b, S, alpha) * y_norm * c_q
        return PredictionBound(regularized_bilinear_bound(a, b, S, alpha, x, y_V), out)
    out = theorem1_bound(
        a, b, S, alpha, coefficient_norms=c_q, cross_norms=c_q, target_norm=y_norm
    ).out_of_span
    return PredictionBound(bilinear_bound(a, b, S, alpha, coefficients=x, targets=y_V), out)


def by_targets(
    reunion: Reunion, y_V: FloatArray, Q_U: FloatArray, c_q: FloatArray, z_norms: FloatArray
) -> PredictionBound:
    """Bound the change by two norms of the test point, for these targets and this selection.

    With g = S (S G S + alpha)^-1 V^T y: ||H V^T y - S G g|| ||c|| in the span, where the first norm
    is that of the change at the training points. Outside, p~^T z with p~ = W U g: at most
    ||g|| c_q, and ||(I - U U^T) p~|| ||z||.
    """
    S, alpha, rows = reunion.S, reunion.alpha, reunion.weighted_rows
    R = np.linalg.qr(rows * S, mode="r")
    _, m, Qt = np.linalg.svd(R, full_matrices=True)
    k = np.zeros(len(S))
    k[: len(m)] = np.where(m > len(S) * np.finfo(np.float64).eps * m.max(initial=0.0), m, 0.0) ** 2
    inverse = np.divide(1.0, k + alpha, out=np.zeros_like(k), where=k + alpha > 0)
    g = S * (Qt.T @ (inverse * (Qt @ y_V)))
    p_S = np.sqrt(reunion.selection.w) * (rows @ g)
    change = S**2 / (S**2 + alpha) * y_V - S * (rows.T @ (rows @ g))
    in_span = np.linalg.norm(change) * np.linalg.norm(Q_U / S, axis=1)
    outside = uniform_bound(
        change, reunion.selected_rows, p_S, coefficient_norms=0 * z_norms, residual_norms=z_norms
    )
    return PredictionBound(in_span, np.minimum(outside, np.linalg.norm(g) * c_q))


def residual_norms(Q: Any, mean: FloatArray, Q_U: FloatArray) -> FloatArray:
    """Compute ||z||, z = q - U U^T q, of every test point; the rounding is added."""
    q2 = row_norms(Q.tocsr() if is_sparse(Q) else Q, squared=True)
    size = q2 + mean @ mean
    z2 = size - 2 * (Q @ mean) - np.sum(Q_U**2, axis=1)
    slack = 8 * Q_U.shape[1] * np.finfo(np.float64).eps * size
    return np.sqrt(np.maximum(z2, 0.0) + slack)


def regularized_bilinear_bound(
    a: float, b: float, S: FloatArray, alpha: float, x: FloatArray, y: FloatArray
) -> FloatArray:
    """Bound abs(x^T (H~ - H) y) from a (K + alpha) <= K~ + alpha <= b (K + alpha), a <= 1 <= b.

    -D2 <= H~ - H <= D1 = (1 - 1/b)(I - H), as I - H = alpha (K + alpha)^-1; and D2 may be
    (1/a - 1)(I - H) for the same reason, or H, or the first times a plus the second times 1 - a:
    (1 - a) I. Each gives abs(x^T (D1 - D2) y) / 2 + sqrt(x^T D x * y^T D y), D = (D1 + D2) / 2.
    """
    H, rest = S**2 / (S**2 + alpha), alpha / (S**2 + alpha)
    D1 = (1 - 1 / b) * rest
    lower_ends = [H, np.full_like(H, 1 - a)] + ([(1 / a - 1) * rest] if a > 0 else [])
    bounds = [
        np.abs(x @ ((D1 - D2) * y)) / 2 + np.sqrt((x**2 @ (D1 + D2)) * (y**2 @ (D1 + D2))) / 2
        for D2 in lower_ends
    ]
    return np.min(bounds, axis=0)


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


def take_columns(Q: Any, indices: Any) -> FloatArray:
    """Columns as a dense array."""
    columns = Q[:, indices]
    return np.asarray(columns.toarray() if is_sparse(columns) else columns)
