# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of a comparison: one line a method, or one dot where there is one number only."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from ridgewise.evaluation import ALL_FEATURES, Comparison, ComparisonRow, MethodSummary
from ridgewise.report._style import DASHES, INK, look_of
from ridgewise.report._svg import page_style, plain_label, plain_logarithm
from ridgewise.selectors import label_of

SIZE = (5.6, 4.2)  # inches: see _html.py
APART = 0.012  # how far beside each other the methods stand, of the axis

Measure = Callable[[ComparisonRow], float]


def draw_errors(comparison: Comparison, found: Sequence[MethodSummary]) -> Figure:
    """Draw the error of each method against the number of features, at its best alpha."""
    reference = found[0].row
    with page_style():
        figure, axes = _panel("The error of each method")
        _draw_methods(axes, found, lambda row: row.error_mean, lambda row: row.error_std)
        axes.axhline(
            reference.error_mean,
            color=INK,
            linewidth=1.5,
            linestyle=DASHES,
            label=f"all {comparison.n_features_in:,} features",
        )
        _begin_at_zero(axes)
        _name_error(axes, comparison)
        _add_legend(figure, axes)
    return figure


def draw_alphas(comparison: Comparison, n_features: int) -> Figure:
    """Draw the error of each method against alpha, for one number of features."""
    alphas = comparison.alphas or ()
    with page_style():
        figure, axes = _panel(f"The error with {n_features:,} features, by alpha")
        methods = [name for name in comparison.methods if _has(comparison, name, n_features)]
        for place, method in enumerate(methods):
            errors = comparison.entry(method, n_features).errors.mean(axis=(1, 2))
            colour, dashes = look_of(method, place)
            axes.plot(
                alphas,
                errors,
                color=colour,
                linestyle=dashes,
                marker="o",
                markersize=5,
                linewidth=2,
                label=plain_label(label_of(method)),
            )
        axes.set_xscale("symlog" if min(alphas) == 0 else "log")
        axes.xaxis.set_major_locator(FixedLocator(list(alphas)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda alpha, _: f"{alpha:g}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("alpha of the ridge model")
        _name_error(axes, comparison)
        _add_legend(figure, axes)
    return figure


def _has(comparison: Comparison, method: str, n_features: int) -> bool:
    return any(
        entry.method == method and (entry.n_features == n_features or method == ALL_FEATURES)
        for entry in comparison.entries
    )


def draw_seconds(found: Sequence[MethodSummary]) -> Figure:
    """Draw how long each method takes to select."""
    with page_style():
        figure, axes = _panel("The time to select")
        _draw_methods(axes, found, lambda row: row.seconds_mean)
        axes.set_yscale("log")
        plain_logarithm(axes.yaxis)
        axes.set_ylabel("seconds")
        _add_legend(figure, axes)
    return figure


def draw_stability(found: Sequence[MethodSummary]) -> Figure:
    """Draw how far each method selects the same features from other samples."""
    with page_style():
        figure, axes = _panel("The stability of the selection")
        _draw_methods(axes, found, lambda row: row.stability)
        lowest = min(one.row.stability for one in found)
        axes.set_ylim(min(-0.03, lowest), 1.03)
        axes.set_ylabel("1: always the same features")
        _add_legend(figure, axes)
    return figure


def _panel(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    axes.set_title(title)
    axes.grid(axis="y")
    return figure, axes


def _draw_methods(
    axes: Axes, found: Sequence[MethodSummary], measure: Measure, spread: Measure | None = None
) -> None:
    """Draw a line a method over the numbers of features; where there is one number, a dot."""
    rows = [one.row for one in found if one.row.method != ALL_FEATURES]
    methods = list(dict.fromkeys(row.method for row in rows))
    counts = sorted({row.n_features for row in rows})
    for place, method in enumerate(methods):
        mine = [row for row in rows if row.method == method]
        colour, dashes = look_of(method, place)
        shift = (2 * counts[-1] / counts[0]) ** (APART * (place - (len(methods) - 1) / 2))
        x = [shift * row.n_features for row in mine]
        bars = [np.nan_to_num(spread(row)) for row in mine] if spread else None
        axes.errorbar(
            x,
            [measure(row) for row in mine],
            yerr=bars,
            color=colour,
            linestyle=dashes,
            marker="o",
            markersize=6 if method == "bss" else 5,
            linewidth=3 if method == "bss" else 1.9,
            elinewidth=1.2,
            zorder=3 if method == "bss" else 2,
            label=plain_label(label_of(method)),
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(counts))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("number of features")
    axes.set_xlim(counts[0] / 1.1, counts[-1] * 1.1)


def _begin_at_zero(axes: Axes) -> None:
    """Show errors from 0 on, unless all of them are far from it."""
    low, high = axes.get_ylim()
    if low < 0.5 * high:
        axes.set_ylim(min(0, low), high)


def _name_error(axes: Axes, comparison: Comparison) -> None:
    if comparison.classify:
        axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=None))
        axes.set_ylabel("wrongly classified")
    else:
        axes.set_ylabel("mean squared error")


def _add_legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower left",
        ncols=3,
        fontsize=9,
        handlelength=2.3,
        columnspacing=1.2,
    )
