# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise demo`."""

from pathlib import Path
from typing import Annotated

import typer

from ridgewise import report
from ridgewise.cli import app, command
from ridgewise.cli._options import AsJson, Force, Quiet, Seed
from ridgewise.evaluation import run_demo

DEFAULT_PLOT = Path("ridgewise-demo.png")


@command(app)
def demo(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            show_default=str(DEFAULT_PLOT),
            help=f"The file for the plot ({', '.join(report.PLOT_FORMATS)}).",
        ),
    ] = None,
    n_features: Annotated[
        int | None,
        typer.Option(
            "--n-features",
            "-n",
            min=1,
            show_default="twice the rank of the data",
            help="How many words to select: more than the rank.",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Select, certify and compare on Python's own standard library, in seconds.

    Selects words by the five methods of the paper and as the best subset for the topics; prints the
    most predictive words, the certificate of BSS beside its promise, and the held-out error of a
    classifier with all words and with those of each method; and saves a plot.

    Examples
    --------
      ridgewise demo
      ridgewise demo --n-features 800 --output words.svg
      ridgewise demo --seed 1 --json > demo.json
    """
    plot = output or DEFAULT_PLOT
    # The default name is the demo's own; a name that was given may be somebody's file.
    report.check_target(plot, formats=report.PLOT_FORMATS, overwrite=force or output is None)
    with report.progress(quiet=quiet) as on_step:
        found = run_demo(n_features, seed=seed, on_step=on_step)
        on_step("drawing")
        image = report.figure_bytes(report.draw_demo(found), plot.suffix.lower().lstrip("."))
    report.write_atomically(plot, image)
    if as_json:
        typer.echo(report.to_json(report.demo_record(found, plot)))
    elif not quiet:
        report.print_demo(found, plot)
