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

MEASURED = Path(__file__).parent / "measured" / "choice.csv"
GAIN = "information gain"  # the one with labels
RANGES = {
    "up to half as many features as samples": (0, 0.5),
    "as many": (1, 1),
    "twice to four times as many": (2, 4),
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
        axis.set(xscale="log", xlabel="features / samples", xlim=(0.23, 4.3))
        axis.set_xticks([0.25, 0.5, 1, 2, 4], ["1/4", "1/2", "1", "2", "4"])
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
    """The best unsupervised method for each kind of data and range of numbers."""
    rows = [["data", *RANGES], ["---"] * (len(RANGES) + 1)]
    rows += [
        [name, *(cell(panel.within(*ends)) for ends in RANGES.values())]
        for name, panel in panels.items()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def cell(errors: dict[str, float]) -> str:
    """The best unsupervised method, BSS and information gain."""
    if not errors:
        return "(more than half of all)"
    best = min((method for method in errors if method != GAIN), key=errors.__getitem__)
    others = [method for method in ("BSS", GAIN) if method in errors and method != best]
    return ", ".join(
        [f"**{best}** {errors[best]:+.1f}", *(f"{each} {errors[each]:+.1f}" for each in others)]
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    make(Path(sys.argv[1]))
