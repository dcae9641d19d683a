# SPDX-License-Identifier: BSD-3-Clause
"""The certificate of any fitted selector, with rounding accounted for."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ridgewise import barrier
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.guarantees._checks import check_not_negative
from ridgewise.guarantees.certificate import Certificate
from ridgewise.guarantees.measure import measured_certificate
from ridgewise.guarantees.rigorous import check_installed, prove
from ridgewise.guarantees.verify import spans_everything, verified_interval
from ridgewise.spectrum import Spectrum, as_numeric, compute_spectrum


def certify(
    X: Any,
    selector: Any,
    *,
    alpha: float | None = None,
    polish: bool = False,
    rigorous: bool = False,
) -> Certificate:
    """Measure how well a selector's features stand for all, and account for rounding.

    Parameters
    ----------
    X : array, sparse array or data frame of shape (n_samples, n_features)
        The training data, with all its features.
    selector : fitted selector
        One of this package, with its weights (unless it has ``rescale=False``); or any other with
        scikit-learn's ``get_support``, whose features then have weight 1.
    alpha : float, default=None
        0 for lower K <= K~ <= upper K, which needs at least as many features as the rank. Above 0,
        lower (K + alpha) <= K~ + alpha <= upper (K + alpha), for ridge models that add at least
        alpha to the kernel's diagonal. None: what the selector worked with, else 0.
    polish : bool, default=False
        Whether to look for the weights that give the tightest bounds, whatever the selector's are:
        the certificate is then about those, which ``certificate.selection.weights`` has.
    rigorous : bool, default=False
        Whether to prove the interval, in exact and ball arithmetic: a theorem about the numbers in
        X (in double precision) and the weights, as they are stored. Needs python-flint
        (``pip install 'ridgewise[rigorous]'``), and at most 1000 samples.

    Returns
    -------
    Certificate
        ``verified`` where rounding cannot have made it false. Where it can have, ``note`` says
        what would help.

    Notes
    -----
    X = V S U^T is decomposed anew, ``center`` and ``rank`` as in the selector. The residual of that
    decomposition and the orthogonality of its factors are measured in one pass over the data, and
    widen the interval. Where that leaves nothing, a QR decomposition is tried. At alpha = 0:

    - with ``rank``, the statement is about the span of the leading vectors of V; else
    - singular values that rounding hides leave the statement unverified, unless duplicate rows or
      columns (or centring) explain every one of them. With alpha > 0 they do no harm, and the
      statement is about all of X, whatever the ``rank``.

    The constants are first-order estimates of rounding, tested against arithmetic with 60 digits.
    With ``rigorous``, there are none: K and K~ are computed as integer matrices, and the interval,
    widened by 1e-12 of upper, is proved by Cholesky decompositions in as many bits as they take.
    Exact dependencies between samples do no harm, nor does any condition number. It takes seconds
    for 200 samples of 10,000 features; with ``rank``, at alpha = 0, nothing is proved.

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
    """
    if rigorous:
        check_installed()
    selected, weights = read_selection(selector)
    check_features(X, selector)
    X = as_numeric(X)
    ours = is_ours(selector)
    if alpha is None:
        alpha = getattr(selector, "alpha_", 0.0) if ours else 0.0
    alpha = check_not_negative("alpha", alpha)
    center = bool(getattr(selector, "center", False)) if ours else False
    rank = getattr(selector, "rank", None) if ours and alpha == 0 else None
    for solver in ("auto", "qr"):
        spectrum = compute_spectrum(X, rank=rank, center=center, solver=solver)
        if spectrum.rank == 0:
            raise ValueError(f"every feature of X is {'constant' if center else 'zero'}")
        if polish:
            weights = polished(spectrum, selected, weights, alpha)
        certificate = measured_certificate(spectrum, selected, weights, alpha=alpha, rank=rank)
        certificate = verify(certificate, spectrum, X)
        if certificate.verified or spectrum.solver == "qr" or certificate.lower == 0:
            break
    hidden = not certificate.verified  # singular values, perhaps: no promise is about those
    if rigorous:
        certificate = prove(certificate, X)
    if polish or (certificate.verified and hidden):
        return certificate
    return with_promise(certificate, selector, spectrum)


def polished(
    spectrum: Spectrum, selected: IndexArray, weights: FloatArray | None, alpha: float
) -> FloatArray:
    """The best weights for these features."""
    start = np.ones(len(selected)) if weights is None else weights
    penalty = alpha / spectrum.singular_values**2 if alpha > 0 else None
    return barrier.polish(spectrum.take(selected), start, penalty=penalty)


def read_selection(selector: Any) -> tuple[IndexArray, FloatArray | None]:
    """The selected features of a fitted selector, and the weights that its transform applies."""
    if not (is_ours(selector) or hasattr(selector, "get_support")):
        raise TypeError(
            f"expected a fitted selector with get_support, got {type(selector).__name__}"
        )
    if hasattr(selector, "fit"):
        check_is_fitted(selector)
    if is_ours(selector):
        weights = getattr(selector, "feature_weights_", selector.weights_)  # groups: spread
        rescaled = getattr(selector, "rescale", True)
        return np.asarray(selector.selected_, dtype=np.intp), weights if rescaled else None
    return np.flatnonzero(selector.get_support()), None


def is_ours(selector: Any) -> bool:
    """Whether it tells its weights, as the selectors of this package do."""
    return hasattr(selector, "selected_") and hasattr(selector, "weights_")


def check_features(X: Any, selector: Any) -> None:
    """Refuse data with other features than those the selector was fitted on."""
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


def verify(certificate: Certificate, spectrum: Spectrum, X: Any) -> Certificate:
    """Account for rounding, or say why that cannot be done."""
    selection = certificate.selection
    assert selection is not None
    if certificate.verified:
        return certificate
    if certificate.lower <= 64 * spectrum.rank * np.finfo(np.float64).eps * certificate.upper:
        return replace(certificate, lower=0.0)  # for all that rounding lets see
    alpha = certificate.alpha
    if alpha == 0 and not spans_everything(spectrum, X, selection.center, selection.rank):
        note = (
            f"X may have more than the {spectrum.rank} singular values that rounding lets see; "
            f"alpha > 0 (for ridge models), or a selector with rank={spectrum.rank}, would help"
        )
        return replace(certificate, note=note)
    found = verified_interval(
        spectrum,
        certificate.lower,
        certificate.upper,
        max_weight=max(selection.weights, default=0.0),
        alpha=alpha,
    )
    if not found.verified:
        note = "rounding leaves nothing of it, X is too ill-conditioned; "
        note += f"{'a larger alpha' if alpha else 'alpha > 0 (for ridge models)'} would help"
        return replace(certificate, note=note)
    return replace(certificate, lower=found.lower, upper=found.upper, verified=True)


def with_promise(certificate: Certificate, selector: Any, spectrum: Spectrum) -> Certificate:
    """Add what the selector promised beforehand, where that was about this data and alpha.

    A promise that holds 1 also holds for larger alphas.
    """
    before = getattr(selector, "certificate_", None)
    if not getattr(selector, "rescale", True):  # the promise was about the weighted features
        return certificate
    fitted_on = getattr(selector, "singular_values_", None)
    if not isinstance(before, Certificate) or before.promised_lower is None or fitted_on is None:
        return certificate
    if certificate.alpha < before.alpha or not same_values(fitted_on, spectrum.singular_values):
        return certificate
    return replace(
        certificate,
        promised_lower=before.promised_lower,
        promised_upper=before.promised_upper,
        confidence=before.confidence,
    )


def same_values(some: FloatArray, others: FloatArray) -> bool:
    """Whether two descending lists of singular values agree, up to rounding."""
    return len(some) == len(others) and np.allclose(some, others, rtol=1e-4, atol=1e-7 * others[0])
