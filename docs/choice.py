# SPDX-License-Identifier: BSD-3-Clause
"""Which method when: the guide's figure and table from `python -m benchmarks.choice`.

python docs/choice.py FOLDER
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean

from matplotlib import style
from matplotlib.figure import Figure

from ridgewise.report._style import INK, STYLE, look_of
from ridgewise.selectors import METHODS

MEASURED = Path(__file__).parent / "measured" / "choice.csv"
SUPERVISED = {entry.label for entry in METHODS.values() if entry.target}
RANGES = {
    "up to a quarter as many features as samples": (0, 0.25),
    "half as many to as many": (0.5, 1),
    "twice as many": (2, 2),
}


def make(folder: Path) -> None:
    """Write choice.png and choice.md."""
    panels = read()
    folder.mkdir(parents=True, exist_ok=True)
    with style.context({**STYLE, "savefig.dpi": 160}):
        draw(panels).savefig(folder / "choice.png", bbox_inches="tight", facecolor="white")
    (folder / "choice.md").write_text(table(panels), encoding="utf-8")


class Panel:
    """One kind of data: excess error of each method by share of features.

    In percentage points, averaged over the sets.
    """

    def __init__(self, lines: list[dict[str, str]]) -> None:
        self.n_sets = len({line["set"] for line in lines})
        self.excess: dict[str, dict[float, float]] = defaultdict(dict)
        found = defaultdict(list)
        for line in lines:
            found[line["method"], float(line["share"])].append(100 * float(line["excess"]))
        for (method, share), values in sorted(found.items()):
            if len(values) == self.n_sets:  # the same sets everywhere on a line
                self.excess[method][share] = mean(values)

    def within(self, least: float, most: float) -> dict[str, float]:
        """Means of the methods over a range of shares."""
        found = {
            method: [value for share, value in points.items() if least <= share <= most]
            for method, points in self.excess.items()
        }
        return {method: mean(values) for method, values in found.items() if values}


def read() -> dict[str, Panel]:
    """Read the measurements by kind of data."""
    lines = defaultdict(list)
    with MEASURED.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            kind = line["kind"]
            lines[f"{kind}, {line['task']}" if kind != "text" else kind].append(line)
    return {name: Panel(found) for name, found in lines.items()}


def draw(panels: dict[str, Panel]) -> Figure:
    """A panel for each kind of data, a line for each method."""
    figure = Figure(figsize=(7.4, 9), layout="constrained")
    axes = figure.subplots((len(panels) + 2) // 2, 2).ravel()
    methods = list(dict.fromkeys(m for panel in panels.values() for m in panel.excess))
    handles = {}
    for axis, (name, panel) in zip(axes, panels.items(), strict=False):
        for method, points in panel.excess.items():
            colour, dashes = look_of(method, methods.index(method))
            (handles[method],) = axis.plot(
                list(points), list(points.values()), color=colour, ls=dashes
            )
        axis.axhline(0, color=INK, lw=0.8)
        axis.set_title(f"{name} ({panel.n_sets})", fontsize=10.5)
        axis.set(xscale="log", xlabel="features / samples", xlim=(0.09, 2.2))
        axis.set_xticks([0.1, 0.25, 0.5, 1, 2], ["1/10", "1/4", "1/2", "1", "2"])
        axis.minorticks_off()
        axis.grid(axis="y")
    for axis in axes[len(panels) :]:
        axis.axis("off")
    axes[len(panels)].legend(
        list(handles.values()), list(handles), loc="center left", title="number of sets in brackets"
    )
    figure.supylabel("error above that of all features, percentage points", fontsize=10)
    return figure


def table(panels: dict[str, Panel]) -> str:
    """The best methods for each kind of data and range of numbers."""
    rows = [["data", *RANGES], ["---"] * (len(RANGES) + 1)]
    rows += [
        [name, *(cell(panel.within(*ends)) for ends in RANGES.values())]
        for name, panel in panels.items()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def cell(errors: dict[str, float]) -> str:
    """The best method with labels and the best without, the better in bold, BSS and random."""
    if not errors:
        return "(more than half of all)"
    best = [
        min((m for m in errors if (m in SUPERVISED) is labels), key=errors.__getitem__)
        for labels in (True, False)
    ]
    shown = dict.fromkeys([*best, "BSS", "random"])
    lowest = min(best, key=errors.__getitem__)
    names = {method: f"**{method}**" if method == lowest else method for method in shown}
    return ", ".join(f"{names[method]} {errors[method]:+.1f}" for method in shown)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make(Path(sys.argv[1]))
