# SPDX-License-Identifier: BSD-3-Clause
"""How good a subset is, beside what no subset can pass."""

import math
from dataclasses import dataclass
from html import escape

FITS = {
    "data": "fit targets that all features explain",
    "y": "fit this target",
    "model": "fit what the model of all features predicts",
}


@dataclass(frozen=True)
class Optimality:
    """The objective of a subset, and a bound on that of every subset within the same limits.

    The objective is that of ridge regression, alpha tr M (K_S + alpha)^-1: the smaller, the better.

    Attributes
    ----------
    objective : float
        Of the subset that was selected.
    bound : float
        No subset within the same limits has a smaller objective. Rounding is accounted for.
    of_none, of_all : float
        The objective without any feature, and with all features.
    target : {"data", "y", "model"}
        What the objective is about.
    n_features : int
        The number of all features, or groups.
    within : str
        What the limits are, in words: "20 features", "groups within a budget of 30".

    Examples
    --------
    >>> optimality = Optimality(102.0, 100.0, 500.0, 50.0, "y", 3000, "20 features")
    >>> print(optimality)
    objective 102, and no 20 features have less than 100: a gap of 2.00 %
    of what can be reached at all with 20 features, 99.50 % is reached
    >>> optimality.sentence
    'No other 20 of the 3,000 features would fit this target more than 2.00 % better.'
    """

    objective: float
    bound: float
    of_none: float
    of_all: float
    target: str
    n_features: int
    within: str

    @property
    def gap(self) -> float:
        """By how much the objective is above the bound, relative to the bound."""
        if self.bound <= 0:
            return 0.0 if self.objective <= 0 else float("inf")
        return max(self.objective / self.bound - 1, 0.0)

    @property
    def reached(self) -> float:
        """How much of what the best subset can do to the objective is done, at least."""
        most = self.of_none - self.bound
        return min((self.of_none - self.objective) / most, 1.0) if most > 0 else 1.0

    @property
    def sentence(self) -> str:
        """What it says to someone who does not know what an objective is."""
        first, *more = self.within.split()
        if len(more) == 1:
            others = f"No other {first} of the {self.n_features:,} {more[0]}"
        else:
            others = f"Of the {self.n_features:,} {first}, no other {self.within}"
        return f"{others} would {FITS[self.target]} more than {percent(self.gap)} better."

    def __str__(self) -> str:
        return (
            f"objective {self.objective:.6g}, and no {self.within} have less than "
            f"{self.bound:.6g}: a gap of {percent(self.gap)}\n"
            f"of what can be reached at all with {self.within}, {percent(self.reached, down=True)} "
            "is reached"
        )

    def _repr_html_(self) -> str:
        rows = {
            "objective": f"{self.objective:.6g}",
            f"of any {self.within}, at least": f"{self.bound:.6g}",
            "gap": percent(self.gap),
            "reached, of what can be": percent(self.reached, down=True),
        }
        body = "".join(
            f"<tr><th>{escape(name)}</th><td>{text}</td></tr>" for name, text in rows.items()
        )
        return f"<table><tbody>{body}</tbody></table>"


def percent(share: float, *, down: bool = False) -> str:
    """A share in percent, rounded to the side that claims less.

    Examples
    --------
    >>> percent(0.020001), percent(0.99999, down=True)
    ('2.01 %', '99.99 %')
    """
    hundredths = share * 1e4
    rounded = math.floor(hundredths + 1e-4) if down else math.ceil(hundredths - 1e-4)
    return f"{rounded / 100:.2f} %"
