# SPDX-License-Identifier: BSD-3-Clause
"""Every estimator keeps scikit-learn's contract."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
    SubsetSelector,
)

ESTIMATORS = [
    BSSSelector(),
    BSSSelector(rule="slack", center=True, solver="qr"),
    BSSSelector(polish=True),
    BSSSelector(2),
    BSSSelector(groups=1),
    LeverageSelector(random_state=0),
    LeverageSelector(3, alpha=1.0, random_state=0),
    LeverageSelector(sampling="bernoulli", random_state=0),
    LeverageSelector(sampling="top", rescale=False),
    RRQRSelector(),
    RRQRSelector(restart=False),
    InformationGainSelector(),
    InformationGainSelector(threshold="median"),
    RandomSelector(random_state=0),
    SubsetSelector(),
    SubsetSelector(groups=1),
    SubsetSelector(2, target="y", scale=True),
    SubsetSelector(target="model", center=True, bound=False),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
