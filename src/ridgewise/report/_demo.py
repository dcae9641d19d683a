# SPDX-License-Identifier: BSD-3-Clause
"""The demo at a terminal, as JSON, and its figure: held-out errors, and what methods keep."""

from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ridgewise.evaluation import ALL_WORDS, Demo
from ridgewise.report._figures import draw_line, new_figure, plain_logarithm
from ridgewise.report._style import DASHES, INK, look_of
from ridgewise.report._terminal import BSS_STYLE, heading, plain_table, print_parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LEAST_SHOWN = 1e-5  # lower limit of the axis of kept shares
ROOM_FOR_NUMBERS = 1.17  # axis limit relative to the longest bar


def demo_record(demo: Demo, plot: Path) -> dict[str, Any]:
    """Collect what the demo found, for JSON."""
    plain = ["python_version", "n_words", "rank", "n_features", "seed", "n_splits", "alpha"]
    return {
        **{name: getattr(demo, name) for name in plain},
        "n_documents": demo.topics,
        "telling_words": demo.telling,
        "certificate": {**asdict(demo.certificate), "epsilon": demo.certificate.epsilon},
        "kept": {
            method: {"lower": float(kept[-1]), "upper": float(kept[0])}
            for method, kept in demo.kept.items()
        },
        "methods": [asdict(row) for row in demo.rows],
        "plot": str(plot),
    }


def print_demo(demo: Demo, plot: Path, file: IO[str] | None = None) -> None:
    """Print what the demo found, in ASCII, so that any encoding can print it."""
    text = (files("ridgewise.report") / "templates" / "demo.txt").read_text("utf-8")
    *paragraphs, code = text.format(
        demo=demo,
        n_documents=sum(demo.topics.values()),
        topics=" and ".join(f"{topic} ({count})" for topic, count in demo.topics.items()),
        share=demo.n_features / demo.n_words,
    ).split("\n\n")
    data, words, certificate, error = (f"{' '.join(each.split())}\n" for each in paragraphs)
    parts: list[RenderableType] = [
        heading("The data"),
        data,
        heading("The most predictive words"),
        _telling_table(demo),
        words,
        heading("The certificate: what the selected words keep of the data"),
        _certificate_table(demo),
        certificate,
        heading("The held-out error: how often RLSC misclassifies a document it never saw"),
        _error_table(demo),
        error,
        Text(f"The figure: {plot}\n"),
        heading("Try next, in Python (and ridgewise demo --help)"),
        Text(code.rstrip()),
    ]
    print_parts(parts, file)


def _telling_table(demo: Demo) -> Table:
    table = plain_table("topic", "words, the strongest first", text_columns=2)
    for topic, words in demo.telling.items():
        table.add_row(topic, ", ".join(words))
    return table


def _certificate_table(demo: Demo) -> Table:
    table = plain_table("method", "lower", "upper")
    certificate = demo.certificate
    if certificate.promised_lower is not None and certificate.promised_upper is not None:
        promised = certificate.promised_lower, certificate.promised_upper
        table.add_row("BSS, promised", *map(_bound, promised), style=BSS_STYLE)
    for method, kept in demo.kept.items():
        style = BSS_STYLE if method == "BSS" else None
        table.add_row(f"{method}, measured", _bound(kept[-1]), _bound(kept[0]), style=style)
    return table


def _bound(value: float) -> str:
    """Write small bounds with significant digits, so that they do not look like 0."""
    return f"{value:.4f}" if value >= 0.001 else f"{value:.2g}"


def _error_table(demo: Demo) -> Table:
    table = plain_table("method", "words", "error", "+/-", "ms to select")
    for row in demo.rows:
        table.add_row(
            row.method,
            f"{row.n_selected:.0f}",
            f"{row.error_mean:.1%}",
            f"{row.error_std:.1%}",
            "-" if row.method == ALL_WORDS else f"{1000 * row.seconds_mean:.1f}",
            style=BSS_STYLE if row.method == "BSS" else None,
        )
    return table


def draw_demo(demo: Demo) -> "Figure":
    """Draw held-out errors by method, and what each method keeps in every direction."""
    with new_figure(10.4, 4.8, w_pad=0.12, h_pad=0.12, wspace=0.04) as figure:
        errors, directions = figure.subplots(1, 2, width_ratios=(1, 1.2))
        _draw_errors(errors, demo)
        _draw_kept(directions, demo)
    return figure


def _draw_errors(axes: "Axes", demo: Demo) -> None:
    """Draw the mean error of each method, with a standard deviation to each side."""
    for place, row in enumerate(demo.rows):
        colour, _ = look_of(row.method)
        axes.errorbar(
            row.error_mean,
            place,
            xerr=row.error_std,
            color=colour,
            marker="o",
            markersize=11 if row.method == "BSS" else 8,
            linewidth=3.2 if row.method == "BSS" else 1.7,
        )
        end = row.error_mean + row.error_std
        _annotate(axes, f"{row.error_mean:.1%}", (end, place), (6, 0), colour, va="center")
    axes.axvline(demo.rows[0].error_mean, color=INK, linewidth=0.9, linestyle=DASHES, zorder=0)
    labels = [f"{row.method}\n{row.n_selected:.0f} words" for row in demo.rows]
    labels[0] = f"all {demo.n_words} words"
    axes.set_yticks(range(len(labels)), labels, linespacing=1.3)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    rightmost = max(row.error_mean + row.error_std for row in demo.rows)
    axes.set_xlim(0, ROOM_FOR_NUMBERS * max(rightmost, 0.01))  # 0.01: where all errors are 0
    axes.locator_params(axis="x", steps=[1, 2, 5, 10])
    axes.xaxis.set_major_formatter(lambda error, _: f"{100 * error:g}%")
    axes.set_xlabel("misclassified: mean and standard deviation over the repeats")
    axes.set_title("Held-out error of RLSC")


def _annotate(
    axes: "Axes",
    text: str,
    at: tuple[float, float],
    offset: tuple[int, int],
    colour: str,
    **look: Any,
) -> None:
    look |= {"textcoords": "offset points", "color": colour, "weight": "bold"}
    axes.annotate(text, at, xytext=offset, **look)


def _draw_kept(axes: "Axes", demo: Demo) -> None:
    """Draw the kept share of every direction, one line per method, over the promise of BSS."""
    directions = np.arange(1, demo.rank + 1)
    for method, kept in demo.kept.items():
        label = f"{method}: {kept[-1]:.3g} to {kept[0]:.3g}"
        draw_line(axes, method, directions, kept, label=label, marker=None)
    axes.axhline(1, color=INK, linewidth=0.9, linestyle=DASHES, zorder=1)
    axes.set_yscale("log")
    axes.set_ylim(bottom=max(axes.get_ylim()[0], LEAST_SHOWN))
    plain_logarithm(axes)
    axes.grid(axis="y")
    axes.set_xlim(1, demo.rank)
    axes.set_xlabel(f"the {demo.rank} directions of the data, from the most to the least kept")
    axes.set_ylabel("kept of a direction (1: as with all words)")
    axes.set_title("What the selected words keep of the data")
    lower, upper = demo.certificate.promised_lower, demo.certificate.promised_upper
    if lower is not None and upper is not None:
        colour, _ = look_of("bss")
        axes.axhspan(lower, upper, color=colour, alpha=0.1, linewidth=0, zorder=0)
        place = {"xycoords": axes.get_yaxis_transform(), "ha": "right", "va": "top"}
        text = f"BSS promises {lower:.3g} to {upper:.3g}"
        _annotate(axes, text, (1, upper), (-6, -6), colour, **place)
    axes.legend(loc="lower left", handlelength=3)
