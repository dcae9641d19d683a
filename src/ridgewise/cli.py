# SPDX-License-Identifier: BSD-3-Clause
"""The command: reads options, has the work done, and turns what goes wrong into one line."""

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

import ridgewise
from ridgewise.evaluation import run_demo
from ridgewise.report import (
    PLOT_FORMATS,
    check_target,
    demo_json,
    draw_demo,
    figure_bytes,
    print_demo,
    progress,
    write_atomically,
)

DEFAULT_PLOT = Path("ridgewise-demo.png")
LARGEST_SEED = 2**32 - 1  # of numpy's RandomState
FAILED = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXPECTED_ERRORS = (ValueError, ArithmeticError, OSError, MemoryError)

HELP = """\
Select a small set of real features for ridge regression, and certify what was lost.

Examples:

\b
  ridgewise demo                  the whole job on data that every machine has
  ridgewise demo --json           the same, for programs
  ridgewise demo --help           its options
"""
DEMO_HELP = """\
Do the whole job on Python's own standard library, in seconds.

Selects words by the five methods of the paper; prints the words that tell most, the certificate
of BSS beside its promise, and the held-out error of a classifier with all words and with those
of each method; and saves a plot.

Examples:

\b
  ridgewise demo
  ridgewise demo --n-features 800 --output words.svg
  ridgewise demo --seed 1 --json > demo.json
"""

app = typer.Typer(
    rich_markup_mode=None,  # so that the examples in the help keep their lines
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: list[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : list of str, default=None
        Its arguments. None: those that the process was started with.

    Returns
    -------
    int
        The exit code: 0, or 2 after an error, or 130 after Ctrl-C.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for paths with any letters in them
    try:
        code = app(arguments, prog_name="ridgewise", standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except ModuleNotFoundError:
        raise
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        return _fail(_explain(error), FAILED)
    return _fail("interrupted", INTERRUPTED) if code == INTERRUPTED else int(code or 0)


def _explain(error: Exception) -> str:
    """Say in one line what went wrong."""
    if hasattr(error, "format_message"):  # of the command line itself
        message = f"{error.format_message()} (see ridgewise --help)"
    elif isinstance(error, EXPECTED_ERRORS):
        message = str(error) or type(error).__name__
    else:
        where = "python -X dev -m ridgewise shows where"
        message = f"unexpected {type(error).__name__}: {error} ({where})"
    return " ".join(message.split())


def _fail(message: str, code: int) -> int:
    print(f"ridgewise: {message}", file=sys.stderr)
    return code


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ridgewise {ridgewise.__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        show_default=str(DEFAULT_PLOT),
        help=f"The file for the plot ({', '.join(PLOT_FORMATS)}).",
    ),
]
NFeatures = Annotated[
    int | None,
    typer.Option(
        "--n-features",
        "-n",
        min=1,
        show_default="twice the rank of the data",
        help="How many words to select: more than the rank.",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, max=LARGEST_SEED, help="Of the splits and of the random methods.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors, and JSON if asked for.")
]
Force = Annotated[
    bool, typer.Option("--force", "-f", help="Overwrite the file that --output names.")
]


@app.callback(help=HELP, invoke_without_command=True)
def start(context: typer.Context, version: Version = False) -> None:
    """Print the help where no command is given."""
    # Not no_args_is_help: that is an error in some versions and none in others.
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(help=DEMO_HELP)
def demo(
    output: Output = None,
    n_features: NFeatures = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
    force: Force = False,
) -> None:
    """Run the demo, save its plot, and show what it found."""
    plot = output or DEFAULT_PLOT
    # The default name is the demo's own; a name that was given may be somebody's file.
    check_target(plot, formats=PLOT_FORMATS, overwrite=force or output is None)
    with progress(quiet=quiet) as on_step:
        found = run_demo(n_features, seed=seed, on_step=on_step)
        on_step("drawing")
        image = figure_bytes(draw_demo(found), plot.suffix.lower().lstrip("."))
    write_atomically(plot, image)
    if as_json:
        typer.echo(demo_json(found, plot))
    elif not quiet:
        print_demo(found, plot)
    sys.stdout.flush()  # while a closed pipe is still taken care of
