# SPDX-License-Identifier: BSD-3-Clause
import pytest

from ridgewise.datasets.readers import read_table


@pytest.fixture
def read(tmp_path):
    """Writes text to a file and reads it."""

    def read(text, name="x.csv", **options):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return read_table(path, **options)

    return read
