# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of a selection."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ridgewise._typing import FloatArray, IndexArray
from ridgewise.evaluation import SelectionRun, feature_weights
from ridgewise.guarantees import Certificate
from ridgewise.report._style import BLUE, DASHES, FAINT, INK, ORANGE
from ridgewise.report._svg import panel, plain_label, plain_logarithm

WIDTH = 4.6  # inches: so that letters are legible on a phone
MOST_POINTS = 600  # of a curve: the resolution of a screen
BOUND = "no subset of this size passes"
SHADES = 10  # of the colour of a correlation


def draw_certificate(intervals: Sequence[tuple[str, Certificate]]) -> Figure:
    """Draw intervals one below the other, on a scale from lost to perfect."""
    with panel(WIDTH, 0.65 + 0.5 * len(intervals)) as (figure, axes):
        for place, (name, one) in enumerate(intervals):
            measured = name.startswith("measured")
            colour, alpha = (BLUE, 1.0) if measured else (BLUE, 0.22)
            if name.startswith("random"):
                colour, alpha = FAINT, 0.55
            axes.barh(place, one.upper - one.lower, left=one.lower, color=colour, alpha=alpha)
            axes.annotate(
                f"{one.lower:.3g} to {one.upper:.3g}",
                (one.upper, place),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                weight="bold" if measured else "normal",
            )
        axes.axvline(1, color=INK, linewidth=1.1, linestyle=DASHES)
        axes.set_yticks(range(len(intervals)), [name for name, _ in intervals])
        largest = max(1.2, *(one.upper for _, one in intervals))
        axes.set_xlim(-0.05 * largest, 1.5 * largest)
        axes.set_ylim(len(intervals) - 0.4, -0.6)
        axes.set_xticks([0, 1], ["0: lost", "1: perfect"] if largest < 3 else ["0", "1"])
    return figure


def draw_leverage(run: SelectionRun) -> Figure:
    """Draw all leverage scores in descending order, with the selected ones marked."""
    order = np.argsort(-run.leverage_scores, kind="stable")
    scores = run.leverage_scores[order]
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(1, len(order) + 1)
    chosen = np.sort(places[run.selector.selected_])
    shown = _spread(int(np.count_nonzero(scores > 0)))
    with panel(WIDTH, 3.2, "Which features were taken", grid="y") as (figure, axes):
        axes.plot(shown + 1, scores[shown], color=FAINT, linewidth=2.2, label="all features")
        marked = chosen[scores[chosen - 1] > 0]
        axes.plot(*_ticks(marked, scores[marked - 1]), color=BLUE, linewidth=1.3, label="selected")
        axes.set(xscale="log", yscale="log", xlabel="features, by descending leverage score")
        axes.set_ylabel("leverage score")
        plain_logarithm(axes.xaxis)
        plain_logarithm(axes.yaxis)
        axes.legend(loc="lower left")
    return figure


def _ticks(x: IndexArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Vertical ticks at points, as one line with gaps, which keeps the file small."""
    gaps = np.full(len(x), np.nan)
    return np.stack([x, x, gaps], 1).ravel(), np.stack([y / 1.22, y * 1.22, gaps], 1).ravel()


def _spread(count: int) -> IndexArray:
    """Indices spaced evenly on a logarithmic axis."""
    places = np.geomspace(1, max(count, 1), MOST_POINTS).round().astype(np.intp) - 1
    return np.unique(places)


def draw_singular_values(run: SelectionRun) -> Figure:
    """Draw the singular values."""
    values = run.singular_values
    with panel(WIDTH, 3.2, "How many directions the data has", grid="y") as (figure, axes):
        dots = "o" if run.rank <= 60 else ""
        directions = np.arange(1, run.rank + 1)
        axes.plot(directions, values, color=BLUE, linewidth=2.2, marker=dots, markersize=4)
        axes.set_yscale("log")
        axes.set(xlabel="directions of the data, the strongest first", ylabel="singular value")
        if run.certificate.alpha > 0:
            _draw_alpha(axes, run.certificate.alpha**0.5)
        plain_logarithm(axes.yaxis)
    return figure


def _draw_alpha(axes: Axes, height: float) -> None:
    """Draw the root of alpha: ridge models shrink directions below it."""
    axes.axhline(height, color=ORANGE, linewidth=1.4, linestyle=DASHES)
    axes.annotate(
        "below: what the models of the certificate ignore",
        (1, height),
        xycoords=axes.get_yaxis_transform(),
        xytext=(-2, 4),
        textcoords="offset points",
        ha="right",
        color=INK,
        fontsize=8.5,
    )


def draw_path(selector: Any) -> Figure:
    """Draw how much a subset reaches as it grows, and what no subset of the same size passes."""
    path = np.concatenate([[0.0], selector.objective_path_])
    sizes = sorted(selector.gap_path_)
    proofs = [selector.gap_path_[size] for size in sizes]
    bounds = [(one.of_none - one.bound) / (one.of_none - one.of_all) for one in proofs]
    with panel(WIDTH, 3.2, "How far the first features get", grid="y") as (figure, axes):
        axes.plot(np.arange(len(path)), path, color=BLUE, linewidth=2.2, label="selected")
        axes.plot(sizes, bounds, "_", color=ORANGE, markersize=14, markeredgewidth=2, label=BOUND)
        axes.set(xlabel="features", ylim=(0, 1.12 * max(bounds)))
        axes.set_ylabel("reached, of what all features give")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{share:.0%}"))
        axes.legend(loc="lower right")
    return figure


def draw_parts(run: SelectionRun) -> Figure:
    """Draw the selected features that count most: weight times leverage score."""
    order = np.argsort(run.selector.selected_)
    found = order[np.searchsorted(run.selector.selected_, run.strongest, sorter=order)]
    parts = feature_weights(run.selector)[found] * run.leverage_scores[run.strongest]
    places = np.arange(len(parts))
    with panel(WIDTH, 4.4, "The features that count most", grid="x") as (figure, axes):
        axes.hlines(places, 0, parts, color=BLUE, linewidth=2)
        axes.plot(parts, places, "o", color=BLUE, markersize=6)
        names = [plain_label(run.feature_names[index], 20) for index in run.strongest]
        axes.set_yticks(places, names, fontsize=8.5)
        axes.set_ylim(len(parts) - 0.4, -0.6)
        axes.set_xlim(0, 1.05 * parts.max())
        axes.set_xlabel("weight times leverage score")
    return figure


def draw_correlations(run: SelectionRun) -> Figure:
    """Draw the correlations of the selected features with the most weight."""
    count = len(run.strongest)
    with panel(WIDTH, 4.4, "How they correlate") as (figure, axes):
        for sign, colour in ((1, BLUE), (-1, ORANGE)):
            _draw_shades(axes, sign * run.correlations, colour)
        names = [plain_label(run.feature_names[index], 14) for index in run.strongest]
        axes.set_yticks(np.arange(count) + 0.5, names, fontsize=8.5)
        axes.set_xticks(np.arange(count) + 0.5, names, fontsize=8.5, rotation=90)
        axes.set(xlim=(0, count), ylim=(count, 0), aspect="equal")
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(length=0)
    return figure


def _draw_shades(axes: Axes, values: FloatArray, colour: str) -> None:
    """Draw the cells of each shade as one path; cells without a shade stay transparent."""
    levels = np.ceil(values * SHADES - 0.5).astype(int)
    for level in range(1, SHADES + 1):
        cells = [_cell(column, row) for row, column in np.argwhere(levels == level)]
        if cells:
            outline = Outline.make_compound_path(*cells)
            axes.add_patch(PathPatch(outline, color=colour, alpha=level / SHADES, linewidth=0))


def _cell(column: int, row: int) -> Outline:
    x, y, side = column + 0.04, row + 0.04, 0.92
    corners = [(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)]
    return Outline(corners, closed=True)
