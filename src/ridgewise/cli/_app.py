# SPDX-License-Identifier: BSD-3-Clause
"""The application that the commands are added to, and the options that they share."""

import shlex
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import click
import typer
from click.core import ParameterSource

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

Seed = Annotated[
    int, typer.Option(min=0, max=LARGEST_SEED, help="Of the splits and of the random methods.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors, and JSON if asked for.")
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite what --output names.")]


def command_line(*left_out: str) -> str:
    """Write the running command as a user would type it, without folders.

    Parameters
    ----------
    *left_out : str
        Names of parameters that do not change the result.

    Returns
    -------
    str
        Empty outside of the command.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return ""
    parts = context.command_path.split()
    for parameter in context.command.params:
        name = str(parameter.name)
        given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not given or name in left_out:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Option) and parameter.is_flag:
            parts.append((parameter.opts if value else parameter.secondary_opts)[0])
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            option = [] if isinstance(parameter, click.Argument) else [parameter.opts[0]]
            parts += [*option, _as_typed(one)]
    return shlex.join(parts)


def _as_typed(value: Any) -> str:
    if isinstance(value, Path):
        return value.name
    return str(value.value if isinstance(value, Enum) else value)
