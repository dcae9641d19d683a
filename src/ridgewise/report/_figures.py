# SPDX-License-Identifier: BSD-3-Clause
"""Matplotlib figures: in files, and as inline SVG that follows a page's light and dark mode.

matplotlib is imported in the functions: importing it takes as long as a small selection, which does
not need it.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings
from xml.etree import ElementTree

from markupsafe import Markup

from ridgewise.report._plot import Plot, Scale, plain
from ridgewise.report._style import PALETTE, STYLE, look_of, one_line
from ridgewise.selectors import label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_FORMATS = ("png", "svg", "pdf")
DOTS_PER_INCH = 200
LONGEST_LABEL = 24
PAGE_SETTINGS = {
    "savefig.transparent": True,
    "svg.fonttype": "none",  # text stays text: searchable, copyable, accessible
    "svg.hashsalt": "ridgewise",  # a constant makes the SVG reproducible
}


@contextmanager
def new_figure(width: float, height: float, **padding: Any) -> Iterator["Figure"]:
    """Yield a figure to draw on within the block, in the style of the reports; sizes in inches."""
    from matplotlib import style
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    with style.context(["default", STYLE]):
        layout = ConstrainedLayoutEngine(**padding)
        figure = Figure(figsize=(width, height), layout=layout)
        yield figure
        layout.execute(figure)
        figure.set_layout_engine(None)  # savefig draws twice where there is a layout engine


def figure_bytes(
    figure: "Figure", file_format: str, settings: Mapping[str, object] | None = None
) -> bytes:
    """Render a figure, whatever the user's settings of matplotlib are."""
    from matplotlib import style

    buffer = BytesIO()
    with style.context(["default", {**STYLE, **(settings or {})}]):
        figure.savefig(buffer, format=file_format, dpi=DOTS_PER_INCH)
    return buffer.getvalue()


def plain_label(text: object, longest: int = LONGEST_LABEL) -> str:
    r"""Make a figure label of any text: short, printable, no mathtext.

    >>> print(plain_label("$x$"), plain_label("a very long name of a gene, or of two"))
    \$x\$ a very long name of a g…
    """
    return one_line(text, longest).replace("$", r"\$")


def draw_line(
    axes: "Axes", method: str, x: Any, y: Any, *, place: int = 0, spread: Any = None, **more: Any
) -> None:
    """Draw a method's line, with error bars if there is a spread; that of BSS is the strongest."""
    colour, dashes = look_of(method, place)
    look: dict[str, Any] = {"linewidth": 1.8, "marker": "o", "markersize": 4.5, "zorder": 2}
    if method in ("bss", "BSS"):
        look |= {"linewidth": 3, "markersize": 6, "zorder": 3}
    look |= {"color": colour, "linestyle": dashes, "label": plain_label(label_of(method))}
    axes.plot(x, y, **look | more)
    if spread is not None:
        axes.errorbar(x, y, yerr=spread, fmt="none", ecolor=colour, elinewidth=1.2)


def plain_logarithm(axes: "Axes") -> None:
    """Make the y axis logarithmic, with plain numbers at its ticks."""
    axes.set_yscale("log")
    limits = axes.get_ylim()
    ticks = Scale(*limits, logarithmic=True).ticks()
    axes.set_yticks(ticks, plain(ticks))
    axes.minorticks_off()
    axes.set_ylim(limits)


def as_svg(drawing: "Plot | Figure", label: str) -> Markup:
    """Convert a drawing to inline SVG; the label is its text for screen readers."""
    if isinstance(drawing, Plot):
        return drawing.svg(label)
    with catch_warnings():
        filterwarnings("ignore", message="Glyph")  # the browser's fonts are used
        content = figure_bytes(drawing, "svg", PAGE_SETTINGS)
    root = ElementTree.fromstring(content)
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag.endswith(("}metadata", "}style"))]:
            parent.remove(child)
    prefix = f"f{sha256(ElementTree.tostring(root)).hexdigest()[:8]}-"
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
            for colour, variable in PALETTE.items():
                value = value.replace(colour, f"var(--{variable})")
        element.set(name, value)
