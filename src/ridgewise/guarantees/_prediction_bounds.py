# SPDX-License-Identifier: BSD-3-Clause
"""Bounds on the change of predictions: the formulas.

The letters are the paper's, whose lambda is alpha. A test point is q = X^T c + z, with z outside
the span of the training points; f(q) = q^T X^T (K + alpha)^-1 y, and f~(q) is the same on the
selected, weighted features. In the basis of V, K is S^2 (the singular values above zero) and K~ is
S G S, G = U^T W U; H = K (K + alpha)^-1.

a and b are the ends of a certificate's interval, a (K + mu) <= K~ + mu <= b (K + mu), where mu is
its alpha, 0 or more; alpha >= mu is the model's. U_S and w are the selected rows of U and their
weights. c_norms, z_norms and c_q are ||c|| = ||S^-1 U^T q||, ||z|| and ||U^T W z|| of test points.

As printed, the paper's Theorem 1 fails for test points outside the span; these bounds hold for any
selected features and any weights (see "The paper, corrected" in the documentation).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ridgewise._typing import FloatArray
from ridgewise.guarantees._interval import UNIT, Interval


@dataclass(frozen=True)
class PredictionBound:
    """A bound on abs(f~(q) - f(q)) for every test point: for what X spans of it, and the rest."""

    in_span: FloatArray
    out_of_span: FloatArray

    @property
    def total(self) -> FloatArray:
        """The bound itself: the sum of its parts."""
        return self.in_span + self.out_of_span


def eta(a: float, b: float) -> float:
    """Bound ||H~ - H|| for every spectrum and every alpha, H = K (K + alpha)^-1, at mu = 0.

    eta(a, b) = max{(1 - sqrt a) / (1 + sqrt a), (sqrt b - 1) / (sqrt b + 1)}, which no condition
    number enters. It is attained, at alpha = sqrt(a) k or sqrt(b) k. What BSS promises beforehand,
    a = (1 - s)^2 and b = (1 + s)^2, makes it s / (2 - s).
    """
    a, b = Interval(a, b).around_one
    # (1 - x)/(1 + x) = (1 - x^2)/(1 + x)^2, which keeps its digits near 1.
    below = (1 - a) / (1 + math.sqrt(a)) ** 2
    above = 1.0 if math.isinf(b) else (b - 1) / (1 + math.sqrt(b)) ** 2
    return max(below, above)


def regularized_eta(a: float, b: float) -> float:
    """Bound ||H~ - H|| for every spectrum and every alpha >= mu > 0: max(1 - a, 1 - 1/b).

    See `in_span_bound`: D2 = 1 - a, and D1 <= 1 - 1/b.
    """
    a, b = Interval(a, b).around_one
    return max(1 - a, 1 - 1 / b)


def spectral_eta(a: float, b: float, S: ArrayLike, alpha: float) -> float:
    """Bound ||H~ - H|| for this spectrum and this alpha, at mu = 0: never above `eta`.

    The largest entry of D1 and D2. It is 0 at alpha = 0, as long as a > 0.
    """
    D1, D2 = hat_deviations(a, b, S, alpha)
    return float(max(D1.max(), D2.max()))


def hat_deviations(
    a: float, b: float, S: ArrayLike, alpha: float, mu: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return the diagonals of D1 and D2, between which H~ - H lies: -D2 <= H~ - H <= D1.

    H~ - H = alpha (K + alpha)^-1 - alpha (K~ + alpha)^-1, and inverses are operator monotone. K~ +
    alpha is between a (k + mu) + alpha - mu and b (k + mu) + alpha - mu, k = S^2, so
    D1 = (b - 1) alpha (k + mu) / ((b (k + mu) + alpha - mu) (k + alpha)),
    D2 = (1 - a) alpha (k + mu) / ((a (k + mu) + alpha - mu) (k + alpha)).
    """
    a, b = Interval(a, b).around_one
    k = np.square(S)
    share, rest = (k + mu) / (k + alpha), alpha - mu
    # Divided by b, so that an upper end that could not be certified (infinite) gives the limit.
    gain = 1.0 if math.isinf(b) else (b - 1) / b
    D1 = gain * share * (alpha / (k + mu + rest / b))
    # a = 0 and alpha = mu: nothing is known but 0 <= H~ <= 1 and H <= 1, so D2 = 1.
    least = a * (k + mu) + rest
    D2 = (1 - a) * share * np.divide(alpha, least, out=np.ones_like(k), where=least > 0)
    return D1, D2


def in_span_bound(
    a: float, b: float, S: FloatArray, alpha: float, mu: float, x: FloatArray, y: FloatArray
) -> FloatArray:
    """Bound abs(x^T (H~ - H) y) for every row of x.

    H~ >= 0, so that D2 may also be H; and at alpha, where D2 is (1/a - 1) (1 - H) at most, a times
    that and 1 - a times H add up to 1 - a. The smallest bound of the three is taken.
    """
    D1, D2 = hat_deviations(a, b, S, alpha, mu)
    choices = D2, S**2 / (S**2 + alpha), np.full_like(S, 1 - min(a, 1.0))
    return np.min([bilinear(D1, choice, x, y) for choice in choices], axis=0)


def bilinear(D1: FloatArray, D2: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Bound abs(x^T M y) for -D2 <= M <= D1, diagonal: the sharpest that follows.

    abs(x^T (D1 - D2) y) / 2 + sqrt(x^T D x * y^T D y), D = (D1 + D2) / 2.
    """
    D = (D1 + D2) / 2
    centre: FloatArray = np.abs(x @ ((D1 - D2) * y)) / 2
    radius: FloatArray = np.sqrt((x**2 @ D) * (y**2 @ D))
    return centre + radius


def tau(a: float, b: float, S: ArrayLike, alpha: float, mu: float = 0.0) -> float:
    """Bound ||S (K~ + alpha)^-1||: what the out-of-span part is multiplied by.

    K <= (K~ + alpha - e) / a with e = alpha - mu + a mu, so the norm is at most the largest
    sqrt(x / a) / (x + e) over the eigenvalues x + e of K~ + alpha: at x = e, or as near as they
    come. It is never more than smax over the smallest of them, which also serves where a = 0.
    """
    k = np.square(S)
    kmin, kmax, e = float(k.min()), float(k.max()), alpha - mu + a * mu
    smallest = max(a * kmin, (1 - a) * mu)
    if smallest + e == 0:
        return math.inf
    by_norms = math.sqrt(kmax) / (smallest + e)
    if a == 0:
        return by_norms
    x = min(max(e, smallest), b * (kmax + mu) - a * mu)
    return min(math.sqrt(x / a) / (x + e), by_norms)


def cross_norms(U_S: FloatArray, w: FloatArray, Q_S: FloatArray, Q_U: FloatArray) -> FloatArray:
    """Compute c_q = ||U^T W z|| of every test point q, z = q - U U^T q.

    U^T W z = U_S^T W q_S - G U^T q: its selected features Q_S and its projection Q_U suffice.
    """
    WU = U_S * w[:, None]
    difference: FloatArray = Q_S @ WU - Q_U @ (U_S.T @ WU)
    return np.linalg.norm(difference, axis=1)


def c_star(U_S: FloatArray, w: FloatArray) -> float:
    """Compute the largest c_q / ||z|| that any test point can have.

    c* = ||Uperp^T W U|| = sqrt(lmax(U^T W^2 U - G^2)), exact, from l x l matrices only. The paper's
    cross-term lemma puts epsilon in its place, which no selection of few features can reach.
    """
    WU = U_S * w[:, None]
    square, G = WU.T @ WU, U_S.T @ WU
    largest = np.linalg.eigvalsh(square - G @ G)[-1]
    slack = 8 * len(G) * UNIT * np.trace(square)
    return math.sqrt(max(largest, 0.0) + slack)


def uniform_bound(
    change: FloatArray, U_S: FloatArray, p_S: FloatArray, c_norms: FloatArray, z_norms: FloatArray
) -> PredictionBound:
    """Bound abs(f(q) - f~(q)) from two norms of the test point only, for these targets.

    ||X (p - p~)|| ||c|| + ||(I - U U^T) p~|| ||z||, p and p~ being the coefficients of both models,
    X (p - p~) the ``change`` at the training points, and p_S those of p~ that are not zero.
    """
    # ||(I - U U^T) p~||^2 = ||p~||^2 - ||U^T p~||^2
    square, inside = float(p_S @ p_S), float(np.sum((p_S @ U_S) ** 2))
    slack = 8 * len(p_S) * UNIT * square  # of the difference
    outside = math.sqrt(max(square - inside, 0.0) + slack)
    return PredictionBound(norm(change) * c_norms, outside * z_norms)


def known_test_set_bound(
    a: float, b: float, S: ArrayLike, alpha: float, c_norms: FloatArray, z_norms: FloatArray
) -> PredictionBound:
    """Bound the change of predictions, over ||y||, for test points known to the selector.

    [a, b] is the interval, at mu = 0, of training and test points together, with an orthonormal
    basis B. This is where the paper's cross-term lemma becomes true:
    abs(f~ - f) <= eta ||c|| ||y|| + tau (b - a)/2 ||z|| ||y||, where (b - a)/2 bounds c_q / ||z||:
    both U and z lie in the basis and are orthogonal, so a multiple of the identity may be taken off
    B^T W B, its middle. At alpha = 0 the first part is zero, and the second sharpens to
    `known_tangent` ||z|| ||y|| / smin.
    """
    factor = tau(a, b, S, alpha) * (b - a) / 2
    if alpha == 0:
        factor = known_tangent(a, b) / float(np.min(S))
    return PredictionBound(spectral_eta(a, b, S, alpha) * c_norms, scaled(factor, z_norms))


def known_tangent(a: float, b: float) -> float:
    """Bound ||G^-1 U^T W z|| / ||z|| for known test points: (b - a) / (2 sqrt(a b)).

    The tangent of Kantorovich's angle, whatever the scale of the weights. BSS promises
    2 s / (1 - s^2), s = sqrt(k / r).
    """
    if a == 0 or math.isinf(b):
        return math.inf
    return (b - a) / (2 * math.sqrt(a) * math.sqrt(b))


def norm(vector: FloatArray) -> float:
    """The Euclidean norm."""
    return float(np.linalg.norm(vector))


def scaled(factor: float, norms: FloatArray) -> FloatArray:
    """Multiply norms; 0 stays 0 where the factor is infinite."""
    return np.multiply(factor, norms, out=np.zeros_like(norms), where=norms > 0)
