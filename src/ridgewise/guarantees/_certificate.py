# SPDX-License-Identifier: BSD-3-Clause
"""The certificate of a selection: what it promised, and what was measured."""

import math
from dataclasses import dataclass, field
from html import escape
from typing import Any

from numpy.typing import ArrayLike

from ridgewise.guarantees._interval import Interval, Selection, ill_conditioned_note
from ridgewise.guarantees._prediction import (
    PredictionReport,
    bound_known_test_set,
    report_predictions,
    stacked,
)
from ridgewise.guarantees._prediction_bounds import PredictionBound, eta, regularized_eta
from ridgewise.guarantees._risk import RiskInflation, report_risk
from ridgewise.guarantees._selected_data import select_data


@dataclass(frozen=True)
class Certificate:
    """How well the selected features, weighted, stand for all: lower K <= K~ <= upper K.

    K = X X^T is the kernel of all features and K~ that of the selected ones times their weights.
    Both bounds are 1 where nothing is lost. With alpha > 0 the statement is about ridge models:
    lower (K + alpha) <= K~ + alpha <= upper (K + alpha), for this alpha and, as long as
    lower <= 1 <= upper, for every larger one.

    Attributes
    ----------
    lower, upper : float
        Measured: the extreme eigenvalues of U^T R^T R U, widened by what rounding may hide.
    promised_lower, promised_upper : float or None
        What the method promises beforehand; None where it promises nothing.
    confidence : float
        The probability with which the promise holds: 1 for a deterministic method.
    alpha : float
        What is on the diagonal in the statement; 0 for the plain one.
    verified : bool
        Whether rounding was measured, by `certify`; a selector's fit estimates it.
    note : str
        Why it could not be verified, and what would help; or that it was proved. Else empty.
    selection : Selection or None
        The features it is about, which `prediction_bound` and `risk_inflation` need.

    See Also
    --------
    ridgewise.certify : The certificate of any fitted selector, verified.

    Examples
    --------
    >>> from ridgewise.guarantees import Certificate
    >>> print(Certificate(0.5, 1.25, 0.25, 2.25))
    measured [0.5000, 1.2500]
    promised [0.2500, 2.2500]
    epsilon  0.5000
    """

    lower: float
    upper: float
    promised_lower: float | None = None
    promised_upper: float | None = None
    confidence: float = 1.0
    alpha: float = 0.0
    verified: bool = False
    note: str = ""
    selection: Selection | None = field(default=None, repr=False)

    @property
    def epsilon(self) -> float:
        """The smallest epsilon with (1 - epsilon) K <= K~ <= (1 + epsilon) K, as measured."""
        return max(1 - self.lower, self.upper - 1, 0.0)

    @property
    def eta(self) -> float:
        """How far fitted values can move: by eta ||y|| at most, at the training points together.

        For every ridge model that the certificate covers, whatever y and the condition number.
        """
        return self._eta(self.lower, self.upper)

    @property
    def promised_eta(self) -> float | None:
        """The eta that was promised: s / (2 - s), s = sqrt(rank / r), for r draws of BSS."""
        if self.promised_lower is None or self.promised_upper is None:
            return None
        return self._eta(self.promised_lower, self.promised_upper)

    def _eta(self, lower: float, upper: float) -> float:
        if self.selection is not None and self.selection.rank is not None and self.alpha == 0:
            return 1.0  # the interval is about some singular vectors, and a model uses all
        return regularized_eta(lower, upper) if self.alpha > 0 else eta(lower, upper)

    def prediction_bound(self, X: Any, y: ArrayLike, X_test: Any, alpha: float) -> PredictionReport:
        """Bound how far predictions on the selected features are from those on all.

        Parameters
        ----------
        X : array, sparse array or data frame of shape (n_samples, n_features)
            The training data, all features: a certificate keeps no copy.
        y : array-like of shape (n_samples,)
            The targets; +1 and -1 for classes.
        X_test : array, sparse array or data frame of shape (n_test, n_features)
        alpha : float
            The model's: what is added to the kernel's diagonal. At least the certificate's.

        Returns
        -------
        PredictionReport
            One entry a test point: ``bound`` and its parts, the exact ``difference``, both
            predictions, and whether the sign is certain.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.feature_selection import VarianceThreshold
        >>> from ridgewise.guarantees import certify
        >>> X = np.array([[3.0, 0.0, 0.1], [0.0, 2.0, 0.1]])
        >>> certificate = certify(X, VarianceThreshold(0.5).fit(X))
        >>> report = certificate.prediction_bound(X, [1.0, -1.0], [[1.0, 0.2, 0.0]], alpha=1.0)
        >>> report.bound.round(4), report.difference.round(4), report.sign_certain
        (array([0.0005]), array([-0.0004]), array([ True]))
        """
        return report_predictions(select_data(self, X, alpha), y, X_test)

    def known_test_set_bound(
        self, X: Any, y: ArrayLike, X_test: Any, alpha: float, *, promised: bool = False
    ) -> PredictionBound:
        """Bound how far predictions move for test points that the selector has seen, unlabelled.

        For the certificate of a selector that was fitted on training and test points together. It
        is known before any model is fitted; `prediction_bound` is sharper once there is one.

        Parameters
        ----------
        X : array, sparse array or data frame of shape (n_samples, n_features)
            The training points, all features: the first rows of what the selector was fitted on.
        y : array-like of shape (n_samples,)
            Their targets, of which only the norm counts.
        X_test : array, sparse array or data frame of shape (n_test, n_features)
            The test points: the rows below.
        alpha : float
            The model's, which is trained on X: what is added to the kernel's diagonal.
        promised : bool, default=False
            Whether to use what was promised beforehand in place of what was measured.

        Returns
        -------
        PredictionBound
            ``total`` has one number a test point, ``in_span`` and ``out_of_span`` its parts.

        Examples
        --------
        >>> from ridgewise import BSSSelector, make_ridge_synthetic
        >>> X, y = make_ridge_synthetic(30, 500, random_state=0)
        >>> joint = BSSSelector(200, rule="ratio", polish=True).fit(X).certificate_
        >>> bound = joint.known_test_set_bound(X[:25], y[:25], X[25:], alpha=10.0)
        >>> bound.total.shape
        (5,)
        """
        selection = self.selection
        if selection is not None and (
            selection.center or (selection.rank is not None and selection.cutoff is None)
        ):
            raise ValueError("known test points need a selector with center=False and rank=None")
        if self.alpha > 0:
            raise ValueError(
                "known test points need a certificate for all ridge models (alpha=0), which takes "
                "more features than the rank of training and test points together"
            )
        lower, upper = select_data(self, stacked(X, X_test), 0.0).interval
        if promised:
            if self.promised_lower is None or self.promised_upper is None:
                raise ValueError("nothing was promised; promised=False takes what was measured")
            # where rounding broke the promise, what is verified counts
            lower, upper = min(lower, self.promised_lower), max(upper, self.promised_upper)
        return bound_known_test_set(Interval(lower, upper), X, y, X_test, alpha)

    def risk_inflation(self, X: Any, alpha: float) -> RiskInflation:
        """Compute by how much the selection increases the risk of ridge regression.

        Parameters
        ----------
        X : array, sparse array or data frame of shape (n_samples, n_features)
            The training data, all features.
        alpha : float
            The model's: what is added to the kernel's diagonal. At least the certificate's.

        Returns
        -------
        RiskInflation
            Factors for variance and bias: exact, and what follows from lower and upper alone.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.feature_selection import VarianceThreshold
        >>> from ridgewise.guarantees import certify
        >>> X = np.array([[3.0, 0.0, 0.1], [0.0, 2.0, 0.1]])
        >>> inflation = certify(X, VarianceThreshold(0.5).fit(X)).risk_inflation(X, alpha=1.0)
        >>> round(inflation.variance, 4), round(inflation.bias, 4)
        (0.9994, 1.0062)
        """
        return report_risk(select_data(self, X, alpha))

    def __str__(self) -> str:
        lines = [f"{name:<9}[{lower}, {upper}]" for name, lower, upper in self._rows()]
        return "\n".join([*lines, f"epsilon  {self.epsilon:.4f}", *self._remarks()])

    def _rows(self) -> list[tuple[str, str, str]]:
        """The table that is printed: name, lower, upper."""
        rows = [("measured", f"{self.lower:.4f}", f"{self.upper:.4f}")]
        if self.promised_upper is not None and self.promised_lower is not None:
            rows.append(("promised", f"{self.promised_lower:.4f}", f"{self.promised_upper:.4f}"))
        return rows

    def _remarks(self) -> list[str]:
        """What is printed below the table: for which models, and whether it is certain."""
        remarks = []
        if self.promised_lower is not None and self.confidence < 1:
            remarks.append(f"promised with probability {self.confidence:g}")
        if self.selection is not None and self.selection.rank is not None:
            about = f"about the leading {self.selection.rank} singular vectors of X only"
            if self.selection.cutoff is not None:
                below = f"singular values below {self.selection.cutoff:.1e}"
                about += f": {below} are taken for rounding errors"
            remarks.append(about)
        if self.alpha > 0:
            relation = ">=" if self.lower <= 1 <= self.upper else "="
            remarks.append(f"for ridge models with alpha {relation} {self.alpha:.6g}")
        if self.verified:
            remarks.append(f"verified: {self.note or 'rounding is accounted for'}")
        elif self.note or self.lower <= 0:
            remarks.append(f"not certified: {self.note or self._lost}")
        return remarks

    @property
    def _lost(self) -> str:
        """Why lower is 0, and what would help."""
        if math.isinf(self.upper):
            return ill_conditioned_note(self.alpha)
        if self.alpha > 0:
            return "these features lose too much; more of them, or a larger alpha, would help"
        return (
            "a direction of X is lost; more features than its rank, or alpha > 0 (for ridge "
            "models), would help"
        )

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><th>{name}</th><td>{lower}</td><td>{upper}</td></tr>"
            for name, lower, upper in self._rows()
        )
        remarks = "".join(
            f"<tr><td colspan=3>{escape(remark)}</td></tr>" for remark in self._remarks()
        )
        return (
            "<table><thead><tr><th></th><th>lower</th><th>upper</th></tr></thead>"
            f"<tbody>{body}<tr><th>epsilon</th><td colspan=2>{self.epsilon:.4f}</td></tr>"
            f"{remarks}</tbody></table>"
        )
