# SPDX-License-Identifier: BSD-3-Clause
"""What was found, for people and for programs: tables, plots, JSON, pages."""

from ridgewise._files import write_atomically
from ridgewise.report._files import check_target
from ridgewise.report._html import Column, DataTable, render_page
from ridgewise.report._json import demo_json
from ridgewise.report._plot import PLOT_FORMATS, draw_demo, figure_bytes
from ridgewise.report._progress import progress, progress_bar, progress_stages
from ridgewise.report._reproduction import print_outcome, write_reproduction
from ridgewise.report._svg import Picture, page_style, plain_label
from ridgewise.report._text import print_demo

__all__ = [
    "PLOT_FORMATS",
    "Column",
    "DataTable",
    "Picture",
    "check_target",
    "demo_json",
    "draw_demo",
    "figure_bytes",
    "page_style",
    "plain_label",
    "print_demo",
    "print_outcome",
    "progress",
    "progress_bar",
    "progress_stages",
    "render_page",
    "write_atomically",
    "write_reproduction",
]
