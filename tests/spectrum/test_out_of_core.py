# SPDX-License-Identifier: BSD-3-Clause
"""Memory maps, Zarr arrays and Parquet files: as in memory, within a memory limit."""

import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from ridgewise import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
    certify,
)
from ridgewise.spectrum import _columns, compute_spectrum, is_outside, open_parquet
from ridgewise.spectrum._columns import as_columns, as_rows
from ridgewise.spectrum._containers import Transposed
from ridgewise.spectrum._stored import StoredColumns, reading_ahead

SELECTORS = [
    BSSSelector(60),
    BSSSelector(20, center=True),
    LeverageSelector(40, random_state=0),
    LeverageSelector(40, alpha=1.0, random_state=0),
    InformationGainSelector(15),
    InformationGainSelector(15, threshold="median"),
    RandomSelector(15, random_state=0),
]


def data(n=24, d=300, dtype=np.float32):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * rng.lognormal(0, 1, d)
    return np.round(8 * X).astype(dtype)


def names(d):
    return [f"gene {j}" for j in range(d)]


class Grid:
    """The least that a stored array is: it counts what is read of it."""

    def __init__(self, X, chunks=None):
        self.X, self.shape, self.dtype, self.chunks = X, X.shape, X.dtype, chunks
        self.readings = []

    def __getitem__(self, place):
        rows, columns = place
        part = self.X[rows][:, columns]
        self.readings.append(part.shape)
        return part


def as_grid(X, folder):
    return Grid(X, (7, 50))


def as_memmap(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def as_zarr(X, folder):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    stored = zarr.open(folder / "X.zarr", mode="w", shape=X.shape, dtype=X.dtype, chunks=(10, 64))
    stored[:] = X
    return stored


def as_hdf5(X, folder):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(folder / "X.h5", "w") as file:
        file["X"] = X
    return h5py.File(folder / "X.h5", "r")["X"]


def as_parquet(X, folder):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pd.DataFrame(X, columns=names(X.shape[1])).to_parquet(folder / "X.parquet", row_group_size=9)
    return open_parquet(folder / "X.parquet")


def as_parquet_folder(X, folder):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = pd.DataFrame(X, columns=names(X.shape[1]))
    for number, start in enumerate(range(0, len(X), 10)):
        frame[start : start + 10].to_parquet(folder / f"part{number}.parquet")
    return open_parquet(folder)


def as_parquet_rows(X, folder):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = pd.DataFrame(X.T, columns=names(X.shape[0])).assign(word=names(X.shape[1]))
    frame.to_parquet(folder / "X.parquet", row_group_size=37)
    return open_parquet(folder / "X.parquet", features="rows", names="word")


STORED = [as_grid, as_zarr, as_hdf5, as_parquet, as_parquet_folder, as_parquet_rows]
every_container = pytest.mark.parametrize("store", [as_memmap, *STORED])
every_stored = pytest.mark.parametrize("store", STORED)


# the same as in memory


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("make", [as_columns, as_rows])
@every_stored
def test_columns(store, make, center, tmp_path, monkeypatch):
    monkeypatch.setattr(_columns, "BLOCK_BYTES", 8 * 24 * 70)
    X = data()
    expected, found = make(X, center=center), make(store(X, tmp_path), center=center)
    assert isinstance(found, StoredColumns)
    assert found.shape == expected.shape
    assert len(list(found.slices())) > 1
    assert_allclose(found.gram(), expected.gram(), rtol=1e-12, atol=1e-9)
    B = np.random.default_rng(1).standard_normal((found.shape[0], 3))
    assert_allclose(found.norms2(B), expected.norms2(B), rtol=1e-10)
    indices = np.array([21, 3, 3, 0, 8])
    assert_allclose(found.take(indices), expected.take(indices), rtol=1e-12, atol=1e-13)
    found.expect(np.arange(found.shape[1], dtype=float))
    for scale in (1.0, 0.25):
        found.set_scale(scale)
        expected.set_scale(scale)
        assert_allclose(found.take(indices), expected.take(indices), rtol=1e-12, atol=1e-13)
        assert found.take(indices[:0]).shape == (found.shape[0], 0)
    found.set_scale(1.0)
    expected.set_scale(1.0)
    assert found.largest() == expected.largest()
    found.check_finite()


@every_container
@pytest.mark.parametrize("shape", [(9, 60), (60, 9), (20, 20)])
@pytest.mark.parametrize("solver", ["gram", "qr"])
def test_spectrum(store, shape, solver, tmp_path):
    X = data(*shape)
    expected = compute_spectrum(X, solver=solver, center=True)
    found = compute_spectrum(store(X, tmp_path), solver=solver, center=True)
    assert_allclose(found.singular_values, expected.singular_values, rtol=1e-10)
    assert_allclose(found.leverage_scores, expected.leverage_scores, atol=1e-9)


@every_container
def test_selectors(store, tmp_path):
    X = data()
    y = np.arange(24) % 3
    stored = store(X, tmp_path)
    named = hasattr(stored, "header")
    for selector in SELECTORS:
        expected = clone(selector).fit(X, y)
        found = clone(selector).fit(stored, y)
        assert_array_equal(found.selected_, expected.selected_)
        assert_allclose(found.weights_, expected.weights_, rtol=1e-9)
        assert found.n_features_in_ == 300
        selected = found.transform(stored)
        assert type(selected) is np.ndarray
        assert selected.dtype == np.float32
        assert_allclose(selected, expected.transform(X), rtol=1e-6)
        places = np.sort(found.selected_)
        expected_names = [f"gene {j}" if named else f"x{j}" for j in places]
        assert found.get_feature_names_out().tolist() == expected_names


@pytest.mark.parametrize("center", [False, True])
@every_container
def test_certify(store, center, tmp_path):
    X = data()
    selector = BSSSelector(60, center=center).fit(X)
    expected, found = certify(X, selector), certify(store(X, tmp_path), selector)
    assert found.verified
    assert_allclose([found.lower, found.upper], [expected.lower, expected.upper], rtol=1e-9)


def test_certify_finds_duplicate_samples():
    X = data()
    X[1] = X[0]
    selector = BSSSelector(60).fit(X)
    assert certify(X, selector).verified
    assert certify(Grid(X), selector).verified


@every_stored
def test_rrqr_says_that_it_needs_memory(store, tmp_path):
    with pytest.raises(
        ValueError, match=r"RRQRSelector needs X as a dense array in memory.*BSSSelector"
    ):
        RRQRSelector().fit(store(data(), tmp_path))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, bool, np.float64])
@every_container
def test_types(store, dtype, tmp_path):
    X = (data() > 3).astype(dtype)
    stored = store(X, tmp_path)
    found = BSSSelector(60).fit(stored)
    assert_array_equal(found.selected_, BSSSelector(60).fit(X).selected_)
    assert found.transform(stored).dtype == np.float64


# memory and reading


@pytest.mark.parametrize("store", [as_memmap, as_grid])
@pytest.mark.parametrize("selector", [BSSSelector(150), InformationGainSelector(20)])
def test_memory_stays_within_the_limit(store, selector, tmp_path, peak_memory):
    X = data(100, 60_000)
    stored = store(X, tmp_path)
    y = np.arange(100) % 2
    with sklearn.config_context(working_memory=8):
        # X is 24 MB, and would be 48 in float64; a method has some 200 bytes a feature of its own
        assert peak_memory(lambda: clone(selector).fit(stored, y)) < 20e6


def test_blocks_are_whole_chunks_where_these_fit():
    X = np.zeros((10, 1000))
    for chunk, limit, width in ((64, 150, 128), (200, 150, 200), (200, 10**6, 1000)):
        columns = as_columns(Grid(X, (5, chunk)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_columns, "BLOCK_BYTES", 8 * 10 * limit)
            assert next(columns.slices()) == slice(0, width)
    with sklearn.config_context(working_memory=0):
        assert next(columns.slices()) == slice(0, 1)
    assert next(as_columns(Grid(X)).slices()) == slice(0, 1000)


def test_one_pass_for_the_kernel_and_one_for_the_scores(monkeypatch):
    monkeypatch.setattr(_columns, "BLOCK_BYTES", 8 * 20 * 1000)
    X = Grid(data(20, 10_000), (20, 100))
    compute_spectrum(X).norms2  # noqa: B018
    assert len(X.readings) == 20
    before = len(X.readings)
    BSSSelector(80).fit(X)
    assert len(X.readings) - before <= 20 + 4  # the candidates are read a few hundred at a time


def test_no_two_threads_read_at_once(monkeypatch):
    """Means of features are computed before the pass that needs them."""
    monkeypatch.setattr(_columns, "BLOCK_BYTES", 8 * 24 * 20)
    X, reading, overlaps = data(), threading.Lock(), []

    class Exclusive(Grid):
        def __getitem__(self, place):
            overlaps.append(not reading.acquire(blocking=False))
            time.sleep(0.001)
            found = super().__getitem__(place)
            if reading.locked():
                reading.release()
            return found

    as_rows(Exclusive(X), center=True).gram()
    assert len(overlaps) > 10
    assert not any(overlaps)


def test_columns_are_kept_no_more_than_a_block_of_them(monkeypatch):
    monkeypatch.setattr(_columns, "BLOCK_BYTES", 8 * 3 * 64)
    X = Grid(np.random.default_rng(0).standard_normal((3, 500)))
    columns = as_columns(X)
    columns.expect(np.arange(500.0))
    rng = np.random.default_rng(1)
    for size in (5, 0, 64, 65, 30, 30, 1, 500):
        indices = rng.integers(0, 500, size)
        assert_array_equal(columns.take(indices), X.X[:, indices])
        assert columns.values.shape[1] == len(columns.held) <= 64
    X.readings.clear()
    columns = as_columns(X)
    for start in (*range(0, 60, 5), *range(0, 60, 3)):
        columns.take(np.arange(start, start + 3))
        columns.take(np.arange(start, start + 5)[:3])
    assert sum(width for _, width in X.readings) <= 60  # nothing is read twice


def test_reading_ahead_stops_when_nobody_listens():
    read = []
    blocks = reading_ahead(lambda place: read.append(place) or place, map(slice, range(9)))
    assert next(blocks) == slice(0)
    blocks.close()
    assert len(read) <= 3
    with pytest.raises(ZeroDivisionError):
        list(reading_ahead(lambda place: 1 // (place.stop - 2), map(slice, range(1, 5))))


# what is refused


@pytest.mark.parametrize(("value", "name"), [(np.nan, "NaN"), (np.inf, "infinity")])
@every_container
def test_what_is_not_finite(store, value, name, tmp_path):
    X = data()
    X[2, 200] = value
    stored = store(X, tmp_path)
    for selector in SELECTORS:
        with pytest.raises(ValueError, match=f"Input X contains {name}"):
            clone(selector).fit(stored, np.arange(24) % 2)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), "Expected 2D array, got 1D array"),
        (np.zeros((0, 3)), r"Found array with 0 sample\(s\)"),
        (np.zeros((3, 0)), r"Found array with 0 feature\(s\)"),
        (np.zeros((3, 3), dtype=complex), "X must hold numbers; got an array of complex128"),
    ],
)
def test_what_is_no_data(X, message):
    assert is_outside(Grid(X))
    with pytest.raises(ValueError, match=message):
        BSSSelector().fit(Grid(X))


def test_other_features_than_in_fit(tmp_path):
    X = data()
    selector = LeverageSelector(20, random_state=0).fit(as_parquet(X, tmp_path))
    with (
        pytest.warns(UserWarning, match="X does not have valid feature names"),
        pytest.raises(ValueError, match="X has 299 features, but LeverageSelector is expecting"),
    ):
        selector.transform(Grid(X[:, :-1]))
    frame = pd.DataFrame(X, columns=[f"other {j}" for j in range(300)])
    frame.to_parquet(tmp_path / "other.parquet")
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(open_parquet(tmp_path / "other.parquet"))


# Parquet


@pytest.fixture
def table(tmp_path):
    """A small table with what is not data, and where it is."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    path = tmp_path / "table.parquet"
    frame = pd.DataFrame(
        {"a": [1, 2, 3], "who": ["x", "y", "z"], "b": [0.5, 1.5, 2.5], "y": [0, 1, 0]},
        index=["r", "s", "t"],
    )
    frame.to_parquet(path)
    return path


def test_parquet_leaves_out_what_is_not_data(table):
    X = open_parquet(table, leave_out=["who", "y"])
    assert X.shape == (3, 2)
    assert X.dtype == np.float64
    assert_array_equal(X[:, :], [[1, 0.5], [2, 1.5], [3, 2.5]])
    assert_array_equal(X.T[1:, np.array([0, 2])], [[0.5, 2.5]])
    selector = RandomSelector(2).fit(X)
    assert selector.feature_names_in_.tolist() == ["a", "b"]


def test_parquet_says_what_is_wrong(table, tmp_path):
    with pytest.raises(ValueError, match=r"column 'who' of .* has type .*string. Use leave_out="):
        open_parquet(table)
    with pytest.raises(ValueError, match="has no column 'z'"):
        open_parquet(table, leave_out=["z"])
    with pytest.raises(ValueError, match='features must be "columns" or "rows"'):
        open_parquet(table, features="both")
    with pytest.raises(ValueError, match='names= is only for features="rows"'):
        open_parquet(table, names="who")
    with pytest.raises(FileNotFoundError):
        open_parquet(tmp_path / "absent.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no \*\.parquet in"):
        open_parquet(tmp_path / "empty")
    pd.DataFrame({"c": [1]}).to_parquet(tmp_path / "umbra.parquet")
    with pytest.raises(ValueError, match=r"columns of .* differ from those of"):
        open_parquet(tmp_path)


def test_missing_values_of_integers_are_not_made_up(tmp_path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame = pd.DataFrame({"a": [1, None, 3], "b": [1, 2, 3]}, dtype="Int64")
    frame.to_parquet(tmp_path / "X.parquet")
    with pytest.raises(ValueError, match="Input X contains NaN: column 'a' has missing values"):
        BSSSelector().fit(open_parquet(tmp_path / "X.parquet"))


def test_transposed_twice_is_as_before():
    X = Grid(data())
    assert Transposed(X).T is X
    assert Transposed(X).chunks is None
    assert Transposed(Grid(data(), (7, 50))).chunks == (50, 7)


# optional dependencies


def test_nothing_optional_is_imported_with_the_package():
    code = (
        "import sys, ridgewise.spectrum; print(*{'dask', 'distributed', 'zarr'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_without_pyarrow(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'ridgewise\[parquet\]'"):
        open_parquet(tmp_path / "X.parquet")
