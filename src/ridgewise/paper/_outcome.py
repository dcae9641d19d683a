# SPDX-License-Identifier: BSD-3-Clause
"""What an experiment gives: tables, charts and verdicts, as data for others to show."""

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
    """What a claim of the paper came to.

    Attributes
    ----------
    claim : str
        What the paper says.
    status : str
        "reproduced", "same ordering" or "not reproduced".
    reason : str
        The numbers that this rests on.
    """

    claim: str
    status: str
    reason: str


@dataclass(frozen=True)
class Table:
    """Rows of values, with how to write them.

    Attributes
    ----------
    name : str
        A short name, for its file.
    title : str
        What it shows.
    columns : sequence of str
        Headings.
    rows : sequence of tuples
        Texts and numbers; None where there is nothing.
    formats : mapping of str to str
        How the numbers of a column are written, such as ".2f".
    note : str
        How to read it.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    formats: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def text_rows(self) -> list[list[str]]:
        """Write every value.

        Returns
        -------
        list of list of str
            "-" where there is nothing.
        """
        formats = [self.formats.get(column, "") for column in self.columns]
        return [[_write(*pair) for pair in zip(row, formats, strict=True)] for row in self.rows]


@dataclass(frozen=True)
class Series:
    """A line of a chart.

    Attributes
    ----------
    label : str
        What it is; the same label looks the same in every chart.
    x, y : array-like of shape (n,)
        Its points. x may be texts.
    spread : array-like of shape (n,), default=None
        Standard deviations, drawn as vertical bars.
    """

    label: str
    x: Sequence[Any]
    y: ArrayLike
    spread: ArrayLike | None = None


@dataclass(frozen=True)
class Panel:
    """One of a chart's pairs of axes."""

    title: str
    series: Sequence[Series]


@dataclass(frozen=True)
class Chart:
    """Lines, or points where x are texts, in one or more panels.

    Attributes
    ----------
    name : str
        A short name, for its file.
    title, x_label, y_label, caption : str
        What is written beside it.
    panels : sequence of Panel
        They share their axes.
    log : bool
        Whether y is on a logarithmic scale.
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
    """What an experiment gave.

    Attributes
    ----------
    name, title : str
        Which one.
    protocol : str
        What was done.
    data : str
        What it was done on.
    verdicts : sequence of Verdict
        One a claim.
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


def _write(value: Any, how: str) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return value if isinstance(value, str) else format(value, how)
