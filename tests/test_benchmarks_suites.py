# SPDX-License-Identifier: BSD-3-Clause
"""Every benchmark of the suites runs, at its smallest size."""

import importlib
import itertools
import json
import math
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "benchmarks" / "suites"
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "data"))
KINDS = ("time_", "peakmem_", "track_")


def suites():
    """The classes, as asv finds them: it imports the folder as a package of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER.parent)
        for name in MODULES:
            module = importlib.import_module(f"suites.{name}")
            for kind in vars(module).values():
                if isinstance(kind, type) and kind.__module__ == module.__name__:
                    yield kind


def benchmarks():
    """Each class with its smallest sizes, and with all that has no size."""
    for kind in suites():
        values = [every if isinstance(every[0], str) else every[:1] for every in kind.params]
        for parameters in itertools.product(*values):
            label = ", ".join(map(str, parameters))
            yield pytest.param(kind, parameters, id=f"{kind.__name__}({label})")


@pytest.mark.parametrize(("kind", "parameters"), list(benchmarks()))
def test_it_runs(kind, parameters):
    assert len(kind.params) == len(kind.param_names)
    methods = [name for name in vars(kind) if name.startswith(KINDS)]
    assert methods
    for name in methods:
        suite = kind()
        suite.setup(*parameters)
        found = getattr(suite, name)(*parameters)
        getattr(suite, "teardown", lambda *_: None)(*parameters)
        assert math.isfinite(found) if name.startswith("track_") else found is None


def test_every_room_is_measured():
    assert MODULES == ["engine", "selectors", "spectrum"]


def test_sizes_ascend():
    for kind in suites():
        for values in kind.params[:2]:
            assert values == sorted(values)


def test_the_configuration_names_folders_that_are_there_or_ignored():
    settings = json.loads((ROOT / "asv.conf.json").read_text(encoding="utf-8"))
    assert (ROOT / settings["benchmark_dir"]).samefile(FOLDER)
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    for name in ("env_dir", "results_dir", "html_dir"):
        assert settings[name].startswith(".asv/")
    assert ".asv/" in ignored
