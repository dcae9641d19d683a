# SPDX-License-Identifier: BSD-3-Clause
"""How many features suffice for an epsilon, and what a number of features promises."""

import math
from collections.abc import Callable

from scipy.special import lambertw

from ridgewise.guarantees._checks import check_positive


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
    rank = check_positive("rank", rank)
    if method == "leverage":
        r = _chernoff_exponent(rank, delta) * rank / _h(epsilon)
    elif method in _LARGEST_S:
        r = rank / _LARGEST_S[method](epsilon) ** 2
    else:
        known = ", ".join(repr(name) for name in (*_LARGEST_S, "leverage"))
        raise ValueError(f"unknown method {method!r}, expected one of {known}")
    # Where the quotient is a whole number, rounding must not lift it to the next.
    return max(math.ceil(r * (1 - 1e-12)), math.floor(rank) + 1)


def bss_promise(rank: float, n_draws: int) -> tuple[float, float]:
    """Return the interval that BSS guarantees before it runs: ((1 - s)^2, (1 + s)^2).

    s = sqrt(rank / n_draws). With the effective dimension at alpha in place of the rank, the
    interval is that of K~ + alpha against K + alpha.

    Parameters
    ----------
    rank : float
        The rank, or the effective dimension.
    n_draws : int
        The number of draws r, above the rank.

    Returns
    -------
    lower, upper : float
        lower K <= K~ <= upper K.

    Examples
    --------
    >>> bss_promise(25, 100)
    (0.25, 2.25)
    """
    if not check_positive("rank", rank) < n_draws:
        raise ValueError(f"BSS promises nothing for n_draws={n_draws} <= rank={rank}")
    s = math.sqrt(rank / n_draws)
    return (1 - s) ** 2, (1 + s) ** 2


def leverage_promise(rank: float, n_draws: int, delta: float = 0.1) -> tuple[float, float]:
    """Return the interval that leverage-score sampling keeps with probability 1 - delta.

    1 + e with h(e) = c above and 1 - e with h(-e) = c below, c = rank ln(2 rank / delta) / n_draws:
    each end fails with probability delta / 2 at most.

    Parameters
    ----------
    rank : float
        The rank.
    n_draws : int
        The number of independent draws r; or, where every feature is kept with a probability of its
        own (Bernoulli sampling), the number expected.
    delta : float, default=0.1
        The probability with which the interval may fail.

    Returns
    -------
    lower, upper : float
        lower K <= K~ <= upper K. Few draws promise nothing from below: lower is then 0.

    Examples
    --------
    >>> lower, upper = leverage_promise(27, 1571)
    >>> round(lower, 3), round(upper, 3)
    (0.573, 1.5)
    >>> leverage_promise(27, 90)[0]
    0.0
    """
    check_positive("n_draws", n_draws)
    c = check_positive("rank", rank) * _chernoff_exponent(rank, delta) / n_draws
    # h(x) = c reads w e^w = (c - 1)/e with w = ln(1 + x) - 1: two branches of Lambert's W.
    argument = max(c - 1, -1.0) / math.e
    upper = math.exp(1 + lambertw(argument, 0).real)
    lower = math.exp(1 + lambertw(argument, -1).real) if c < 1 else 0.0
    return lower, upper


def unweighted_promise(tail: float) -> tuple[float, float]:
    """Return the interval that features without weights keep, whichever they are.

    x_j x_j^T <= tau_j (K + alpha) with tau_j = x_j^T (K + alpha)^-1 x_j, the (ridge) leverage
    score. So what is left out takes the sum of its scores from 1 at most, and adds nothing.

    Parameters
    ----------
    tail : float
        The sum of the leverage scores of the features that are not selected.

    Returns
    -------
    lower, upper : float
        lower (K + alpha) <= K~ + alpha <= upper (K + alpha).

    Examples
    --------
    >>> unweighted_promise(0.25)
    (0.75, 1.0)
    """
    return max(0.0, 1 - tail), 1.0


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


def _h(x: float) -> float:
    return (1 + x) * math.log1p(x) - x
