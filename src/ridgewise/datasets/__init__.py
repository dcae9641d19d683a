# SPDX-License-Identifier: BSD-3-Clause
"""Data sets to try selectors on: the paper's synthetic data, and real text."""

from ridgewise.datasets._stdlib_text import load_stdlib_text
from ridgewise.datasets._synthetic import make_ridge_synthetic

__all__ = ["load_stdlib_text", "make_ridge_synthetic"]
