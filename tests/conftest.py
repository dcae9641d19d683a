# SPDX-License-Identifier: BSD-3-Clause
"""What tests of every room share: the real data, where available; how memory is measured."""

import os
import signal
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

from ridgewise import datasets

# Hypothesis tries the same examples on every run. To search for new ones:
# pytest --hypothesis-profile=explore
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, max_examples=1000, deadline=None)
settings.load_profile("fixed")

# A shell starts background jobs with Ctrl-C ignored, and processes that tests start inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

NO_CALL = SimpleNamespace(params={})
DEFAULT_SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.hookimpl(tryfirst=True)  # before marks decide what is run
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run every third seed of a test that has an integer of that name; the others are slow."""
    seeds: dict[str, set[int]] = {}
    seeded = []
    for item in items:
        seed = getattr(item, "callspec", NO_CALL).params.get("seed")
        if isinstance(seed, int):
            test = item.nodeid.partition("[")[0]
            seeds.setdefault(test, set()).add(seed)
            seeded.append((item, test, seed))
    for item, test, seed in seeded:
        if seed not in sorted(seeds[test])[::3]:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets; the test is skipped, with the reason, where it is absent."""
    folder = Path(os.environ.get("RIDGEWISE_SHARED_DATA", DEFAULT_SHARED_DATA))
    if not folder.is_dir():
        pytest.skip(f"no real data: no folder {folder} (set RIDGEWISE_SHARED_DATA)")
    return folder


@pytest.fixture(scope="session")
def load_techtc(shared_data):
    """Reads a TechTC set of the real data: counts of words of more than four letters."""
    return lambda name: datasets.load_techtc(name, data_home=shared_data).data


@pytest.fixture
def peak_memory():
    """Tells the most bytes that some work had allocated at a time, in this process."""

    def measure(work):
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return measure
