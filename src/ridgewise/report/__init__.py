# SPDX-License-Identifier: BSD-3-Clause
"""Reports of results: terminal output, figures, pages, CSV and JSON."""

from ridgewise._atomic import write_atomically
from ridgewise.report._comparison import (
    alpha_note,
    answer,
    comparison_page,
    headline,
    print_comparison,
    results_csv,
)
from ridgewise.report._demo import demo_record, draw_demo, print_demo
from ridgewise.report._figures import PLOT_FORMATS, figure_bytes
from ridgewise.report._outputs import (
    check_folder,
    check_target,
    input_record,
    to_json,
    versions,
    write_folder,
)
from ridgewise.report._reproduction import print_outcome, print_summary, write_reproduction
from ridgewise.report._selection import (
    certificate_record,
    judge,
    print_selection,
    selected_csv,
    selection_page,
)
from ridgewise.report._terminal import progress, progress_bar, progress_stages

__all__ = [
    "PLOT_FORMATS",
    "alpha_note",
    "answer",
    "certificate_record",
    "check_folder",
    "check_target",
    "comparison_page",
    "demo_record",
    "draw_demo",
    "figure_bytes",
    "headline",
    "input_record",
    "judge",
    "print_comparison",
    "print_demo",
    "print_outcome",
    "print_selection",
    "print_summary",
    "progress",
    "progress_bar",
    "progress_stages",
    "results_csv",
    "selected_csv",
    "selection_page",
    "to_json",
    "versions",
    "write_atomically",
    "write_folder",
    "write_reproduction",
]
