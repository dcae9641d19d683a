# SPDX-License-Identifier: BSD-3-Clause
"""The outcome of an experiment: tables, charts and verdicts, as plain data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

REPRODUCED = "reproduced"
SAME_ORDERING = "same ordering"
NOT_REPRODUCED = "not reproduced"


@dataclass(frozen=True)
class Verdict:
    """Whether a claim of the paper was reproduced.

    Attributes
    ----------
    claim : str
        What the paper says.
    status : {"reproduced", "same ordering", "not reproduced"}
    reason : str
        The numbers behind the status.

    Examples
    --------
    >>> from ridgewise.paper import REPRODUCED, Verdict
    >>> Verdict("the error is 0", REPRODUCED, "largest error: 0.00 %").status
    'reproduced'
    """

    claim: str
    status: str
    reason: str


def judge(claim: str, holds: bool, reason: str, *, exact: bool = True) -> Verdict:
    """Return a verdict: where the claim holds, but not exactly, "same ordering"."""
    status = REPRODUCED if exact else SAME_ORDERING
    return Verdict(claim, status if holds else NOT_REPRODUCED, reason)


@dataclass(frozen=True)
class Table:
    """A table of texts and numbers, with number formats.

    Attributes
    ----------
    name : str
        Stem of its file name.
    title : str
    columns : sequence of str
        Headings.
    rows : sequence of tuples
        Texts and numbers; None for a missing value.
    formats : mapping of str to str
        Format specification of a column's numbers, such as ".2f".
    note : str
        How to read the table.

    Examples
    --------
    >>> from ridgewise.paper import Table
    >>> rows = [(80, 0.126), (90, None)]
    >>> Table("t", "Errors", ["r", "error"], rows, {"error": ".2f"}).text_rows()
    [['80', '0.13'], ['90', '-']]
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    formats: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def text_rows(self) -> list[list[str]]:
        """Format every value; "-" for a missing one."""
        formats = [self.formats.get(column, "") for column in self.columns]
        return [[_format(*pair) for pair in zip(row, formats, strict=True)] for row in self.rows]


@dataclass(frozen=True)
class Series:
    """A line of a chart.

    Attributes
    ----------
    label : str
        Name in the legend; it also determines colour and marker.
    x, y : array-like of shape (n,)
        x may be texts.
    spread : array-like of shape (n,), default=None
        Standard deviations, drawn as error bars.
    """

    label: str
    x: Sequence[Any]
    y: ArrayLike
    spread: ArrayLike | None = None


@dataclass(frozen=True)
class Panel:
    """A subplot of a chart: a title and its lines."""

    title: str
    series: Sequence[Series]


@dataclass(frozen=True)
class Chart:
    """One or more subplots of lines, or of points if x are texts.

    Attributes
    ----------
    name : str
        Stem of its file name.
    title, x_label, y_label, caption : str
    panels : sequence of Panel
        Subplots; they share their axes.
    log : bool
        Whether y has a logarithmic scale.

    Examples
    --------
    >>> from ridgewise.paper import Chart, Panel, Series
    >>> panel = Panel("lambda = 0.1", [Series("BSS", [300, 400], [31.8, 30.6])])
    >>> Chart("errors", "Errors", "r", "error, %", "On TechTC.", [panel]).log
    False
    """

    name: str
    title: str
    x_label: str
    y_label: str
    caption: str
    panels: Sequence[Panel]
    log: bool = False


@dataclass(frozen=True)
class Outcome:
    """The results of one experiment.

    Attributes
    ----------
    name, title : str
    protocol : str
        How the experiment is done.
    data : str
        The data it was run on.
    verdicts : sequence of Verdict
        One per claim.
    tables : sequence of Table
    charts : sequence of Chart
    """

    name: str
    title: str
    protocol: str
    data: str
    verdicts: Sequence[Verdict]
    tables: Sequence[Table]
    charts: Sequence[Chart]


def _format(value: Any, specification: str) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return value if isinstance(value, str) else format(value, specification)
