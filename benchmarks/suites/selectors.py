# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: D102 (the names of methods, which asv knows them by, say what they measure)
"""Every selector from data to features, and what its features are worth."""

from typing import Any

import numpy as np

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
    certify,
)

from .data import make_data

SELECTORS: dict[str, Any] = {
    "BSS": BSSSelector(),
    "BSS, slack, polish": BSSSelector(rule="slack", polish=True),
    "leverage sampling": LeverageSelector(random_state=0),
    "largest leverage": LeverageSelector(sampling="top"),
    "RRQR": RRQRSelector(),
    "information gain": InformationGainSelector(),
    "random": RandomSelector(random_state=0),
}


class Selectors:
    """Each method, with r features a sample."""

    params = ([50, 200], [1000, 20_000], [2, 4], [0.1, 1.0], list(SELECTORS))
    param_names = ("n", "d", "r", "density", "method")

    def setup(self, n: int, d: int, r: int, density: float, method: str) -> None:
        self.X, self.y = make_data(n, d, density), np.arange(n) % 2
        selector = SELECTORS[method].set_params(n_features_to_select=r * n)
        self.selector = selector.fit(self.X, self.y)

    def time_fit(self, *_: object) -> None:
        self.selector.fit(self.X, self.y)

    def peakmem_fit(self, *_: object) -> None:
        self.selector.fit(self.X, self.y)

    def time_transform(self, *_: object) -> None:
        self.selector.transform(self.X)

    def time_certify(self, *_: object) -> None:
        certify(self.X, self.selector)

    def track_lower(self, *_: object) -> float:
        """The least that is kept of any direction: the certificate's lower end."""
        return certify(self.X, self.selector).lower

    track_lower.unit = "of 1"  # type: ignore[attr-defined]


class Epsilon:
    """The fewest features for an epsilon, by search."""

    params = ([30, 100], [600, 5000], [0.7, 0.5])
    param_names = ("n", "d", "epsilon")

    def setup(self, n: int, d: int, epsilon: float) -> None:
        self.X = make_data(n, d, 1.0)
        self.selector = BSSSelector(epsilon=epsilon)

    def time_fit(self, *_: object) -> None:
        self.selector.fit(self.X)

    def track_features(self, *_: object) -> int:
        """How many it takes."""
        return int(self.selector.fit(self.X).n_selected_)

    track_features.unit = "features"  # type: ignore[attr-defined]
