# SPDX-License-Identifier: BSD-3-Clause
"""Polishing: the weights for which the features selected give the tightest spectrum.

Of the rows v_i of the features selected, the spectrum of sum w_i v_i v_i^T should be near that of
Z (which is I where nothing is regularized). With E(w) = sum w_i v_i v_i^T - Z,

    epsilon(w) = ||E(w)|| = max(1 - a, b - 1)

is a convex function of the weights, so there is a best value, and an interior-point method finds
it. For tau from small to large it minimizes over w > 0

    f(w) = min_t  tau t - log det(t I - E) - log det(t I + E) - sum log w_i,

at whose minimum epsilon is within (2 l + r) / tau of the best. Newton's method suits it: Hessians
of log-determinants are entrywise squares of r x r Gram matrices, as cheap as their Cholesky factor.
"""

import math

import numpy as np
from scipy.linalg.blas import dsyr, dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs, dsyevd
from scipy.optimize import brentq

from ridgewise._groups import sums
from ridgewise._run import one_blas_thread
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier import weighted_spectrum

TOLERANCE = 1e-2  # of epsilon: a bound on the gap to the best, which is far smaller on real data
NEGLIGIBLE = 1e-6  # a gap that needs no polishing, however small epsilon is
AIM = 0.4  # of these: the bound for the last tau, since epsilon still falls
NOISE_NORM2 = 1e-26  # in an orthonormal basis, shorter rows are rounding errors
MISSED = 1e-9  # rows whose smallest eigenvalue is this miss a direction
GROWTH = 10.0  # of tau, whenever Newton's method has come near the minimum
NEAR = 5.0  # that near: the decrement (g^T H^-1 g)^1/2
MOST_ROWS = 2000  # to reweight: a step takes the cube of their number
MOST_STEPS = 100  # Newton steps; on real data 15 to 30 are enough


def polish(
    rows: FloatArray,
    weights: FloatArray,
    *,
    penalty: FloatArray | None = None,
    sizes: IndexArray | None = None,
) -> FloatArray:
    """Reweight the features selected so that the spectrum certified is the tightest they allow.

    Parameters
    ----------
    rows : ndarray of shape (r, l)
        The rows of an orthonormal basis U that belong to the features selected.
    weights : ndarray of shape (r,)
        Their weights w > 0, as the selection left them.
    penalty : ndarray of shape (l,) or None
        Of a regularized statement a (K + alpha) <= K~ + alpha <= b (K + alpha): e = alpha / S^2,
        with the singular value of each column of U in S.
    sizes : ndarray of shape (n_groups,) or None
        Of consecutive rows, so many have one weight in common. None: one each.

    Returns
    -------
    ndarray of shape (r,)
        Weights > 0 whose epsilon = max(1 - a, b - 1), measured by :func:`weighted_spectrum`, is
        the least that any weights give, up to a hundredth of itself and on real data far less, and
        never above that of ``weights``. Rows that span too little to certify anything keep theirs,
        and so do rows of zeros, and, up to a common factor, those that matter least of thousands.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.6, 0.0], [0.0, 0.5], [0.0, 0.5]])
    >>> polish(rows, np.ones(3)).round(3)
    array([2.778, 2.   , 2.   ])
    """
    sizes = np.ones(len(rows), dtype=np.intp) if sizes is None else sizes
    check_shapes(rows, weights, penalty, sizes)
    given = np.array(weights, dtype=np.float64)
    with one_blas_thread():
        found = best_weights(rows, given, penalty, sizes)
        before, after = (epsilon(rows, np.repeat(w, sizes), penalty) for w in (given, found))
    return found if after < min(before, 1 - MISSED) else given


def epsilon(rows: FloatArray, weights: FloatArray, penalty: FloatArray | None = None) -> float:
    """How far from 1 the spectrum goes: max(1 - a, b - 1)."""
    a, b = weighted_spectrum(rows, weights, penalty)
    return max(1 - a, b - 1)


def check_shapes(
    rows: FloatArray, weights: FloatArray, penalty: FloatArray | None, sizes: IndexArray
) -> None:
    """Raise if shapes do not fit together."""
    if rows.ndim != 2 or weights.shape != sizes.shape or sizes.sum() != len(rows):
        raise ValueError(
            f"polish needs one weight a row, or a group of rows; got rows of shape {rows.shape} "
            f"and weights of shape {weights.shape}"
        )
    if not (np.all(weights > 0) and np.all(np.isfinite(weights))):
        raise ValueError(
            "polish needs weights that are positive and finite; leave out the rows of other ones"
        )
    if penalty is not None and (penalty.shape != rows.shape[1:] or not np.all(penalty >= 0)):
        raise ValueError(
            f"penalty must be {rows.shape[1]} numbers alpha / s^2 >= 0, one a column; got "
            f"{penalty!r}"
        )


def best_weights(
    U: FloatArray, given: FloatArray, penalty: FloatArray | None, sizes: IndexArray
) -> FloatArray:
    """The best weights of the ``MOST_ROWS`` rows that matter most; others are only scaled.

    The start is w_i ~ 1 / ||v_i||^2 for these: no direction is lost from sight there, whatever the
    weights given. All are scaled by the c for which ||c G - Z||_F is least, c = <G, Z> / <G, G>.
    """
    z = np.ones(U.shape[1]) if penalty is None else 1 / (1 + penalty)
    V = U * np.sqrt(z)
    norms2 = sums(np.einsum("ij,ij->i", V, V), sizes)
    traces = np.where(norms2 > NOISE_NORM2, given * norms2, 0.0)
    if not np.any(traces):
        return given
    order = np.argsort(-traces, kind="stable")
    first = order[np.cumsum(sizes[order]) - sizes[order] < MOST_ROWS]
    moved = (traces > 0) & np.isin(np.arange(len(given)), first)
    weights = given.copy()
    weights[moved] = traces[moved].mean() / norms2[moved]
    G = (V.T * np.repeat(weights, sizes)) @ V
    weights[traces > 0] *= (z @ np.diag(G)) / np.sum(G**2)
    kept = np.repeat(np.where(moved, 0.0, weights), sizes)
    Z = np.diag(z) - (V.T * kept) @ V
    start = Point(V[np.repeat(moved, sizes)], sizes[moved], Z, weights[moved])
    weights[moved] = minimize_epsilon(start)
    return weights


def minimize_epsilon(point: "Point") -> FloatArray:
    """Weights whose epsilon is the least possible, up to ``TOLERANCE``, from those of ``point``."""
    n_terms = 2 * len(point.Z) + len(point.weights)
    tau = n_terms / max(point.epsilon, NEGLIGIBLE)
    for _ in range(MOST_STEPS):
        found, decrement = newton_step(point, tau)
        if found is None:
            break  # as far as rounding lets it come
        point, gap = found, max(TOLERANCE * found.epsilon, NEGLIGIBLE)
        if decrement < 1 and n_terms / tau <= gap:
            break
        if decrement < NEAR:
            tau = min(GROWTH * tau, n_terms / (AIM * gap))
    return point.weights


def newton_step(point: "Point", tau: float) -> tuple["Point | None", float]:
    """Go in Newton's direction as far as f falls as promised; None if it does not.

    f is self-concordant: a step of 1 / (1 + decrement) is always short enough and keeps weights
    positive. One up to eight times as long mostly is, too.
    """
    value, t = point.barrier_value(tau)
    direction, decrement = point.newton_direction(t)
    step = 1 / (1 + max(decrement / 8, -direction.min()))
    for length in (step, step / 2, step / 4, step / 8):
        weights = point.weights * (1 + length * direction)
        found = Point(point.V, point.sizes, point.Z, weights)
        if found.barrier_value(tau)[0] < value - 0.1 * length * decrement**2:
            return found, decrement
    return None, decrement


class Point:
    """Weights w of rows V, of which so many consecutive ones share a weight, and f there.

    C has the rows sqrt(w_i) v_i, in the coordinates of the eigenvectors of E(w).
    """

    def __init__(
        self, V: FloatArray, sizes: IndexArray, Z: FloatArray, weights: FloatArray
    ) -> None:
        self.V, self.sizes, self.Z, self.weights = V, sizes, Z, weights
        Y = np.sqrt(np.repeat(weights, sizes))[:, None] * V
        self.eigenvalues, Q, _ = dsyevd(dsyrk(1.0, Y.T, lower=1) - Z, lower=1)
        self.C = Y @ Q
        self.epsilon = float(max(-self.eigenvalues[0], self.eigenvalues[-1]))

    def barrier_value(self, tau: float) -> tuple[float, float]:
        """f(w), and the t > epsilon at which it is attained.

        There sum 1 / (t - lam) + 1 / (t + lam) = tau, over the eigenvalues lam of E.
        """
        gaps = self.epsilon - np.concatenate([self.eigenvalues, -self.eigenvalues])
        x = brentq(lambda x: np.sum(1 / (tau * gaps + x)) - 1, 1, 2 * len(gaps))
        t = self.epsilon + x / tau
        logs = np.sum(np.log(gaps + x / tau)) + np.sum(np.log(self.weights))
        return float(tau * t - logs), t

    def newton_direction(self, t: float) -> tuple[FloatArray, float]:
        """Relative changes of the weights, -H^-1 g, and the decrement (g^T H^-1 g)^1/2.

        With P = (t I - E)^-1, N = (t I + E)^-1 and o the entrywise product,

            g = diag(C (P - N) C^T) - 1
            H = (C P C^T) o (C P C^T) + (C N C^T) o (C N C^T) + I - h h^T / k

        where the last term, h = diag(C (N^2 - P^2) C^T) and k = tr(P^2 + N^2), is t giving way. Of
        rows with one weight in common, entries are added up.
        """
        C, sizes = self.C, self.sizes
        p, n = 1 / (t - self.eigenvalues), 1 / (t + self.eigenvalues)
        g, h = sums(C**2 @ (p - n), sizes) - 1, sums(C**2 @ (n**2 - p**2), sizes)
        H = squared_gram(C * np.sqrt(p), sizes)
        H += squared_gram(C * np.sqrt(n), sizes)
        H = dsyr(-1 / (p @ p + n @ n), h, lower=1, a=H, overwrite_a=1)
        H.ravel(order="K")[:: len(H) + 1] += 1
        factor, failed = dpotrf(H, lower=1, clean=0, overwrite_a=1)
        if failed:
            return np.zeros(len(H)), 0.0  # rounding errors hide the way on
        direction, _ = dpotrs(factor, -g, lower=1)
        return direction, math.sqrt(max(0.0, -g @ direction))


def squared_gram(C: FloatArray, sizes: IndexArray) -> FloatArray:
    """The lower triangle of C C^T, entries squared, and added up over rows of one weight."""
    if len(C) == len(sizes):
        gram: FloatArray = dsyrk(1.0, C.T, trans=1, lower=1)
        return np.square(gram, out=gram)
    return np.asfortranarray(sums(sums((C @ C.T) ** 2, sizes).T, sizes))
