# SPDX-License-Identifier: BSD-3-Clause
"""Self-contained HTML pages, safe for any names in the data.

A page is a template that extends ``base.html.j2`` and uses the macros of ``parts.html.j2``, where
they are explained. Everything is escaped, unless it is `markupsafe.Markup`.
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
from ridgewise.report._figures import as_svg


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
        return " ".join(["number"] * bool(self.format) + ["minor"] * self.minor)

    def show(self, value: Any) -> Any:
        """Format a value."""
        if value is None or value != value:  # None or NaN
            return Markup("&ndash;")
        return self.format.format(value) if self.format else value


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
        "as_svg": as_svg,
        "script": Markup(script),
        # The content security policy allows this script only, none injected through the data.
        "script_hash": b64encode(sha256(script.encode()).digest()).decode(),
    }
    return environment
