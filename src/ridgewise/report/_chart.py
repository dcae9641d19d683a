# SPDX-License-Identifier: BSD-3-Clause
"""Charts of experiments: lines in panels that share their axes, or points where x are names."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from ridgewise.paper import Chart, Series
from ridgewise.report._style import BLUE, FAINT, ORANGE, PINK, look_of
from ridgewise.report._svg import plain_label

WIDTH = 10.0
PANEL_HEIGHT = 3.1
NAMES_HEIGHT = 1.0  # inches below the lowest panel for tick labels
SPACE_OF_A_NAME = 0.7  # share of the distance between ticks that points use
FEW_TICKS = 8  # up to this many values of x get a tick and a marker each
LEGEND_WIDTH = 5  # labels per line
OTHER_LOOKS = {
    "top leverage scores": (ORANGE, ":"),
    "BSS, slack": (BLUE, (0, (5, 1.5))),
    "BSS, slack and polish": (BLUE, (0, (1.5, 1.2))),
    "BSS on 2 singular vectors": (PINK, "-"),
    "printed": (FAINT, "-"),
    "here": (BLUE, "-"),
}


def draw_chart(chart: Chart) -> Figure:
    """Draw a chart."""
    named = isinstance(chart.panels[0].series[0].x[0], str)
    n_columns = (
        1 if named and len(chart.panels[0].series[0].x) > FEW_TICKS else min(2, len(chart.panels))
    )
    n_rows = -(-len(chart.panels) // n_columns)
    height = n_rows * PANEL_HEIGHT + (NAMES_HEIGHT if named else 0.4)
    figure = Figure(figsize=(WIDTH, height), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    panels = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, panel in zip(panels, chart.panels, strict=False):
        axes.set_title(plain_label(panel.title, 60))
        draw = _draw_points if named else _draw_line
        for place, series in enumerate(panel.series):
            draw(axes, series, place, len(panel.series))
        _finish_axes(axes, chart)
    for axes in panels[len(chart.panels) :]:
        axes.set_visible(False)
    for axes in panels[-n_columns:]:
        axes.set_xlabel("" if named else chart.x_label)
    figure.supylabel(chart.y_label, fontsize="medium")
    handles, labels = panels[0].get_legend_handles_labels()
    n_lines = -(-len(labels) // LEGEND_WIDTH)
    figure.legend(handles, labels, loc="outside lower center", ncols=-(-len(labels) // n_lines))
    return figure


def _look(label: str, place: int) -> tuple[str, Any]:
    return OTHER_LOOKS.get(label) or look_of(label, place)


def _draw_line(axes: Axes, series: Series, place: int, n_series: int) -> None:
    colour, dashes = _look(series.label, place)
    strong = series.label == "BSS"
    axes.errorbar(
        series.x,
        series.y,
        yerr=series.spread,
        color=colour,
        linestyle=dashes,
        linewidth=2.6 if strong else 1.6,
        marker="o" if len(series.x) <= FEW_TICKS else None,
        markersize=5 if strong else 3.5,
        zorder=3 if strong else 2,
        label=series.label,
    )
    if len(series.x) <= FEW_TICKS:
        axes.set_xticks(list(series.x))


def _draw_points(axes: Axes, series: Series, place: int, n_series: int) -> None:
    """Draw points, those of one tick side by side."""
    colour, _ = _look(series.label, place)
    aside = SPACE_OF_A_NAME * ((place + 0.5) / n_series - 0.5)
    axes.errorbar(
        np.arange(len(series.x)) + aside,
        series.y,
        yerr=series.spread,
        color=colour,
        linestyle="none",
        elinewidth=1.0,
        marker="osDv^P"[place % 6],
        markersize=4.5,
        label=series.label,
    )
    labels = [plain_label(name) for name in series.x]
    if len(labels) > FEW_TICKS:
        axes.set_xticks(range(len(labels)), labels, rotation=90)
    else:
        axes.set_xticks(range(len(labels)), [label.replace(" ", "\n") for label in labels])
    axes.set_xlim(-0.6, len(labels) - 0.4)


def _finish_axes(axes: Axes, chart: Chart) -> None:
    axes.grid(axis="y")
    if chart.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
