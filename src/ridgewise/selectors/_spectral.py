# SPDX-License-Identifier: BSD-3-Clause
"""What the selectors that work on the data's spectrum share."""

from numbers import Real
from typing import Any

from ridgewise._checks import check_number
from ridgewise._groups import Groups, groups_of
from ridgewise._memory import remembered
from ridgewise._typing import FloatArray
from ridgewise.guarantees import Certificate
from ridgewise.selectors._base import FeatureSelector, check_n_groups, validate_wide
from ridgewise.spectrum import Spectrum, scored_spectrum

DRAWS_PER_RANK = 4  # by default: promises [1/4, 9/4] where the method is BSS


class SpectralSelector(FeatureSelector):
    """Base of the selectors that draw from the rows of U in X = V S U^T."""

    certificate_: Certificate
    leverage_scores_: FloatArray
    singular_values_: FloatArray
    rank_: int
    alpha_: float

    n_features_to_select: int | float | None
    epsilon: float | None
    alpha: float | str
    rank: int | float | None
    center: bool
    solver: str
    groups: Any = None

    def _fit_spectrum(self, X: Any) -> tuple[Spectrum, Groups]:
        """Validate X, compute its spectrum, and resolve the groups of its features."""
        check_not_both(self.n_features_to_select, self.epsilon)
        X = validate_wide(self, X)
        groups = groups_of(self.groups, X)
        check_n_groups(self.n_features_to_select, groups, default=1)
        spectrum = remembered(
            scored_spectrum, X, rank=self.rank, center=self.center, solver=self.solver
        )
        if spectrum.rank == 0:
            what = "constant" if self.center else "zero"
            raise ValueError(
                f"every feature of X is {what} (n_samples={X.shape[0]}, n_features={X.shape[1]}): "
                "there is nothing to select from"
            )
        self.rank_ = spectrum.rank
        self.singular_values_ = spectrum.singular_values
        self.leverage_scores_ = spectrum.leverage_scores
        return spectrum, groups

    def _n_draws(self, groups: Groups, share: float = 1.0) -> int:
        """How many draws ``n_features_to_select`` asks for; by default at most this share."""
        default = max(1, min(int(share * len(groups)), DRAWS_PER_RANK * self.rank_))
        return check_n_groups(self.n_features_to_select, groups, default)


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


def check_alpha(alpha: Any, *, auto: bool) -> None:
    """Raise if alpha is not a finite number >= 0, or "auto" where that is allowed."""
    if not (auto and isinstance(alpha, str) and alpha == "auto"):
        check_number("alpha", alpha, otherwise=' or "auto"' if auto else "")


def check_squares(singular_values: FloatArray, otherwise: str = "") -> None:
    """Raise if squares of X over- or underflow: no alpha can then be compared with them."""
    largest = singular_values[0]
    if not 1e-150 < largest < 1e150:
        advice = f"scale X, {otherwise}" if otherwise else "scale X"
        raise ValueError(
            f"squares of X over- or underflow (its largest singular value is {largest:.3g}), "
            f"so that it has no alpha: {advice}"
        )
