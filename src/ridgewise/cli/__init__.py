# SPDX-License-Identifier: BSD-3-Clause
"""The command line: parses options, runs a command, and reports an error in one line.

A command's module is imported when the command is run: `ridgewise --help` imports none of them.
"""

import inspect
import re
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from io import TextIOWrapper
from types import ModuleType
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from ridgewise._version import __version__

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
INTERRUPTED = 130  # 128 + SIGINT, the convention of shells
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

Function = TypeVar("Function", bound=Callable[..., None])
arguments: list[str] = []  # of the running command


def make_app(**settings: Any) -> typer.Typer:
    """Make a group of commands: the command itself, or a part of it such as `ridgewise data`."""
    return typer.Typer(
        rich_markup_mode=None,  # so that the examples in the help keep their lines
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
    )


def command(
    group: typer.Typer, name: str | None = None, **values: str
) -> Callable[[Function], Function]:
    """Add a command, with its docstring, formatted with ``values``, as its help."""

    def add(function: Function) -> Function:
        text = inspect.cleandoc(function.__doc__ or "").format(**values)
        # "\b" keeps the lines of the examples
        text = re.sub(r"\nExamples\n-+\n", "\nExamples:\n\n\b\n", text)
        return group.command(name, help=text)(function)

    return add


def print_help(context: typer.Context) -> None:
    """Print the help of a group if no command is given."""
    # Not no_args_is_help: its exit code differs between versions of typer.
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


class LateModule(ModuleType):
    """Stands for a module in `sys.modules` while others import it; the first use loads it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by the import system
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is not self:  # imports are done
            return getattr(import_module(self.__name__), name)
        return lambda *args, **options: getattr(self, name)(*args, **options)


class LateCommands(TyperGroup):
    """Imports the module of a command when it is run; until then only its summary is known."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, summary in COMMANDS.items():
            self.commands.setdefault(name, TyperCommand(name, help=summary))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the module of the command that is called."""
        if args and args[0] in COMMANDS:
            # scikit-learn imports these, which takes a third of the time of a small selection. It
            # does without pandas, and needs the others for functions that are rarely called.
            late: dict[str, Any] = {"pandas": None}
            late |= {name: LateModule(name) for name in ("scipy.interpolate", "scipy.stats")}
            late = {name: module for name, module in late.items() if name not in sys.modules}
            sys.modules.update(late)
            import_module(f"ridgewise.cli._{args[0]}")
            for name in late:
                del sys.modules[name]
            self.commands[args[0]] = get_group(app).commands[args[0]]
        return super().resolve_command(ctx, args)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ridgewise {__version__}")
        raise typer.Exit


app = make_app()


@app.callback(cls=LateCommands, help=HELP, invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Print the help if no command is given."""
    print_help(context)


def run(given: list[str] | None = None) -> int:
    """Run the command with these arguments; return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for paths that cannot be encoded
    arguments[:] = sys.argv[1:] if given is None else given
    warnings.filterwarnings(
        "ignore", message=r"\d+ (features|groups) were selected"
    )  # in the report
    try:
        code = int(app(arguments, prog_name="ridgewise", standalone_mode=False) or 0)
        sys.stdout.flush()  # raises here if the pipe is closed
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        print(f"ridgewise: {_explain(error)}", file=sys.stderr)
        return FAILED
    if code == INTERRUPTED:
        print("ridgewise: interrupted", file=sys.stderr)
    return code


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
