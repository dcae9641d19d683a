# SPDX-License-Identifier: BSD-3-Clause
"""Families of rows, and either way of drawing."""

import os
import shutil

import pytest
from tests.barrier.helpers import FAMILIES
from threadpoolctl import threadpool_limits

from ridgewise.barrier import _compiled as compiled


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture(autouse=True)
def one_thread():
    """Small matrices, on machines with other things to do: BLAS threads only hinder."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def by_numpy(monkeypatch):
    """No compiled draws, as where installing could not compile them."""
    monkeypatch.setattr(compiled, "draw_ahead", None)


@pytest.fixture
def by_compiled_code():
    """Compiled draws; the test is skipped where there are none."""
    if compiled.draw_ahead is not None:
        return
    compilers = os.environ.get("CC", "cc"), "gcc", "clang"
    if os.environ.get("RIDGEWISE_PURE", "0") == "0" and any(map(shutil.which, compilers)):
        pytest.fail("there is a C compiler, but no compiled draws: install ridgewise again")
    pytest.skip("the draws were not compiled: there is no C compiler, or RIDGEWISE_PURE is set")


@pytest.fixture(params=["numpy", "compiled_code"])
def arithmetic(request):
    """Either way of drawing."""
    request.getfixturevalue(f"by_{request.param}")
