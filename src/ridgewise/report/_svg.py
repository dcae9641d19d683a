# SPDX-License-Identifier: BSD-3-Clause
"""Matplotlib figures as inline SVG: light and dark mode, and text for screen readers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from io import BytesIO
from typing import Literal
from warnings import catch_warnings, filterwarnings
from xml.etree import ElementTree

from markupsafe import Markup
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from ridgewise.report._plot import Plot
from ridgewise.report._style import PALETTE, STYLE, one_line

PAGE_STYLE = {
    **STYLE,
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.titlesize": 11,
    "svg.fonttype": "none",  # text stays text: searchable, copyable, accessible
    "savefig.transparent": True,
}
LONGEST_LABEL = 24
ID_SALT = "ridgewise"  # a constant makes the SVG reproducible


@dataclass(frozen=True)
class Picture:
    """A plot, or a matplotlib figure, in a page."""

    figure: "Plot | Figure"  # of matplotlib: drawn within `page_style`
    label: str  # alternative text, for screen readers
    caption: str = ""
    wide: bool = False  # as wide as the page

    @cached_property
    def svg(self) -> Markup:
        """The figure as inline SVG."""
        if isinstance(self.figure, Plot):
            return self.figure.svg(self.label)
        return inline_svg(self.figure, self.label)


@contextmanager
def page_style() -> Iterator[None]:
    """Use the style of pages within a block, without a change to matplotlib's state."""
    with style.context(["default", PAGE_STYLE]):
        yield


@contextmanager
def panel(
    width: float, height: float, title: str = "", grid: Literal["x", "y"] | None = None
) -> Iterator[tuple[Figure, Axes]]:
    """Yield a new figure and its axes in the style of pages; sizes are in inches."""
    with page_style():
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots()
        axes.set_title(title)
        if grid is not None:
            axes.grid(axis=grid)
        yield figure, axes


def plain_label(text: object, longest: int = LONGEST_LABEL) -> str:
    r"""Make a figure label of any text: short, printable, no mathtext.

    >>> from ridgewise.report._svg import plain_label
    >>> print(plain_label("$x$"), plain_label("a very long name of a gene, or of two"))
    \$x\$ a very long name of a g…
    """
    return one_line(text, longest).replace("$", r"\$")


def plain_logarithm(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers."""
    low, high = axis.get_view_interval()
    steps = (1.0, 2.0, 5.0) if high < 300 * low else (1.0,)
    axis.set_major_locator(LogLocator(subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def inline_svg(figure: Figure, label: str) -> Markup:
    """Convert a figure to inline SVG with unique ids and the page's colours."""
    buffer = BytesIO()
    with style.context(["default", PAGE_STYLE, {"svg.hashsalt": ID_SALT}]), catch_warnings():
        filterwarnings("ignore", message="Glyph")  # the browser's fonts are used
        if (layout := figure.get_layout_engine()) is not None:
            layout.execute(figure)
            figure.set_layout_engine(None)  # savefig draws twice where there is a layout engine
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    prefix = f"f{sha256(buffer.getvalue()).hexdigest()[:8]}-"
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag.endswith(("}metadata", "}style"))]:
            parent.remove(child)
    for element in root.iter():
        _localize(element, prefix)
    for size in ("width", "height"):
        del root.attrib[size]  # the style sheet sets the size
    root.set("role", "img")
    root.set("aria-label", label)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _localize(element: ElementTree.Element, prefix: str) -> None:
    """Remove namespaces and fonts; make ids unique; use the page's colours."""
    element.tag = element.tag.rpartition("}")[2]
    for name in list(element.attrib):
        value = element.attrib.pop(name)
        name = name.rpartition("}")[2]
        if name == "id":
            if element.tag == "g":
                continue  # never referenced
            value = prefix + value
        elif name == "href":
            value = value.replace("#", f"#{prefix}", 1) if value[0] == "#" else value
        else:
            value = re.sub("font-family: [^;]+; ", "", value.replace("url(#", f"url(#{prefix}"))
            value = _with_palette(value)
        element.set(name, value)


def _with_palette(value: str) -> str:
    """Replace palette colours by CSS variables."""
    return re.sub(
        r"#[0-9a-f]{6}",
        lambda found: f"var(--{PALETTE[found[0]]})" if found[0] in PALETTE else found[0],
        value,
    )
