# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of a selection."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ridgewise._typing import IndexArray
from ridgewise.evaluation import SelectionRun
from ridgewise.guarantees import Certificate
from ridgewise.report._plot import DASHED, SMALL, WIDTH, Plot, Scale, plain, room_for, stroke
from ridgewise.report._style import BLUE, FAINT, INK, ORANGE, one_line

MOST_POINTS = 600  # largest number of points of a curve
SHADES = 10  # levels of colour for a correlation
STROKE = 1.22  # half the length of a mark on the logarithmic axis, as a factor
ROW = 36.0  # height of an interval, in points


def draw_certificate(intervals: Sequence[tuple[str, Certificate]]) -> Plot:
    """Draw intervals one below the other; 0 is lost, 1 is perfect."""
    largest = max(1.2, *(one.upper for _, one in intervals))
    count = len(intervals)
    words = [f"{one.lower:.3g} to {one.upper:.3g}" for _, one in intervals]
    left = room_for((name for name, _ in intervals), 10)
    room = 1 - room_for(words, 10) / (WIDTH - left)  # share of the axis for the longest bar
    x, y = Scale(-0.05 * largest, largest / room), Scale(count - 0.4, -0.6)
    plot = Plot(x, y, 30 + ROW * count, left=left, bottom=22)
    for place, (name, one) in enumerate(intervals):
        measured = name.startswith("measured")
        colour, opacity = (BLUE, 1.0) if measured else (BLUE, 0.22)
        if name.startswith("random"):
            colour, opacity = FAINT, 0.55
        box = (one.lower, one.upper), (place - 0.4, place + 0.4)
        plot.boxes([box], colour, opacity)
        (end, middle), *_ = plot.points(max(one.upper, 1.0), place)  # right of the line too
        plot.text(end + 5, middle + 3.5, words[place], bold=measured)
        plot.text(plot.left - 5, middle + 3.5, name, anchor="end")
    plot.line([1, 1], [y.low, y.high], INK, 1.1, DASHED)
    plot.x_axis([1, 0], ["1", "0"])
    return plot


def draw_leverage(run: SelectionRun) -> Plot:
    """Draw all leverage scores in descending order, with the selected ones marked."""
    order = np.argsort(-run.leverage_scores, kind="stable")
    scores = run.leverage_scores[order]
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(1, len(order) + 1)
    chosen = np.sort(places[run.selector.selected_])
    marked = chosen[scores[chosen - 1] > 0]
    shown = _spread(int(np.count_nonzero(scores > 0)))
    x = Scale(0.8, 1.25 * len(order), logarithmic=True)
    y = Scale(scores[shown].min() / 1.3, STROKE**2 * scores[0], logarithmic=True)
    plot = _panel(x, y, "Which features were taken", "leverage score")
    plot.x_axis(x.ticks(), plain(x.ticks()), "features, by descending leverage score")
    plot.line(shown + 1, scores[shown], FAINT)
    ends = (plot.points(marked, scores[marked - 1] * factor) for factor in (1 / STROKE, STROKE))
    plot.paths(zip(*ends, strict=True), stroke(BLUE, 1.3))
    legend = [("all features", FAINT, 2.2), ("selected", BLUE, 1.3)]
    plot.legend(legend, plot.left + 8, plot.height - plot.bottom - 28)
    return plot


def _panel(x: Scale, y: Scale, title: str, label: str) -> Plot:
    """A plot with a grid, and ticks of plain numbers."""
    labels = plain(y.ticks())
    plot = Plot(x, y, 230, title, left=room_for(labels, 10) + 14)
    plot.y_axis(y.ticks(), labels, label)
    return plot


def _spread(count: int) -> IndexArray:
    """Indices spaced evenly on a logarithmic axis."""
    places = np.geomspace(1, max(count, 1), MOST_POINTS).round().astype(np.intp) - 1
    return np.unique(places)


def draw_singular_values(run: SelectionRun) -> Plot:
    """Draw the singular values, and the root of alpha: ridge models shrink what is below it."""
    values, root = run.singular_values, run.certificate.alpha**0.5
    ends = [*values[[0, -1]], *([root] if root > 0 else [])]
    x = Scale(1 - 0.03 * run.rank, 1.03 * run.rank)
    y = Scale(min(ends) / 1.15, 1.15 * max(ends), logarithmic=True)
    plot = _panel(x, y, "How many directions the data has", "singular value")
    ticks = [tick for tick in x.ticks() if tick >= 0 and tick == int(tick)]
    plot.x_axis(ticks, plain(ticks), "directions of the data, the strongest first")
    directions = np.arange(1, run.rank + 1)
    plot.line(directions, values, BLUE)
    if run.rank <= 60:
        plot.dots(directions, values, BLUE, 2)
    if root > 0:
        plot.line([x.low, x.high], [root, root], ORANGE, 1.4, DASHED)
        (end, height), *_ = plot.points(x.high, root)
        words = "below: what the models of the certificate ignore"
        plot.text(end - 2, height - 4, words, size=SMALL, anchor="end")
    return plot


def draw_path(selector: Any, counted: str = "features") -> Plot:
    """Draw the objective of a growing subset, and bounds that no subset of the same size passes."""
    path = np.concatenate([[0.0], selector.objective_path_])
    sizes = sorted(selector.gap_path_)
    proofs = [selector.gap_path_[size] for size in sizes]
    bounds = [(one.of_none - one.bound) / (one.of_none - one.of_all) for one in proofs]
    x = Scale(-0.03 * len(path), 1.03 * len(path))
    y = Scale(0.0, 112 * max(bounds))
    plot = Plot(x, y, 230, f"How far the first {counted} get", left=50)
    plot.y_axis(y.ticks(), [f"{tick:g}%" for tick in y.ticks()], "reached, of what all give")
    ticks = [tick for tick in x.ticks() if tick >= 0 and tick == int(tick)]
    plot.x_axis(ticks, plain(ticks), counted)
    plot.line(np.arange(len(path)), 100 * path, BLUE)
    marks = plot.points(sizes, 100 * np.array(bounds))
    plot.paths([[(x - 7, y), (x + 7, y)] for x, y in marks], stroke(ORANGE, 2))
    legend = [("selected", BLUE, 2.2), ("no subset of this size passes", ORANGE, 2)]
    plot.legend(legend, WIDTH - 200, plot.height - plot.bottom - 28)
    return plot


def draw_parts(run: SelectionRun) -> Plot:
    """Draw the selected features that count most: weight times leverage score."""
    order = np.argsort(run.selector.selected_)
    found = order[np.searchsorted(run.selector.selected_, run.strongest, sorter=order)]
    parts = run.selector.feature_weights_[found] * run.leverage_scores[run.strongest]
    names = [one_line(run.feature_names[index], 20) for index in run.strongest]
    places = np.arange(len(parts))
    x, y = Scale(0.0, 1.05 * (parts.max() or 1.0)), Scale(len(parts) - 0.4, -0.6)
    plot = Plot(x, y, 317, "The features that count most", left=room_for(names))
    plot.y_axis(places.tolist(), names)
    plot.x_axis(x.ticks(5), plain(x.ticks(5)), "weight times leverage score")
    starts = plot.points(np.zeros(len(parts)), places)
    plot.paths(zip(starts, plot.points(parts, places), strict=True), stroke(BLUE, 2))
    plot.dots(parts, places, BLUE, 3)
    return plot


def draw_correlations(run: SelectionRun) -> Plot:
    """Draw the correlations of the selected features with the most weight."""
    count = len(run.strongest)
    names = [one_line(run.feature_names[index], 14) for index in run.strongest]
    left = room_for(names)
    side = WIDTH - left - 12
    plot = Plot(
        Scale(0, count), Scale(count, 0), 30 + side + left, "How they correlate", left, left
    )
    levels = np.rint(run.correlations * SHADES).astype(int)
    for level in range(1, SHADES + 1):
        for sign, colour in ((1, BLUE), (-1, ORANGE)):
            cells = np.argwhere(levels == sign * level)[..., np.newaxis] + [0.04, 0.96]
            plot.boxes(((columns, rows) for rows, columns in cells), colour, level / SHADES)
    plot.y_axis((np.arange(count) + 0.5).tolist(), names)
    for (x, _), name in zip(
        plot.points(np.arange(count) + 0.5, np.zeros(count)), names, strict=True
    ):
        plot.text(x + 3, 30 + side + 5, name, size=SMALL, anchor="end", turned=True)
    return plot
