# SPDX-License-Identifier: BSD-3-Clause
"""How figures, names and numbers look, in all reports."""

from ridgewise.evaluation import ALL_FEATURES, ALL_WORDS
from ridgewise.selectors import METHODS

# With their names in the style sheet, so that figures follow light and dark mode
PALETTE = {
    "#22303c": "ink",
    "#7b8894": "faint",
    "#e3e8ec": "line",
    "#0b5fa5": "blue",
    "#dd7a00": "orange",
    "#2a9d6f": "green",
    "#b5559b": "pink",
}
COLOURS = {name: colour for colour, name in PALETTE.items()}
INK, FAINT, GRID, BLUE, ORANGE, GREEN, PINK = PALETTE
DASHES = (0, (4, 3))

OTHER_LOOKS: dict[str, tuple[str, object]] = {  # labels that are not in the registry
    ALL_WORDS: (INK, "-"),
    ALL_FEATURES: (INK, DASHES),
    "top leverage scores": (ORANGE, ":"),
    "BSS, slack": (BLUE, (0, (5, 1.5))),
    "BSS, slack and polish": (BLUE, (0, (1.5, 1.2))),
    "BSS on 2 singular vectors": (PINK, "-"),
    "printed": (FAINT, "-"),
    "here": (BLUE, "-"),
}
SPARE = (  # for all others
    (BLUE, DASHES),
    (PINK, (0, (5, 1.5))),
    (ORANGE, (0, (1, 1))),
    (GREEN, DASHES),
)


def look_of(method: str, place: int = 0) -> tuple[str, object]:
    """Return the colour and the line style of a method."""
    if method in OTHER_LOOKS:
        return OTHER_LOOKS[method]
    for name, entry in METHODS.items():
        if entry.look is not None and method in (name, entry.label):
            return COLOURS[entry.look[0]], entry.look[1]
    return SPARE[place % len(SPARE)]


STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlepad": 12,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "font.size": 10,
    "grid.color": GRID,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
}


def one_line(text: object, longest: int) -> str:
    r"""Show any text on one short line, without control characters.

    >>> one_line("a\nlong\x1b[31m name", 10)
    'a long [3…'
    """
    letters = (letter if letter.isprintable() else " " for letter in str(text))
    line = " ".join("".join(letters).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def plain_number(value: float) -> str:
    """Write a number with four significant digits; large ones without an exponent.

    >>> plain_number(18338.2), plain_number(0.123456)
    ('18,338', '0.1235')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:.4g}"
