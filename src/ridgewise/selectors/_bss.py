# SPDX-License-Identifier: BSD-3-Clause
"""Single-set spectral sparsification as a selector."""

from typing import Any, NamedTuple, Self

import numpy as np

from ridgewise._groups import Groups
from ridgewise._run import check_bool, check_one_of, remembered
from ridgewise._typing import FloatArray, IndexArray
from ridgewise.barrier import RULES, Sparsifier, sparsify
from ridgewise.guarantees import (
    Certificate,
    alpha_for_dimension,
    effective_dimension,
    features_for_epsilon,
    measured_certificate,
    polish,
    ridge_penalty,
)
from ridgewise.selectors._base import SpectralSelector, check_alpha, check_squares
from ridgewise.spectrum import Spectrum

DRAWS_PER_DIMENSION = 4  # below the rank, by default: promises [1/4, 9/4]

# The search for an epsilon ends when the draws that are enough exceed those that are too few by
# this factor; after some runs by a larger one; and after MOST_RUNS in any case.
NEAR_ENOUGH, NEAR = 1.05, 1.2
FEW_RUNS, MOST_RUNS = 3, 6
FALL = 0.85  # the log of upper by lower bound falls about as this power of the draws
CAUTION = 0.97  # of epsilon, aimed at, since it is no smooth function of the draws


class Selection(NamedTuple):
    """What a number of draws gives."""

    selected: IndexArray
    weights: FloatArray
    n_draws: int
    certificate: Certificate


class BSSSelector(SpectralSelector):
    """Select features by single-set spectral sparsification (BSS).

    Deterministic and without labels. The selected features, each multiplied by the root of its
    weight, keep the kernel K = X X^T within bounds that are known beforehand,

        (1 - s)^2 K <= K~ <= (1 + s)^2 K,    s = sqrt(rank / r),

    for r draws, more than the rank. With fewer, the bounds are those of ridge models: K + alpha and
    K~ + alpha stand in place of K and K~, and the effective dimension, the sum of
    sigma^2 / (sigma^2 + alpha), in place of the rank. ``certificate_`` has the bounds that were
    reached, which are tighter.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        Number r of features (int), or their share (float in (0, 1]). All of them have weight 1.
        Where r draws draw some again, up to 4 r are made; features that are still missing are those
        with the largest leverage scores, with weight 1, and the promised upper bound rises by 1.
        None: as many draws as four times the rank, at most half of the features.
    epsilon : float, default=None
        Instead of a number: about the fewest draws that reach (1 - epsilon) K <= K~ <=
        (1 + epsilon) K, with rule "ratio" and polish. For alpha of 0 or "auto".
    rule : {"norm", "slack", "ratio"}, default="norm"
        Which feasible feature is drawn: that of the largest leverage score (the paper's rule); or,
        of a pool of features, that with the most room between the barriers ("slack": a tighter
        certificate), or the largest ratio ("ratio": the tightest after polish). Both take longer.
    polish : bool, default=False
        Whether to reweight the selected features for the tightest bounds. Never looser.
    alpha : float or "auto", default="auto"
        For which ridge models the bounds hold: those that add at least this to the kernel's
        diagonal. 0: all, which needs more draws than the rank. "auto": 0 where r exceeds the rank,
        else the smallest alpha whose effective dimension is at most r / 4.
    rank : int or float or None, default=None
        Work on the top singular vectors only: their number (int), or the share of the sum of
        squares that they hold (float in (0, 1]). The certificate is then about that part of X.
    center : bool, default=False
        Subtract the features' means, implicitly: sparse stays sparse. ``transform`` does not.
    rescale : bool, default=True
        Whether ``transform`` multiplies features by the roots of their weights. ``certificate_`` is
        about the weighted features; ``certify(X, selector)`` about what ``transform`` gives.
    solver : {"auto", "gram", "qr"}, default="auto"
        "gram" works on K, fast; "qr" keeps twice the digits of ill-conditioned X.
    verbose : bool, default=False
        Whether to show progress on standard error, with the time left.
    groups : None, int or array-like of shape (n_features,), default=None
        Groups of features that are selected whole and counted by ``n_features_to_select``: their
        size (int) if they are consecutive, or one label (any hashable) per feature.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Feature indices in the order of selection.
    weights_ : ndarray of shape (n_selected,)
        Their weights, summed over repeated draws; with groups, one per selected group.
    selected_groups_, group_sizes_ : ndarray of shape (n_selected_groups,)
        Only with groups: their labels (numbers from 0 if ``groups`` is an int), and their sizes.
    n_groups_ : int
        Only with groups: how many X has.
    certificate_ : Certificate
        What was promised, and what was measured.
    alpha_ : float
    n_draws_ : int
        The number of draws made: r, or more where features were drawn again.
    leverage_scores_ : ndarray of shape (n_features_in,)
    singular_values_ : ndarray of shape (rank,)
    rank_ : int
    n_selected_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only if X has feature names that are all strings.

    See Also
    --------
    LeverageSelector : Samples at random, or takes the largest leverage scores.

    Notes
    -----
    A draw may repeat a feature. If ``n_features_to_select`` is given, more draws follow until that
    many distinct features are selected, at most 4 r (else a `FewerFeaturesWarning`); after T draws
    the promise is (1 - s) (1 - s r / T) K <= K~ <= (1 + s) (1 + s r / T) K, which is better.

    At alpha = 0 singular values are ignored: noise directions count as much as signal. ``rank``
    leaves them out, and alpha > 0 weighs them less. The guide has more on each parameter.

    References
    ----------
    S. Paul and P. Drineas, "Feature Selection for Ridge Regression with Provable Guarantees",
    Neural Computation 28(4), 2016. J. Batson, D. Spielman and N. Srivastava, "Twice-Ramanujan
    Sparsifiers", STOC 2009.

    Examples
    --------
    >>> from ridgewise import BSSSelector, make_ridge_synthetic
    >>> X, y = make_ridge_synthetic(random_state=0)
    >>> X.shape
    (30, 1000)
    >>> selector = BSSSelector(90, rule="slack").fit(X)
    >>> print(selector.certificate_)
    measured [0.3594, 1.0243]
    promised [0.1786, 2.4880]
    epsilon  0.6406
    >>> selector.transform(X).shape
    (30, 90)
    """

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        epsilon: float | None = None,
        rule: str = "norm",
        polish: bool = False,
        alpha: float | str = "auto",
        rank: int | float | None = None,
        center: bool = False,
        rescale: bool = True,
        solver: str = "auto",
        verbose: bool = False,
        groups: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.epsilon = epsilon
        self.rule = rule
        self.polish = polish
        self.alpha = alpha
        self.rank = rank
        self.center = center
        self.rescale = rescale
        self.solver = solver
        self.verbose = verbose
        self.groups = groups

    def _fit(self, X: Any, y: Any) -> Self:
        check_one_of("rule", self.rule, RULES)
        check_bool("polish", self.polish)
        check_alpha(self.alpha, auto=True)
        if self.epsilon is not None and self.alpha not in (0, "auto"):
            raise ValueError(
                f"epsilon= is about K itself, that is alpha=0; got alpha={self.alpha!r}. Give "
                "n_features_to_select with an alpha"
            )
        spectrum, groups = self._fit_spectrum(X)
        if self.epsilon is not None:
            return self._keep(self._select_epsilon(spectrum, self.epsilon, groups), groups)
        n = self._n_draws(groups, share=0.5)
        distinct = None if self.n_features_to_select is None else n
        found = self._select(spectrum, n, self.rule, groups, self.polish, distinct)
        self._warn_if_fewer(len(found.selected), groups, "the others are zero")
        return self._keep(found, groups)

    def _keep(self, found: Selection, groups: Groups) -> Self:
        """Store what was selected."""
        self.n_draws_, self.certificate_ = found.n_draws, found.certificate
        return self._set_selection(found.selected, found.weights, groups)

    def _select(
        self,
        spectrum: Spectrum,
        n_draws: int,
        rule: str,
        groups: Groups,
        polished: bool,
        n_distinct: int | None = None,
    ) -> Selection:
        """Make the draws, or keep every feature."""
        self.alpha_ = self._choose_alpha(n_draws, groups)
        if n_draws >= len(groups):
            certificate = measured_certificate(
                spectrum, np.arange(self.n_features_in_), promised=(1.0, 1.0), rank=self.rank
            )
            return Selection(np.arange(len(groups)), np.ones(len(groups)), n_draws, certificate)
        found = remembered(
            draw,
            spectrum,
            n_draws=n_draws,
            rule=rule,
            alpha=self.alpha_,
            n_distinct=n_distinct,
            groups=groups if groups.given else None,
        )
        added = self._add(found.selected, n_distinct, groups)
        selected = np.concatenate([found.selected, added])
        weights = np.concatenate([found.weights, np.ones(len(added))])
        features, sizes = groups.members(selected), groups.sizes[selected]
        if polished:
            penalty = ridge_penalty(self.singular_values_, self.alpha_)
            weights = polish(spectrum.take(features), weights, penalty=penalty, sizes=sizes)
        certificate = measured_certificate(
            spectrum,
            features,
            np.repeat(weights, sizes),
            alpha=self.alpha_,
            # features as they are add at most K
            promised=(found.promised_lower, found.promised_upper + (len(added) > 0)),
            rank=self.rank,
            found=None if polished or len(added) > 0 else (found.lower, found.upper),
        )
        return Selection(selected, weights, len(found.draws), certificate)

    def _add(self, selected: IndexArray, n_distinct: int | None, groups: Groups) -> IndexArray:
        """The features, or groups, of the largest leverage scores that complete a selection."""
        n_missing = (n_distinct or 0) - len(selected)
        if n_missing <= 0:
            return selected[:0]
        scores = groups.sums(self.leverage_scores_).copy()
        scores[selected] = 0
        order = np.argsort(-scores, kind="stable")[:n_missing]
        return order[scores[order] > 0]

    def _choose_alpha(self, n_draws: int, groups: Groups) -> float:
        """The alpha to work with; an error where so few draws cannot keep its promise."""
        if n_draws >= len(groups) or (self.alpha == "auto" and n_draws > self.rank_):
            return 0.0
        check_squares(self.singular_values_, f"or select more than its rank, {self.rank_}")
        squares = self.singular_values_**2
        if isinstance(self.alpha, str):
            return alpha_for_dimension(squares, n_draws / DRAWS_PER_DIMENSION)
        dimension = effective_dimension(squares, self.alpha)
        if n_draws > dimension:
            return float(self.alpha)
        at_alpha = f"its effective dimension at alpha={self.alpha:g}"
        what = "the rank of X" if self.alpha == 0 else at_alpha
        features = "groups" if groups.given else "features"
        least = alpha_for_dimension(squares, 0.999 * n_draws)
        advice = [
            f"Select at least {min(int(dimension) + 1, len(groups))}",
            f"use alpha='auto', or alpha >= {least:.3g}, for ridge models",
        ]
        if n_draws > 1:
            advice.append(f"work on fewer singular vectors, for example with rank={n_draws // 2}")
        raise ValueError(
            f"BSS needs more {features} than {what}, {dimension:.6g}: got {n_draws} to select. "
            + ", or ".join(advice)
        )

    def _select_epsilon(self, spectrum: Spectrum, epsilon: float, groups: Groups) -> Selection:
        """Find about the fewest draws that measure at most epsilon, in few runs."""
        d = len(groups)
        if self.rank_ >= d - 1:  # to leave out one would lose a direction
            return self._select(spectrum, d, "ratio", groups, polished=False)
        most = min(features_for_epsilon(epsilon, self.rank_), d - 1)
        too_few, n_draws, enough = (self.rank_, 1.0), min(most, 2 * self.rank_ + 1), None
        for run in range(1, MOST_RUNS + most):
            found = self._select(spectrum, n_draws, "ratio", groups, polished=True)
            reached = n_draws, found.certificate.epsilon
            if reached[1] <= epsilon:
                enough = found
            elif n_draws >= most:
                raise ValueError(
                    f"epsilon={epsilon:g} cannot be met by selecting: {n_draws} of {d} "
                    f"{'groups' if groups.given else 'features'} reach {reached[1]:.4g}. Ask for "
                    "no less than that, or keep all"
                )
            else:
                too_few = reached
            if enough is None:
                guess = n_draws * (spread(reached[1]) / spread(CAUTION * epsilon)) ** (1 / FALL)
                n_draws = int(np.clip(np.ceil(guess), n_draws + 1, most))
                continue
            gap = enough.n_draws / (too_few[0] + 1)
            if gap <= NEAR_ENOUGH or (run >= FEW_RUNS and gap <= NEAR) or run >= MOST_RUNS:
                break
            n_draws = between(too_few, (enough.n_draws, enough.certificate.epsilon), epsilon)
            if too_few[0] > self.rank_ and enough.n_draws <= NEAR_ENOUGH * n_draws:
                break  # what was measured on both sides says that fewer would not do
        assert enough is not None  # `most` draws are enough, or raise
        return enough


def spread(epsilon: float) -> float:
    """Log of upper by lower bound at this epsilon."""
    return float(2 * np.arctanh(min(epsilon, 0.999)))


def between(too_few: tuple[int, float], enough: tuple[int, float], epsilon: float) -> int:
    """Where a line through both, log epsilon over log n, is at epsilon."""
    (a, above), (b, below) = too_few, enough
    low = np.log(max(below, epsilon / 4))  # it may fall to 0 at once
    share = (np.log(above) - np.log(CAUTION * epsilon)) / (np.log(above) - low)
    return int(np.clip(np.ceil(a * (b / a) ** min(share, 1.0)), a + 1, b - 1))


def draw(
    spectrum: Spectrum,
    n_draws: int,
    rule: str,
    alpha: float,
    n_distinct: int | None,
    groups: Groups | None,
) -> Sparsifier:
    """Make the draws, for ridge models that add alpha to the kernel's diagonal."""
    penalty = ridge_penalty(spectrum.singular_values, alpha)
    return sparsify(spectrum, n_draws, rule, penalty, n_distinct, groups)
