# SPDX-License-Identifier: BSD-3-Clause
"""How much a selection inflates the risk of ridge regression on given data."""

import math
from dataclasses import dataclass

import numpy as np

from ridgewise._typing import FloatArray
from ridgewise.guarantees._checks import check_not_negative
from ridgewise.guarantees.reunion import Reunion
from ridgewise.guarantees.risk import Risk
from ridgewise.guarantees.risk_inflation import (
    average_bias_inflation,
    bias_inflation,
    bias_inflation_bound,
    fixed_beta_risk_bound,
    regularized_bias_inflation_bound,
    variance_inflation,
    worst_case_bias,
)


@dataclass(frozen=True)
class RiskInflation:
    """Factors by which bias and variance grow, at most, when K~ takes the place of K.

    Those that end in ``_bound`` follow from the certificate's interval and the singular values;
    the others are computed from the selection itself and cannot be bettered. They need neither
    labels nor the noise. Infinite where a direction of X is lost and alpha = 0.

    Attributes
    ----------
    variance : float
        V(K~) / V(K).
    variance_bound : float or None
        phi_V; None for a certificate with alpha > 0, from which no factor follows.
    bias : float
        phi_B: the largest B(K~) / B(K) over all means z = X beta.
    bias_bound : float
    average_bias : float
        E B(K~) / E B(K) over isotropic random beta.
    average_bias_bound : float or None
        None for a certificate with alpha > 0.
    alpha : float
        The model's.
    n_samples : int
    interval : tuple of float
        The certificate's.
    regularized : bool
        Whether the interval is that of K~ + alpha against K + alpha.
    """

    variance: float
    variance_bound: float | None
    bias: float
    bias_bound: float
    average_bias: float
    average_bias_bound: float | None
    alpha: float
    n_samples: int
    interval: tuple[float, float]
    regularized: bool

    @property
    def risk(self) -> float:
        """R(K~) <= risk R(K), whatever the mean of the targets, and their noise."""
        return max(self.variance, self.bias, 1.0)

    def fixed_beta_bound(self, risk: Risk, coefficient_norm: float) -> float:
        """Bound R(K~) for z = X beta, whatever the condition number: the risk theorems, corrected.

        Parameters
        ----------
        risk : Risk
            The risk on all features, see `ridge_risk`.
        coefficient_norm : float
            ||U^T beta||, or any number above it, such as ||beta||.

        Returns
        -------
        float
            An upper bound on the risk on the selected features.
        """
        by_norm = self._bias_by_norm(risk.bias, check_not_negative("norm", coefficient_norm))
        by_factor = self.bias * risk.bias if risk.bias > 0 else math.inf
        return self.variance * risk.variance + min(by_norm, by_factor)

    def _bias_by_norm(self, bias: float, norm: float) -> float:
        """The bias, by the theorem or, where epsilon is large, by its worst case."""
        a, b = self.interval
        if not self.regularized:
            alpha, n = self.alpha, self.n_samples
            return min(
                fixed_beta_risk_bound(
                    Risk(bias, 0.0), a, b, alpha=alpha, n_samples=n, coefficient_norm=norm
                ),
                worst_case_bias(a, alpha=alpha, n_samples=n, coefficient_norm=norm),
            )
        # N = K + alpha: K~ - K = N^1/2 E N^1/2 with ||E|| <= max(1 - a, b - 1), and
        # ||(K~ + alpha)^-1 N^1/2|| <= 1 / sqrt(a alpha), ||N^-1/2 X beta|| <= ||U^T beta||
        worst = math.sqrt(self.alpha / self.n_samples / a) * norm if a else math.inf
        return min(math.sqrt(bias) + max(1 - a, b - 1) * worst, worst) ** 2


def report_risk(reunion: Reunion) -> RiskInflation:
    """Compute the factors: see `Certificate.risk_inflation`."""
    S, alpha, (a, b) = reunion.S, reunion.alpha, reunion.interval
    rows = reunion.weighted_rows
    G = rows.T @ rows
    plain = not reunion.regularized
    bias_bound = bias_inflation_bound if plain else regularized_bias_inflation_bound
    return RiskInflation(
        variance=variance_ratio(rows, S, alpha),
        variance_bound=variance_inflation(b, S, alpha) if plain else None,
        bias=bias_inflation(G, S, alpha),
        bias_bound=bias_bound(a, b, S, alpha),
        average_bias=average_bias_ratio(rows, S, alpha),
        average_bias_bound=average_bias_inflation(a, b) if plain else None,
        alpha=alpha,
        n_samples=reunion.X.shape[0],
        interval=reunion.interval,
        regularized=reunion.regularized,
    )


def variance_ratio(weighted_rows: FloatArray, S: FloatArray, alpha: float) -> float:
    """Compute V(K~) / V(K) = sum (k~_i / (k~_i + alpha))^2 / sum (k_i / (k_i + alpha))^2."""
    singular = np.linalg.svd(weighted_rows * S, compute_uv=False)
    cutoff = len(S) * np.finfo(np.float64).eps * singular.max(initial=0.0)
    k_selected = singular[singular > cutoff] ** 2
    kept: float = np.sum((k_selected / (k_selected + alpha)) ** 2)
    return float(kept / np.sum((S**2 / (S**2 + alpha)) ** 2))


def average_bias_ratio(weighted_rows: FloatArray, S: FloatArray, alpha: float) -> float:
    """Compute E B(K~) / E B(K) = ||(S G S + alpha)^-1 S||_F^2 / ||(S^2 + alpha)^-1 S||_F^2.

    (S G S + alpha)^-1 = D^-1 M^-1 D^-1 with D^2 = S^2 + alpha, where M is as well conditioned as G.
    """
    D = np.sqrt(S**2 + alpha)
    scaled = np.vstack([weighted_rows * (S / D), np.diag(math.sqrt(alpha) / D)])
    _, m, Qt = np.linalg.svd(scaled, full_matrices=False)
    if m[-1] <= len(S) * np.finfo(np.float64).eps * m[0]:
        return math.inf
    inverse = (Qt.T / m**2) @ Qt
    grown = np.sum((inverse * (S / D) / D[:, None]) ** 2)
    return float(grown / np.sum((S / D**2) ** 2))
