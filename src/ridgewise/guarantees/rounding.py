# SPDX-License-Identifier: BSD-3-Clause
"""What remains of a measured interval once rounding is accounted for."""

import math
from dataclasses import dataclass

import numpy as np

from ridgewise.guarantees._checks import check_interval, check_not_negative, check_positive


@dataclass(frozen=True)
class CertifiedInterval:
    """An interval that holds in exact arithmetic.

    Attributes
    ----------
    lower, upper : float
        The ends; 0 and infinity where rounding leaves nothing to say.
    verified : bool
        Whether both ends say something: lower > 0 and upper finite.
    """

    lower: float
    upper: float

    @property
    def verified(self) -> bool:
        """Whether both ends say something."""
        return self.lower > 0 and math.isfinite(self.upper)


def certified_interval(
    lower: float,
    upper: float,
    *,
    rank: int,
    n_samples: int,
    max_weight: float,
    min_singular_value: float,
    residual_norm: float,
    data_norm: float,
    orthogonality_error: float,
    alpha: float = 0.0,
) -> CertifiedInterval:
    """Widen the measured interval by what rounding may have hidden.

    The computed V, S and U only nearly decompose X, so the computed [a, b] is only nearly that of
    lower K <= K~ <= upper K. What is off can be measured:

        fn = (||F|| + 4 sqrt(n) u ||X||) / smin, F = X - V S U^T,
        eG = 2 sqrt(wmax b) fn + wmax fn^2 + 64 l u b,
        eS = 2 sqrt(1 + o) fn + fn^2 + o, o = ||U^T U - I||,
        [(a - eG) / (1 + eS), (b + eG) / (1 - eS)].

    Parameters
    ----------
    lower, upper : float
        The measured interval [a, b].
    rank : int
        The number l of singular vectors used.
    n_samples : int
        The number n of training points.
    max_weight : float
        The largest weight, wmax.
    min_singular_value : float
        The smallest singular value used, smin.
    residual_norm, data_norm : float
        The Frobenius norms of F and X.
    orthogonality_error : float
        The norm of U^T U - I, measured.
    alpha : float, default=0
        What was on the diagonal when the interval was measured: smin is then sqrt(smin^2 + alpha),
        or sqrt(alpha) where the rank is below n.

    Returns
    -------
    CertifiedInterval
        Its ends, and whether they say something. With alpha = 0 they hold on the span of V, which
        is all there is unless the rank was cut.

    Notes
    -----
    The constants are first-order estimates of the rounding of BLAS and LAPACK, tested against
    arithmetic with 60 digits; this is no formal interval arithmetic.

    Examples
    --------
    >>> well = dict(rank=5, n_samples=5, max_weight=2.0, residual_norm=1e-14, data_norm=10.0,
    ...             orthogonality_error=1e-15)
    >>> interval = certified_interval(0.5, 1.5, min_singular_value=1.0, **well)
    >>> round(interval.lower, 9), round(interval.upper, 9), interval.verified
    (0.5, 1.5, True)
    >>> certified_interval(0.5, 1.5, min_singular_value=1e-14, **well)
    CertifiedInterval(lower=0.0, upper=inf)
    """
    a, b = check_interval(lower, upper)
    smin = check_positive("min_singular_value", min_singular_value)
    alpha = check_not_negative("alpha", alpha)
    scale = math.hypot(smin, math.sqrt(alpha))
    if alpha > 0 and rank < n_samples:
        # Where V leaves directions out, K~ + alpha and K + alpha are both alpha but for F.
        a, b, scale = min(a, 1.0), max(b, 1.0), math.sqrt(alpha)
    wmax = check_not_negative("max_weight", max_weight)
    o = check_not_negative("orthogonality_error", orthogonality_error)
    u = float(np.finfo(np.float64).eps) / 2
    fn = (residual_norm + 4 * math.sqrt(n_samples) * u * data_norm) / scale
    eG = 2 * math.sqrt(wmax * b) * fn + wmax * fn**2 + 64 * rank * u * b
    eS = 2 * math.sqrt(1 + o) * fn + fn**2 + o
    return CertifiedInterval(
        lower=max(a - eG, 0.0) / (1 + eS),
        upper=(b + eG) / (1 - eS) if eS < 1 else math.inf,
    )
