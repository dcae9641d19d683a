# SPDX-License-Identifier: BSD-3-Clause
"""The methods by name, and numbers: in the command, in tables, in sentences."""

from typing import Any

from ridgewise.selectors import (
    BSSSelector,
    InformationGainSelector,
    LeverageSelector,
    RandomSelector,
    RRQRSelector,
)

LABELS = {
    "bss": "BSS",
    "leverage": "leverage sampling",
    "leverage-top": "largest leverage",
    "rrqr": "RRQR",
    "information-gain": "information gain",
    "random": "random",
}
DOES = {
    "bss": (
        "BSS (single-set spectral sparsification) takes features one by one, each where the "
        "samples would otherwise become hard to tell apart. It uses no target and no chance: the "
        "same data give the same features on every run."
    ),
    "leverage": (
        "Leverage sampling draws features at random, those with much to themselves more often. "
        "It uses no target."
    ),
    "leverage-top": (
        "The features of the largest leverage scores were taken: those with most to themselves. "
        "No target was used."
    ),
    "rrqr": (
        "RRQR (rank-revealing QR) takes the feature that is farthest from all those before it, "
        "again and again. It uses no target and no chance."
    ),
    "information-gain": (
        "Information gain takes the features that tell the classes apart best, each by itself. "
        "It looks at the target: an error of a model on the same samples would be too rosy."
    ),
    "random": "The features were drawn by lot: something to compare with.",
}
KINDS = {
    BSSSelector: "bss",
    LeverageSelector: "leverage",
    RRQRSelector: "rrqr",
    InformationGainSelector: "information-gain",
    RandomSelector: "random",
}


def label_of(method: str) -> str:
    """Name a method in a sentence; one of somebody else's keeps its name.

    Parameters
    ----------
    method : str
        Its name in the command.

    Returns
    -------
    str
    """
    return LABELS.get(method, method)


def method_of(selector: Any) -> str:
    """Name the method of one of this package's selectors, as the command has it.

    Parameters
    ----------
    selector : selector
        Any of the five.

    Returns
    -------
    str
    """
    name = KINDS[type(selector)]
    return "leverage-top" if getattr(selector, "sampling", "") == "top" else name


def one_line(text: object, longest: int) -> str:
    r"""Show any text on one short line, without what a terminal would obey.

    Parameters
    ----------
    text : object
        A name from outside.
    longest : int
        How many letters fit.

    Returns
    -------
    str

    Examples
    --------
    >>> from ridgewise.report._words import one_line
    >>> one_line("a\nlong\x1b[31m name", 10)
    'a long [3…'
    """
    letters = (letter if letter.isprintable() else " " for letter in str(text))
    line = " ".join("".join(letters).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def plain_number(value: float) -> str:
    """Write a number with four digits that count, and never as a power of ten if it is large.

    Parameters
    ----------
    value : float
        The number.

    Returns
    -------
    str

    Examples
    --------
    >>> from ridgewise.report._words import plain_number
    >>> plain_number(18338.2), plain_number(0.123456)
    ('18,338', '0.1235')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:.4g}"
