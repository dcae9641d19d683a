# SPDX-License-Identifier: BSD-3-Clause
"""The picture shows what was found, and leaves matplotlib as it was."""

import sys
from dataclasses import replace

import matplotlib
import numpy as np
import pytest

from ridgewise.paper import Chart, Panel, Series
from ridgewise.report import PLOT_FORMATS, draw_demo, figure_bytes
from ridgewise.report._reproduction import draw_chart

Y = [(0.5, 30.0), (0.06, 187.0)]
SIGNATURES = {"png": b"\x89PNG\r\n\x1a\n", "svg": b"<?xml", "pdf": b"%PDF-"}


@pytest.mark.parametrize("file_format", PLOT_FORMATS)
def test_formats(demo, file_format):
    assert figure_bytes(draw_demo(demo), file_format).startswith(SIGNATURES[file_format])


def test_lines_are_what_each_method_keeps(demo):
    _, directions = draw_demo(demo).axes
    lines = {line.get_label().split(":")[0]: line for line in directions.get_legend().get_lines()}
    assert list(lines) == list(demo.kept)
    drawn = [line.get_ydata() for line in directions.get_lines()[: len(demo.kept)]]
    np.testing.assert_array_equal(drawn, list(demo.kept.values()))


def test_points_are_the_errors(demo):
    errors, _ = draw_demo(demo).axes
    points = [container.lines[0].get_xdata()[0] for container in errors.containers]
    assert points == [row.error_mean for row in demo.rows]
    labels = [label.get_text().split("\n")[0] for label in errors.get_yticklabels()]
    assert labels == ["all 200 words", *demo.kept]


def test_no_error_at_all(demo):
    rows = [replace(row, error_mean=0.0, error_std=0.0) for row in demo.rows]
    assert figure_bytes(draw_demo(replace(demo, rows=rows)), "png")


def test_matplotlib_stays_as_it_was(demo):
    before = settings()
    plain = figure_bytes(draw_demo(demo), "png")
    assert settings() == before
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        assert figure_bytes(draw_demo(demo), "png") == plain


def test_no_graphical_backend_is_chosen(demo, monkeypatch):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    figure_bytes(draw_demo(demo), "png")
    assert "matplotlib.pyplot" not in sys.modules


def settings():
    # Merely looking at the backend would choose one.
    return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}


def test_panels_of_a_chart_show_all_points_and_whole_labels():
    """Ticks that were set for the first panel cut off the points of the second."""
    x = ["BSS", "RRQR"]
    panels = [Panel("a", [Series("a label of forty letters, shown in full", x, y)]) for y in Y]
    for log in (False, True):
        figure = draw_chart(Chart("c", "C", "x", "y", "", panels, log=log))
        for axes, (low, high) in zip(figure.axes, Y, strict=True):
            assert axes.get_ylim()[0] <= low < high <= axes.get_ylim()[1]
        assert figure.legends[0].get_texts()[0].get_text().endswith("in full")
    lines = [Panel("a", [Series(panels[0].series[0].label, [1, 2], [1, 2])])]
    figure = draw_chart(Chart("c", "C", "x", "y", "", lines))
    assert figure.legends[0].get_texts()[0].get_text().endswith("in full")
