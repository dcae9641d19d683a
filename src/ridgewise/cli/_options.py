# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, and how the values of options are parsed."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import typer

from ridgewise.barrier import RULES
from ridgewise.evaluation import SCALES
from ridgewise.selectors import METHODS

OPTIONS = {"rescale": "no-rescale"}  # names of options that differ from the parameters'

Center = Annotated[
    bool,
    typer.Option(
        "--center/--no-center",
        help="Whether the model has an intercept; the features' means are then subtracted.",
    ),
]
Scale = Annotated[str, typer.Option(help=f"Scaling of the features: {', '.join(SCALES)}.")]
Log1p = Annotated[
    bool, typer.Option("--log1p", help="Take log(1 + value) before scaling, for counts.")
]
Rule = Annotated[
    str | None,
    typer.Option(help=f"Of bss: {', '.join(RULES)}.", show_default="slack for dense data, or norm"),
]
Polish = Annotated[
    bool,
    typer.Option("--polish", help="Of bss: reweight the selection, for a tighter certificate."),
]
NoVerify = Annotated[
    bool, typer.Option("--no-verify", help="Do not account for rounding in the certificate.")
]
HeldOutFolds = Annotated[
    int,
    typer.Option("--folds", min=0, help="With --target: folds for the held-out error; 0: none."),
]


def folder_option(default: str) -> Any:
    """The option --output of a command that writes a folder."""
    return typer.Option(
        "--output", "-o", metavar="DIR", show_default=default, help="The folder to write."
    )


def check_options(methods: Sequence[str], options: Mapping[str, Any]) -> None:
    """Raise if a given option (not None) is a parameter of none of the methods."""
    known = {name for method in methods for name in METHODS[method].parameters}
    for name, value in options.items():
        if value is not None and name not in known:
            option = OPTIONS.get(name, name)
            raise ValueError(f"--{option} is not an option of {', '.join(methods)}")


def parse_n_features(text: str, option: str = "-n") -> int | float:
    """Parse a number of features, 400, or a share of them, 0.05 or 5%."""
    text = text.strip()
    try:
        if text.endswith("%"):
            value: int | float = float(text[:-1]) / 100
        else:
            value = float(text) if "." in text else int(text.replace("_", ""))
    except ValueError:
        value = 0
    if (isinstance(value, int) and value >= 1) or (isinstance(value, float) and 0 < value <= 1):
        return value
    raise ValueError(f"{option} takes a number (400) or a share (0.05 or 5%); got {text!r}")


def parse_numbers(text: str, expected: str) -> list[float]:
    """Parse comma-separated numbers, each finite and at least 0."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = [-1.0]
    if min(values) < 0 or not np.isfinite(values).all():
        raise ValueError(f"{expected}; got {text!r}")
    return values
