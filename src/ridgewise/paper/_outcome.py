# SPDX-License-Identifier: BSD-3-Clause
"""The outcome of an experiment: tables, charts and verdicts, as plain data. Texts: paper.toml."""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from numpy.typing import ArrayLike

REPRODUCED = "reproduced"
SAME_ORDERING = "same ordering"
NOT_REPRODUCED = "not reproduced"
PAPER = tomllib.loads(files("ridgewise.paper").joinpath("paper.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Verdict:
    """Whether a claim of the paper was reproduced."""

    claim: str
    status: str  # one of the constants above
    reason: str  # the numbers behind the status


@dataclass(frozen=True)
class Table:
    """A table of texts and numbers.

    >>> from ridgewise.paper import Table
    >>> rows = [(80, 0.126), (90, None)]
    >>> Table("t", "Errors", ["r", "error"], rows, {"error": ".2f"}).text_rows()
    [['80', '0.13'], ['90', '-']]
    """

    name: str  # stem of the file name
    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]  # texts and numbers; None for a missing value
    formats: dict[str, str] = field(default_factory=dict)  # of a column's numbers: ".2f"
    note: str = ""  # how to read the table

    def text_rows(self) -> list[list[str]]:
        """Format every value; "-" for a missing one."""
        formats = [self.formats.get(column, "") for column in self.columns]
        return [[_format(*pair) for pair in zip(row, formats, strict=True)] for row in self.rows]


@dataclass(frozen=True)
class Series:
    """A line of a chart."""

    label: str  # in the legend; also determines colour and marker
    x: Sequence[Any]  # numbers or texts
    y: ArrayLike
    spread: ArrayLike | None = None  # standard deviations, drawn as error bars


@dataclass(frozen=True)
class Panel:
    """A subplot of a chart: a title and its lines."""

    title: str
    series: Sequence[Series]


@dataclass(frozen=True)
class Chart:
    """One or more subplots of lines, or of points if x are texts."""

    name: str  # stem of the file name
    title: str
    x_label: str
    y_label: str
    caption: str
    panels: Sequence[Panel]  # they share their axes
    log: bool = False  # logarithmic y


@dataclass(frozen=True)
class Outcome:
    """The results of one experiment."""

    name: str
    title: str
    protocol: str  # how the experiment is done
    data: str  # what it was run on
    verdicts: Sequence[Verdict]  # one per claim
    tables: Sequence[Table]
    charts: Sequence[Chart]


def _format(value: Any, specification: str) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return value if isinstance(value, str) else format(value, specification)


def printed(experiment: str, key: str = "printed") -> dict[tuple[Any, ...], Any]:
    """The values that the paper prints, by their keys."""
    return {tuple(row[:-1]): row[-1] for row in PAPER[experiment][key]}


def judge(
    experiment: str, claim: str, holds: bool, *, exact: bool = True, **values: Any
) -> Verdict:
    """Judge a claim of the paper; if it holds, but not exactly, the verdict is "same ordering".

    ``values`` complete the texts of the claim and of the reason.
    """
    status = REPRODUCED if exact else SAME_ORDERING
    text, reason = (part.format(**values) for part in PAPER[experiment]["claims"][claim])
    return Verdict(text, status if holds else NOT_REPRODUCED, reason)


def make_outcome(experiment: str, **results: Any) -> Outcome:
    """Make an outcome with the title and protocol of the experiment."""
    texts = PAPER[experiment]
    return Outcome(name=experiment, title=texts["title"], protocol=texts["protocol"], **results)


def make_table(kind: str, rows: Sequence[tuple[Any, ...]], name: str = "", **values: Any) -> Table:
    """Make a table with the title and columns of its kind; ``values`` complete the title."""
    texts = PAPER["tables"][kind]
    title = texts["title"].format(**values)
    return Table(name=name or kind, rows=rows, **texts | {"title": title})


def make_chart(
    kind: str, panels: Sequence[Panel], name: str = "", *, log: bool = False, **values: Any
) -> Chart:
    """Make a chart with the texts of its kind, completed by ``values``."""
    texts = {key: text.format(**values) for key, text in PAPER["charts"][kind].items()}
    return Chart(name=name or kind, panels=panels, log=log, **texts)
