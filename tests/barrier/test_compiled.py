# SPDX-License-Identifier: BSD-3-Clause
"""Compiled draws are those of the plain algorithm, and nothing is lost where there are none."""

import ctypes
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.barrier.helpers import gaussian_rows, same_as_plain, scaled_rows

from ridgewise.barrier import RULES, ArrayVectors, sparsify
from ridgewise.barrier import _compiled as compiled

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.usefixtures("by_compiled_code")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("penalized", [False, True])
def test_all_draws_are_compiled(rule, seed, penalized):
    """Text-like rows, of odd and even length; bounds leave a few of them to compute closely."""
    U = scaled_rows(2000, 30 + seed, seed)
    # with a penalty either barrier has coordinates of its own
    penalty = np.random.default_rng(seed).lognormal(0, 2, size=30 + seed) if penalized else None
    fast = same_as_plain(U, 100, rule, penalty)
    assert fast.counts["compiled draws"] == 100
    assert fast.counts["rows"] < 100 * 60


# what goes wrong is noticed


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("where", [slice(None), 3])
def test_scores_that_are_no_numbers_draw_nothing_out_of_bounds(rule, value, where):
    """Where no row matches, no draw is made, and nothing is written past the end."""
    rows = np.random.default_rng(0).standard_normal((20, 4)) / 10
    rows[where] = value
    ahead = compiled.draws(
        rule,
        rows=(rows, rows),
        sizes=np.ones(20, dtype=np.intp),
        selected=np.zeros(20, dtype=bool),
        again=True,
        distinct=True,
        decompositions=(compiled.tridiagonalize(np.zeros((4, 4))),) * 2,
        places=(-7.0, 20.0),
        steps=(1.0, 2.0),
        potentials=(4 / 7.0, 4 / 20.0),
        Z=(np.zeros((0, 4)),) * 2,
        t=np.empty(0),
        wanted=(3, 0),
        most=3,
        most_stale=3,
    )
    assert np.all((ahead.drawn >= 0) & (ahead.drawn < 20))
    assert np.all(np.isfinite(rows[ahead.drawn]))
    assert np.all(np.isfinite(ahead.t))


def test_no_memory(monkeypatch):
    monkeypatch.setattr(compiled, "draw_ahead", lambda block: compiled.State.NO_MEMORY)
    with pytest.raises(MemoryError, match="no room for"):
        sparsify(ArrayVectors(gaussian_rows(50, 5)), 12)


def test_arrays_of_another_layout_are_refused():
    with pytest.raises(TypeError, match="C-contiguous float64"):
        compiled.address(np.ones((3, 2), order="F"))
    with pytest.raises(TypeError, match="got float32"):
        compiled.address(np.ones(3, dtype=np.float32))


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: [*fields, ("new", ctypes.c_double)],
        lambda fields: fields[:-1],
        lambda fields: [fields[1], fields[0], *fields[2:]],
        lambda fields: [*fields[:-2], fields[-1], fields[-2]],
    ],
)
def test_a_library_with_other_fields_is_not_used(change, monkeypatch):
    """Also not one in which two fields of the same size are exchanged."""
    assert compiled.load() is not None
    fields = change(list(compiled.Block._fields_))
    other = type("Block", (ctypes.Structure,), {"_fields_": fields})
    monkeypatch.setattr(compiled, "Block", other)
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
    reason = build.put_beside(tmp_path / "no" / "_draws.c", compiled_library)
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
