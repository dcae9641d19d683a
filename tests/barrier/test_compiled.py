# SPDX-License-Identifier: BSD-3-Clause
"""Compiled draws are those of the plain algorithm, and nothing is lost where there are none."""

import ctypes
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from ridgewise.barrier import ArrayVectors, sparsify, sparsify_plain
from ridgewise.barrier import _at_hand as at_hand
from ridgewise.barrier import _compiled as compiled

ROOT = Path(__file__).resolve().parents[2]
RULES = ("norm", "slack")

pytestmark = pytest.mark.usefixtures("by_compiled_code")


def assert_same(fast, plain):
    np.testing.assert_array_equal(fast.draws, plain.draws)
    np.testing.assert_allclose(fast.weights, plain.weights, rtol=1e-9)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(4))
def test_all_draws_are_compiled(rule, seed, scaled_rows):
    """Text-like rows, of odd and even length: every draw, of whatever block, by compiled code."""
    U = scaled_rows(2000, 30 + seed, seed)
    fast = sparsify(ArrayVectors(U), 100, rule)
    assert_same(fast, sparsify_plain(U, 100, rule))
    assert fast.counts["compiled draws"] == 100


@pytest.mark.parametrize("rule", RULES)
def test_few_rows_are_looked_at(rule, scaled_rows):
    """The bounds by Jensen's inequality leave a few of some thousands."""
    fast = sparsify(ArrayVectors(scaled_rows(4000, 40)), 120, rule)
    assert fast.counts["rows"] < 120 * 40


@pytest.mark.parametrize("seed", range(6))
def test_with_a_penalty(seed, scaled_rows):
    """Either barrier has coordinates of its own then."""
    U = scaled_rows(900, 24, seed)
    penalty = np.random.default_rng(seed).lognormal(0, 2, size=24)
    fast = sparsify(ArrayVectors(U), 60, "norm", penalty)
    assert_same(fast, sparsify_plain(U, 60, "norm", penalty))
    assert fast.counts["compiled draws"] > 0


@pytest.mark.parametrize("seed", [*range(20), 934, 3459, 4175, 5724, 5777, 6823])
def test_where_the_barrier_comes_close(seed):
    """A penalty whose effective dimension is just below the number of draws leaves little room.

    In the last ones a place x0 behind the barrier would rule out rows that are feasible.
    """
    rng = np.random.default_rng(seed)
    ell = int(rng.integers(3, 12))
    d = int(rng.integers(2 * ell, 100))
    U = np.linalg.qr(rng.standard_normal((d, ell)) * 10.0 ** rng.uniform(-2, 0, size=(d, 1)))[0]
    n_draws = int(rng.integers(1, ell))
    penalty = np.full(ell, 1e5)
    penalty[:n_draws] = 10.0 ** rng.uniform(-4, -2) * rng.uniform(0.3, 3, size=n_draws)
    fast = sparsify(ArrayVectors(U), n_draws, "norm", penalty)
    plain = sparsify_plain(U, n_draws, "norm", penalty)
    np.testing.assert_array_equal(fast.draws, plain.draws)
    np.testing.assert_allclose(fast.weights, plain.weights, rtol=1e-2)  # NumPy's are as far off


@pytest.mark.parametrize("rule", RULES)
def test_asks_for_more_rows(rule, monkeypatch, gaussian_rows):
    """It starts with two rows at hand, and draws what it would with all."""
    monkeypatch.setattr(at_hand, "FIRST_ROWS", 2)
    U = gaussian_rows(400, 15)
    assert_same(sparsify(ArrayVectors(U), 70, rule), sparsify_plain(U, 70, rule))


@pytest.mark.parametrize("rule", RULES)
def test_leaves_repeats_to_the_engine(rule):
    """Where no unselected row is feasible, it makes no draw."""
    U = np.zeros((100, 2))
    U[0, 0] = 1
    U[1:, 1] = 1 / np.sqrt(99)
    fast = sparsify(ArrayVectors(U), 20, rule)
    assert_same(fast, sparsify_plain(U, 20, rule))
    assert fast.counts["repeats"] > 0


def test_long_vectors_go_by_blas(monkeypatch, gaussian_rows):
    monkeypatch.setattr(compiled, "MOST_RANK", 5)
    assert "compiled draws" not in sparsify(ArrayVectors(gaussian_rows(60, 6)), 20).counts
    assert "compiled draws" in sparsify(ArrayVectors(gaussian_rows(60, 5)), 20).counts


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n_draws", [40, 100, 300])
def test_rows_whose_squares_underflow(rule, n_draws):
    """Of rows of length 1e-80, norms can be squared once, and not twice."""
    U = np.zeros((60, 1))
    U[0] = 1
    U[1:, 0] = 1e-80 * np.linspace(2, 0.1, 59)
    assert_same(sparsify(ArrayVectors(U), n_draws, rule), sparsify_plain(U, n_draws, rule))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(40))
def test_rows_of_very_different_length(rule, seed):
    rng = np.random.default_rng(seed)
    ell = int(rng.integers(1, 6))
    U = np.linalg.qr(rng.standard_normal((3 * ell, ell)))[0]
    short = rng.standard_normal((60, ell)) * 10.0 ** rng.uniform(-82, -78, size=(60, 1))
    U, n_draws = np.vstack([U, short]), int(rng.integers(40, 200))
    assert_same(sparsify(ArrayVectors(U), n_draws, rule), sparsify_plain(U, n_draws, rule))


# what goes wrong is noticed


def test_no_draw_where_definiteness_is_lost(monkeypatch, gaussian_rows):
    """Then the engine's other ways are tried, one draw at a time."""
    draws = compiled.draws

    def losing(*args, t, **kwargs):
        ahead = draws(*args, t=t, **kwargs)
        if len(t) == 0:
            return ahead
        nothing = ahead.drawn[:0]
        return compiled.Ahead(
            compiled.State.LOST_DEFINITENESS,
            nothing,
            ahead.t[:0],
            nothing,
            kwargs["potentials"],
            n_looked_at=0,
            n_repeats=kwargs["n_repeats"],
            needed=1,
        )

    monkeypatch.setattr(compiled, "draws", losing)
    monkeypatch.setattr(at_hand, "FIRST_ROWS", 2)
    U = gaussian_rows(200, 10)
    assert_same(sparsify(ArrayVectors(U), 50), sparsify_plain(U, 50))


def test_a_drifted_potential_is_noticed(monkeypatch, gaussian_rows):
    draws, calls = compiled.draws, iter(range(10**6))

    def drifting(*args, **kwargs):
        ahead = draws(*args, **kwargs)
        lower, upper = ahead.potentials
        factor = 1 - 1e-5 if next(calls) == 1 else 1
        return ahead._replace(potentials=(lower * factor, upper))

    monkeypatch.setattr(compiled, "draws", drifting)
    U = gaussian_rows(200, 10)
    fast = sparsify(ArrayVectors(U), 50)
    assert_same(fast, sparsify_plain(U, 50))
    assert fast.counts["drifts"] == 1


def test_no_memory(monkeypatch, gaussian_rows):
    monkeypatch.setattr(compiled, "draw_ahead", lambda block: compiled.State.NO_MEMORY)
    with pytest.raises(MemoryError, match="no room for"):
        sparsify(ArrayVectors(gaussian_rows(50, 5)), 12)


def test_arrays_of_another_layout_are_refused():
    with pytest.raises(TypeError, match="float64 or integers, in a row"):
        compiled.address(np.ones((3, 2), order="F"))
    with pytest.raises(TypeError, match="got float32"):
        compiled.address(np.ones(3, dtype=np.float32))


def test_a_library_of_another_version_is_not_used(monkeypatch):
    """Its block would have another size."""

    class Longer(ctypes.Structure):
        _fields_ = (*compiled.Block._fields_, ("new", ctypes.c_double))

    assert compiled.load() is not None
    monkeypatch.setattr(compiled, "Block", Longer)
    assert compiled.load() is None


def test_a_library_that_cannot_be_loaded_is_not_used(monkeypatch, tmp_path):
    (tmp_path / "libdraws.so").write_bytes(b"for another machine")
    monkeypatch.setattr(compiled, "__file__", str(tmp_path / "_compiled.py"))
    assert compiled.load() is None


# compiling


@pytest.fixture
def build(monkeypatch):
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    monkeypatch.syspath_prepend(str(ROOT))
    yield importlib.import_module("hatch_build")
    sys.modules.pop("hatch_build", None)


def test_compiles_without_a_warning(build, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-Wall", "-Wextra", "-Werror"))
    assert build.compile_library(ROOT / build.SOURCE, tmp_path / "lib") == ""
    assert ctypes.CDLL(str(tmp_path / "lib")).draw_ahead


def test_a_library_is_replaced_as_a_whole(build, tmp_path):
    source, compiled_library = tmp_path / "_draws.c", tmp_path / "new"
    compiled_library.write_bytes(b"new")
    library = tmp_path / f"libdraws{build.SUFFIX}"
    library.write_bytes(b"old")
    assert build.put_beside(source, compiled_library) == ""
    assert library.read_bytes() == b"new"
    assert build.put_beside(source, None) == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]


def test_a_folder_that_cannot_be_written_to_is_no_error(build, tmp_path):
    reason = build.put_beside(tmp_path / "no" / "_draws.c", ROOT / build.SOURCE)
    assert "could not be put beside _draws.c" in reason


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("RIDGEWISE_PURE", "1", "RIDGEWISE_PURE is set"),
        ("CC", "no-such-compiler", "no-such-compiler could not be run"),
        ("CC", f"{sys.executable} -c 'raise SystemExit(1)'", "failed"),
        ("PATH", "", "no C compiler"),
    ],
)
def test_says_why_it_could_not_compile(name, value, reason, build, tmp_path, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv(name, value)
    assert reason in build.compile_library(ROOT / build.SOURCE, tmp_path / "lib")
    assert not (tmp_path / "lib").exists()
