# SPDX-License-Identifier: BSD-3-Clause
"""Data sets to try selectors on: the paper's synthetic data, and real text."""

from ridgewise.datasets._fetch import fetch_techtc300
from ridgewise.datasets._stdlib_text import load_stdlib_text
from ridgewise.datasets._synthetic import make_ridge_regression, make_ridge_synthetic
from ridgewise.datasets._techtc import (
    TechTCSet,
    description,
    load_techtc,
    read_techtc_folder,
    resolve_data_home,
    techtc_names,
)
from ridgewise.datasets._writing import SAVE_FORMATS, marked_h5ad, spreadsheet_safe, table_bytes

__all__ = [
    "SAVE_FORMATS",
    "TechTCSet",
    "description",
    "fetch_techtc300",
    "load_stdlib_text",
    "load_techtc",
    "make_ridge_regression",
    "make_ridge_synthetic",
    "marked_h5ad",
    "read_techtc_folder",
    "resolve_data_home",
    "spreadsheet_safe",
    "table_bytes",
    "techtc_names",
]
