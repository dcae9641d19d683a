# SPDX-License-Identifier: BSD-3-Clause
"""A selection's statement: for a model somebody would use, beside what random features get."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from ridgewise import BSSSelector, RandomSelector, RRQRSelector, certify, make_ridge_synthetic
from ridgewise.datasets.readers import read_table
from ridgewise.evaluation import LARGEST, run_selection
from ridgewise.evaluation._select import stand_ins
from ridgewise.report import judge
from ridgewise.report._selection import explain_models
from ridgewise.selectors import GivenSelector, make_selector

NAMES = np.array([f"x{place}" for place in range(1000)])


@pytest.mark.parametrize(
    "selector",
    [BSSSelector(60), BSSSelector(12), RRQRSelector(40), RandomSelector(50, random_state=0)],
)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_selection_run(selector, container):
    X, _ = make_ridge_synthetic(random_state=0)
    X = container(np.where(np.abs(X) > 1, X, 0))
    run = run_selection(selector, X, feature_names=NAMES)
    expected = certify(X, selector, alpha=run.alpha.value)
    assert (run.alpha.value == 0) == (selector.n_features_to_select > 30)
    assert run.certificate.lower == pytest.approx(expected.lower)
    assert run.certificate.verified
    assert run.leverage_scores.sum() == pytest.approx(run.rank)
    assert [row[1] for row in run.rows] == selector.selected_.tolist()
    assert set(run.strongest) <= set(selector.selected_)
    dense = X.toarray() if sp.issparse(X) else X
    np.testing.assert_allclose(run.correlations, np.corrcoef(dense[:, run.strongest].T), atol=1e-9)
    assert set(run.seconds) == {"spectrum", "selection", "certificate", "correlations"}


def test_below_the_rank_it_is_stated_for_a_usual_model():
    """Issue 19: a huge alpha that the selector worked with made any features look good."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 1000)), rng.integers(0, 2, 30)
    run = run_selection(BSSSelector(8, center=True), X, feature_names=NAMES)
    centred = X - X.mean(axis=0)
    assert run.alpha.mean_diagonal == pytest.approx((centred**2).sum() / 30)
    assert (run.alpha.source, run.alpha.relative) == ("usual", pytest.approx(0.1))
    assert run.alpha.value < run.selector.alpha_
    with_target = run_selection(
        BSSSelector(8, center=True), X, y, feature_names=NAMES, classify=True
    )
    assert with_target.alpha.source == "leave-one-out"
    assert judge(run) == judge(with_target) == "poor"


def test_an_alpha_beyond_the_mean_diagonal_is_told():
    """Leave-one-out chooses an alpha without bound; the certificate is not about that model."""
    X, y = np.random.default_rng(0).normal(size=(30, 1000)), np.arange(30) % 2
    run = run_selection(BSSSelector(8, center=True), X, y, feature_names=NAMES, classify=True)
    assert (run.alpha.source, run.alpha.relative) == (LARGEST, 1)
    assert "leave-one-out chose a larger one" in explain_models(run)


@pytest.mark.parametrize("center", [False, True])
def test_without_verification_it_is_the_same_but_for_rounding(center):
    X, _ = make_ridge_synthetic(random_state=0)
    runs = [
        run_selection(
            RRQRSelector(40), X, feature_names=NAMES, center=center, verify=verify
        ).certificate
        for verify in (True, False)
    ]
    assert [one.verified for one in runs] == [True, False]
    assert runs[0].lower == pytest.approx(runs[1].lower, rel=1e-8)


def test_stand_ins():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 30))
    X[:, 7] = 1.0
    expected = np.corrcoef(np.delete(X, 7, axis=1).T)
    selected = np.array([20, 3])
    for container in (np.asarray, sp.csr_array):
        indices, values = stand_ins(container(X), selected, count=4)
        for place, index in enumerate(selected):
            row = np.insert(expected[index - (index > 7)], 7, 0)
            row[selected] = 0
            order = np.argsort(-np.abs(row))[:4]
            assert indices[place].tolist() == order.tolist()
            np.testing.assert_allclose(values[place], row[order])
    indices, values = stand_ins(X[:, 6:9], np.array([0]))
    assert indices[0].tolist()[1:] == [-1, -1]
    assert values[0].tolist()[1:] == [0, 0]


def test_a_feature_stands_for_strongly_correlated_ones_only():
    """The page says that these correlations are at least 0.5."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 60))
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(40)
    names = np.array([f"x{place}" for place in range(60)])
    run = run_selection(GivenSelector([0, 5]), X, feature_names=names)
    assert (run.stand_in_correlations[1] != 0).all()
    assert [row[-1].split(" ")[0] for row in run.rows] == ["x1", ""]


QUICK = ["golub", "riboflavin"]
OTHERS = ["ALL", "arcene", "dexter", "wheat"]
TEXT = ["newsgroup_pairs", "techtc"]


def sources(shared_data):
    """Every source of the real data, the folders of text each by itself."""
    for name in QUICK + OTHERS:
        yield shared_data / name
    for name in TEXT:
        yield from sorted(path for path in (shared_data / name).iterdir() if path.is_dir())


def check_source(folder, counts=(20, 50, 100)):
    """Random features are never judged good; nor is what is no better than they are."""
    file = folder / "X.npz"
    table = read_table(file if file.exists() else folder)
    for n_features in counts:
        for method, seed in (("bss", 0), ("random", 0), ("random", 1), ("random", 2)):
            selector = make_selector(
                method, n_features=n_features, X=table.X, intercept=True, seed=seed
            )
            run = run_selection(
                selector, table.X, feature_names=table.feature_names, center=True, verify=False
            )
            certificate = run.certificate
            assert certificate.alpha <= 0.1001 * run.alpha.mean_diagonal
            best = replace(certificate, verified=True)  # the most that verification could say
            verified = replace(run, certificate=best)
            if method == "random":
                assert judge(verified) != "good", (folder.name, n_features, certificate)
            if judge(verified) == "good":
                assert certificate.eta < 0.8 * run.random.eta


@pytest.mark.parametrize("name", QUICK)
def test_random_features_never_look_good(shared_data, name):
    check_source(shared_data / name)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_random_features_never_look_good_anywhere(shared_data):
    for folder in sources(shared_data):
        check_source(folder)


def test_why_there_is_no_held_out_error_is_said():
    X, _ = make_ridge_synthetic(random_state=0)
    settings = {"feature_names": NAMES, "classify": True, "n_splits": 5}
    for y in (np.zeros(30), np.arange(30) == 0):  # one class, and one with a single sample
        run = run_selection(BSSSelector(60), X, y.astype(int), **settings)
        assert run.held_out is None
        assert run.notes[-1].startswith("No held-out error")
