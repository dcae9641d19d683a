# SPDX-License-Identifier: BSD-3-Clause
"""Names in a saved CSV are safe in a spreadsheet; other formats keep them as they are."""

import io

import numpy as np
import polars as pl
import pytest

from ridgewise.datasets import table_bytes

NAMES = np.array(["=1+1", "@x", "'=1", "-1.5", "plain"], dtype=object)
SAFE = ["'=1+1", "'@x", "''=1", "-1.5", "plain"]


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_formulas_in_names_get_an_apostrophe(suffix, separator):
    content = table_bytes(
        np.eye(5), NAMES, suffix, sample_names=NAMES, y=np.arange(5), target_name="+y"
    )
    header, *rows = content.decode().splitlines()
    assert header.split(separator) == ["sample", *SAFE, "'+y"]
    assert [row.split(separator)[0] for row in rows] == SAFE


def test_names_stay_in_formats_for_programs():
    frame = pl.read_parquet(io.BytesIO(table_bytes(np.eye(5), NAMES, "parquet", y=np.arange(5))))
    assert frame.columns == [*NAMES, "target"]
    archive = np.load(io.BytesIO(table_bytes(np.eye(5), NAMES, "npz", sample_names=NAMES)))
    assert archive["feature_names"].tolist() == archive["sample_names"].tolist() == NAMES.tolist()
