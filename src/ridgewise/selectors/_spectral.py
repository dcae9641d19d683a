# SPDX-License-Identifier: BSD-3-Clause
"""What the selectors that work on the data's spectrum share."""

from numbers import Real
from typing import Any

from ridgewise._typing import FloatArray
from ridgewise.guarantees import Certificate
from ridgewise.selectors._base import FeatureSelector, check_n_features, validate_wide
from ridgewise.spectrum import Spectrum, compute_spectrum

DRAWS_PER_RANK = 4  # by default: promises [1/4, 9/4] where the method is BSS


class SpectralSelector(FeatureSelector):
    """Base of the selectors that draw from the rows of U in X = V S U^T."""

    certificate_: Certificate
    leverage_scores_: FloatArray
    singular_values_: FloatArray
    rank_: int

    n_features_to_select: int | float | None
    epsilon: float | None
    rank: int | float | None
    center: bool
    solver: str

    def _fit_spectrum(self, X: Any) -> Spectrum:
        """Validate X and compute its spectrum."""
        check_not_both(self.n_features_to_select, self.epsilon)
        X = validate_wide(self, X)
        check_n_features(self.n_features_to_select, X.shape[1], default=1)
        spectrum = compute_spectrum(X, rank=self.rank, center=self.center, solver=self.solver)
        if spectrum.rank == 0:
            what = "constant" if self.center else "zero"
            raise ValueError(
                f"every feature of X is {what} (n_samples={X.shape[0]}, n_features={X.shape[1]}): "
                "there is nothing to select from"
            )
        self.rank_ = spectrum.rank
        self.singular_values_ = spectrum.singular_values
        self.leverage_scores_ = spectrum.leverage_scores
        return spectrum

    def _n_draws(self, draws_for_epsilon: int | None) -> int:
        """How many draws the parameters ask for."""
        if draws_for_epsilon is not None:
            return draws_for_epsilon
        d = len(self.leverage_scores_)
        return check_n_features(
            self.n_features_to_select, d, default=min(d, DRAWS_PER_RANK * self.rank_)
        )


def check_not_both(n_features_to_select: Any, epsilon: Any) -> None:
    """A number of features or an epsilon, not both; and an epsilon between 0 and 1."""
    if epsilon is None:
        return
    if n_features_to_select is not None:
        raise ValueError(
            "give n_features_to_select or epsilon, not both: epsilon finds the number itself; got "
            f"n_features_to_select={n_features_to_select!r} and epsilon={epsilon!r}"
        )
    if not isinstance(epsilon, Real) or not 0 < float(epsilon) < 1:
        raise ValueError(f"epsilon must be a number between 0 and 1; got {epsilon!r}")
