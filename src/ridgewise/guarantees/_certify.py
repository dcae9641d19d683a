# SPDX-License-Identifier: BSD-3-Clause
"""Certificates: measured by a selector as it is fitted, or verified for any selection of features.

"verified" accounts for rounding, "rigorous" is a proof: see `_interval` and `_proof`.
"""

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ridgewise import barrier
from ridgewise._run import check_number
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.guarantees._certificate import Certificate
from ridgewise.guarantees._interval import (
    Selection,
    check_rank,
    ill_conditioned_note,
    measured_interval,
    ridge_penalty,
    verified_interval,
    widened_interval,
)
from ridgewise.guarantees._polish import polish as polished
from ridgewise.guarantees._proof import check_installed, prove
from ridgewise.spectrum import Spectrum, as_numeric, compute_spectrum

SAME = 1e-6  # tolerance for rounding when an interval is compared with its promise


def certify(
    X: Any,
    selector: Any,
    *,
    alpha: float | None = None,
    polish: bool = False,
    rigorous: bool = False,
    center: bool | None = None,
) -> Certificate:
    """Measure how well selected features stand for all, and account for rounding.

    Parameters
    ----------
    X : array, sparse array or data frame of shape (n_samples, n_features)
        The training data, with all its features.
    selector : fitted selector, or array-like of features
        A selector of this package, with its weights (unless ``rescale=False``); or, with weights 1,
        any other with ``get_support``, or features: indices, a boolean mask, or names in X.
    alpha : float, default=None
        0 for lower K <= K~ <= upper K, which needs at least as many features as the rank. Above 0,
        lower (K + alpha) <= K~ + alpha <= upper (K + alpha). None: as the selector, else 0.
    polish : bool, default=False
        Whether to use the weights that give the tightest bounds instead of the selector's:
        ``certificate.selection.weights`` has them.
    rigorous : bool, default=False
        Whether to prove the interval for X (in double precision) and the weights as stored. Needs
        python-flint (``pip install 'ridgewise[rigorous]'``), and at most 1000 samples.
    center : bool, default=None
        Whether the statement is about X less its features' means, for models with an intercept.
        None: as the selector, else False.

    Returns
    -------
    Certificate
        ``verified`` where rounding cannot have made it false. Where it can have, ``note`` says
        what would help, and nothing is certified.

    Notes
    -----
    X = V S U^T is decomposed anew, ``rank`` as in the selector. From V and S follows a basis in
    which K + alpha is the identity, but for rounding. How far it is from that is measured on the
    data, and widens the interval. Where that leaves nothing, a QR decomposition is tried. The
    constants are first-order estimates of rounding, tested against exact arithmetic.

    At alpha = 0, with ``rank`` or where rounding hides singular values that equal or zero samples
    or features (or centring) do not explain, the statement is about the leading singular vectors,
    and says so. With alpha > 0 it is about all of X. What the selector promised beforehand is shown
    beside a verified interval only.

    With ``rigorous``, K and K~ are computed as integer matrices, and the interval, widened by 1e-12
    of upper, is proved by Cholesky decompositions in as many bits as they take, whatever the
    condition number. It takes seconds for 200 samples of 10,000 features; with ``rank``, at
    alpha = 0, nothing is proved.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, f_regression
    >>> from ridgewise import make_ridge_synthetic
    >>> from ridgewise.guarantees import certify
    >>> X, y = make_ridge_synthetic(random_state=0)
    >>> best = SelectKBest(f_regression, k=90).fit(X, y)
    >>> print(certify(X, best))
    measured [0.0189, 0.9999]
    epsilon  0.9811
    verified: rounding is accounted for
    >>> print(certify(X, best, rigorous=True))
    measured [0.0189, 0.9999]
    epsilon  0.9811
    verified: proved in ball arithmetic

    A published panel of features, by name:

    >>> import pandas as pd
    >>> genes = pd.DataFrame([[3.0, 0.1, 0.0], [0.0, 0.1, 2.0]], columns=["TP53", "ACTB", "BRCA1"])
    >>> print(certify(genes, ["TP53", "BRCA1"], alpha=1.0))
    measured [0.9970, 1.0000]
    epsilon  0.0030
    for ridge models with alpha >= 1
    verified: rounding is accounted for
    """
    if rigorous:
        check_installed()
    selected, weights, selector = read_features(X, selector)
    X = as_numeric(X)
    if alpha is None:
        alpha = getattr(selector, "alpha_", 0.0)
    alpha = check_number("alpha", alpha)
    if center is None:
        center = bool(getattr(selector, "center", False))
    rank = getattr(selector, "rank", None) if alpha == 0 else None
    for solver in ("auto" if alpha == 0 else "gram", "qr"):
        spectrum = compute_spectrum(X, rank=rank, center=center, solver=solver)
        check_rank(spectrum)
        largest = float(spectrum.singular_values[0])
        if alpha > 0 and math.sqrt(alpha) < 1e-140 * largest:
            raise ValueError(
                f"alpha={alpha:g} is negligible: the largest singular value of X is "
                f"{largest:.3g}: use alpha=0"
            )
        if polish:
            start = np.ones(len(selected)) if weights is None else weights
            e = ridge_penalty(spectrum.singular_values, alpha)
            weights = polished(spectrum.take(selected), start, penalty=e)
        selection = Selection.of(spectrum, selected, weights, rank=rank, alpha=alpha)
        certificate = verified_certificate(spectrum, selection, alpha)
        if certificate.verified or spectrum.solver == "qr" or not certificate.note:
            break
    covered = certificate.verified and not polish  # by the promise
    if rigorous:
        covered = covered and selection.cutoff is None  # what is proved is about all of X
        certificate = prove(certificate, X)
    if not covered or not certificate.verified:
        return certificate
    return with_promise(certificate, selector, spectrum)


def measured_certificate(
    spectrum: Spectrum,
    selected: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    alpha: float = 0.0,
    promised: tuple[float | None, float | None] = (None, None),
    confidence: float = 1.0,
    rank: int | float | None = None,
    found: tuple[float, float] | None = None,
) -> Certificate:
    """Measure how well selected features stand for all: what a selector does when it is fitted.

    It costs the selected rows of U and one small decomposition, and no pass over the data; nothing
    where their `weighted_spectrum` was ``found`` already. Rounding is estimated, and not measured
    (``verified`` is False) unless everything was selected: `certify` does that. ``rank`` is what
    was asked for when the spectrum was computed. A certain promise (confidence 1) that rounding
    keeps from holding is left out.
    """
    alpha = check_number("alpha", alpha)
    selection = Selection.of(spectrum, selected, weights, rank=rank, alpha=alpha)
    if selection.keeps_all:
        return Certificate(1.0, 1.0, *promised, confidence, alpha, True, selection=selection)
    if found is None:
        rows = spectrum.take(selection.indices)
        lower, upper = measured_interval(spectrum, rows, selection.w, alpha)
    else:
        lower, upper = widened_interval(spectrum, found, selection.max_weight, alpha)
    low, high = promised
    if confidence == 1 and low is not None and high is not None:
        kept = lower >= low - SAME * high and upper <= high * (1 + SAME)
        promised = promised if kept else (None, None)
    return Certificate(lower, upper, *promised, confidence, alpha, selection=selection)


def verified_certificate(spectrum: Spectrum, selection: Selection, alpha: float) -> Certificate:
    """Account for rounding, or say why that cannot be done."""
    if selection.keeps_all:
        return Certificate(1.0, 1.0, alpha=alpha, verified=True, selection=selection)
    found = verified_interval(spectrum, selection, alpha)
    if found.says_something:
        return Certificate(*found, alpha=alpha, verified=True, selection=selection)
    note = ill_conditioned_note(alpha)
    rows, e = spectrum.take(selection.indices), ridge_penalty(spectrum.singular_values, alpha)
    lower, upper = barrier.weighted_spectrum(rows, selection.w, e)
    if lower <= 64 * spectrum.rank * np.finfo(np.float64).eps * upper:
        lower, note = 0.0, ""  # zero, up to rounding
    return Certificate(lower, upper, alpha=alpha, note=note, selection=selection)


def read_features(X: Any, selector: Any) -> tuple[IndexArray, FloatArray | None, Any]:
    """The selected features, their weights, and the selector if it is one of this package."""
    is_ours = hasattr(selector, "selected_") and hasattr(selector, "weights_")
    if not is_ours and not hasattr(selector, "get_support"):
        return listed_features(X, selector), None, None
    if hasattr(selector, "fit"):
        check_is_fitted(selector)
    check_features(X, selector)
    if not is_ours:
        return np.flatnonzero(selector.get_support()), None, None
    weights = getattr(selector, "feature_weights_", selector.weights_)  # groups: spread
    rescaled = getattr(selector, "rescale", True)
    return np.asarray(selector.selected_, dtype=np.intp), weights if rescaled else None, selector


def listed_features(X: Any, features: Any) -> IndexArray:
    """Indices, a mask or names as indices."""
    is_list = isinstance(features, Collection) or hasattr(features, "__array__")
    if isinstance(features, str | bytes | dict) or not is_list or hasattr(features, "fit"):
        raise TypeError(
            "expected a fitted selector with get_support, or features: indices, a mask or names; "
            f"got {type(features).__name__}"
        )
    try:
        given = np.asarray(features if hasattr(features, "__array__") else list(features))
    except ValueError:  # lists of several lengths
        given = np.empty((0, 0))
    if given.ndim != 1:
        raise ValueError("expected a flat list of features: indices, a mask or names")
    n_features = (getattr(X, "shape", None) or np.shape(X))[-1]
    if len(given) == 0:
        return np.empty(0, dtype=np.intp)
    if given.dtype.kind == "b":
        if len(given) != n_features:
            raise ValueError(f"the mask has {len(given)} entries, and X has {n_features} features")
        return np.flatnonzero(given)
    if given.dtype.kind in "UO":
        indices = named_features(X, given.tolist())
    elif given.dtype.kind in "iu":
        indices = given.astype(np.intp)
    else:
        raise TypeError(f"expected indices, a mask or names of features, got {given.dtype} numbers")
    outside = indices[(indices < 0) | (indices >= n_features)]
    if len(outside):
        raise ValueError(f"feature indices go from 0 to {n_features - 1}, got {outside[0]}")
    feature, count = Counter(given.tolist()).most_common(1)[0]
    if count > 1:
        raise ValueError(f"feature {feature} is listed {count} times: give each once")
    return indices


def named_features(X: Any, names: list[Any]) -> IndexArray:
    """The indices of features that are given by their names."""
    columns = getattr(X, "columns", None)
    if columns is None:
        raise ValueError("features are given by name, and X has no names: give indices or a mask")
    counts = Counter(columns)
    missing = [name for name in names if name not in counts]
    if missing:
        shown = ", ".join(map(repr, missing[:3])) + (", ..." if len(missing) > 3 else "")
        raise ValueError(f"{len(missing)} of {len(names)} features are not in X: {shown}")
    for name in names:
        if counts[name] > 1:
            raise ValueError(f"{counts[name]} features of X are named {name!r}: give indices")
    places = {name: index for index, name in enumerate(columns)}
    return np.array([places[name] for name in names], dtype=np.intp)


def check_features(X: Any, selector: Any) -> None:
    """Raise if X has other features than those the selector was fitted on."""
    expected = getattr(selector, "n_features_in_", None)
    if expected is None:
        expected = len(selector.get_support())
    shape = getattr(X, "shape", None) or np.shape(X)
    if len(shape) == 2 and shape[1] != expected:
        raise ValueError(
            f"X has {shape[1]} features, and {type(selector).__name__} was fitted on {expected}"
        )
    names, fitted = getattr(X, "columns", None), getattr(selector, "feature_names_in_", None)
    if names is not None and fitted is not None and list(names) != list(fitted):
        raise ValueError("X has other feature names, or in another order, than the selector's")


def with_promise(certificate: Certificate, selector: Any, spectrum: Spectrum) -> Certificate:
    """Add what the selector promised beforehand, where that was about this data and alpha.

    A promise that holds 1 also holds for larger alphas.
    """
    before, S = getattr(selector, "certificate_", None), spectrum.singular_values
    fitted_on = getattr(selector, "singular_values_", np.empty(0))
    if (
        not isinstance(before, Certificate)
        or before.promised_lower is None
        or certificate.alpha < before.alpha
        or not getattr(selector, "rescale", True)  # it was about the weighted features
        or len(fitted_on) != len(S)
        or not np.allclose(fitted_on, S, rtol=1e-4, atol=1e-7 * S[0])
    ):
        return certificate
    return replace(
        certificate,
        promised_lower=before.promised_lower,
        promised_upper=before.promised_upper,
        confidence=before.confidence,
    )


# What to compare a certificate with


@dataclass(frozen=True)
class RandomFeatures:
    """Intervals of random features: medians over a few draws, measured and not certified.

    ``interval`` is that with weight 1, ``rescaled_interval`` that with weight d / r each, so that
    K~ has K's size on average.
    """

    interval: tuple[float, float]
    rescaled_interval: tuple[float, float]
    n_features: int
    alpha: float

    @property
    def epsilon(self) -> float:
        """The smaller epsilon of the two."""
        return min(Certificate(*ends).epsilon for ends in (self.interval, self.rescaled_interval))


def random_features(
    X: Any,
    n_features: int,
    *,
    alpha: float = 0.0,
    center: bool = False,
    n_draws: int = 5,
    random_state: Any = 0,
) -> RandomFeatures:
    """Measure what ``n_features`` features drawn uniformly without replacement keep of X.

    X is the data or its Spectrum, which saves most of the time and knows whether it is centred.
    The ends of the interval are medians over ``n_draws`` selections.
    """
    alpha = check_number("alpha", alpha)
    spectrum = X if isinstance(X, Spectrum) else compute_spectrum(X, center=center)
    check_rank(spectrum)
    d = spectrum.shape[1]
    if not 1 <= n_features <= d or n_draws < 1:
        raise ValueError(
            f"expected n_features from 1 to {d} and n_draws of at least 1, got "
            f"n_features={n_features}, n_draws={n_draws}"
        )
    generator = check_random_state(random_state)
    weights = [np.full(n_features, weight) for weight in (1.0, d / n_features)]
    intervals = []
    for _ in range(n_draws):
        rows = spectrum.take(np.sort(generator.permutation(d)[:n_features]))
        intervals.append([measured_interval(spectrum, rows, w, alpha) for w in weights])
    plain, rescaled = np.median(intervals, axis=0).tolist()
    return RandomFeatures(tuple(plain), tuple(rescaled), n_features, alpha)
