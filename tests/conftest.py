# SPDX-License-Identifier: BSD-3-Clause
"""What tests of every room share: the real data, where it is at hand."""

import os
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import settings
from sklearn.datasets import load_svmlight_file

# CI judges the code, not its luck: there Hypothesis tries the same examples on every run
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

DEFAULT_SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets; the test is skipped, with the reason, where it is absent."""
    folder = Path(os.environ.get("RIDGEWISE_SHARED_DATA", DEFAULT_SHARED_DATA))
    if not folder.is_dir():
        pytest.skip(f"real data not at hand: no folder {folder} (set RIDGEWISE_SHARED_DATA)")
    return folder


@pytest.fixture(scope="session")
def load_techtc(shared_data):
    """Reads a TechTC set of the real data: counts of words of more than four letters."""

    def load(name):
        folder = shared_data / "techtc" / f"Exp_{name}"
        words = dict(line.split(None, 1) for line in data_lines(folder / "features.idx"))
        kept = [int(index) for index, word in words.items() if len(word.strip()) > 4]
        X, _ = load_svmlight_file(
            BytesIO("\n".join(data_lines(folder / "vectors.dat")).encode()), zero_based=False
        )
        return X[:, [index - 1 for index in kept if index <= X.shape[1]]]

    return load


def data_lines(path):
    """Lines of a file without comments and blank lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]
