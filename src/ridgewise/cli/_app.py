# SPDX-License-Identifier: BSD-3-Clause
"""The application that the commands are added to, and the options that all of them have."""

import inspect
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

Function = TypeVar("Function", bound=Callable[..., None])
LARGEST_SEED = 2**32 - 1  # of numpy's RandomState


def make_app(**settings: object) -> typer.Typer:
    """Make a group of commands: the command itself, or a part of it such as `ridgewise data`."""
    return typer.Typer(
        rich_markup_mode=None,  # so that the examples in the help keep their lines
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,  # type: ignore[arg-type]
    )


app = make_app()


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


Seed = Annotated[
    int, typer.Option(min=0, max=LARGEST_SEED, help="Random seed of splits and random methods.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors, and JSON if asked for.")
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing output files.")]

ONLY_OUTPUT = {"--force", "-f", "--quiet", "-q", "--json"}
ONLY_OUTPUT_WITH_VALUE = {"--output", "-o", "--save", "--write", "--memory", "--jobs", "-j"}
arguments: list[str] = []  # of the command that runs


def command_line(file: Path) -> str:
    """The running command as a user would type it, without options that concern output only."""
    parts, is_value = ["ridgewise"], False
    for argument in arguments:
        name, _, value = argument.partition("=")
        if is_value:
            is_value = False
        elif name in ONLY_OUTPUT_WITH_VALUE:
            is_value = not value
        elif name not in ONLY_OUTPUT:
            is_path = argument == str(file) or ("/" in argument and Path(argument).exists())
            parts.append(Path(argument).name if is_path else argument)
    return shlex.join(parts)
