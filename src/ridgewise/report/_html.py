# SPDX-License-Identifier: BSD-3-Clause
"""Self-contained HTML pages, safe for any names in the data.

To make a page, write a template and render it::

    {# report/templates/mine.html.j2 #}
    {% extends "base.html.j2" %}
    {% import "parts.html.j2" as parts %}
    {% block title %}My page{% endblock %}
    {% block content %}
      <h1>My page</h1>
      {{ parts.verdict("BSS is as good as all features.", kind="good") }}
      {{ parts.definitions([("samples", 72), ("features", "7,129")]) }}
      <section><h2>Errors</h2>
        {{ parts.figures([errors, times]) }}
        {{ parts.data_table(table) }}
      </section>
    {% endblock %}

    render_page(
        "mine.html.j2",
        errors=Picture(figure, label="what a blind reader needs to know", caption="what it is"),
        times=Picture(...),
        table=DataTable(
            [Column("feature"), Column("weight", "{:.3f}")],  # a format makes it numeric
            [("zyxin", 1.25), ("<script>", 0.5)],             # raw values: they sort and download
            caption="Selected features",
            file_name="selected.csv",
            marked={0},                                       # highlighted rows
        ),
    )

- Everything is escaped, unless it is `markupsafe.Markup`.
- `Picture`: any matplotlib figure, drawn within ``with page_style():`` in the colours of `_style`,
  which become those of the page, light or dark; 5.6 in wide reads well on a phone and two in a row
  on a desk. ``wide=True`` takes the whole width, and scrolls in its own box on a phone. Text from
  outside goes through `plain_label` first, since matplotlib reads ``$`` as mathematics.
- Cells may be None (shown as a dash). ``data_table(table, search=false)`` has no search box.
- ``verdict``: kind "good", "fair", "poor" or "plain"; its text may hold Markup.
- More classes: ``lead`` (the answer, in large letters), ``note`` (small print), ``figures`` (a grid
  of figures), ``mark`` (a label beside a word).
"""

from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ridgewise._version import __version__


@dataclass(frozen=True)
class Column:
    """A column of a table in a page."""

    title: str
    format: str = ""  # of its numbers, such as "{:.3f}"; empty: it holds text
    help: str = ""  # tooltip
    minor: bool = False  # hidden on small screens

    @property
    def classes(self) -> str:
        """The CSS classes of its cells."""
        return " ".join(["number"] * self.is_number + ["minor"] * self.minor)

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers."""
        return bool(self.format)

    def show(self, value: Any) -> Any:
        """Format a value."""
        if value is None or value != value:  # None or NaN
            return Markup("&ndash;")
        return self.format.format(value) if self.is_number else value


@dataclass(frozen=True)
class DataTable:
    """A table that can be sorted, filtered and downloaded."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]  # of raw values
    caption: str = ""
    file_name: str = "table.csv"  # of the download
    marked: Collection[int] = ()  # indices of highlighted rows


def render_page(template: str, **context: Any) -> str:
    """Render a page."""
    return _environment().get_template(template).render(context)


@cache
def _environment() -> Environment:
    """Make the template environment: autoescaping, undefined names raise."""
    environment = Environment(
        loader=PackageLoader("ridgewise.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = environment.loader.get_source(environment, "page.js")[0]  # type: ignore[union-attr]
    script = script.replace("\r\n", "\n")  # normalised as in browsers, which compute the hash
    environment.globals |= {
        "version": __version__,
        "script": Markup(script),
        # The content security policy allows this script only, none injected through the data.
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
    }
    return environment
