# SPDX-License-Identifier: BSD-3-Clause
"""Small plots as inline SVG, not by matplotlib: importing it takes as long as a small selection.

Lengths are in points, as in matplotlib's SVG. Colours are those of `_style`, so that plots follow
the light and dark mode of a page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup, escape

from ridgewise.report._style import FAINT, GRID, INK, PALETTE

WIDTH = 331.0  # so that text is legible on a phone
SMALL, USUAL, TITLE = 8.5, 10.0, 11.0  # font sizes
LETTER = 0.6  # mean width of a letter, relative to the font size
DASHED = "5 3"
MOST_TICKS = 10


@dataclass(frozen=True)
class Scale:
    """The range of an axis."""

    low: float
    high: float
    logarithmic: bool = False

    def place(self, values: object) -> np.ndarray:
        """Positions of values on the axis: 0 is its low end, 1 its high end."""
        ends = np.array([self.low, self.high])
        scaled = np.asarray(values, dtype=float)
        if self.logarithmic:
            ends, scaled = np.log(ends), np.log(np.maximum(scaled, 1e-300))
        return (scaled - ends[0]) / (ends[1] - ends[0])

    def ticks(self, most: int = 6) -> list[float]:
        """Round numbers within the axis: 1, 2, 5 times powers of ten, or multiples of these."""
        low, high = sorted((self.low, self.high))
        if self.logarithmic and high >= 5 * low:  # at least two powers, or twice or five times them
            steps = [1.0, 2.0, 5.0] if high < 300 * low else [1.0]
            powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
            found = [step * 10.0**power for power in powers for step in steps]
        else:
            exponent = np.floor(np.log10((high - low) / most))
            steps = [step * 10.0 ** (exponent + more) for more in (0, 1) for step in (1, 2, 5)]
            step = next(step for step in steps if (high - low) / step <= most)
            found = [step * count for count in range(int(low // step), int(high // step) + 1)]
        inside = [tick for tick in found if low - 1e-9 * abs(low) <= tick <= high * (1 + 1e-9)]
        return inside[:: -(-len(inside) // MOST_TICKS) or 1]


@dataclass
class Plot:
    """A plot: parts are drawn in the order of the calls."""

    x: Scale
    y: Scale
    height: float
    title: str = ""
    left: float = 48.0  # margin for tick labels
    bottom: float = 36.0
    right: float = 12.0
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.top = 30.0 if self.title else 8.0
        if self.title:
            self.text(self.left, 14, self.title, size=TITLE, bold=True)

    def points(self, x: object, y: object) -> list[tuple[float, float]]:
        """Convert values to SVG coordinates."""
        across = self.left + self.x.place(x) * (WIDTH - self.left - self.right)
        down = self.top + (1 - self.y.place(y)) * (self.height - self.top - self.bottom)
        return list(zip(np.atleast_1d(across).tolist(), np.atleast_1d(down).tolist(), strict=True))

    def text(
        self,
        x: float,
        y: float,
        words: object,
        *,
        size: float = USUAL,
        anchor: str = "start",
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        """Write text at SVG coordinates, upwards if it is turned."""
        style = f"font-size: {size}px; text-anchor: {anchor}; fill: {_css(INK)}"
        style += "; font-weight: bold" * bold
        turn = f' transform="rotate(-90 {x:.1f} {y:.1f})"' * turned
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" style="{style}"{turn}>{escape(words)}</text>'
        )

    def paths(self, outlines: Iterable[Sequence[tuple[float, float]]], style: str) -> None:
        """Draw polygons through SVG coordinates, as one path."""
        lines = ("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in outline) for outline in outlines)
        if path := "".join(lines):
            self.parts.append(f'<path d="{path}" style="{style}"/>')

    def line(self, x: object, y: object, colour: str, width: float = 2.2, dash: str = "") -> None:
        """Draw a line through values."""
        self.paths([self.points(x, y)], stroke(colour, width, dash))

    def dots(self, x: object, y: object, colour: str, radius: float) -> None:
        """Draw dots at values."""
        for across, down in self.points(x, y):
            place = f'cx="{across:.1f}" cy="{down:.1f}" r="{radius}"'
            self.parts.append(f'<circle {place} style="fill: {_css(colour)}"/>')

    def boxes(self, boxes: Iterable[tuple[object, object]], colour: str, opacity: float) -> None:
        """Fill rectangles between two values of x and two of y."""
        ends = [self.points(x, y) for x, y in boxes]
        outlines = [[(a, b), (c, b), (c, d), (a, d)] for (a, b), (c, d) in ends]
        self.paths(outlines, f"fill: {_css(colour)}; opacity: {opacity:g}")

    def x_axis(self, ticks: Sequence[float], labels: Sequence[object], label: str = "") -> None:
        """Draw the lower axis. A label that would touch one before it in the list is left out."""
        bottom = self.height - self.bottom
        self.paths([[(self.left, bottom), (WIDTH - self.right, bottom)]], stroke(FAINT, 0.8))
        places = self.points(ticks, np.full(len(ticks), self.y.low))
        self.paths([[(x, bottom), (x, bottom + 3.5)] for x, _ in places], stroke(FAINT, 0.8))
        written: list[tuple[float, float]] = []  # middles and half the widths
        for (x, _), words in zip(places, labels, strict=True):
            half = 0.5 * LETTER * USUAL * (len(str(words)) + 1)
            if all(abs(x - middle) > half + other for middle, other in written):
                self.text(x, bottom + 14, words, anchor="middle")
                written.append((x, half))
        if label:
            self.text((self.left + WIDTH - self.right) / 2, bottom + 28, label, anchor="middle")

    def y_axis(self, ticks: Sequence[float], labels: Sequence[object], label: str = "") -> None:
        """Draw the tick labels of the left axis, and a grid if it has a label."""
        places = self.points(np.full(len(ticks), self.x.low), ticks)
        if label:
            self.paths([[(x, y), (WIDTH - self.right, y)] for x, y in places], stroke(GRID, 0.8))
            middle = (self.top + self.height - self.bottom) / 2
            self.text(11, middle, label, anchor="middle", turned=True)
        size = USUAL if label else SMALL
        for (x, y), words in zip(places, labels, strict=True):
            self.text(x - 5, y + 0.35 * size, words, size=size, anchor="end")

    def legend(self, entries: Sequence[tuple[str, str, float]], x: float, y: float) -> None:
        """List the names, colours and widths of lines, downwards from SVG coordinates."""
        for place, (name, colour, width) in enumerate(entries):
            middle = y + 15 * place
            self.paths([[(x, middle), (x + 18, middle)]], stroke(colour, width))
            self.text(x + 24, middle + 3.5, name)

    def svg(self, label: str) -> Markup:
        """The plot as inline SVG; the label is its text for screen readers."""
        view = f"0 0 {WIDTH:g} {self.height:g}"
        start = f'<svg viewBox="{view}" role="img" aria-label="{escape(label)}">'
        return Markup("".join([start, *self.parts, "</svg>"]))


def stroke(colour: str, width: float, dash: str = "") -> str:
    """The style of a line."""
    dashes = f"; stroke-dasharray: {dash}" if dash else ""
    return f"fill: none; stroke: {_css(colour)}; stroke-width: {width:g}{dashes}"


def plain(values: Iterable[float]) -> list[str]:
    """Write ticks as plain numbers."""
    return [f"{value:.10g}" for value in values]


def room_for(labels: Iterable[str], size: float = SMALL) -> float:
    """The approximate width of the longest label."""
    return LETTER * size * max(map(len, labels)) + 8


def _css(colour: str) -> str:
    return f"var(--{PALETTE[colour]})"
