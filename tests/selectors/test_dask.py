# SPDX-License-Identifier: BSD-3-Clause
"""Dask arrays: the work is done where their chunks are, and gives what it gives in memory."""

import os
import pickle
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
    certify,
    compare,
    load_stdlib_text,
    make_ridge_synthetic,
)
from ridgewise.spectrum import compute_spectrum
from ridgewise.spectrum._columns import as_columns, as_rows

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask's arrays are not installed")

from ridgewise.spectrum import _dask  # noqa: E402

SELECTORS = [
    BSSSelector(60),
    BSSSelector(20, center=True),
    BSSSelector(60, rule="slack"),
    LeverageSelector(40, random_state=0),
    LeverageSelector(40, alpha=1.0, random_state=0),
    InformationGainSelector(15),
    InformationGainSelector(15, threshold="median"),
    RandomSelector(15, random_state=0),
]
# by columns, by rows, both, and not at all
LAYOUTS = [
    ((24, 70), np.asarray),
    ((9, 300), np.asarray),
    ((13, 110), np.asarray),
    ((24, 300), np.asarray),
    ((24, 70), sp.coo_array),
    ((9, 300), sp.csc_matrix),
    ((13, 110), sp.csr_array),
]
KINDS = [np.asarray, sp.csr_array, sp.coo_matrix]

every_layout = pytest.mark.parametrize(("chunks", "kind"), LAYOUTS)
every_kind = pytest.mark.parametrize("kind", KINDS)


def counts(n=24, d=300, density=0.3):
    rng = np.random.default_rng(0)
    X = rng.poisson(3, (n, d)) * (rng.random((n, d)) < density)
    X[np.arange(d) % n, np.arange(d)] += 1
    return X.astype(np.float64)


def labels(n=24):
    return np.arange(n) % 3


def chunked(X, chunks, kind=np.asarray):
    X = da.from_array(X, chunks=chunks, asarray=False)
    return X if kind is np.asarray else X.map_blocks(kind)


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.fixture(scope="module")
def cluster():
    """Two worker processes of one thread each."""
    with (
        dask.config.set({"distributed.worker.daemon": True}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def brought(monkeypatch):
    """Sizes in bytes of what came to the client."""
    sizes = []
    compute = _dask.compute

    def counted(*tasks):
        results = compute(*tasks)
        sizes.append(len(pickle.dumps(results, protocol=5)))
        return results

    monkeypatch.setattr(_dask, "compute", counted)
    return sizes


# the same as in memory, whatever the scheduler


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("make", [as_columns, as_rows])
@every_layout
def test_columns(chunks, kind, make, center):
    X = counts()
    expected, found = make(X, center=center), make(chunked(X, chunks, kind), center=center)
    assert isinstance(found, _dask.DaskColumns)
    assert found.shape == expected.shape
    B = np.random.default_rng(1).standard_normal((found.shape[0], 3))
    B -= B.mean(axis=0)
    for scale in (1.0, 0.25):
        found.scale = expected.scale = scale
        assert_allclose(found.gram(), expected.gram(), atol=1e-10)
        assert_allclose(found.norms2(B), expected.norms2(B), atol=1e-10)
    R, T = found.triangle(), expected.triangle()
    assert_allclose(R.T @ R, T.T @ T, atol=1e-9)
    blocks = np.hstack([block for _, block in found.dense_blocks()])
    assert_allclose(blocks, np.hstack([block for _, block in expected.dense_blocks()]), atol=1e-12)
    products = np.vstack([rows for _, rows in found.products(B)])
    assert_allclose(products, np.vstack([rows for _, rows in expected.products(B)]), atol=1e-10)
    values = np.array([1.0, 2, -1])
    assert_allclose(found.forms((B * values) @ B.T), products**2 @ values, atol=1e-10)
    indices = np.array([21, 3, 3, 0, 8])
    assert_allclose(found.take(indices), expected.take(indices), atol=1e-12)
    assert found.take(indices[:0]).shape == (found.shape[0], 0)
    assert found.largest() == expected.largest()
    found.check_finite()


@every_layout
def test_selectors(chunks, kind):
    X, y = counts(), labels()
    D = chunked(X, chunks, kind)
    for selector in SELECTORS:
        expected = clone(selector).fit(X, y)
        found = clone(selector).fit(D, y)
        assert_array_equal(found.selected_, expected.selected_)
        assert_allclose(found.weights_, expected.weights_, rtol=1e-9)
        selected = found.transform(D)
        assert isinstance(selected, da.Array)  # not computed yet
        assert selected.shape == (24, found.n_selected_)
        assert_allclose(dense(selected.compute()), expected.transform(X), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, bool])
@every_kind
def test_types(kind, dtype):
    X = counts().astype(dtype)
    D = chunked(X, (10, 45), kind)
    selector = BSSSelector(60).fit(D)
    assert_array_equal(selector.selected_, BSSSelector(60).fit(X).selected_)
    expected = selector.transform(X)
    found = selector.transform(D)
    assert found.dtype == found.compute().dtype == expected.dtype
    assert_allclose(dense(found.compute()), expected, rtol=1e-6)
    assert RandomSelector(3).fit(D).transform(D).compute().dtype == dtype


@pytest.mark.parametrize("shape", [(60, 9), (20, 20)])
@pytest.mark.parametrize("solver", ["auto", "qr"])
@every_kind
def test_tall_and_square(kind, shape, solver):
    X = counts(*shape)
    expected = compute_spectrum(X, center=True, solver=solver)
    found = compute_spectrum(chunked(X, (7, 4), kind), center=True, solver=solver)
    assert_allclose(found.singular_values, expected.singular_values, rtol=1e-9)
    assert_allclose(found.leverage_scores, expected.leverage_scores, atol=1e-9)


def test_digits_that_the_kernel_loses():
    rng = np.random.default_rng(0)
    V, U = (np.linalg.qr(rng.standard_normal((size, 11)))[0] for size in (12, 80))
    X = V * np.geomspace(1, 1e-9, 11) @ U.T
    found = compute_spectrum(da.from_array(X, chunks=(5, 30)))
    assert found.solver == "qr"
    assert_allclose(found.singular_values, np.geomspace(1, 1e-9, 11), rtol=1e-5)


def test_squares_that_overflow():
    X = counts()
    plain = compute_spectrum(X)
    for factor in (1e200, 1e-200):
        found = compute_spectrum(da.from_array(X * factor, chunks=(10, 45)))
        assert_allclose(found.leverage_scores, plain.leverage_scores, atol=1e-9)


def test_data_frames():
    dd = pytest.importorskip("dask.dataframe", reason="dask's data frames are not installed")
    X, y = counts(), labels()
    frame = pd.DataFrame(X, columns=[f"word {j}" for j in range(300)])
    D = dd.from_pandas(frame, npartitions=3)
    for selector in SELECTORS:
        expected = clone(selector).fit(frame, y)
        found = clone(selector).fit(D, y)
        assert_array_equal(found.selected_, expected.selected_)
        assert_array_equal(found.feature_names_in_, expected.feature_names_in_)
        assert_array_equal(found.get_feature_names_out(), expected.get_feature_names_out())
        selected = found.transform(D)
        assert isinstance(selected, da.Array)
        assert_allclose(selected.compute(), expected.transform(frame), rtol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        found.transform(D.rename(columns={"word 0": "other"}))


@pytest.mark.parametrize("center", [False, True])
def test_certify(center):
    X = counts()
    D = chunked(X, (10, 90), sp.csr_array)
    selector = BSSSelector(60, center=center).fit(X)
    expected, found = certify(X, selector), certify(D, selector)
    assert found.verified
    assert_allclose([found.lower, found.upper], [expected.lower, expected.upper], rtol=1e-9)


# what is refused


def test_rrqr_says_that_it_needs_memory():
    with pytest.raises(
        ValueError, match=r"needs X as a dense array in memory.*dask\.array\.\S+Array of shape"
    ):
        RRQRSelector().fit(chunked(counts(), (24, 70)))


def test_unknown_sizes():
    X = da.from_array(counts(), chunks=(10, 300))
    X = X[da.from_array(np.arange(24) % 2 == 0, chunks=10)]
    for selector in SELECTORS:
        with pytest.raises(ValueError, match=r"call X\.compute_chunk_sizes\(\) first"):
            clone(selector).fit(X, labels(12))
    fitted = BSSSelector(60).fit(counts())
    assert fitted.transform(X).compute().shape == (12, 60)
    assert BSSSelector(60).fit(X.compute_chunk_sizes()).n_selected_ == 60


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), "Expected 2D array, got 1D array"),
        (np.zeros((0, 3)), r"Found array with 0 sample\(s\)"),
        (np.zeros((3, 0)), r"Found array with 0 feature\(s\)"),
        (np.zeros((3, 3), dtype=complex), "X must hold numbers; got an array of complex128"),
        (np.zeros((3, 9)), "every feature of X is zero"),
    ],
)
def test_what_is_no_data(X, message):
    with pytest.raises(ValueError, match=message):
        BSSSelector().fit(da.from_array(X))


def test_other_features_than_in_fit():
    D = chunked(counts(), (24, 70))
    selector = BSSSelector(60).fit(D)
    with pytest.raises(ValueError, match="X has 299 features, but BSSSelector is expecting 300"):
        selector.transform(D[:, 1:])


@pytest.mark.parametrize(
    ("kind", "value", "name"), [(np.asarray, np.nan, "NaN"), (sp.csr_array, np.inf, "infinity")]
)
def test_what_is_not_finite_is_found_on_the_cluster(cluster, brought, kind, value, name):
    X = counts(24, 3000)
    X[5, 1203] = value
    D = chunked(X, (12, 1500), kind)
    for selector in (BSSSelector(60), InformationGainSelector(15), RandomSelector(15)):
        with pytest.raises(ValueError, match=f"Input X contains {name}"):
            clone(selector).fit(D, labels())
    assert sum(brought) < 24 * 3000  # bytes


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_what_is_not_finite_is_found_in_threads(value, name):
    X = counts()
    X[5, 203] = value
    with dask.config.set(scheduler="threads"):
        for selector in SELECTORS:
            with pytest.raises(ValueError, match=f"Input X contains {name}"):
                clone(selector).fit(chunked(X, (12, 150)), labels())


# on a cluster


def dense_set(shared_data, name):
    return np.load(shared_data / name / "X.npz")["X"]


def check_same(X, chunks, n_draws):
    D = chunked(X, chunks)
    y = labels(X.shape[0])
    for selector in (
        BSSSelector(n_draws),
        LeverageSelector(n_draws, random_state=0),
        InformationGainSelector(n_draws),
    ):
        expected, found = clone(selector).fit(X, y), clone(selector).fit(D, y)
        assert_array_equal(found.selected_, expected.selected_)
        assert_allclose(found.weights_, expected.weights_, rtol=1e-9)


@pytest.mark.slow
def test_made_data(cluster):
    check_same(make_ridge_synthetic(random_state=0)[0], (10, 300), 90)
    check_same(load_stdlib_text().data.tocsr(), (200, 1500), 300)


@pytest.mark.shared_data
def test_real_data(cluster, shared_data, load_techtc):
    """Sparse and dense, each chunked in another way."""
    check_same(load_techtc("10341_14525"), (50, 3000), 300)
    check_same(dense_set(shared_data, "golub"), (38, 500), 100)


@pytest.mark.slow
@pytest.mark.shared_data
def test_more_real_data(cluster, shared_data):
    check_same(dense_set(shared_data, "ALL"), (128, 4000), 200)
    dexter = sp.load_npz(shared_data / "dexter" / "X.npz")
    check_same(dexter.tocsr(), (100, 20_000), 400)


@pytest.mark.parametrize("chunks", [(50, 10_000), (25, 40_000)])
def test_the_client_gets_what_is_small(cluster, brought, chunks, peak_memory):
    n, d = 50, 80_000
    X = da.random.default_rng(0).standard_normal((n, d), chunks=chunks)
    selector = BSSSelector(120)
    assert peak_memory(lambda: selector.fit(X)) < 20e6  # X is 32 MB
    # K, the scores, and columns of a few hundred candidates
    assert sum(brought) < 8 * (n * n + d + 16 * n * n) + 1e5
    gain = InformationGainSelector(20)
    brought.clear()
    gain.fit(X, labels(n))
    assert sum(brought) < 8 * 3 * d + 1e5
    brought.clear()
    assert selector.transform(X).shape == (n, selector.n_selected_)
    assert brought == []


@pytest.mark.parametrize("settings", [{"rule": "ratio", "alpha": 0}, {"rule": "slack"}])
def test_the_client_gets_a_number_a_feature_and_scan(cluster, brought, settings):
    """Rows are scored where they are: what comes is a score each, and the columns of the pool."""
    n, d = 40, 20_000
    X = da.random.default_rng(0).standard_normal((n, d), chunks=(n, 5000))
    BSSSelector(100, **settings).fit(X)
    assert sum(brought) < 8 * (12 * d + 12 * 1000 * n) + 1e5


@pytest.mark.slow
def test_a_worker_that_is_killed(cluster, tmp_path):
    X = counts(24, 4000)
    log = str(tmp_path / "log")

    def slow(chunk):
        with open(log, "a") as file:
            file.write("x")
        time.sleep(0.05)
        return chunk

    D = da.from_array(X, chunks=(24, 200)).map_blocks(slow, dtype=X.dtype, meta=np.empty((0, 0)))
    victim = next(iter(cluster.run(os.getpid).values()))
    with ThreadPoolExecutor(1) as thread:
        work = thread.submit(BSSSelector(80).fit, D)
        deadline = time.monotonic() + 20
        while not (os.path.exists(log) and os.path.getsize(log) > 10):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert not work.done()
        os.kill(victim, signal.SIGKILL)
        found = work.result(timeout=60)
    cluster.wait_for_workers(2, timeout=30)
    assert victim not in cluster.run(os.getpid).values()
    expected = BSSSelector(80).fit(X)
    assert_array_equal(found.selected_, expected.selected_)
    assert_allclose(found.weights_, expected.weights_, rtol=1e-9)


def test_compare_on_a_cluster(cluster):
    X, y = make_ridge_synthetic(n_samples=40, n_relevant=1, random_state=0)
    selectors = {"BSS": BSSSelector(), "random": RandomSelector()}
    settings = {"alphas": [1.0], "n_features": [60], "n_splits": 4, "n_repeats": 1}
    expected = compare(selectors, X, y, **settings)
    with joblib.parallel_config(backend="dask"):
        found = compare(selectors, X, y, **settings)
    for row, other in zip(found.rows, expected.rows, strict=True):
        assert row.error_mean == pytest.approx(other.error_mean, rel=1e-9)
        assert row.stability == other.stability
