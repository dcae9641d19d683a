# SPDX-License-Identifier: BSD-3-Clause
"""The registry of methods: all that the command, the comparisons and the reports know of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ridgewise._typing import is_sparse
from ridgewise.selectors._bss import BSSSelector
from ridgewise.selectors._information_gain import InformationGainSelector
from ridgewise.selectors._leverage import LeverageSelector
from ridgewise.selectors._random import RandomSelector
from ridgewise.selectors._rrqr import RRQRSelector
from ridgewise.selectors._sklearn import SklearnSelector
from ridgewise.selectors._subset import SubsetSelector


@dataclass(frozen=True)
class Method:
    """A method of selecting features: one entry of `METHODS`.

    Examples
    --------
    >>> from ridgewise.selectors import METHODS, Method, make_selector
    >>> METHODS["bss-slack"] = Method("BSS, slack", "BSS by slack.", BSSSelector, {"rule": "slack"})
    >>> make_selector("bss-slack", n_features=20)
    BSSSelector(n_features_to_select=20, rule='slack')
    >>> del METHODS["bss-slack"]
    """

    label: str  # its name in sentences and pictures
    does: str  # what it does, in a sentence or two
    selector: type[Any]  # the class; its first parameter is the number of features
    settings: Mapping[str, Any] = field(default_factory=dict)  # parameters that make it this method
    # from X to further parameters, which the user's options override; and why, for the reports
    defaults: Callable[[Any], Mapping[str, Any]] = lambda X: {}
    reason: str = ""
    target: str | None = None  # "any" or "classes" if it uses a target
    otherwise: str | None = None  # the method that takes its place where there is no target
    # colour (a name of the reports' palette) and matplotlib line style; None: a spare one
    look: tuple[str, object] | None = None

    @property
    def parameters(self) -> set[str]:
        """The names of the selector's parameters."""
        return set(self.selector._get_param_names())


def presence(X: Any) -> dict[str, float | str]:
    """Choose information gain's threshold: presence is informative where most values are 0."""
    return {"threshold": "median" if is_dense(X) else 0.0}


def rule_for(X: Any) -> dict[str, str]:
    """Choose the rule of BSS: "slack" for dense data (docs/guide.md has the measurements)."""
    return {"rule": "slack"} if is_dense(X) else {}


def is_dense(X: Any) -> bool:
    """Whether most values of an array are not zero. A memory map is taken as dense, not read."""
    if is_sparse(X):
        return False
    return isinstance(X, np.memmap) or bool(np.count_nonzero(X) > X.size / 2)


USES_TARGET = (
    "It uses the target, so the error of a model on the samples it was selected from is too low."
)
METHODS: dict[str, Method] = {
    "bss": Method(
        "BSS",
        "BSS (single-set spectral sparsification) selects features one by one, each where the "
        "samples would otherwise become hard to tell apart. It uses no target and is "
        "deterministic.",
        BSSSelector,
        defaults=rule_for,
        reason="on dense data mostly lower errors, and tighter certificates",
        look=("blue", "-"),
    ),
    "subset": Method(
        "best subset",
        "The best subset for ridge regression: each feature lowers the model's objective for the "
        "target the most, together with those before it. A bound tells how much better any other "
        f"subset of the same size could be. {USES_TARGET}",
        SubsetSelector,
        {"target": "y"},
        target="any",
        otherwise="subset-data",
        look=("blue", (0, (5, 1.5))),
    ),
    "subset-data": Method(
        "best subset, no labels",
        "The best subset for ridge regression with any target: each feature lowers the expected "
        "objective the most, together with those before it. A bound tells how much better any "
        "other subset of the same size could be. It uses no target and is deterministic.",
        SubsetSelector,
        {"target": "data"},
        look=("blue", (0, (1.5, 1.2))),
    ),
    "leverage": Method(
        "leverage sampling",
        "Leverage sampling draws features at random, with probabilities proportional to their "
        "leverage scores. It uses no target.",
        LeverageSelector,
        look=("orange", (0, (5, 1.5))),
    ),
    "leverage-top": Method(
        "largest leverage",
        "The features with the largest leverage scores. It uses no target and is deterministic.",
        LeverageSelector,
        {"sampling": "top"},
        look=("orange", "-"),
    ),
    "rrqr": Method(
        "RRQR",
        "RRQR (rank-revealing QR) selects the feature that is farthest from the span of those "
        "before it, again and again. It uses no target and is deterministic.",
        RRQRSelector,
        look=("green", (0, (5, 1.5, 1, 1.5))),
    ),
    "information-gain": Method(
        "information gain",
        "Information gain selects the features that separate the classes best, each by itself. "
        f"{USES_TARGET}",
        InformationGainSelector,
        defaults=presence,
        target="classes",
        look=("pink", (0, (1.5, 1.2))),
    ),
    "f-test": Method(
        "F-test",
        "The F-test (scikit-learn's f_classif, f_regression) selects the features that depend "
        "most on the target, each by itself. "
        f"{USES_TARGET}",
        SklearnSelector,
        {"by": "f-test"},
        target="any",
        look=("pink", "-"),
    ),
    "l1": Method(
        "l1 model",
        "The largest coefficients of a linear model with an l1 penalty (scikit-learn's Lasso, "
        f"LinearSVC). {USES_TARGET}",
        SklearnSelector,
        {"by": "l1"},
        target="any",
        look=("green", "-"),
    ),
    "rfe": Method(
        "RFE",
        "RFE (scikit-learn's recursive feature elimination) fits a ridge model and drops the "
        f"features with the smallest coefficients, again and again. {USES_TARGET}",
        SklearnSelector,
        {"by": "rfe"},
        target="any",
        look=("green", (0, (1.5, 1.2))),
    ),
    "random": Method(
        "random",
        "Features drawn uniformly at random: a baseline.",
        RandomSelector,
        look=("faint", "-"),
    ),
}


def make_selector(
    method: str,
    options: Mapping[str, Any] | None = None,
    *,
    n_features: int | float | None = None,
    X: Any = None,
    classify: bool = True,
    intercept: bool = False,
    seed: int = 0,
) -> Any:
    """Make a method's selector for some data.

    ``options`` are the user's parameters (None: not given), ``X`` decides defaults, and with
    ``intercept`` a selector that can centre does.

    Examples
    --------
    >>> from ridgewise.selectors import make_selector
    >>> make_selector("bss", {"rule": "slack", "polish": None}, n_features=40, intercept=True)
    BSSSelector(center=True, n_features_to_select=40, rule='slack')
    """
    entry = METHODS[check_method(method)]
    situation = {"random_state": seed, "classify": classify, "center": intercept}
    parameters = {name: situation[name] for name in situation if name in entry.parameters}
    parameters |= {**entry.settings, **(entry.defaults(X) if X is not None else {})}
    parameters |= {name: value for name, value in (options or {}).items() if value is not None}
    return entry.selector(n_features, **parameters)


def explain_defaults(methods: Sequence[str], X: Any) -> str:
    """Say which parameters were chosen for these data, and why; empty if none were."""
    parts = []
    for name in methods:
        chosen = METHODS[name].defaults(X)
        if chosen and METHODS[name].reason:
            settings = ", ".join(f"{key}={value}" for key, value in chosen.items())
            parts.append(f"{METHODS[name].label} with {settings} ({METHODS[name].reason})")
    return "; ".join(parts)


def check_method(method: str) -> str:
    """Return the name of a method; raise if it is unknown."""
    if method not in METHODS:
        raise ValueError(f"unknown method {method!r}: it must be one of {', '.join(METHODS)}")
    return method


def method_for(method: str, *, has_target: bool) -> str:
    """The method itself, or the one that takes its place if there is no target."""
    return method if has_target else METHODS[check_method(method)].otherwise or method


def method_of(selector: Any) -> str:
    """Find the name of a selector's method; the name of its class if it is none of `METHODS`."""
    found = {
        name: len(entry.settings)
        for name, entry in METHODS.items()
        if type(selector) is entry.selector
        and all(getattr(selector, key) == value for key, value in entry.settings.items())
    }
    return max(found, key=found.__getitem__, default=type(selector).__name__)


def label_of(method: str) -> str:
    """The name of a method in sentences; unknown names are returned as they are."""
    return METHODS[method].label if method in METHODS else method
