# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of a comparison: one line per method, or a dot for a single number."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ridgewise.evaluation import ALL_FEATURES, Comparison, ComparisonRow, MethodSummary
from ridgewise.report._figures import draw_line, new_figure, plain_logarithm
from ridgewise.report._style import DASHES, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (5.6, 4.2)  # inches: see templates/parts.html.j2
APART = 0.012  # horizontal offset between methods, as a share of the axis

Measure = Callable[[ComparisonRow], float]


def draw_errors(comparison: Comparison, found: Sequence[MethodSummary]) -> "Figure":
    """Draw the error of each method against the number of features, at its best alpha."""
    with _panel("The error of each method") as (figure, axes):
        _draw_methods(axes, found, lambda row: row.error_mean, lambda row: row.error_std)
        label = f"all {comparison.n_features_in:,} features"
        error = found[0].row.error_mean
        axes.axhline(error, color=INK, linewidth=1.5, linestyle=DASHES, label=label)
        low, high = axes.get_ylim()
        if low < 0.5 * high:  # from 0 on, unless all errors are far from it
            axes.set_ylim(min(0, low), high)
        _name_error(axes, comparison)
    return figure


def draw_alphas(comparison: Comparison, n_features: int) -> "Figure":
    """Draw the error of each method against alpha, for one number of features."""
    alphas = comparison.alphas or ()
    entries = [
        entry
        for entry in comparison.entries
        if entry.n_features == n_features or entry.method == ALL_FEATURES
    ]
    with _panel(f"The error with {n_features:,} features, by alpha") as (figure, axes):
        for place, entry in enumerate(entries):
            draw_line(axes, entry.method, alphas, entry.errors.mean(axis=(1, 2)), place=place)
        axes.set_xscale("symlog" if min(alphas) == 0 else "log")
        axes.set_xticks(alphas, [f"{alpha:g}" for alpha in alphas])
        axes.minorticks_off()
        axes.set_xlabel("alpha of the ridge model")
        _name_error(axes, comparison)
    return figure


def draw_seconds(found: Sequence[MethodSummary]) -> "Figure":
    """Draw how long each method takes to select."""
    with _panel("The time to select") as (figure, axes):
        _draw_methods(axes, found, lambda row: row.seconds_mean)
        plain_logarithm(axes)
        axes.set_ylabel("seconds")
    return figure


def draw_stability(found: Sequence[MethodSummary]) -> "Figure":
    """Draw how stable the selection of each method is."""
    with _panel("The stability of the selection") as (figure, axes):
        _draw_methods(axes, found, lambda row: row.stability)
        axes.set_ylim(min(-0.03, *(one.row.stability for one in found)), 1.03)
        axes.set_ylabel("1: always the same features")
    return figure


@contextmanager
def _panel(title: str) -> Iterator[tuple["Figure", "Axes"]]:
    """Yield a figure and its axes; add a legend of what was drawn."""
    with new_figure(*SIZE) as figure:
        axes = figure.subplots()
        axes.set_title(title)
        axes.grid(axis="y")
        yield figure, axes
        look = {"fontsize": 9, "handlelength": 2.3, "columnspacing": 1.2}
        figure.legend(loc="outside lower left", ncols=3, **look)


def _draw_methods(
    axes: "Axes", found: Sequence[MethodSummary], measure: Measure, spread: Measure | None = None
) -> None:
    """Draw one line per method over the numbers of features, or a dot if there is one number."""
    rows = [one.row for one in found if one.row.method != ALL_FEATURES]
    methods = list(dict.fromkeys(row.method for row in rows))
    counts = sorted({row.n_features for row in rows})
    spread_of_axis = 2 * counts[-1] / counts[0]
    for place, method in enumerate(methods):
        mine = [row for row in rows if row.method == method]
        shift = spread_of_axis ** (APART * (place - (len(methods) - 1) / 2))
        x, y = [shift * row.n_features for row in mine], [measure(row) for row in mine]
        bars = [np.nan_to_num(spread(row)) for row in mine] if spread else None
        draw_line(axes, method, x, y, place=place, spread=bars)
    axes.set_xscale("log")
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.minorticks_off()
    axes.set_xlabel("number of features")
    room = 1.05 * spread_of_axis ** (APART * len(methods) / 2)
    axes.set_xlim(counts[0] / room, counts[-1] * room)


def _name_error(axes: "Axes", comparison: Comparison) -> None:
    axes.set_ylabel("wrongly classified" if comparison.classify else "mean squared error")
    if comparison.classify:
        axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
