# SPDX-License-Identifier: BSD-3-Clause
"""Single-set spectral sparsification as a selector."""

from typing import Any, Self

import numpy as np

from ridgewise._memory import remembered
from ridgewise.barrier import RULES, Sparsifier, polish, sparsify
from ridgewise.guarantees import (
    alpha_for_dimension,
    effective_dimension,
    features_for_epsilon,
    measured_certificate,
)
from ridgewise.selectors._base import check_one_of
from ridgewise.selectors._spectral import SpectralSelector, check_alpha, penalty_of
from ridgewise.spectrum import Spectrum

DRAWS_PER_DIMENSION = 4  # below the rank, by default: promises [1/4, 9/4]


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
        The number of draws r (int), or the share of the features (float in (0, 1]). Where it
        reaches the number of features d, each is kept with weight 1. A feature may be drawn again,
        so that fewer than r are selected. None: four times the rank, at most d.
    epsilon : float, default=None
        Instead of a number: the fewest draws whose *measured* bounds are
        (1 - epsilon) K <= K~ <= (1 + epsilon) K, found by search, with the rule "ratio" and polish,
        which need the fewest on real data, whatever ``rule`` and ``polish`` are. Never more than
        are needed for the promise. Weights of features with small leverage scores can be large
        then. It is about K itself, so alpha must be 0 or "auto".
    rule : {"norm", "slack", "ratio"}, default="norm"
        Which of the feasible features is drawn: that of the largest leverage score (the paper's
        rule); that with the most room between the barriers, which gives the tighter certificate;
        that with the largest ratio. The last two take longer.
    polish : bool, default=False
        Whether the selected features are reweighted after the draws, so that the measured bounds
        are as tight as they allow. Never looser than before.
    alpha : float or "auto", default="auto"
        For which ridge models the bounds hold: those that add at least this to the kernel's
        diagonal. 0: all of them, as in the paper, which needs more draws than the rank. A number:
        your model's own. "auto": 0 where r exceeds the rank, else the smallest alpha whose
        effective dimension is at most r / 4.
    rank : int or float or None, default=None
        Work on the top singular vectors only: so many (int), or those that hold this share of the
        sum of squares (float in (0, 1]). None: all above rounding errors. The certificate is then
        about that part of X.
    center : bool, default=False
        Subtract the features' means, implicitly: sparse stays sparse. ``transform`` does not.
    rescale : bool, default=True
        Whether ``transform`` multiplies features by the roots of their weights. ``certificate_`` is
        about the weighted features; ``certify(X, selector)`` about what ``transform`` gives.
    solver : {"auto", "gram", "qr"}, default="auto"
        "gram" works on K, fast; "qr" keeps twice the digits of ill-conditioned X; "auto" looks.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected,)
        Feature indices in the order of selection.
    weights_ : ndarray of shape (n_selected,)
        Their weights, summed over repeated draws.
    n_selected_ : int
    certificate_ : Certificate
        What was promised, and what was measured.
    alpha_ : float
        The alpha that was worked with.
    n_draws_ : int
        The number of draws r.
    leverage_scores_ : ndarray of shape (n_features_in,)
    singular_values_ : ndarray of shape (rank,)
    rank_ : int
        The rank that was worked with.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in,)
        Only where X has feature names that are all strings.

    See Also
    --------
    LeverageSelector : Samples at random, or takes the largest leverage scores.

    Notes
    -----
    The method ignores labels and, at alpha = 0, singular values: noise directions count as much as
    signal. With ``rank=`` it looks at the leading directions only, with ``alpha`` mostly.

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
    measured [0.3631, 1.0954]
    promised [0.1786, 2.4880]
    epsilon  0.6369
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features of X.

        Parameters
        ----------
        X : array, sparse array or data frame, or stored or Dask array, of shape (n, d)
        y : ignored
            Present for pipelines.

        Returns
        -------
        self
        """
        check_one_of("rule", self.rule, RULES)
        if not isinstance(self.polish, bool | np.bool_):
            raise ValueError(f"polish must be True or False; got {self.polish!r}")
        check_alpha(self.alpha, auto=True)
        if self.epsilon is not None and self.alpha not in (0, "auto"):
            raise ValueError(
                f"epsilon= is about K itself, that is alpha=0; got alpha={self.alpha!r}. Give "
                "n_features_to_select with an alpha"
            )
        spectrum, _ = self._fit_spectrum(X)
        if self.epsilon is not None:
            return self._fit_epsilon(spectrum, self.epsilon)
        return self._select(spectrum, self._n_draws(), self.rule, polished=self.polish)

    def _select(self, spectrum: Spectrum, n_draws: int, rule: str, *, polished: bool) -> Self:
        """Make the draws, or keep every feature."""
        self.n_draws_ = n_draws
        self.alpha_ = self._choose_alpha(n_draws)
        if n_draws >= self.n_features_in_:
            self.certificate_ = measured_certificate(
                spectrum, np.arange(self.n_features_in_), promised=(1.0, 1.0), rank=self.rank
            )
            return self._set_selection(np.arange(self.n_features_in_))
        penalty = self._penalty()
        found = remembered(draw, spectrum, n_draws=n_draws, rule=rule, alpha=self.alpha_)
        weights = found.weights
        if polished:
            weights = polish(spectrum.take(found.selected), weights, penalty=penalty)
        self.certificate_ = measured_certificate(
            spectrum,
            found.selected,
            weights,
            alpha=self.alpha_,
            promised=(found.promised_lower, found.promised_upper),
            rank=self.rank,
        )
        return self._set_selection(found.selected, weights)

    def _choose_alpha(self, n_draws: int) -> float:
        """The alpha to work with; an error where so few draws cannot keep its promise."""
        if n_draws >= self.n_features_in_ or (self.alpha == "auto" and n_draws > self.rank_):
            return 0.0
        if not 1e-150 < self.singular_values_[0] < 1e150:
            raise ValueError(
                "squares of X over- or underflow (its largest singular value is "
                f"{self.singular_values_[0]:.3g}), so that it has no alpha: scale X, or select "
                f"more than its rank, {self.rank_}"
            )
        squares = self.singular_values_**2
        if isinstance(self.alpha, str):
            return alpha_for_dimension(squares, n_draws / DRAWS_PER_DIMENSION)
        dimension = effective_dimension(squares, self.alpha)
        if n_draws > dimension:
            return float(self.alpha)
        at_alpha = f"its effective dimension at alpha={self.alpha:g}"
        what = "the rank of X" if self.alpha == 0 else at_alpha
        least = alpha_for_dimension(squares, 0.999 * n_draws)
        advice = [
            f"Select at least {min(int(dimension) + 1, self.n_features_in_)}",
            f"use alpha='auto', or alpha >= {least:.3g}, for ridge models",
        ]
        if n_draws > 1:
            advice.append(f"work on fewer singular vectors, for example with rank={n_draws // 2}")
        raise ValueError(
            f"BSS needs more features than {what}, {dimension:.6g}: got {n_draws} to select. "
            + ", or ".join(advice)
        )

    def _fit_epsilon(self, spectrum: Spectrum, epsilon: float) -> Self:
        """Find the fewest draws that measure at most epsilon: first upwards, then by halving."""
        if self.rank_ >= self.n_features_in_ - 1:  # to leave out one would lose a direction
            return self._select(spectrum, self.n_features_in_, "ratio", polished=False)
        most = min(features_for_epsilon(epsilon, self.rank_), self.n_features_in_ - 1)
        too_few, enough = self.rank_, min(most, int(1.5 * self.rank_) + 1)
        while self._measure_epsilon(spectrum, enough) > epsilon:
            if enough >= most:
                raise ValueError(
                    f"epsilon={epsilon:g} cannot be met by selecting: {enough} of "
                    f"{self.n_features_in_} features reach {self.certificate_.epsilon:.4g}. Ask "
                    "for no less than that, or keep all features"
                )
            too_few, enough = enough, min(most, int(1.3 * enough) + 1)
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self._measure_epsilon(spectrum, middle) <= epsilon:
                enough = middle
            else:
                too_few = middle
        if self.n_draws_ != enough:
            self._measure_epsilon(spectrum, enough)
        return self

    def _measure_epsilon(self, spectrum: Spectrum, n_draws: int) -> float:
        """Select so many, and tell what that measures."""
        return self._select(spectrum, n_draws, "ratio", polished=True).certificate_.epsilon


def draw(spectrum: Spectrum, n_draws: int, rule: str, alpha: float) -> Sparsifier:
    """Make the draws, for ridge models that add alpha to the kernel's diagonal."""
    return sparsify(spectrum, n_draws, rule, penalty_of(spectrum.singular_values, alpha))
