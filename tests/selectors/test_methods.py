# SPDX-License-Identifier: BSD-3-Clause
"""The registry of methods, and scikit-learn's selectors in it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import RFE, SelectKBest, f_classif, f_regression
from sklearn.linear_model import Lasso, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from ridgewise import make_ridge_synthetic
from ridgewise.report._style import COLOURS, look_of
from ridgewise.selectors import (
    METHODS,
    SklearnSelector,
    explain_defaults,
    label_of,
    make_selector,
    method_of,
)

FOREIGN = ("f-test", "l1", "rfe")


@parametrize_with_checks([SklearnSelector(), SklearnSelector(by="l1", classify=False)])
def test_keeps_the_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
def test_every_entry_is_whole(method):
    entry = METHODS[method]
    selector = make_selector(method, n_features=5, X=np.eye(3), intercept=True)
    assert method_of(selector) == method
    assert label_of(method) == entry.label
    assert entry.does.endswith(".")
    assert entry.look[0] in COLOURS
    assert getattr(selector, "center", True)


def test_looks_differ():
    assert len({str(look_of(method)) for method in METHODS}) == len(METHODS)
    assert look_of("BSS") == look_of("bss")


def test_the_users_options_come_first():
    dense = np.ones((4, 6))
    assert make_selector("information-gain", X=dense).threshold == "median"
    assert make_selector("information-gain", X=sp.csr_array(dense)).threshold == 0
    assert make_selector("information-gain", {"threshold": 2.0}, X=dense).threshold == 2.0
    assert make_selector("bss", {"center": False}, intercept=True).center is False
    assert make_selector("bss", X=dense).rule == "slack"
    assert make_selector("bss", X=sp.csr_array(dense)).rule == "norm"
    assert make_selector("bss", {"rule": "ratio"}, X=dense).rule == "ratio"
    assert explain_defaults(["bss"], sp.csr_array(dense)) == ""


def test_unknown_methods_and_selectors():
    with pytest.raises(ValueError, match="unknown method 'lasso': it must be one of bss, "):
        make_selector("lasso")
    assert method_of(SelectKBest()) == label_of("SelectKBest") == "SelectKBest"


@pytest.mark.parametrize("classify", [True, False])
def test_f_test_and_rfe_are_scikit_learns(classify):
    X, y = make_ridge_synthetic(50, 90, n_relevant=4, random_state=0)
    y = y if classify else X[:, :4].sum(axis=1)
    found = SklearnSelector(12, classify=classify).fit(X, y)
    test = f_classif if classify else f_regression
    np.testing.assert_array_equal(
        found.get_support(), SelectKBest(test, k=12).fit(X, y).get_support()
    )
    if not classify:
        alpha = 0.1 * X.var(axis=0).sum()
        expected = RFE(Ridge(alpha), n_features_to_select=12, step=0.1).fit(X, y)
        found = SklearnSelector(12, by="rfe", classify=False).fit(X, y)
        np.testing.assert_array_equal(found.get_support(), expected.get_support())


@pytest.mark.parametrize("by", FOREIGN)
@pytest.mark.parametrize("classify", [True, False])
def test_relevant_features_come_first(by, classify):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 300))
    X[:, 7] = 3  # constant
    signal = 3 * X[:, 0] - 2 * X[:, 1] + 2 * X[:, 2]
    y = np.where(signal > 0, "yes", "no") if classify else signal
    for data in (X, sp.csr_array(X)):
        found = SklearnSelector(10, by=by, classify=classify).fit(data, y)
        assert {0, 1, 2} <= set(found.selected_.tolist())
        assert found.n_selected_ == 10


@pytest.mark.parametrize(("classify", "least"), [(False, 36), (True, 22)])
def test_the_l1_penalty_is_strong_enough_for_noise(classify, least):
    """A hundredth of the largest penalty finds 32 and 15 of the 60 relevant features."""
    hits = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 400))
        y = X[:, :10].sum(axis=1) + 3 * rng.normal(size=100)
        selector = SklearnSelector(15, by="l1", classify=classify)
        hits += np.count_nonzero(selector.fit(X, y > 0 if classify else y).selected_ < 10)
    assert hits >= least


def test_l1_selects_non_zeros_first_and_then_by_the_f_test():
    X, y = make_ridge_synthetic(60, 300, n_relevant=4, random_state=0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    largest = np.abs(Z.T @ (y - y.mean())).max() / len(y)
    model = Lasso(alpha=0.1 * largest, tol=1e-3).fit(Z, y)
    nonzero = np.flatnonzero(model.coef_).tolist()
    order = SklearnSelector(299, by="l1", classify=False).fit(X, y).selected_.tolist()
    assert sorted(order[: len(nonzero)]) == nonzero
    by_f_test = SklearnSelector(300, classify=False).fit(X, y).selected_.tolist()
    assert order[len(nonzero) :] == [one for one in by_f_test if one not in nonzero][:-1]


def test_several_classes():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 40))
    X[:, 3:6] += 4 * np.equal.outer(y, [0, 1, 2])
    for by in FOREIGN:
        assert sorted(SklearnSelector(3, by=by).fit(X, y).selected_) == [3, 4, 5]
