# SPDX-License-Identifier: BSD-3-Clause
"""The rooms' order: a room uses only rooms above it, and only what they make public."""

import ast
from pathlib import Path

import pytest

import ridgewise

PACKAGE = Path(ridgewise.__file__).parent
ROOMS = [
    *("spectrum", "models", "barrier", "subset", "guarantees", "selectors"),
    *("datasets", "evaluation", "paper", "report", "cli"),
]
# An optional dependency, and the one room that imports it.
OPTIONAL = {
    "polars": "datasets",
    "fastexcel": "datasets",
    "h5py": "datasets",
    "dask": "spectrum",
    "pyarrow": "spectrum",
    "flint": "guarantees",
    "matplotlib": "report",
    "jinja2": "report",
    "rich": "report",
    "typer": "cli",
}


def imports():
    """Each import of the package: the file, its room, the module, the name or None."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        room = place.parts[0] if len(place.parts) > 1 else ""
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((str(place), room, alias.name, None) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((str(place), room, node.module, alias.name) for alias in node.names)
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "need":
                yield str(place), room, str(getattr(node.args[0], "value", "")), None


def violation(room, module, name):
    """Say what is wrong with an import, or None."""
    top, _, rest = module.partition(".")
    if top != "ridgewise":
        home = OPTIONAL.get(top, room)
        return None if room == home else f"{room} imports {top}, which {home} does"
    parts = [*rest.split("."), name] if rest else [name]
    if parts[0] not in ROOMS:  # of the package itself: _typing, _version, public names
        return None if parts[0].startswith("_") or room in ("", "report", "cli") else "is a cycle"
    if parts[0] == room or room == "":
        return None
    if ROOMS.index(parts[0]) > ROOMS.index(room):
        return f"{room} imports {parts[0]}, which is below it"
    if any(part and part.startswith("_") for part in parts):
        return f"{room} imports what is private to {parts[0]}"
    return None


def test_rooms_use_only_rooms_above_them():
    found = {
        (file, f"{module}.{name}" if name else module): problem
        for file, room, module, name in imports()
        if (problem := violation(room, module, name))
    }
    assert found == {}


@pytest.mark.parametrize(
    ("room", "module", "name"),
    [
        ("spectrum", "ridgewise.selectors", "BSSSelector"),
        ("selectors", "ridgewise.spectrum._columns", "as_columns"),
        ("selectors", "ridgewise.spectrum", "_private"),
        ("report", "polars", None),
        ("evaluation", "ridgewise", "compare"),
    ],
)
def test_a_violation_is_found(room, module, name):
    assert violation(room, module, name)
