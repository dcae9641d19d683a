# SPDX-License-Identifier: BSD-3-Clause
"""The figure of `benchmarks.peers`: seconds against upper / lower, one panel per data set."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from matplotlib.transforms import Bbox

from benchmarks.peers_worker import METHODS
from ridgewise.report._style import BLUE, DASHES, FAINT, GREEN, ORANGE, STYLE

LOST = 1e4  # upper / lower from which a direction is as good as lost
COLOURS = {(True, False): BLUE, (False, False): GREEN, (False, True): ORANGE}
MEANING = {
    BLUE: "Ridgewise",
    GREEN: "others, without labels",
    ORANGE: "others, with labels",
}
PLACES = [  # of a name beside its point, the nearest first: points to the right and up
    (sign * right, up)
    for up in (0, 7, -7, 14, -14, 22, -22, 30, -30, 40, -40, 52, -52)
    for sign, right in ((1, 6), (-1, 6), (1, 16), (-1, 16))
    if right == 6 or abs(up) > 7  # never past a neighbour without a line
]


def draw(found: dict[str, dict[str, Any]], path: Path) -> None:
    """A panel for each data set with measurements."""
    shown = {name: values for name, values in found.items() if "shape" in values}
    with style.context(["default", STYLE]):
        n_rows = (len(shown) + 1) // 2
        size = (12, 1 + 5.4 * n_rows)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(n_rows, min(2, len(shown)), squeeze=False).ravel()
        for axes in panels[len(shown) :]:
            axes.set_axis_off()
        for axes, (name, values) in zip(panels, shown.items(), strict=False):
            draw_panel(axes, name, values)
        marks = [axes_mark(panels[0], colour) for colour in MEANING]
        figure.legend(marks, [*MEANING.values()], loc="outside upper left", ncols=3)
        figure.draw_without_rendering()  # so that sizes are known
        for axes in panels[: len(shown)]:
            place_names(axes)
        figure.savefig(path, dpi=150)


def axes_mark(axes: Axes, colour: str) -> Any:
    return axes.plot([], [], "o", color=colour)[0]


def draw_panel(axes: Axes, name: str, found: dict[str, Any]) -> None:
    """Finished methods as points; their labels are placed later."""
    n, d, rank, _ = found["shape"]
    for method, (package, _, _, labels) in METHODS.items():
        value = found.get(method, {})
        if "interval" not in value:
            continue
        lower, upper = value["interval"]
        ratio = min(upper / lower, LOST) if lower else LOST
        colour = COLOURS[package == "ridgewise", labels]
        if method == "random":  # takes no time
            axes.axhline(ratio, color=FAINT, linewidth=1.2, linestyle=DASHES, zorder=1)
            axes.set_title(f"dashes: {method}", loc="right", color=FAINT, weight="normal")
            continue
        x, marker = min(value["seconds"]), "^" if ratio == LOST else "o"
        axes.plot(x, ratio, marker, color=colour, markersize=7, zorder=3)
        few = value["features"] <= n
        text = f"{method} ({value['features']})" if few else method
        weight = "bold" if package == "ridgewise" else "normal"
        place = {"xytext": (0, 0), "textcoords": "offset points"}
        axes.annotate(text, (x, ratio), **place, color=colour, weight=weight)
    axes.set(xscale="log", yscale="log", ylim=(1, 3 * LOST))
    axes.margins(x=0.15)
    axes.set_title(f"{Path(name).name}: {n} x {d}, rank {rank}")
    axes.set_xlabel("seconds, one thread")
    axes.set_ylabel("upper / lower (1: nothing lost)")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(shown_ratio))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.axhline(LOST, color=FAINT, linewidth=0.8, zorder=1)
    axes.grid(axis="y")


def shown_ratio(value: float, _: Any) -> str:
    if value == LOST:
        return "lost"
    return f"{value:g}" if value < 1e5 else f"1e{np.log10(value):.0f}"


def place_names(axes: Axes) -> None:
    """Place each label near its point, without covering points or other labels."""
    points = np.array([axes.transData.transform(text.xy) for text in axes.texts]).reshape(-1, 2)
    taken = [Bbox.from_bounds(x - 6, y - 6, 12, 12) for x, y in points]
    inside = axes.get_window_extent()
    for text in sorted(axes.texts, key=lambda text: -text.xy[1]):
        for place in PLACES:
            text.set(position=place, ha="left" if place[0] > 0 else "right", va="center")
            box = text.get_window_extent()
            own = Bbox.from_extents(box.x0, box.y0 + 1, box.x1, box.y1 - 1)
            fits = inside.x0 <= box.x0 and box.x1 <= inside.x1 + 10
            if fits and not own.count_overlaps(taken):
                break
        if abs(text.get_position()[1]) > 7:  # too far to be seen as its own
            line = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.6, "shrinkB": 4}
            moved = axes.annotate(
                text.get_text(),
                text.xy,
                text.get_position(),
                textcoords="offset points",
                ha=text.get_ha(),
                va="center",
                color=text.get_color(),
                weight=text.get_weight(),
                arrowprops=line,
            )
            text.remove()
            text = moved
        taken.append(text.get_window_extent())
