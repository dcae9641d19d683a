# SPDX-License-Identifier: BSD-3-Clause
"""`--memory`: what it takes, and that a file larger than memory gives the same selection."""

import os

import numpy as np
import pytest
import sklearn

from ridgewise.cli import _compare, _select
from ridgewise.cli._options import parse_memory, working_memory
from ridgewise.datasets.readers import _matrix, read_table

BEFORE = sklearn.get_config()["working_memory"]


def is_mapped(X):
    while X is not None and not isinstance(X, np.memmap):
        X = X.base
    return X is not None


@pytest.fixture
def data(tmp_path):
    """A function that saves an array of 40 samples x 8000 features, of any type."""

    def save(dtype=np.float32, *, transpose=False):
        rng = np.random.default_rng(0)
        X = np.round(8 * rng.standard_normal((40, 8000)) * rng.lognormal(0, 0.5, 8000))
        X = np.clip(X, -100, 100).astype(dtype)
        np.save(tmp_path / "X.npy", X.T.copy() if transpose else X)
        return X

    return save


@pytest.fixture
def seen(monkeypatch):
    """What the selection was given, and within which limit."""
    seen = {}

    def run_selection(selector, X, *arguments, **settings):
        seen.update(X=X, megabytes=sklearn.get_config()["working_memory"])
        return real(selector, X, *arguments, **settings)

    real = _select.evaluation.run_selection
    monkeypatch.setattr(_select.evaluation, "run_selection", run_selection)
    monkeypatch.setattr(_select.report, "selection_page", lambda *_, **__: "<!DOCTYPE html>")
    return seen


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("500MB", 500 * 10**6),
        ("1.5G", 15 * 10**8),
        ("800 MiB", 800 * 2**20),
        (" 0.5gib ", 2**29),
        (".25T", 25 * 10**10),
        ("2000k", 2 * 10**6),
    ],
)
def test_sizes(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "2", "GB", "2 PB", "-1GB", "1,5GB", "0GB", "1kB", "nanGB"])
def test_what_is_no_size(run_here, data, tmp_path, text):
    data()
    code, out, err = run_here("select", "X.npy", "--memory", text)
    assert (code, out) == (2, "")
    assert err.startswith("ridgewise: --memory takes a size of at least 1MiB, such as 2GB")
    assert repr(text) in err
    assert [path.name for path in tmp_path.iterdir()] == ["X.npy"]


def test_the_limit_is_scikit_learns_and_ends_with_the_command(run_here, data, seen, monkeypatch):
    monkeypatch.delenv("SKLEARN_WORKING_MEMORY", raising=False)
    data()
    assert run_here("select", "X.npy", "-n", "90", "-q", "--memory", "800MiB") == (0, "", "")
    assert seen["megabytes"] == 800
    assert sklearn.get_config()["working_memory"] == BEFORE
    with working_memory(2**30):
        assert os.environ["SKLEARN_WORKING_MEMORY"] == "1024"  # for processes of folds
    assert "SKLEARN_WORKING_MEMORY" not in os.environ
    assert sklearn.get_config()["working_memory"] == BEFORE


def test_a_quarter_of_it_is_where_mapping_begins(run_here, data, seen):
    size = data().nbytes + 128  # of the file's header
    for memory, mapped in ((4 * size, False), (4 * size - 1000, True)):
        command = ("select", "X.npy", "-n", "90", "-q", "-f", "--memory", f"{memory / 1000:.3f}k")
        assert run_here(*command) == (0, "", "")
        assert is_mapped(seen["X"]) == mapped


@pytest.mark.parametrize("options", [(), ("--center",), ("-m", "leverage"), ("-m", "random")])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64])
def test_a_mapped_file_gives_the_same(run_here, data, seen, tmp_path, monkeypatch, dtype, options):
    """Byte for byte, as long as the limit leaves blocks as they are."""
    monkeypatch.setattr(_matrix, "MAPPED_SHARE", 1e-6)
    data(dtype)
    for folder, memory in (("loaded", ()), ("mapped", ("--memory", "500MB"))):
        save = ("--save", f"{folder}.npy")
        command = ("select", "X.npy", "-n", "90", *options, *memory, *save, "-o", folder, "-q")
        assert run_here(*command) == (0, "", "")
        assert is_mapped(seen["X"]) == (folder == "mapped")
    for name in ("selected.csv", "certificate.json"):
        loaded, mapped = (tmp_path / folder / name for folder in ("loaded", "mapped"))
        assert loaded.read_bytes() == mapped.read_bytes()
    loaded, mapped = (np.load(tmp_path / f"{name}.npy") for name in ("loaded", "mapped"))
    np.testing.assert_allclose(mapped, loaded, rtol=1e-6)


def test_what_a_mapped_file_goes_without_is_said(run_here, data, tmp_path):
    data()
    np.savetxt(tmp_path / "y.txt", np.arange(40) % 2, fmt="%d")
    memory = ("--target", "y.txt", "--memory", "2MB")
    code, printed, _ = run_here("select", "X.npy", "-n", "90", *memory)
    assert code == 0
    assert "No held-out error: folds of a memory-mapped file" in " ".join(printed.split())
    command = ("select", "X.npy", "-n", "90", *memory, "--scale", "standard", "-o", "scaled")
    code, printed, _ = run_here(*command)
    assert code == 0
    assert "--scale copied the memory-mapped file" in " ".join(printed.split())


def test_small_blocks_select_the_same_features(run_here, data, seen, tmp_path):
    data()
    for folder, memory in (("loaded", ()), ("mapped", ("--memory", "2MB"))):
        assert run_here("select", "X.npy", "-n", "90", *memory, "-o", folder, "-q") == (0, "", "")
    loaded, mapped = (
        np.genfromtxt(tmp_path / folder / "selected.csv", delimiter=",", skip_header=1)
        for folder in ("loaded", "mapped")
    )
    np.testing.assert_array_equal(mapped[:, 1], loaded[:, 1])
    np.testing.assert_allclose(mapped[:, 3:], loaded[:, 3:], rtol=1e-9)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("missing", ["error", "mean", "drop-features", "drop-samples"])
def test_gaps_in_a_mapped_file(data, tmp_path, monkeypatch, missing, transpose):
    """They are found block by block, and the file stays as it is."""
    monkeypatch.setattr("ridgewise.datasets.readers._read.BLOCK", 10_000)
    X = data(transpose=transpose)
    X[[3, 3, 17], [5, 7999, 5]] = np.nan
    path = tmp_path / "X.npy"
    np.save(path, X.T.copy() if transpose else X)
    before = path.read_bytes()
    settings = {"features_in": "rows" if transpose else None, "missing": missing}
    if missing == "error":
        with pytest.raises(ValueError, match=r"3 values missing, in 2 features.*sample 4, fea.* 6"):
            read_table(path, memory=2 * 10**6, **settings)
        return
    loaded, mapped = (read_table(path, memory=memory, **settings) for memory in (None, 2 * 10**6))
    np.testing.assert_array_equal(mapped.X, loaded.X)
    assert is_mapped(mapped.X) == (missing == "mean")
    copied = "The rest was copied into memory."
    assert mapped.notes == loaded.notes + (() if missing == "mean" else (copied,))
    assert path.read_bytes() == before


def test_infinities_in_a_mapped_file(data, tmp_path):
    X = data()
    X[7, 4] = -np.inf
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(ValueError, match=r"X has 1 infinite value, the first in sample 8, fea.* 5"):
        read_table(tmp_path / "X.npy", memory=2 * 10**6)


@pytest.mark.parametrize("dtype", [np.float16, ">f4"])
def test_types_that_must_be_converted_are_loaded(data, tmp_path, dtype):
    X = data(dtype)
    table = read_table(tmp_path / "X.npy", memory=2 * 10**6)
    assert not is_mapped(table.X)
    assert table.X.dtype == np.float32
    np.testing.assert_array_equal(table.X, X)
    assert "not memory-mapped" in table.notes[0]


def test_what_is_wrong_with_a_large_file_is_said_as_of_a_small_one(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, np.zeros((40, 8000)))
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match="damaged or cut off"):
        read_table(path, memory=2 * 10**6)
    np.save(path, np.array([[str(place)] for place in range(200_000)], dtype=object))
    with pytest.raises(ValueError, match="never unpickled"):
        read_table(path, memory=2 * 10**6)


def test_compare_takes_it_too(run_here, table, monkeypatch):
    seen = {}
    real = _compare.evaluation.compare

    def compare(selectors, X, *arguments, **settings):
        seen.update(megabytes=sklearn.get_config()["working_memory"])
        return real(selectors, X, *arguments, **settings)

    monkeypatch.setattr(_compare.evaluation, "compare", compare)
    monkeypatch.setattr(_compare.report, "comparison_page", lambda *_, **__: "<!DOCTYPE html>")
    columns = ("-t", "outcome", "--ids", "patient", "--ids", "dose")
    few = ("-m", "random", "-n", "20", "--alpha", "1", "--folds", "2", "--repeats", "1")
    code, _, err = run_here("compare", "small.csv", *columns, *few, "--memory", "300MiB")
    assert (code, err) == (0, "")
    assert seen["megabytes"] == 300
