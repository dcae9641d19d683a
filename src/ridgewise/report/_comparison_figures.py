# SPDX-License-Identifier: BSD-3-Clause
"""The pictures of a comparison: one line per method, or a dot for a single number."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ridgewise.evaluation import ALL_FEATURES, Comparison, ComparisonRow, Entry, MethodSummary
from ridgewise.report._style import DASHES, INK, look_of
from ridgewise.report._svg import panel, plain_label, plain_logarithm
from ridgewise.selectors import label_of

SIZE = (5.6, 4.2)  # inches: see templates/parts.html.j2
APART = 0.012  # horizontal offset between methods, as a share of the axis

Measure = Callable[[ComparisonRow], float]


def draw_errors(comparison: Comparison, found: Sequence[MethodSummary]) -> Figure:
    """Draw the error of each method against the number of features, at its best alpha."""
    reference = found[0].row
    with panel(*SIZE, "The error of each method", grid="y") as (figure, axes):
        _draw_methods(axes, found, lambda row: row.error_mean, lambda row: row.error_std)
        axes.axhline(
            reference.error_mean,
            color=INK,
            linewidth=1.5,
            linestyle=DASHES,
            label=f"all {comparison.n_features_in:,} features",
        )
        low, high = axes.get_ylim()
        if low < 0.5 * high:  # from 0 on, unless all errors are far from it
            axes.set_ylim(min(0, low), high)
        _name_error(axes, comparison)
        _add_legend(figure, axes)
    return figure


def draw_alphas(comparison: Comparison, n_features: int) -> Figure:
    """Draw the error of each method against alpha, for one number of features."""
    alphas = comparison.alphas or ()
    title = f"The error with {n_features:,} features, by alpha"
    with panel(*SIZE, title, grid="y") as (figure, axes):
        entries = [one for one in comparison.entries if _has(one, n_features)]
        for place, entry in enumerate(entries):
            colour, dashes = look_of(entry.method, place)
            axes.plot(
                alphas,
                entry.errors.mean(axis=(1, 2)),
                color=colour,
                linestyle=dashes,
                marker="o",
                markersize=5,
                linewidth=2,
                label=plain_label(label_of(entry.method)),
            )
        axes.set_xscale("symlog" if min(alphas) == 0 else "log")
        axes.xaxis.set_major_locator(FixedLocator(list(alphas)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda alpha, _: f"{alpha:g}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("alpha of the ridge model")
        _name_error(axes, comparison)
        _add_legend(figure, axes)
    return figure


def _has(entry: Entry, n_features: int) -> bool:
    return entry.n_features == n_features or entry.method == ALL_FEATURES


def draw_seconds(found: Sequence[MethodSummary]) -> Figure:
    """Draw how long each method takes to select."""
    with panel(*SIZE, "The time to select", grid="y") as (figure, axes):
        _draw_methods(axes, found, lambda row: row.seconds_mean)
        axes.set_yscale("log")
        plain_logarithm(axes.yaxis)
        axes.set_ylabel("seconds")
        _add_legend(figure, axes)
    return figure


def draw_stability(found: Sequence[MethodSummary]) -> Figure:
    """Draw how stable the selection of each method is."""
    with panel(*SIZE, "The stability of the selection", grid="y") as (figure, axes):
        _draw_methods(axes, found, lambda row: row.stability)
        axes.set_ylim(min(-0.03, *(one.row.stability for one in found)), 1.03)
        axes.set_ylabel("1: always the same features")
        _add_legend(figure, axes)
    return figure


def _draw_methods(
    axes: Axes, found: Sequence[MethodSummary], measure: Measure, spread: Measure | None = None
) -> None:
    """Draw one line per method over the numbers of features, or a dot if there is one number."""
    rows = [one.row for one in found if one.row.method != ALL_FEATURES]
    methods = list(dict.fromkeys(row.method for row in rows))
    counts = sorted({row.n_features for row in rows})
    spread_of_axis = 2 * counts[-1] / counts[0]
    for place, method in enumerate(methods):
        mine = [row for row in rows if row.method == method]
        colour, dashes = look_of(method, place)
        shift = spread_of_axis ** (APART * (place - (len(methods) - 1) / 2))
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
    room = 1.05 * spread_of_axis ** (APART * len(methods) / 2)
    axes.set_xlim(counts[0] / room, counts[-1] * room)


def _name_error(axes: Axes, comparison: Comparison) -> None:
    if comparison.classify:
        axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))
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
