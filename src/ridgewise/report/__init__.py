# SPDX-License-Identifier: BSD-3-Clause
"""What was found, for people and for programs: tables, plots, JSON."""

from ridgewise._files import write_atomically
from ridgewise.report._files import check_target
from ridgewise.report._json import demo_json
from ridgewise.report._plot import PLOT_FORMATS, draw_demo, figure_bytes
from ridgewise.report._progress import progress
from ridgewise.report._text import print_demo

__all__ = [
    "PLOT_FORMATS",
    "check_target",
    "demo_json",
    "draw_demo",
    "figure_bytes",
    "print_demo",
    "progress",
    "write_atomically",
]
