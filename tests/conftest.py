# SPDX-License-Identifier: BSD-3-Clause
"""What tests of every room share: the real data, where it is at hand."""

import os
from pathlib import Path

import pytest

DEFAULT_SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets; the test is skipped, with the reason, where it is absent."""
    folder = Path(os.environ.get("RIDGEWISE_SHARED_DATA", DEFAULT_SHARED_DATA))
    if not folder.is_dir():
        pytest.skip(f"real data not at hand: no folder {folder} (set RIDGEWISE_SHARED_DATA)")
    return folder
