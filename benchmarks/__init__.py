# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks: each runs all its sides in one process and prints ratios."""
