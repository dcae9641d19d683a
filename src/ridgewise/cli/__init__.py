# SPDX-License-Identifier: BSD-3-Clause
"""The command line: parses options, runs a command, and reports an error in one line.

A command's module is imported when the command is run: `ridgewise --help` imports none of them.
"""

import sys
import warnings
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from ridgewise._version import __version__
from ridgewise.cli import _app
from ridgewise.cli._app import app
from ridgewise.cli._late import late_modules

# Each command is in a module of its name, and adds itself to the app. Here: its one-line help.
COMMANDS = {
    "select": "Select features of a file, and certify what was lost.",
    "compare": "Compare methods on a file, by repeated cross-validation of ridge models.",
    "certify": "Certify features that were selected elsewhere, such as a published panel.",
    "demo": "Select, certify and compare on Python's own standard library, in seconds.",
    "data": "List, download and describe data sets: TechTC-300, and those that need no download.",
    "reproduce": "Run the paper's experiments, and show printed and measured values side by side.",
}
FAILED = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXPECTED_ERRORS = (ValueError, ArithmeticError, OSError, MemoryError, ImportError)

HELP = """\
Select a small set of real features for ridge regression, and certify what was lost.

Examples:

\b
  ridgewise demo                  select, certify and compare on data that every machine has
  ridgewise demo --json           the same, for programs
  ridgewise demo --help           its options
  ridgewise select FILE -n 400    features of your own file: CSV, Parquet, .npz, .h5ad, ...
  ridgewise compare FILE -t COL   which method, and how many features, do best on it
  ridgewise certify FILE --features panel.txt
                                  certify features that were selected elsewhere
  ridgewise data list             the available data sets
  ridgewise data fetch            download those of the paper, TechTC-300
  ridgewise reproduce --quick     the paper's experiments, in two minutes
"""


class LateCommands(TyperGroup):
    """Commands that are known by name and summary until one of them is run."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, summary in COMMANDS.items():
            self.commands.setdefault(name, TyperCommand(name, help=summary))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the module of the command that is called."""
        if args and args[0] in COMMANDS:
            with late_modules():
                import_module(f"ridgewise.cli._{args[0]}")
            self.commands[args[0]] = get_group(app).commands[args[0]]
        return super().resolve_command(ctx, args)


def run(arguments: list[str] | None = None) -> int:
    """Run the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for paths with any characters
    _app.arguments = sys.argv[1:] if arguments is None else list(arguments)
    warnings.filterwarnings("ignore", message=r"\d+ (features|groups) were selected")  # a note
    try:
        code = app(arguments, prog_name="ridgewise", standalone_mode=False)
        sys.stdout.flush()  # raises here if the pipe is closed
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
    if hasattr(error, "format_message"):  # a usage error
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
        typer.echo(f"ridgewise {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
]


@app.callback(cls=LateCommands, help=HELP, invoke_without_command=True)
def start(context: typer.Context, version: Version = False) -> None:
    """Print the help where no command is given."""
    # Not no_args_is_help: that is an error in some versions and none in others.
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
