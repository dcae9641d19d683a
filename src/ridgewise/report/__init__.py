# SPDX-License-Identifier: BSD-3-Clause
"""Reports of results: terminal output, figures, pages, CSV and JSON."""

from ridgewise._atomic import write_atomically
from ridgewise.report._comparison_page import alpha_note, answer, comparison_page, headline
from ridgewise.report._demo import PLOT_FORMATS, demo_record, draw_demo, figure_bytes, print_demo
from ridgewise.report._outputs import (
    certificate_record,
    check_folder,
    check_target,
    input_record,
    results_csv,
    selected_csv,
    to_json,
    versions,
    write_folder,
)
from ridgewise.report._progress import progress, progress_bar, progress_stages
from ridgewise.report._reproduction import print_outcome, print_summary, write_reproduction
from ridgewise.report._selection_page import selection_page
from ridgewise.report._selection_words import judge
from ridgewise.report._terminal import print_comparison, print_selection

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
