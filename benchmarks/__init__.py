# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks: each runs all its sides in one process and prints ratios."""

import warnings

# leverage sampling draws some features twice, in every repetition of a benchmark
warnings.filterwarnings("ignore", message=r"\d+ (features|groups) were selected")
