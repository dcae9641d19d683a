# SPDX-License-Identifier: BSD-3-Clause
"""Every public name has a summary, its parameters, and an example, which doctest runs."""

import inspect
from operator import attrgetter
from pathlib import Path

import pytest

import ridgewise

API = Path(__file__).parents[1] / "docs" / "api.rst"
PUBLIC = [
    name
    for line in API.read_text().splitlines()
    if line.startswith("   ") and (name := line.strip()).replace(".", "").isidentifier()
]


def public(name):
    room, _, _ = name.rpartition(".")
    if room:
        __import__(f"ridgewise.{room}")
    return attrgetter(name)(ridgewise)


def test_the_pages_list_all_that_is_exported():
    assert set(ridgewise.__all__) <= set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_parameters_and_an_example(name):
    thing = public(name)
    text = inspect.getdoc(thing)
    assert text.partition("\n")[0].endswith("."), "a summary in one line"
    assert ">>> " in text, "an example"
    if inspect.isclass(thing) and not hasattr(thing, "get_params"):
        return  # a result: users do not make it
    documented = {
        parameter.strip(" *")
        for line in text.partition("Parameters\n")[2].partition("\n\n")[0].splitlines()
        if not line.startswith((" ", "-"))
        for parameter in line.partition(" : ")[0].split(",")
    }
    missing = set(inspect.signature(thing).parameters) - documented
    assert not missing, "documented parameters"


@pytest.mark.parametrize("name", PUBLIC)
def test_public_methods_have_docstrings(name):
    for method, value in inspect.getmembers(public(name)):
        if inspect.isclass(public(name)) and not method.startswith("_") and callable(value):
            assert inspect.getdoc(value), method
