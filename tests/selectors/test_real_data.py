# SPDX-License-Identifier: BSD-3-Clause
"""Every selector on real data: gene expression, text, mass spectra, genetic markers."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
)

pytestmark = pytest.mark.shared_data

# name: shape and stored type, and its numerical rank
SETS = {
    "golub": ((38, 3051), np.float32, 38),
    "ALL": ((128, 12625), np.float32, 128),
    "dexter": ((300, 20000), np.int64, 300),
    "arcene": ((200, 10000), np.uint16, 200),
    "wheat": ((599, 1279), np.int8, 599),
}
every_set = pytest.mark.parametrize("name", SETS)


@pytest.fixture(scope="module")
def load(shared_data):
    """Reads a set once."""
    known = {}

    def read(name):
        if name not in known:
            path = shared_data / name / "X.npz"
            known[name] = sp.load_npz(path) if name == "dexter" else np.load(path)["X"]
        shape, dtype, _ = SETS[name]
        assert known[name].shape == shape
        assert known[name].dtype == dtype
        return known[name]

    return read


def labels(shared_data, name):
    """Classes; of wheat's yields, which half."""
    y = np.loadtxt(shared_data / name / "y.txt", dtype=str)
    return y.astype(float) > 0 if name == "wheat" else y


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def check_certificate(X, selector, rank):
    """lower K <= K~ <= upper K on the top directions, by numpy alone."""
    certificate = selector.certificate_
    X = dense(X).astype(np.float64)
    eigenvalues, V = np.linalg.eigh(X @ X.T)
    half = V[:, ::-1][:, :rank] / np.sqrt(eigenvalues[::-1][:rank])
    rows = X[:, selector.selected_].T @ half
    found = np.linalg.eigvalsh(rows.T @ (selector.weights_[:, None] * rows))
    assert_allclose([certificate.lower, certificate.upper], [found[0], found[-1]], rtol=1e-5)


@pytest.mark.parametrize("rule", ["norm", "slack", "ratio"])
@every_set
def test_bss_on_the_leading_directions(load, name, rule):
    X = load(name)
    selector = BSSSelector(60, rank=20, rule=rule).fit(X)
    s = np.sqrt(20 / 60)
    assert selector.certificate_.lower >= (1 - s) ** 2
    assert selector.certificate_.upper <= (1 + s) ** 2
    assert selector.n_selected_ <= 60
    check_certificate(X, selector, 20)


@pytest.mark.parametrize("center", [False, True])
@every_set
def test_bss_on_all_directions(load, name, center):
    X = load(name)
    rank = SETS[name][2] - center
    n_draws = int(1.2 * rank)
    selector = BSSSelector(n_draws, center=center).fit(X)
    s = np.sqrt(rank / n_draws)
    assert selector.rank_ == rank
    assert selector.certificate_.lower >= (1 - s) ** 2
    assert selector.certificate_.upper <= (1 + s) ** 2
    if not center:
        check_certificate(X, selector, rank)


@pytest.mark.parametrize("rule", ["norm", "slack"])
@pytest.mark.parametrize("name", ["ALL", "dexter"])
def test_bss_below_the_rank(load, name, rule):
    """lower (K + alpha) <= K~ + alpha <= upper (K + alpha), within what is promised."""
    X = load(name)
    selector = BSSSelector(50, rule=rule).fit(X)
    certificate, X = selector.certificate_, dense(X).astype(np.float64)
    assert len(X) > selector.n_selected_ == 50
    assert selector.alpha_ > 0
    K, Z = X @ X.T, X[:, selector.selected_] * np.sqrt(selector.weights_)
    alpha = selector.alpha_ * np.eye(len(X))
    found = scipy.linalg.eigh(Z @ Z.T + alpha, K + alpha, eigvals_only=True)
    assert_allclose(found[[0, -1]], [certificate.lower, certificate.upper], rtol=1e-6)
    assert certificate.promised_lower <= certificate.lower
    assert certificate.upper <= certificate.promised_upper


@pytest.mark.parametrize("sampling", ["iid", "bernoulli", "top"])
@every_set
def test_leverage(load, name, sampling):
    X = load(name)
    rank = SETS[name][2]
    selector = LeverageSelector(2 * rank, sampling=sampling, random_state=0).fit(X)
    assert selector.rank_ == rank
    assert selector.leverage_scores_.sum() == pytest.approx(rank)
    assert selector.leverage_scores_.max() <= 1 + 1e-6
    assert 0 < selector.certificate_.upper < 6
    check_certificate(X, selector, rank)


@every_set
def test_rrqr(load, name):
    X = load(name)
    rank = SETS[name][2]
    restart = name != "dexter"  # for the time that it takes
    selector = RRQRSelector(rank + 20, restart=restart).fit(X)
    assert selector.rank_ == rank
    assert len(np.unique(selector.selected_)) == rank + 20


@pytest.mark.parametrize("threshold", [0.0, "median"])
@every_set
def test_information_gain(load, shared_data, name, threshold):
    X, y = load(name), labels(shared_data, name)
    selector = InformationGainSelector(50, threshold=threshold).fit(X, y)
    scores = selector.scores_[selector.selected_]
    assert_allclose(scores, np.sort(selector.scores_)[::-1][:50], atol=1e-11)
    assert 0 <= scores.min() <= scores.max() <= 1
    other = InformationGainSelector(50, threshold=threshold).fit(
        X.toarray() if sp.issparse(X) else X.astype(np.float64), y
    )
    assert_array_equal(other.selected_, selector.selected_)


@every_set
def test_random_and_transform(load, name):
    X = load(name)
    selector = RandomSelector(30, random_state=0)
    Z = selector.fit_transform(X)
    assert Z.dtype == X.dtype
    assert_array_equal(dense(Z), dense(X)[:, np.sort(selector.selected_)])
    scaled = LeverageSelector(30, random_state=0, rank=10).fit(X)
    Z = scaled.transform(X)
    assert Z.dtype == (np.float32 if X.dtype == np.float32 else np.float64)
    places = np.sort(scaled.selected_)
    back = dense(scaled.inverse_transform(Z))
    assert_allclose(back[:, places], dense(X)[:, places], rtol=1e-5)
