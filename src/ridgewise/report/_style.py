# SPDX-License-Identifier: BSD-3-Clause
"""How everything that is drawn looks."""

from ridgewise.evaluation import ALL_FEATURES, ALL_WORDS

INK = "#22303c"
FAINT = "#7b8894"
GRID = "#e3e8ec"
BLUE = "#0b5fa5"
ORANGE = "#dd7a00"
GREEN = "#2a9d6f"
PINK = "#b5559b"
DASHES = (0, (4, 3))

# Under which names the pages' style sheet has them, so that pictures follow light and dark
PALETTE = {
    INK: "ink",
    FAINT: "faint",
    GRID: "line",
    BLUE: "blue",
    ORANGE: "orange",
    GREEN: "green",
    PINK: "pink",
}

# Told apart by colour-blind readers too, and by their dashes where there is no colour.
LOOKS = {
    ALL_WORDS: (INK, "-"),
    ALL_FEATURES: (INK, DASHES),
    "BSS": (BLUE, "-"),
    "leverage sampling": (ORANGE, (0, (5, 1.5))),
    "largest leverage": (ORANGE, "-"),
    "RRQR": (GREEN, (0, (5, 1.5, 1, 1.5))),
    "information gain": (PINK, (0, (1.5, 1.2))),
    "random": (FAINT, "-"),
}
SPARE = ((BLUE, DASHES), (GREEN, "-"), (PINK, "-"), (ORANGE, (0, (1, 1))))  # for other names


def look_of(method: str, place: int) -> tuple[str, object]:
    """Give the colour and the dashes of a method, of somebody else's too.

    Parameters
    ----------
    method : str
        Its name in sentences.
    place : int
        Its place among the methods.

    Returns
    -------
    tuple
        Both as matplotlib takes them.
    """
    return LOOKS.get(method, SPARE[place % len(SPARE)])


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
    "axes.titlesize": 11.5,
    "axes.titleweight": "bold",
    "font.size": 9.5,
    "grid.color": GRID,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "ytick.major.size": 0,
    "ytick.minor.size": 0,
}
