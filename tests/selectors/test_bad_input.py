# SPDX-License-Identifier: BSD-3-Clause
"""Each bad input has the right answer, or an error that says what was given and what to do."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
)

SELECTORS = {
    "bss": BSSSelector(),
    "bss qr": BSSSelector(solver="qr", rule="slack"),
    "bss centred": BSSSelector(center=True),
    "leverage iid": LeverageSelector(random_state=0),
    "leverage bernoulli": LeverageSelector(sampling="bernoulli", random_state=0),
    "leverage top": LeverageSelector(sampling="top"),
    "rrqr": RRQRSelector(),
    "rrqr plain": RRQRSelector(restart=False),
    "information gain": InformationGainSelector(),
    "information gain median": InformationGainSelector(threshold="median"),
    "random": RandomSelector(random_state=0),
}
every_selector = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS)
one_of_each = pytest.mark.parametrize(
    "kind",
    [BSSSelector, LeverageSelector, RRQRSelector, InformationGainSelector, RandomSelector],
)
with_spectrum = pytest.mark.parametrize("kind", [BSSSelector, LeverageSelector])

X = np.random.default_rng(0).standard_normal((10, 40))
y = np.arange(10) % 2


def fit(selector, data):
    return clone(selector).fit(data, np.arange(np.shape(data)[0]) % 2)


# data


@pytest.mark.parametrize("container", [np.array, np.float32, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, "Input X contains NaN"),
        (np.inf, "Input X contains infinity or a value too large"),
        (-np.inf, "Input X contains infinity or a value too large"),
    ],
)
@every_selector
def test_not_finite(selector, value, message, container):
    data = X.copy()
    data[3, 7] = value
    with pytest.raises(ValueError, match=message):
        fit(selector, container(data))
    fitted = fit(selector, X)
    with pytest.raises(ValueError, match=message):
        fitted.transform(container(data))
    bad = np.ones((2, fitted.n_selected_))
    bad[0, 0] = value
    with pytest.raises(ValueError, match=message.removeprefix("Input X ")):
        fitted.inverse_transform(container(bad))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@every_selector
def test_missing_values_of_frames(selector, frame):
    data = frame({"a": [1.0, None, 3.0, 1.0], "b": [2.0, 1.0, 0.5, 4.0]})
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fit(selector, data)


@every_selector
def test_empty(selector):
    for data in (np.empty((0, 4)), sp.csr_array((0, 4))):
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 4\)\)"):
            fit(selector, data)
    for data in (np.empty((4, 0)), sp.csr_array((4, 0))):
        with pytest.raises(ValueError, match=r"Found array with 0 feature\(s\) \(shape=\(4, 0\)\)"):
            fit(selector, data)


@every_selector
def test_wrong_dimensions(selector):
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        fit(selector, np.ones(4))
    with pytest.raises(ValueError, match="Found array with dim 3"):
        fit(selector, np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match="Expected 2D array, got scalar array instead"):
        clone(selector).fit(3.0, y)


@every_selector
def test_strings(selector):
    with pytest.raises(ValueError, match="Convert your data to numeric values explicitly"):
        fit(selector, np.array([["a", "b"], ["c", "d"]]))
    with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
        fit(selector, np.array([["x", 1], ["y", 2]], dtype=object))
    with pytest.raises(ValueError, match="could not convert string to float: 'x'"):
        fit(selector, pd.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}))


@every_selector
def test_complex(selector):
    for data in (X + 1j, sp.csr_array(X + 1j)):
        with pytest.raises(ValueError, match="Complex data not supported"):
            fit(selector, data)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@every_selector
def test_numpy_matrix(selector):
    with pytest.raises(TypeError, match=r"np.matrix is not supported. Please convert to a numpy"):
        fit(selector, np.matrix([[1.0, 2.0], [3.0, 4.0]]))


@every_selector
def test_one_sample(selector):
    if getattr(selector, "center", False):
        with pytest.raises(ValueError, match=r"every feature of X is constant \(n_samples=1"):
            fit(selector, X[:1])
        return
    fitted = fit(selector, X[:1])
    assert getattr(fitted, "rank_", 1) == 1
    assert 1 <= fitted.n_selected_ <= 40
    assert fitted.transform(X[:1]).shape == (1, fitted.n_selected_)
    if hasattr(fitted, "certificate_"):
        assert fitted.certificate_.upper > 0


@every_selector
def test_one_feature(selector):
    fitted = fit(selector, X[:, :1])
    assert_array_equal(fitted.selected_, [0])
    assert fitted.weights_ == pytest.approx([1])
    assert fitted.transform(X[:, :1]) == pytest.approx(X[:, :1])


@every_selector
def test_all_zeros(selector):
    for data in (np.zeros((10, 5)), sp.csr_array((10, 5)), np.zeros((3, 50), dtype=np.int8)):
        if hasattr(selector, "solver"):
            what = "constant" if selector.center else "zero"
            n, d = data.shape
            message = rf"every feature of X is {what} \(n_samples={n}, n_features={d}\)"
            with pytest.raises(ValueError, match=message):
                fit(selector, data)
        else:
            fitted = fit(selector, data)
            assert 1 <= fitted.n_selected_ <= data.shape[1]
            assert fitted.transform(data).shape == (data.shape[0], fitted.n_selected_)


@pytest.mark.parametrize("value", [1.0, -3.0, 1e6, 0.5])
@pytest.mark.parametrize("shape", [(8, 20), (20, 8)])
@with_spectrum
def test_constant_features(kind, shape, value):
    """Centred, they are nothing; as they are, they have rank 1."""
    data = np.full(shape, value) * np.arange(1, shape[1] + 1)
    for container in (np.asarray, np.float32, np.asfortranarray):
        with pytest.raises(ValueError, match=r"every feature of X is constant \(n_samples="):
            kind(center=True).fit(container(data))
    assert kind().fit(data).rank_ == 1
    # some constant features among others are harmless
    mixed = np.hstack([data, np.random.default_rng(0).standard_normal((shape[0], 30))])
    for container in (np.asarray, sp.csr_array):
        fitted = kind(25, center=True).fit(container(mixed))
        assert fitted.leverage_scores_[: shape[1]] == pytest.approx(0, abs=1e-20)


@every_selector
def test_repeated_rows_and_columns(selector):
    data = np.tile(X[:4, :10], (3, 4))
    fitted = fit(selector, data)
    assert len(np.unique(fitted.selected_)) == fitted.n_selected_
    expected = 3 if getattr(selector, "center", False) else 4
    assert getattr(fitted, "rank_", expected) == expected


# transform


@every_selector
def test_wrong_number_of_features(selector):
    fitted = fit(selector, X)
    name = type(selector).__name__
    for data in (X[:, :3], sp.csr_array(X[:, :3]), np.hstack([X, X])):
        message = f"X has {data.shape[1]} features, but {name} is expecting 40 features as input"
        with pytest.raises(ValueError, match=message):
            fitted.transform(data)
    number = fitted.n_selected_
    for data in (np.ones((2, number + 1)), sp.csr_array((2, number + 1))):
        message = f"it has {number + 1} columns, and {number} features were selected"
        with pytest.raises(ValueError, match=message):
            fitted.inverse_transform(data)


@every_selector
def test_not_fitted(selector):
    message = f"This {type(selector).__name__} instance is not fitted yet"
    for method in ("transform", "inverse_transform"):
        with pytest.raises(NotFittedError, match=message):
            getattr(clone(selector), method)(X)
    for method in ("get_support", "get_feature_names_out"):
        with pytest.raises(NotFittedError, match=message):
            getattr(clone(selector), method)()


# n_features_to_select and epsilon


@pytest.mark.parametrize(
    "number", [0, -1, 1.5, 5.0, 0.0, -0.5, np.nan, np.inf, "a", True, False, [3], (2, 3)]
)
@one_of_each
def test_number_of_features(kind, number):
    message = (
        "n_features_to_select must be an int >= 1 (how many), a float in (0, 1] (share of the "
        f"features) or None (default); got {number!r}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        kind(number).fit(X, y)


@with_spectrum
def test_both_a_number_and_epsilon(kind):
    message = "give n_features_to_select or epsilon, not both.*got n_features_to_select=20 and"
    with pytest.raises(ValueError, match=message):
        kind(20, epsilon=0.5).fit(X)


@pytest.mark.parametrize("epsilon", [0, 1, 2, -0.5, 0.0, 1.0, np.nan, "x", True, [0.5]])
@with_spectrum
def test_epsilon(kind, epsilon):
    message = f"epsilon must be a number between 0 and 1; got {epsilon!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        kind(epsilon=epsilon).fit(X)


def test_epsilon_where_nothing_is_promised():
    with pytest.raises(ValueError, match=r'sampling="top" promises nothing.*n_features_to_select'):
        LeverageSelector(epsilon=0.5, sampling="top").fit(X)
    with pytest.raises(ValueError, match=r"alpha=2 promises nothing.*n_features_to_select"):
        LeverageSelector(epsilon=0.5, alpha=2).fit(X)


def test_no_more_than_the_rank():
    message = (
        "BSS needs more features than the rank of X, 10: got 10 to select. Select at least 11, or "
        "use alpha='auto'"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        BSSSelector(10, alpha=0).fit(X)
    message = "more features than its effective dimension at alpha=1, 9.*: got 5 to select"
    with pytest.raises(ValueError, match=message):
        BSSSelector(5, alpha=1.0).fit(X)


@pytest.mark.parametrize("alpha", [-1, -0.5, np.nan, np.inf, "x", None, True, [1]])
@with_spectrum
def test_alpha(kind, alpha):
    what = 'a finite number >= 0 or "auto"' if kind is BSSSelector else "a finite number >= 0"
    with pytest.raises(ValueError, match=re.escape(f"alpha must be {what}; got {alpha!r}")):
        kind(20, alpha=alpha).fit(X)


# other parameters


@pytest.mark.parametrize("solver", ["svd", "QR", None, 1])
@with_spectrum
def test_solver(kind, solver):
    message = f"solver must be one of 'auto', 'gram', 'qr'; got {solver!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        kind(solver=solver).fit(X)


@pytest.mark.parametrize("rank", [0, -1, 1.5, 0.0, -0.5, np.nan, "x", True, [3]])
@with_spectrum
def test_rank(kind, rank):
    message = (
        "rank must be None, an int >= 1 (singular vectors to keep) or a float in (0, 1] (share of "
        f"the energy to keep); got {rank!r}"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        kind(rank=rank).fit(X)


@pytest.mark.parametrize("rule", ["best", "Norm", None, 1, ["norm"]])
def test_rule(rule):
    message = f"rule must be one of 'norm', 'slack', 'ratio'; got {rule!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        BSSSelector(rule=rule).fit(X)


@pytest.mark.parametrize("sampling", ["poisson", "IID", None, 1])
def test_sampling(sampling):
    message = f"sampling must be one of 'iid', 'bernoulli', 'top'; got {sampling!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        LeverageSelector(sampling=sampling).fit(X)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, np.nan])
def test_delta(delta):
    message = f"delta must be a probability between 0 and 1; got {delta!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        LeverageSelector(delta=delta).fit(X)


@pytest.mark.parametrize("threshold", [-1, -0.5, "mean", None, np.nan, True, [1]])
def test_threshold(threshold):
    message = f'threshold must be a finite number >= 0 or "median"; got {threshold!r}'
    with pytest.raises(ValueError, match=re.escape(message)):
        InformationGainSelector(threshold=threshold).fit(X, y)


@pytest.mark.parametrize("selector", [LeverageSelector(3), RandomSelector(3)])
def test_random_state(selector):
    with pytest.raises(ValueError, match="'x' cannot be used to seed"):
        clone(selector).set_params(random_state="x").fit(X)


# labels


def test_information_gain_needs_labels():
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        InformationGainSelector().fit(X)


def test_labels():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        InformationGainSelector().fit(X, X[:, 0])
    message = r"Found input variables with inconsistent numbers of samples: \[10, 9\]"
    with pytest.raises(ValueError, match=message):
        InformationGainSelector().fit(X, y[:9])
    with pytest.raises(ValueError, match="Input y contains NaN"):
        InformationGainSelector().fit(X, np.where(y == 0, np.nan, 1.0))
    with pytest.raises(ValueError, match=r"y should be a 1d array, got an array of shape"):
        InformationGainSelector().fit(X, np.column_stack([y, y]))


def test_one_class_has_no_information():
    selector = InformationGainSelector(3).fit(X, np.zeros(10))
    assert_array_equal(selector.scores_, np.zeros(40))
    assert_array_equal(selector.selected_, [0, 1, 2])


@every_selector
def test_labels_are_ignored_where_not_needed(selector):
    if isinstance(selector, InformationGainSelector):
        return
    expected = clone(selector).fit(X).selected_
    for ignored in (y, y[:3], "nonsense", X):
        assert_array_equal(clone(selector).fit(X, ignored).selected_, expected)
