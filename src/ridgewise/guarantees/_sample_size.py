# SPDX-License-Identifier: BSD-3-Clause
"""How many features suffice for an epsilon, and what a number of features promises.

With alpha on the diagonal, the effective dimension replaces the rank.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import lambertw

from ridgewise._run import check_number
from ridgewise._typing import FloatArray


def features_for_epsilon(
    epsilon: float, rank: float, *, method: str = "bss", delta: float = 0.1
) -> int:
    """Return how many draws guarantee (1 - epsilon) K <= K~ <= (1 + epsilon) K beforehand.

    Parameters
    ----------
    epsilon : float
        The accuracy, between 0 and 1.
    rank : float
        The rank of X, or the effective dimension of K at alpha: then K + alpha and K~ + alpha stand
        in place of K and K~.
    method : {"bss", "bss-paper", "bss-rescaled", "leverage"}, default="bss"
        What draws the features; the Notes tell the three readings of BSS apart.
    delta : float, default=0.1
        The probability with which "leverage" may fail.

    Returns
    -------
    int
        The number of draws r. It may exceed the number of features: then all of them are needed.

    Notes
    -----
    BSS promises [(1 - s)^2, (1 + s)^2], s = sqrt(rank / r). So epsilon is

    - 2 s + s^2 with the paper's weights, as they are: "bss", the default, because these weights
      are what the selector hands out and its certificate measures;
    - 3 s by the paper's Lemma 2, which is simpler and larger: "bss-paper";
    - 2 s / (1 + s^2) if the weights are divided by 1 + s^2 afterwards: "bss-rescaled". That is
      free, but amounts to another alpha.

    At epsilon = 1/2 these are 19.8, 36 and 13.9 times the rank. Leverage-score sampling needs
    rank ln(2 rank / delta) / h(epsilon), h(x) = (1 + x) ln(1 + x) - x (matrix Chernoff bound).

    Examples
    --------
    >>> features_for_epsilon(0.5, 27)
    535
    >>> features_for_epsilon(0.5, 27, method="bss-paper")
    972
    >>> features_for_epsilon(0.5, 27, method="leverage", delta=0.1)
    1571
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"expected epsilon between 0 and 1, got {epsilon}")
    rank = check_number("rank", rank, positive=True)
    if method == "leverage":
        r = Fraction(_chernoff_exponent(rank, delta) * rank) / _h(epsilon)
    elif method in _LARGEST_S:
        r = Fraction(rank) / Fraction(_LARGEST_S[method](epsilon)) ** 2
    else:
        known = ", ".join(repr(name) for name in (*_LARGEST_S, "leverage"))
        raise ValueError(f"unknown method {method!r}, expected one of {known}")
    # Where the quotient is a whole number, rounding must not lift it to the next.
    return max(math.ceil(r * (1 - Fraction(1, 10**12))), math.floor(rank) + 1)


def leverage_promise(rank: float, n_draws: int, delta: float = 0.1) -> tuple[float, float]:
    """Return the interval that leverage-score sampling keeps with probability 1 - delta.

    1 + e with h(e) = c above and 1 - e with h(-e) = c below, c = rank ln(2 rank / delta) / n_draws:
    each end fails with probability delta / 2 at most. For Bernoulli sampling, n_draws is the
    expected number of features. Too few draws promise no lower bound: it is then 0.
    """
    check_number("n_draws", n_draws, positive=True)
    c = check_number("rank", rank, positive=True) * _chernoff_exponent(rank, delta) / n_draws
    # h(x) = c reads w e^w = (c - 1)/e with w = ln(1 + x) - 1: two branches of Lambert's W.
    argument = max(c - 1, -1.0) / math.e
    upper = math.exp(1 + lambertw(argument, 0).real)
    lower = math.exp(1 + lambertw(argument, -1).real) if c < 1 else 0.0
    return lower, upper


def unweighted_promise(tail: float) -> tuple[float, float]:
    """Return the interval that unweighted features keep; ``tail``: the leverage scores left out.

    x_j x_j^T <= tau_j (K + alpha) with tau_j = x_j^T (K + alpha)^-1 x_j, the (ridge) leverage
    score. So leaving features out lowers 1 by at most the sum of their scores, and adds nothing.
    """
    return max(0.0, 1 - tail), 1.0


def effective_dimension(eigenvalues: ArrayLike, alpha: float) -> float:
    """Compute d_eff = tr K (K + alpha)^-1 = sum k_i / (k_i + alpha): the rank at alpha = 0."""
    k = _positive_eigenvalues(eigenvalues)
    # 1 / (1 + alpha / k) rather than k / (k + alpha): no sum that could overflow.
    with np.errstate(over="ignore"):
        return float(np.sum(1 / (1 + check_number("alpha", alpha) / k)))


def alpha_for_dimension(eigenvalues: ArrayLike, target: float) -> float:
    """Find the smallest alpha at which d_eff is at most target, within a relative 1e-12.

    It is 0 where the rank is at most the target.
    """
    k = _positive_eigenvalues(eigenvalues)
    target = check_number("target", target, positive=True)
    if k.size <= target:
        return 0.0
    # d_eff <= sum k / alpha, and d_eff >= l kmin / (kmin + alpha), enclose the root. Bisection on a
    # logarithmic scale: no range of eigenvalues is too wide.
    scale, rounding = float(k.max()), 8 * float(np.finfo(np.float64).eps)
    low = math.log(k.min() / scale) + math.log(k.size / target - 1)
    high = math.log(np.sum(k / scale)) - math.log(target) + rounding
    while high - low > rounding * max(1.0, abs(high)):
        middle = (low + high) / 2
        if effective_dimension(k, math.exp(middle) * scale) <= target:
            high = middle
        else:
            low = middle
    return math.exp(high) * scale


def _positive_eigenvalues(eigenvalues: ArrayLike) -> FloatArray:
    k = np.asarray(eigenvalues, dtype=np.float64)
    if k.ndim != 1 or not np.all(np.isfinite(k)):
        raise ValueError("expected eigenvalues to be a list of finite numbers")
    return k[k > 0]


# The largest s for an epsilon: 2 s + s^2 <= epsilon, 3 s <= epsilon, 2 s / (1 + s^2) <= epsilon.
_LARGEST_S: dict[str, Callable[[float], float]] = {
    "bss": lambda epsilon: epsilon / (math.sqrt(1 + epsilon) + 1),
    "bss-paper": lambda epsilon: epsilon / 3,
    "bss-rescaled": lambda epsilon: epsilon / (1 + math.sqrt(1 - epsilon**2)),
}


def _chernoff_exponent(rank: float, delta: float) -> float:
    """Return ln(2 rank / delta): rank exp(-(r / rank) h) <= delta / 2 on either side."""
    if not 0 < delta < 1:
        raise ValueError(f"expected delta between 0 and 1, got {delta}")
    return math.log(2 * rank / delta)


def _h(x: float) -> Fraction:
    """(1 + x) ln(1 + x) - x, also where its square underflows; a series where it cancels."""
    if x > 1e-3:
        return Fraction((1 + x) * math.log1p(x) - x)
    return Fraction(x) ** 2 / 2 * Fraction(1 - x / 3 + x**2 / 6)
