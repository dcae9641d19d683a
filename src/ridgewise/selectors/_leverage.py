# SPDX-License-Identifier: BSD-3-Clause
"""Leverage scores as a selector: sampled from, or the largest taken."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from ridgewise._run import check_one_of
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier import penalized_norms2
from ridgewise.guarantees import (
    features_for_epsilon,
    leverage_promise,
    measured_certificate,
    ridge_penalty,
)
from ridgewise.selectors._base import SpectralSelector, check_alpha, descending

MOST_DRAWS = 10**8  # they are held in memory
# Probabilities are rounded to multiples of 2^-40: their sums are exact in any order, so that
# rounding errors of the scores, which differ from machine to machine, do not change the draws.
RESOLUTION = 2.0**40
SAMPLINGS = ("iid", "bernoulli", "top")


class LeverageSelector(SpectralSelector):
    """Select features by their leverage scores, without labels.

    A feature's leverage score is the squared norm of its row of U in X = V S U^T. Sampling in
    proportion to it keeps the kernel K = X X^T with high probability, given enough draws.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        Number of draws r (int), or a share of the features (float in (0, 1]). None: four times the
        rank, at most d.
    epsilon : float, default=None
        Instead of a number: as many draws as promise (1 - epsilon) K <= K~ <= (1 + epsilon) K with
        probability 1 - delta. Not for ``sampling="top"``, which promises nothing.
    delta : float, default=0.1
        The probability with which that may fail.
    sampling : {"iid", "bernoulli", "top"}, default="iid"
        With p = score / rank: "iid" draws r times with replacement, each with weight 1 / (r p);
        "bernoulli" takes each feature with probability min(1, r p) and weight 1 over that; "top"
        takes the r largest scores, unweighted and deterministic.
    alpha : float, default=0
        For ridge models that add this to the kernel's diagonal: ridge leverage scores, which
        weigh each direction by sigma^2 / (sigma^2 + alpha), and the certificate of K + alpha.
        Nothing is promised then, and ``epsilon`` is not for it.
    rank : int or float or None, default=None
        Work on the top singular vectors only: their number (int), or the share of the sum of
        squares that they hold (float in (0, 1]). None: all above rounding errors.
    center : bool, default=False
        Subtract the features' means, implicitly: sparse stays sparse. ``transform`` does not.
    rescale : bool, default=True
        Whether ``transform`` multiplies features by the roots of their weights.
    solver : {"auto", "gram", "qr"}, default="auto"
        "gram" works on K, fast; "qr" keeps twice the digits of ill-conditioned X.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same features on every run and every machine.
    verbose : bool, default=False
        Whether to show progress on standard error, with the time left.
    groups : None, int or array-like of shape (n_features,), default=None
        Groups of features that are selected whole and counted by ``n_features_to_select``: their
        size (int) if they are consecutive, or one label (any hashable) per feature. Scores add up.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Feature indices in the order of selection; for "bernoulli" and "top" by descending score.
    weights_ : ndarray of shape (n_selected,)
        Their weights, summed over repeated draws; with groups, one per selected group.
    selected_groups_, group_sizes_ : ndarray of shape (n_selected_groups,)
        Only with groups: their labels (numbers from 0 if ``groups`` is an int), and their sizes.
    n_groups_ : int
        Only with groups: how many X has.
    certificate_ : Certificate
        What was promised, and what was measured.
    leverage_scores_ : ndarray of shape (n_features_in,)
        The scores that were drawn from: ridge leverage scores where alpha is above 0.
    singular_values_ : ndarray of shape (rank,)
    rank_ : int
    n_selected_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only if X has feature names that are all strings.

    See Also
    --------
    BSSSelector : Deterministic, with a guarantee that does not fail.

    Examples
    --------
    >>> from ridgewise import LeverageSelector, make_ridge_synthetic
    >>> X, y = make_ridge_synthetic(random_state=0)
    >>> LeverageSelector(5, sampling="top").fit(X).selected_
    array([88, 76, 75, 78, 87])
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        epsilon: float | None = None,
        delta: float = 0.1,
        sampling: str = "iid",
        alpha: float = 0,
        rank: int | float | None = None,
        center: bool = False,
        rescale: bool = True,
        solver: str = "auto",
        random_state: Any = None,
        verbose: bool = False,
        groups: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.epsilon = epsilon
        self.delta = delta
        self.sampling = sampling
        self.alpha = alpha
        self.rank = rank
        self.center = center
        self.rescale = rescale
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose
        self.groups = groups

    def _fit(self, X: Any, y: Any) -> Self:
        check_one_of("sampling", self.sampling, SAMPLINGS)
        if not isinstance(self.delta, Real) or not 0 < float(self.delta) < 1:
            raise ValueError(f"delta must be a probability between 0 and 1; got {self.delta!r}")
        check_alpha(self.alpha, auto=False)
        promises = self.sampling != "top" and self.alpha == 0
        if self.epsilon is not None and not promises:
            what = 'sampling="top"' if self.sampling == "top" else f"alpha={self.alpha!r}"
            raise ValueError(
                f"{what} promises nothing, so epsilon={self.epsilon!r} does not determine a number "
                "of features: give n_features_to_select"
            )
        spectrum, groups = self._fit_spectrum(X)
        self.alpha_ = float(self.alpha)
        penalty = ridge_penalty(self.singular_values_, self.alpha_)
        if penalty is not None:
            self.leverage_scores_ = penalized_norms2(spectrum, penalty)
        if self.epsilon is None:
            n_draws = self._n_draws(groups)
        else:
            n_draws = features_for_epsilon(
                self.epsilon, self.rank_, method="leverage", delta=self.delta
            )
        if n_draws > MOST_DRAWS and self.sampling != "top":
            raise ValueError(
                f"sampling makes at most {MOST_DRAWS:,} draws, and about "
                f"10^{len(str(n_draws)) - 1} were asked for: keep all {len(self.leverage_scores_)} "
                "features, or ask for a larger epsilon"
            )
        scores = groups.sums(self.leverage_scores_)
        selected, weights = self._sample(scores, n_draws)
        reason = 'draws repeat features, or miss them; sampling="top" selects that many'
        self._warn_if_fewer(len(selected), groups, reason)
        self._set_selection(selected, weights, groups)
        promised = leverage_promise(self.rank_, n_draws, self.delta) if promises else (None, None)
        self.certificate_ = measured_certificate(
            spectrum,
            self.selected_,
            self.feature_weights_,
            alpha=self.alpha_,
            promised=promised,
            confidence=1 - self.delta if promises else 1.0,
            rank=self.rank,
        )
        return self

    @property
    def is_random(self) -> bool:
        """Whether ``random_state`` has a part in what is selected."""
        return self.sampling != "top"

    def _sample(self, scores: FloatArray, n_draws: int) -> tuple[IndexArray, FloatArray | None]:
        """Selected features, or groups, and their weights."""
        p = scores / scores.sum()
        if self.sampling == "top":
            return descending(p)[:n_draws], None
        random_state = check_random_state(self.random_state)
        if self.sampling == "iid":
            return draw_with_replacement(p, n_draws, random_state)
        return draw_each_once(p, n_draws, random_state)


def draw_with_replacement(
    p: FloatArray, n_draws: int, random_state: Any
) -> tuple[IndexArray, FloatArray]:
    """Distinct numbers j in the order of their first draw; a draw of j has weight 1 / (r p_j)."""
    cumulative = np.cumsum(exact_shares(p))
    draws = np.searchsorted(
        cumulative, random_state.random_sample(n_draws) * cumulative[-1], side="right"
    )
    distinct, first, counts = np.unique(draws, return_index=True, return_counts=True)
    order = np.argsort(first)
    selected = distinct[order]
    return selected, counts[order] / (n_draws * p[selected])


def draw_each_once(p: FloatArray, n_draws: int, random_state: Any) -> tuple[IndexArray, FloatArray]:
    """Each number j with probability min(1, r p_j), and its inverse as its weight."""
    chances = np.minimum(1.0, n_draws * p)
    shares = np.minimum(1.0, n_draws * exact_shares(p) / RESOLUTION)
    drawn = random_state.random_sample(len(p)) < shares
    by_score = descending(p)
    selected = by_score[drawn[by_score]]
    if len(selected) == 0:
        raise ValueError(
            f'sampling="bernoulli" happened to draw no feature of {n_draws} expected; draw more, '
            'use another random_state, or sampling="iid"'
        )
    return selected, 1 / chances[selected]


def exact_shares(p: FloatArray) -> FloatArray:
    """Probabilities as multiples of 1 / RESOLUTION."""
    return np.round(p * RESOLUTION)
