# SPDX-License-Identifier: BSD-3-Clause
"""How far the predictions on selected features can be from those on all of them.

The letters are the paper's. A test point is q = X^T c + z, with z outside the span of the training
points; f(q) = q^T X^T (K + alpha)^-1 y and f~(q) is the same on the selected, weighted features.
[a, b] holds the eigenvalues of G = U^T W U, so that a K <= K~ <= b K. The paper's lambda is alpha.

Arguments: lower and upper are [a, b]; singular_values are those of X above zero, S;
coefficient_norms and residual_norms are ||c|| = ||S^-1 U^T q|| and ||z|| of every test point, and
cross_norms c_q = ||U^T W z||; selected_rows and weights are U_S and w.

As printed, the paper's Theorem 1 fails for test points outside the span; these bounds hold for any
selected features and any weights (see "The paper, corrected" in the documentation).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from ridgewise._typing import FloatArray
from ridgewise.guarantees._interval import interval_around_one


@dataclass(frozen=True)
class PredictionBound:
    """A bound on abs(f~(q) - f(q)) for every test point: for what X spans of it, and the rest."""

    in_span: FloatArray
    out_of_span: FloatArray

    @property
    def total(self) -> FloatArray:
        """The bound itself: the sum of its parts."""
        return self.in_span + self.out_of_span


def scaled(factor: float, norms: FloatArray) -> FloatArray:
    """Multiply norms; 0 stays 0 where K~ lost rank and the factor is infinite."""
    return np.multiply(factor, norms, out=np.zeros_like(norms), where=norms > 0)


def eta(lower: float, upper: float) -> float:
    """Bound ||H~ - H|| for every spectrum and every alpha, H = K (K + alpha)^-1.

    eta(a, b) = max{(1 - sqrt a) / (1 + sqrt a), (sqrt b - 1) / (sqrt b + 1)}, which no condition
    number enters. It is attained, at alpha = sqrt(a) k or sqrt(b) k. What BSS promises beforehand,
    a = (1 - s)^2 and b = (1 + s)^2, makes it s / (2 - s).
    """
    a, b = interval_around_one(lower, upper)
    # (1 - x)/(1 + x) = (1 - x^2)/(1 + x)^2, which keeps its digits near 1.
    below = (1 - a) / (1 + math.sqrt(a)) ** 2
    above = 1.0 if math.isinf(b) else (b - 1) / (1 + math.sqrt(b)) ** 2
    return max(below, above)


def spectral_eta(lower: float, upper: float, singular_values: ArrayLike, alpha: float) -> float:
    """Bound ||H~ - H|| for this spectrum and this alpha: never above `eta`.

    -D2 <= H~ - H <= D1 in the basis of V, so the largest diagonal entry of the two bounds the norm.
    It is 0 at alpha = 0, as long as lower > 0.
    """
    D1, D2 = hat_deviations(lower, upper, singular_values, alpha)
    return float(max(D1.max(), D2.max()))


def tau(lower: float, upper: float, singular_values: ArrayLike, alpha: float) -> float:
    """Bound ||S (Delta + alpha)^-1||, Delta = S G S: what the out-of-span part is multiplied by.

    tau = sqrt(x) / (x + alpha) / sqrt(a) with x = clip(alpha, a smin^2, b smax^2), because
    S^2 <= Delta / a; and never more than smax / (a smin^2 + alpha), which also serves where a = 0.
    """
    k = np.square(singular_values)
    kmin, kmax = float(k.min()), float(k.max())
    if lower * kmin + alpha == 0:
        return math.inf
    by_norms = math.sqrt(kmax) / (lower * kmin + alpha)
    if lower == 0:
        return by_norms
    x = min(max(alpha, lower * kmin), upper * kmax)
    return min(math.sqrt(x / lower) / (x + alpha), by_norms)


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
    slack = 4 * len(G) * np.finfo(np.float64).eps * np.trace(square)
    return math.sqrt(max(largest, 0.0) + slack)


# Where the selection was certified with alpha on the diagonal: a (K + alpha) <= K~ + alpha <=
# b (K + alpha), which fewer features than the rank can give


def regularized_eta(lower: float, upper: float) -> float:
    """Bound ||H~ - H||, H = K (K + alpha)^-1, from a regularized interval: max(1 - a, 1 - 1/b).

    H - H~ <= (1/a - 1)(I - H) and H - H~ <= H; the first with weight a and the second with 1 - a
    give 1 - a. H~ - H <= (1 - 1/b)(I - H) gives the other.
    """
    a, b = interval_around_one(lower, upper)
    return max(1 - a, 1 - 1 / b)


def regularized_tau(lower: float, upper: float, singular_values: ArrayLike, alpha: float) -> float:
    """Bound ||S (Delta + alpha)^-1|| from a regularized interval; it multiplies c_q ||y||.

    S^2 <= T / a - alpha with T = Delta + alpha, so the square is at most the largest
    1 / (a t) - alpha / t^2 over the eigenvalues t of T: at t = 2 a alpha, or as near as they come.
    """
    k = np.square(singular_values)
    t_min = max(alpha, lower * (k.min() + alpha))
    by_norms = math.sqrt(k.max()) / t_min
    if lower == 0:
        return by_norms
    t = float(np.clip(2 * lower * alpha, t_min, max(upper * (k.max() + alpha), t_min)))
    return min(math.sqrt(max(1 / (lower * t) - alpha / t**2, 0.0)), by_norms)


def regularized_bilinear_bound(
    a: float, b: float, S: FloatArray, alpha: float, x: FloatArray, y: FloatArray
) -> FloatArray:
    """Bound abs(x^T (H~ - H) y) from a (K + alpha) <= K~ + alpha <= b (K + alpha), a <= 1 <= b.

    -D2 <= H~ - H <= D1 = (1 - 1/b)(I - H), as I - H = alpha (K + alpha)^-1; and D2 may be
    (1/a - 1)(I - H) for the same reason, or H, or the first times a plus the second times 1 - a:
    (1 - a) I. The smallest bound of the three is taken.
    """
    H, rest = S**2 / (S**2 + alpha), alpha / (S**2 + alpha)
    D1 = (1 - 1 / b) * rest
    lower_ends = [H, np.full_like(H, 1 - a)] + ([(1 / a - 1) * rest] if a > 0 else [])
    return np.min([bilinear(D1, D2, x, y) for D2 in lower_ends], axis=0)


# For test points that were known, without labels, when features were selected: [a, b] is the
# interval of an orthonormal basis of training and test points together. This is where the paper's
# cross-term lemma becomes true


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
    """Bound the change of the predictions for known test points.

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


# For given targets, and for points not yet seen


def uniform_bound(
    training_difference: FloatArray,
    selected_rows: FloatArray,
    p_selected: FloatArray,
    *,
    coefficient_norms: FloatArray,
    residual_norms: FloatArray,
) -> PredictionBound:
    """Bound abs(f(q) - f~(q)) from two norms of the test point only, for these targets.

    ||X (p - p~)|| ||c|| + ||(I - U U^T) p~|| ||z||, q = X^T c + z.
    """
    # ||(I - U U^T) p~||^2 = ||p~||^2 - ||U^T p~||^2, and p~ is zero outside S.
    square = float(p_selected @ p_selected)
    slack = 4 * len(p_selected) * float(np.finfo(np.float64).eps) * square  # of the difference
    inside = float(np.sum((p_selected @ selected_rows) ** 2))
    outside = math.sqrt(max(square - inside, 0.0) + slack)
    change = float(np.linalg.norm(training_difference))
    return PredictionBound(change * coefficient_norms, outside * residual_norms)


def disagreement_bound(n_disagreements: int, n_points: int, *, delta: float = 0.05) -> float:
    """Bound how often f and f~ differ in sign in the population (Clopper and Pearson).

    The share p with P(Binomial(n_points, p) <= n_disagreements) = delta: above the true share with
    probability at least 1 - delta over independent unlabelled points.
    """
    if not 0 <= n_disagreements <= n_points or n_points < 1:
        raise ValueError(
            f"expected 0 <= n_disagreements <= n_points, got {n_disagreements} of {n_points}"
        )
    if not 0 < delta < 1:
        raise ValueError(f"expected delta between 0 and 1, got {delta}")
    if n_disagreements == n_points:
        return 1.0
    return float(betaincinv(n_disagreements + 1, n_points - n_disagreements, 1 - delta))


def bilinear(D1: FloatArray, D2: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Bound abs(x^T M y) for -D2 <= M <= D1, diagonal: the sharpest that follows.

    abs(x^T (D1 - D2) y) / 2 + sqrt(x^T D x * y^T D y), D = (D1 + D2) / 2.
    """
    D = (D1 + D2) / 2
    centre: FloatArray = np.abs(x @ ((D1 - D2) * y)) / 2
    radius: FloatArray = np.sqrt((x**2 @ D) * (y**2 @ D))
    return centre + radius


def hat_deviations(
    lower: float, upper: float, singular_values: ArrayLike, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return the diagonals of D1 and D2, between which H~ - H lies: -D2 <= H~ - H <= D1.

    x / (x + alpha) is operator monotone and a S^2 <= Delta <= b S^2, so
    D1 = (b - 1) alpha k / ((b k + alpha) (k + alpha)),
    D2 = (1 - a) alpha k / ((a k + alpha) (k + alpha)).
    """
    a, b = interval_around_one(lower, upper)
    k = np.square(singular_values)
    # Divided by b, so that an upper end that could not be certified (infinite) gives the limit.
    gain = 1.0 if math.isinf(b) else (b - 1) / b
    D1 = gain * k / (k + alpha / b) * (alpha / (k + alpha))
    # a = alpha = 0: the pseudo-inverse makes H~ a projection and H = I, so D2 = 1.
    left = np.divide(alpha, a * k + alpha, out=np.ones_like(k), where=a * k + alpha > 0)
    D2 = (1 - a) * k / (k + alpha) * left
    return D1, D2
