# SPDX-License-Identifier: BSD-3-Clause
"""Finished folds are kept, found again, and trusted only where they are whole and in place."""

import errno
import os
import pickle
import runpy
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import SelectKBest, f_classif

from ridgewise import BSSSelector, LeverageSelector, RandomSelector, compare, make_ridge_synthetic
from ridgewise.evaluation import _cache, _compare

N_FOLDS = 6
SETTINGS = {"alphas": [0.5, 1.0], "n_features": 20, "n_splits": 3, "n_repeats": 2, "n_tries": 2}
SELECTORS = {"leverage": LeverageSelector(), "best": SelectKBest(f_classif)}


@pytest.fixture
def data():
    return make_ridge_synthetic(n_samples=24, n_features=60, n_relevant=3, random_state=0)


@pytest.fixture
def computed(monkeypatch):
    """The folds that were computed, not read."""
    folds = []
    run_fold = _compare.run_fold

    def noting(plan, X, y, split):
        folds.append((split.repeat, split.fold))
        return run_fold(plan, X, y, split)

    monkeypatch.setattr(_compare, "run_fold", noting)
    return folds


def run(data, cache, selectors=SELECTORS, **changes):
    return compare(selectors, *data, cache=cache, **{**SETTINGS, **changes})


def entries(cache):
    return sorted(path for path in cache.rglob("*") if path.is_file())


def assert_same(one, other, *, seconds=False):
    assert len(one.entries) == len(other.entries)
    for first, second in zip(one.entries, other.entries, strict=True):
        np.testing.assert_array_equal(first.errors, second.errors)
        np.testing.assert_array_equal(first.chosen.toarray(), second.chosen.toarray())
        if seconds:
            np.testing.assert_array_equal(first.seconds, second.seconds)


def test_second_run_reads_what_the_first_computed(data, tmp_path, computed):
    first = run(data, tmp_path / "new" / "folder")
    assert len(computed) == len(entries(tmp_path)) == N_FOLDS
    steps = []
    second = run(data, tmp_path / "new" / "folder", progress=lambda *step: steps.append(step))
    assert len(computed) == N_FOLDS
    assert_same(first, second, seconds=True)
    assert_same(first, run(data, None))
    assert steps == [(N_FOLDS, N_FOLDS)]


@pytest.mark.parametrize(
    "selector", [SelectKBest(k=0), SelectKBest(k="all")], ids=["nothing", "everything"]
)
@pytest.mark.filterwarnings("ignore:No features were selected")
def test_all_sizes_are_kept(data, tmp_path, selector, computed):
    first, second = (run(data, tmp_path, {"any": selector}, n_features=None) for _ in range(2))
    assert len(computed) == N_FOLDS
    assert_same(first, second, seconds=True)


# What is not trusted


def truncate(path):
    path.write_bytes(path.read_bytes()[:-7])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def empty(path):
    path.write_bytes(b"")


def another_fold(path):
    shutil.copy(entries(path.parent)[0], path)


def another_comparison(path):
    other = next(one for one in path.parents[1].iterdir() if one != path.parent)
    shutil.copy(other / path.name, path)


DAMAGES = [truncate, flip, empty, another_fold, another_comparison]


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_or_misplaced_is_computed_again(data, tmp_path, computed, damage):
    first = run(data, tmp_path)
    mine = entries(tmp_path)
    run(data, tmp_path, random_state=1)
    path, whole = mine[4], mine[4].read_bytes()
    damage(path)
    assert path.read_bytes() != whole
    computed.clear()
    assert_same(first, run(data, tmp_path))
    assert computed == [(1, 1)]
    run(data, tmp_path)  # it was replaced
    assert computed == [(1, 1)]


def test_what_cannot_be_read_is_computed_again(data, tmp_path, computed):
    first = run(data, tmp_path)
    path = entries(tmp_path)[0]
    path.unlink()
    path.mkdir()
    computed.clear()
    with pytest.warns(UserWarning, match="folds are no longer stored"):
        assert_same(first, run(data, tmp_path))
    assert computed == [(0, 0)]


# What is another comparison


CHANGES = {
    "alphas": {"alphas": [0.5, 1.1]},
    "n_features": {"n_features": [20, 30]},
    "n_splits": {"n_splits": 4},
    "n_tries": {"n_tries": 3},
    "intercept": {"fit_intercept": False},
    "task": {"task": "regression"},
    "seed": {"random_state": 1},
    "selector's parameter": {"selectors": {**SELECTORS, "leverage": LeverageSelector(alpha=1)}},
    "selector's name": {"selectors": {"other": LeverageSelector(), "best": SelectKBest()}},
    "selectors": {"selectors": {"leverage": LeverageSelector()}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_other_settings_share_nothing(data, tmp_path, computed, change):
    run(data, tmp_path)
    before = len(entries(tmp_path))
    computed.clear()
    assert_same(run(data, tmp_path, **change), run(data, None, **change))
    assert len(computed) == 2 * (len(entries(tmp_path)) - before) > 0


def one_value(X, y):
    X[3, 7] += 1e-9
    return X, y


def one_label(X, y):
    y[[3, np.flatnonzero(y != y[3])[0]]] *= -1
    return X, y


def order(X, y):
    return X[::-1], y[::-1]


@pytest.mark.parametrize("change", [one_value, one_label, order])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_other_data_share_nothing(data, tmp_path, computed, change, container):
    X, y = data
    run((container(X), y), tmp_path)
    X, y = change(X.copy(), y.copy())
    run((container(X), y), tmp_path)
    assert len(computed) == 2 * N_FOLDS


def test_more_repeats_use_those_that_are_there(data, tmp_path, computed):
    run(data, tmp_path, n_repeats=1)
    more = run(data, tmp_path, n_repeats=3)
    assert computed == [(repeat, fold) for repeat in range(3) for fold in range(3)]
    assert_same(more, run(data, None, n_repeats=3))
    computed.clear()
    run(data, tmp_path, n_repeats=2)
    assert computed == []


def test_names_of_features_do_not_matter(data, tmp_path, computed):
    run(data, tmp_path)
    found = run(data, tmp_path, feature_names=[f"gene{place}" for place in range(60)])
    assert len(computed) == N_FOLDS
    assert found.top_features("best", 20)[0].feature.startswith("gene")


def test_what_scipy_finds_out_about_a_matrix_does_not_matter(data, tmp_path, computed):
    X, y = sp.csr_array(data[0]), data[1]
    run((X, y), tmp_path)
    assert X.has_canonical_format  # found out, and kept in the matrix
    run((sp.csr_array(data[0]), y), tmp_path)
    assert len(computed) == N_FOLDS


# When it cannot be kept


def test_full_disk_ends_the_storing_not_the_run(data, tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(_cache, "write_atomically", full)
    with pytest.warns(UserWarning, match="No space left on device") as warned:
        found = run(data, tmp_path)
    assert len(warned) == 1
    assert_same(found, run(data, None))


def test_folder_that_is_a_file(data, tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(OSError, match="cannot write to cache="):
        run(data, path)
    assert path.read_text() == "mine"


def test_folder_that_may_not_be_written(data, tmp_path, monkeypatch):
    def denied(path, **settings):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "mkdir", denied)
    with pytest.raises(OSError, match=r"cannot write to cache=.*Permission denied"):
        run(data, tmp_path)


def test_selectors_that_have_no_name_for_their_parts(data, tmp_path):
    selectors = {"own": SelectKBest(lambda X, y: X.sum(axis=0))}
    run(data, None, selectors)
    with pytest.raises(ValueError, match="without lambdas"):
        run(data, tmp_path, selectors)


# Runs that were ended


SCRIPT = """
import sys
from ridgewise import BSSSelector, LeverageSelector, SubsetSelector, compare, make_ridge_synthetic

def run(cache, n_jobs):
    X, y = make_ridge_synthetic(n_samples=60, n_features=1500, n_relevant=9, random_state=0)
    subset = SubsetSelector(target="y", center=True)
    selectors = {"BSS": BSSSelector(), "leverage": LeverageSelector(), "subset": subset}
    sizes = {"alphas": [0.1, 1.0], "n_features": [100, 150], "n_splits": 5, "n_repeats": 4}
    return compare(selectors, X, y, cache=cache, n_jobs=n_jobs, **sizes)

if __name__ == "__main__":
    run(sys.argv[1], 2)
"""
TOTAL = 20


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture(scope="module")
def uninterrupted(script):
    return runpy.run_path(str(script))["run"](None, 1)


def start_and_stop(script, cache, how):
    """Run the script in a group of its own until some folds are there, then stop it."""
    process = subprocess.Popen(
        [sys.executable, str(script), str(cache)],
        start_new_session=True,
        stderr=subprocess.PIPE,
        env={**os.environ, "JOBLIB_TEMP_FOLDER": str(cache.parent)},
    )
    deadline = monotonic() + 120
    while len(whole(cache)) < 4:
        assert process.poll() is None, process.stderr.read().decode()
        assert monotonic() < deadline
        sleep(0.01)
    os.killpg(process.pid, how)
    process.communicate(timeout=60)
    assert process.returncode != 0
    return process.pid


def whole(cache):
    """Entries, without what was being written."""
    return [path for path in entries(cache) if path.suffix != ".part"]


def resume(script, cache, computed):
    left = len(whole(cache))
    assert 4 <= left < TOTAL
    found = runpy.run_path(str(script))["run"](cache, 1)
    assert len(computed) == TOTAL - left
    return found


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_killed_run_resumes_to_the_same(script, tmp_path, uninterrupted, computed):
    start_and_stop(script, tmp_path / "cache", signal.SIGKILL)
    assert_same(resume(script, tmp_path / "cache", computed), uninterrupted)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_interrupted_run_leaves_whole_entries_and_no_workers(
    script, tmp_path, uninterrupted, computed
):
    group = start_and_stop(script, tmp_path / "cache", signal.SIGINT)
    assert entries(tmp_path / "cache") == whole(tmp_path / "cache")
    assert_same(resume(script, tmp_path / "cache", computed), uninterrupted)
    wait_until_gone(group)


def wait_until_gone(group):
    """Until no process of the group runs, where that can be looked up."""
    deadline = monotonic() + 30
    while running(group):
        assert monotonic() < deadline, "workers are left"
        sleep(0.1)


def running(group):
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it may end meanwhile
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                found.append(path)
    return found


KEY = """
import pickle, sys
from pathlib import Path
with open(sys.argv[1], "rb") as file:
    selectors, data, settings = pickle.load(file)
from ridgewise import compare
compare(selectors, *data, cache=sys.argv[2], **settings)
"""


@pytest.mark.slow
def test_another_process_finds_the_same(data, tmp_path):
    """Hashes of strings, which Python salts anew for every process, are not in the key."""
    X, y = data
    data = X, np.where(y > 0, "yes", "no").astype(object)
    selectors = {**SELECTORS, "random": RandomSelector(), "BSS": BSSSelector(rank=0.9)}
    run(data, tmp_path / "cache", selectors)
    before = [(path, path.stat().st_mtime_ns) for path in entries(tmp_path / "cache")]
    task = tmp_path / "task"
    task.write_bytes(pickle.dumps((selectors, data, SETTINGS)))
    command = [sys.executable, "-c", KEY, str(task), str(tmp_path / "cache")]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert [(path, path.stat().st_mtime_ns) for path in entries(tmp_path / "cache")] == before
