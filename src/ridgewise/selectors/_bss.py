# SPDX-License-Identifier: BSD-3-Clause
"""Single-set spectral sparsification as a selector."""

from typing import Any, Self

import numpy as np

from ridgewise.barrier import RULES, sparsify
from ridgewise.guarantees import Certificate, features_for_epsilon
from ridgewise.selectors._base import check_one_of
from ridgewise.selectors._spectral import SpectralSelector
from ridgewise.spectrum import Spectrum


class BSSSelector(SpectralSelector):
    """Select features by single-set spectral sparsification (BSS).

    Deterministic and without labels. The selected features, each multiplied by the root of its
    weight, keep the kernel K = X X^T within bounds that are known beforehand,

        (1 - s)^2 K <= K~ <= (1 + s)^2 K,    s = sqrt(rank / r),

    for r draws; ``certificate_`` has the bounds that were reached, which are tighter.

    Parameters
    ----------
    n_features_to_select : int or float or None, default=None
        The number of draws r (int), or the share of the features (float in (0, 1]). It must exceed
        the rank of X, unless it reaches the number of features d: then each is kept with weight 1.
        A feature may be drawn again, so that fewer than r are selected. None: four times the rank,
        at most d.
    epsilon : float, default=None
        Instead of a number: as many draws as promise (1 - epsilon) K <= K~ <= (1 + epsilon) K.
    rule : {"norm", "slack", "ratio"}, default="norm"
        Which of the feasible features is drawn: that of the largest leverage score (the paper's
        rule); that with the most room between the barriers, which gives the tighter certificate;
        that with the largest ratio.
    rank : int or float or None, default=None
        Work on the top singular vectors only: so many (int), or those that hold this share of the
        sum of squares (float in (0, 1]). None: all above rounding errors. The certificate is then
        about that part of X.
    center : bool, default=False
        Subtract the features' means, implicitly: sparse stays sparse. ``transform`` does not.
    rescale : bool, default=True
        Whether ``transform`` multiplies features by the roots of their weights.
    solver : {"auto", "gram", "qr"}, default="auto"
        "gram" works on K, fast; "qr" keeps twice the digits of ill-conditioned X; "auto" looks.

    Attributes
    ----------
    selected_ : ndarray of shape (n_selected_,)
        Feature indices in the order of selection.
    weights_ : ndarray of shape (n_selected_,)
        Their weights, summed over repeated draws.
    n_selected_ : int
    certificate_ : Certificate
        What was promised, and what was measured.
    leverage_scores_ : ndarray of shape (n_features_in_,)
    singular_values_ : ndarray of shape (rank_,)
    rank_ : int
        The rank that was worked with.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Only where X has feature names that are all strings.

    See Also
    --------
    LeverageSelector : Samples at random, or takes the largest leverage scores.

    Notes
    -----
    The method ignores labels and singular values: noise directions count as much as signal. With
    ``rank=`` it looks at the leading directions only.

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
        rank: int | float | None = None,
        center: bool = False,
        rescale: bool = True,
        solver: str = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.epsilon = epsilon
        self.rule = rule
        self.rank = rank
        self.center = center
        self.rescale = rescale
        self.solver = solver

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select features of X.

        Parameters
        ----------
        X : array, sparse array or data frame of shape (n, d)
        y : ignored
            Present for pipelines.

        Returns
        -------
        self
        """
        check_one_of("rule", self.rule, RULES)
        spectrum = self._fit_spectrum(X)
        enough = None if self.epsilon is None else features_for_epsilon(self.epsilon, self.rank_)
        return self._select(spectrum, self._n_draws(enough))

    def _select(self, spectrum: Spectrum, n_draws: int) -> Self:
        """Draw, or keep everything."""
        d = self.n_features_in_
        if n_draws >= d:
            self.certificate_ = Certificate(1.0, 1.0, 1.0, 1.0)
            return self._set_selection(np.arange(d))
        check_exceeds_rank(n_draws, spectrum)
        found = sparsify(spectrum, n_draws, self.rule)
        self.certificate_ = Certificate(
            found.lower, found.upper, found.promised_lower, found.promised_upper
        )
        return self._set_selection(found.selected, found.weights)


def check_exceeds_rank(n_draws: int, spectrum: Spectrum) -> None:
    """Fewer features than the rank cannot keep K, whatever their weights."""
    if n_draws > spectrum.rank:
        return
    raise ValueError(
        f"BSS needs more features than the rank of X: got {n_draws} to select at rank "
        f"{spectrum.rank}. Select at least {spectrum.rank + 1}, or work on fewer singular vectors, "
        f"for example with rank={max(1, n_draws // 2)}"
    )
