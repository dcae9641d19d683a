# SPDX-License-Identifier: BSD-3-Clause
"""The alpha that leave-one-out cross-validation chooses, from one decomposition of the kernel."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ridgewise._typing import AnyArray, FloatArray
from ridgewise.models._path import DualPath, dual_path

PER_DECADE = 4
RELATIVE_ALPHAS = np.logspace(-8, 5, 13 * PER_DECADE + 1)  # to the mean diagonal of the kernel
FLAT = 1e-2  # a smaller relative change of the error over a decade counts as none


class AlphaChoice(NamedTuple):
    """The alpha of the smallest leave-one-out error."""

    alpha: float  # added to the kernel's diagonal, as scikit-learn's
    relative: float  # alpha / mean diagonal of the kernel (centred with an intercept)
    edge: str  # "smallest" or "largest" of the grid if the error still falls there, else ""
    error: float  # mean squared leave-one-out error, over samples and targets


def leave_one_out_alpha(
    X: Any,
    y: ArrayLike,
    *,
    classify: bool = False,
    fit_intercept: bool = True,
    tolerance: float = 0.0,
) -> AlphaChoice:
    """Choose alpha for a ridge model by leave-one-out cross-validation, one for all targets.

    What `RidgeCV` and `RidgeClassifierCV` do, on a grid that follows the scale of the data: 1e-8 to
    1e5 times the mean diagonal of the kernel. The largest alpha is chosen whose error exceeds the
    smallest by at most the share ``tolerance``.

    Examples
    --------
    >>> import numpy as np
    >>> from ridgewise.models import leave_one_out_alpha
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 300))
    >>> choice = leave_one_out_alpha(X, X[:, :100].sum(axis=1) + rng.normal(size=40))
    >>> round(choice.relative, 3), choice.edge
    (0.178, '')
    """
    path, _ = dual_path(X, center=fit_intercept)
    Y = class_targets(np.asarray(y)) if classify else np.asarray(y, dtype=np.float64)
    return choose_alpha(path, Y, fit_intercept=fit_intercept, tolerance=tolerance)


def choose_alpha(
    path: DualPath, Y: FloatArray, *, fit_intercept: bool, tolerance: float = 0.0
) -> AlphaChoice:
    """Choose alpha as `leave_one_out_alpha` does. With an intercept, the kernel is centred."""
    scale = path.eigenvalues.sum() / path.basis.shape[0] or 1.0
    alphas = RELATIVE_ALPHAS * scale
    errors = leave_one_out_errors(path, Y, alphas, fit_intercept=fit_intercept)
    errors = np.where(np.isfinite(errors), errors, np.inf)
    as_good = np.flatnonzero(errors <= (1 + tolerance) * errors.min())
    place = int(as_good[-1 if tolerance else 0]) if np.isfinite(errors).any() else len(alphas) // 2
    edge = {0: "smallest", len(alphas) - 1: "largest"}.get(place, "")
    inside = min(max(place, PER_DECADE), len(alphas) - 1 - PER_DECADE)  # a decade from the edge
    if errors[inside] <= (1 + FLAT) * errors[place]:
        edge = ""
    alpha, relative, error = alphas[place], RELATIVE_ALPHAS[place], errors[place]
    return AlphaChoice(float(alpha), float(relative), edge, float(error))


def leave_one_out_errors(
    path: DualPath, Y: FloatArray, alphas: ArrayLike, *, fit_intercept: bool
) -> FloatArray:
    """Compute mean squared leave-one-out errors of ridge models in closed form, one for each alpha.

    With K = V diag(k) V^T, centred if there is an intercept, the prediction for sample i of the
    model fitted without it differs from y_i by ::

        (y - H y)_i / (1 - H_ii),    H = V diag(k / (k + alpha)) V^T  [+ 1 1^T / n]

    with the term in brackets for an intercept. Y is not centred.
    """
    V, k = path.basis, path.eigenvalues
    n, rank = V.shape
    Y = Y.reshape(n, -1)
    if fit_intercept:
        Y = Y - Y.mean(axis=0)
    squares = V**2
    coordinates = V.T @ Y
    outside, leverage = Y - V @ coordinates, 1 - fit_intercept / n - squares.sum(axis=1)
    if rank >= n - fit_intercept:  # the rest is rounding
        outside, leverage = np.zeros_like(outside), np.zeros_like(leverage)
    errors = []
    for alpha in np.asarray(alphas, dtype=np.float64):
        shrunk = alpha / (k + alpha)
        residuals = outside + V @ (shrunk[:, None] * coordinates)
        with np.errstate(divide="ignore", invalid="ignore"):
            residuals /= (leverage + squares @ shrunk)[:, None]
        errors.append(np.mean(residuals**2))
    return np.array(errors)


def class_targets(y: AnyArray, classes: AnyArray | None = None) -> FloatArray:
    """Code classes as -1 and +1: one column for two classes, else one for each."""
    classes = np.unique(y) if classes is None else classes
    return np.where(np.equal.outer(y, classes[1 if len(classes) == 2 else 0 :]), 1.0, -1.0)
