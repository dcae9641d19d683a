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

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotrs, dsyevd
from scipy.optimize import brentq

from ridgewise._groups import spans, sums
from ridgewise._threads import one_blas_thread
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier._problem import weighted_spectrum

# Of epsilon: a bound on the gap at the minimum, which on real data is tens of times smaller. It is
# half the hundredth that is promised, since Newton's method stops somewhat before the minimum.
TOLERANCE = 5e-3
NEGLIGIBLE = 1e-6  # an epsilon that needs no polishing
NOISE_NORM2 = 1e-26  # in an orthonormal basis, shorter rows are rounding errors
MISSED = 1e-9  # rows whose smallest eigenvalue is this miss a direction
GROWTH = 5.0  # of tau, whenever Newton's method has come near the minimum
NEAR = 25.0  # that near: g^T H^-1 g, twice what a full Newton step would gain
NEAREST = 1.0  # the same for the last tau: Newton's method is past its line searches there
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
        and so do rows of zeros, and past some thousands those that matter least.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.6, 0.0], [0.0, 0.5], [0.0, 0.5]])
    >>> polish(rows, np.ones(3)).round(3)
    array([2.778, 2.   , 2.   ])
    """
    sizes = np.ones(len(rows), dtype=np.intp) if sizes is None else sizes
    check_shapes(rows, weights, penalty, sizes)

    def measured(weights: FloatArray) -> float:
        return epsilon(rows, np.repeat(weights, sizes), penalty)

    with one_blas_thread():
        candidates = [np.array(weights, dtype=np.float64)]
        if measured(candidates[0]) > NEGLIGIBLE:
            candidates += other_weights(rows, sizes, candidates[0], penalty)
        return min(candidates, key=measured)


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


class Rows(NamedTuple):
    """Rows v_i, of which so many consecutive ones have one weight in common, and Z."""

    V: FloatArray
    sizes: IndexArray
    Z: FloatArray

    def gram(self, weights: FloatArray) -> FloatArray:
        """V^T diag(w) V."""
        return (self.V.T * np.repeat(weights, self.sizes)) @ self.V

    @property
    def norms2(self) -> FloatArray:
        """Squared norms, added up over the rows of each weight."""
        return sums(np.einsum("ij,ij->i", self.V, self.V), self.sizes)

    def take(self, chosen: IndexArray) -> "Rows":
        """The rows of some of the weights."""
        starts, sizes = np.cumsum(self.sizes) - self.sizes, self.sizes[chosen]
        return Rows(self.V[spans(starts[chosen], sizes)], sizes, self.Z)


def other_weights(
    U: FloatArray, sizes: IndexArray, weights: FloatArray, penalty: FloatArray | None
) -> Iterator[FloatArray]:
    """The weights at their best scale, and the best ones; none if nothing can be certified."""
    z = np.ones(U.shape[1]) if penalty is None else 1 / (1 + penalty)
    rows = Rows(U * np.sqrt(z), sizes, np.diag(z))
    matters = np.flatnonzero(rows.norms2 > NOISE_NORM2)
    rows, given = rows.take(matters), weights[matters]
    if rows.V.size == 0 or (penalty is None and len(rows.V) < len(z)):
        return
    # of three starts, one from which all directions are in sight, whatever the weights given
    starts = [best_scale(rows, w) for w in (given, np.ones(len(given)), 1 / rows.norms2)]
    points = [decompose(rows, w) for w in starts]
    nearest = min(points, key=lambda point: point.epsilon)
    if nearest.epsilon > 1 - MISSED:
        return
    found = minimize_over_largest(rows, nearest.weights)
    for better in (starts[0], best_scale(rows, found)):
        all_weights = weights.copy()
        all_weights[matters] = better
        yield all_weights


def best_scale(rows: Rows, weights: FloatArray) -> FloatArray:
    """The weights times the constant c for which c V^T diag(w) V - Z has the smallest norm.

    Its extreme eigenvalues grow with c, and at the best c they are opposite: c = 2 / (a + b) where
    Z = I.
    """
    G = rows.gram(weights)
    eigenvalues = np.linalg.eigvalsh(G)
    if np.array_equal(rows.Z, np.eye(len(G))):
        return weights * (2 / float(eigenvalues[0] + eigenvalues[-1]))
    largest = float(eigenvalues[-1])

    def imbalance(c: float) -> float:
        eigenvalues = np.linalg.eigvalsh(c / largest * G - rows.Z)
        return float(eigenvalues[0] + eigenvalues[-1])

    # c = 2 is enough, since no eigenvalue of Z exceeds 1
    c = brentq(imbalance, 0.0, 2.0, xtol=1e-12, rtol=1e-12) if imbalance(2.0) > 0 else 2.0
    return weights * (c / largest)


def minimize_over_largest(rows: Rows, weights: FloatArray) -> FloatArray:
    """The best weights of the ``MOST_ROWS`` rows that matter most, the others' being kept."""
    order = np.argsort(-weights * rows.norms2, kind="stable")
    n_moved = max(1, int(np.searchsorted(np.cumsum(rows.sizes[order]), MOST_ROWS, side="right")))
    moved, kept = order[:n_moved], order[n_moved:]
    left = rows.Z - rows.take(kept).gram(weights[kept])
    found = weights.copy()
    found[moved] = minimize_epsilon(rows.take(moved)._replace(Z=left), weights[moved])
    return found


class Point(NamedTuple):
    """Weights, and E(w) decomposed there."""

    rows: Rows
    weights: FloatArray
    eigenvalues: FloatArray
    C: FloatArray
    """The rows sqrt(w_i) v_i in the coordinates of the eigenvectors."""

    @property
    def epsilon(self) -> float:
        """||E(w)||."""
        return float(max(-self.eigenvalues[0], self.eigenvalues[-1]))


def decompose(rows: Rows, weights: FloatArray) -> Point:
    """Decompose E(w) = V^T diag(w) V - Z."""
    Y = np.sqrt(np.repeat(weights, rows.sizes))[:, None] * rows.V
    eigenvalues, Q, _ = dsyevd(dsyrk(1.0, Y.T, lower=1) - rows.Z, lower=1)
    return Point(rows, weights, eigenvalues, Y @ Q)


def minimize_epsilon(rows: Rows, weights: FloatArray) -> FloatArray:
    """Weights whose epsilon is the least possible, up to ``TOLERANCE``."""
    point, step = decompose(rows, weights), 1.0
    t = 1.1 * max(point.epsilon, NEGLIGIBLE)  # the best one for this tau
    tau = float(np.sum(1 / (t - point.eigenvalues) + 1 / (t + point.eigenvalues)))
    for _ in range(MOST_STEPS):
        if point.epsilon <= NEGLIGIBLE:
            break
        direction, promise = newton_direction(point, tau)
        found = search(point, tau, direction, promise, most=2 * step)
        if found is None:
            break  # as far as rounding lets it come
        point, step = found
        is_last = len(weights) + 2 * len(rows.Z) < TOLERANCE * point.epsilon * tau
        if is_last and promise < NEAREST:
            break
        if not is_last and promise < NEAR:
            tau *= GROWTH
    return point.weights


def barrier_value(point: Point, tau: float) -> tuple[float, float]:
    """f(w), and the t > epsilon at which it is attained.

    There sum 1 / (t - lam) + 1 / (t + lam) = tau, over the eigenvalues lam of E. One over that sum
    is a concave function of t: Newton's method on it comes from the left and never overshoots.
    """
    gaps = np.concatenate([point.epsilon - point.eigenvalues, point.epsilon + point.eigenvalues])
    above = 1 / tau  # t - epsilon
    for _ in range(50):
        inverse = 1 / (gaps + above)
        total = float(np.sum(inverse))
        if total <= (1 + 1e-13) * tau:
            break
        above += total * (total / tau - 1) / float(inverse @ inverse)
    t = point.epsilon + above
    return tau * t - float(np.sum(np.log(gaps + above)) + np.sum(np.log(point.weights))), t


def gradient(point: Point, tau: float) -> FloatArray:
    """Derivatives of f along relative changes of the weights: w_i v_i^T (P - N) v_i - 1.

    P = (t I - E)^-1 and N = (t I + E)^-1. That t is a minimum, too, does not change them.
    """
    _, t = barrier_value(point, tau)
    terms = point.C**2 @ (1 / (t - point.eigenvalues) - 1 / (t + point.eigenvalues))
    return sums(terms, point.rows.sizes) - 1


def newton_direction(point: Point, tau: float) -> tuple[FloatArray, float]:
    """Relative changes of the weights, -H^-1 g, and the decrease g^T H^-1 g that they promise.

    With C the rows sqrt(w_i) v_i and o the entrywise product,

        H = (C P C^T) o (C P C^T) + (C N C^T) o (C N C^T) + I - h h^T / k

    where the last term, h = diag(C (N^2 - P^2) C^T) and k = tr(P^2 + N^2), is t giving way. Of rows
    with one weight in common, entries are added up.
    """
    _, t = barrier_value(point, tau)
    p, n = 1 / (t - point.eigenvalues), 1 / (t + point.eigenvalues)
    sizes = point.rows.sizes
    H = squared_gram(point.C * np.sqrt(p), sizes)
    H += squared_gram(point.C * np.sqrt(n), sizes)
    H.ravel(order="K")[:: len(H) + 1] += 1
    g, h = gradient(point, tau), sums(point.C**2 @ (n**2 - p**2), sizes)
    factor, failed = dpotrf(H, lower=1, clean=0, overwrite_a=1)
    if failed:
        return np.zeros(len(H)), 0.0  # rounding errors hide the way on
    solved, _ = dpotrs(factor, np.column_stack([g, h]), lower=1)
    Hg, Hh = solved.T
    direction = -(Hg + Hh * ((h @ Hg) / (p @ p + n @ n - h @ Hh)))
    return direction, float(-g @ direction)


def squared_gram(C: FloatArray, sizes: IndexArray) -> FloatArray:
    """The lower triangle of C C^T, entries squared, and added up over rows of one weight."""
    if len(C) == len(sizes):
        gram: FloatArray = dsyrk(1.0, C.T, trans=1, lower=1)
        return np.square(gram, out=gram)
    starts = np.cumsum(sizes) - sizes
    squares = (C @ C.T) ** 2
    return np.asfortranarray(np.add.reduceat(np.add.reduceat(squares, starts, 0), starts, 1))


def search(
    point: Point, tau: float, direction: FloatArray, promise: float, most: float
) -> tuple[Point, float] | None:
    """Go along ``direction`` while weights stay positive and f falls as promised; None: nowhere.

    Returns the point and the step, at most 1 and at most ``most``.
    """
    value, _ = barrier_value(point, tau)
    step = min(1.0, most, 0.95 / max(float(-direction.min()), 0.95))
    while step > 1e-6 and promise > 0:
        found = decompose(point.rows, point.weights * (1 + step * direction))
        reached, _ = barrier_value(found, tau)
        if reached <= value - 0.1 * step * promise:
            return found, step
        step /= 2
    return None
