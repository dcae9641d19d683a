# SPDX-License-Identifier: BSD-3-Clause
"""How well a model does with the features that each selector keeps."""

from ridgewise.evaluation._demo import ALL_WORDS, Demo, run_demo
from ridgewise.evaluation._holdout import HoldoutRow, holdout
from ridgewise.evaluation._kept import kept_spectrum

__all__ = ["ALL_WORDS", "Demo", "HoldoutRow", "holdout", "kept_spectrum", "run_demo"]
