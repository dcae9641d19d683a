# SPDX-License-Identifier: BSD-3-Clause
"""The command: reads options, has the work done, and turns what goes wrong into one line."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

import ridgewise
from ridgewise.cli import (  # each adds itself
    _compare,  # noqa: F401
    _data,  # noqa: F401
    _demo,  # noqa: F401
    _reproduce,  # noqa: F401
    _select,  # noqa: F401
)
from ridgewise.cli._app import app

FAILED = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXPECTED_ERRORS = (ValueError, ArithmeticError, OSError, MemoryError, ImportError)

HELP = """\
Select a small set of real features for ridge regression, and certify what was lost.

Examples:

\b
  ridgewise demo                  the whole job on data that every machine has
  ridgewise demo --json           the same, for programs
  ridgewise demo --help           its options
  ridgewise select FILE -n 400    features of your own file: CSV, Parquet, .npz, .h5ad, ...
  ridgewise compare FILE -t COL   which method, and how many features, do best on it
  ridgewise data list             the data sets at hand
  ridgewise data fetch            download those of the paper, TechTC-300
  ridgewise reproduce --quick     the paper's experiments, in two minutes
"""


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


@app.callback(help=HELP, invoke_without_command=True)
def start(context: typer.Context, version: Version = False) -> None:
    """Print the help where no command is given."""
    # Not no_args_is_help: that is an error in some versions and none in others.
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
