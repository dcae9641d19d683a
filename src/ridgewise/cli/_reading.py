# SPDX-License-Identifier: BSD-3-Clause
"""The options of commands that read a user's file."""

import inspect
import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn import config_context

from ridgewise.datasets import readers

SIZE = re.compile(r"(\d+\.?\d*|\.\d+)\s*([kmgt])(i?)b?", re.IGNORECASE)


def _option(kind: Any, *flags: str, **settings: Any) -> Any:
    return Annotated[kind, typer.Option(*flags, **settings)]


# The options of `read_table`, in the order of the help. None: its default.
OPTIONS: dict[str, Any] = {
    "ids": _option(
        list[str] | None,
        metavar="COL",
        help="A column with the names of the samples. May be repeated.",
    ),
    "drop": _option(
        list[str] | None, metavar="COL", help="A column to leave out. May be repeated."
    ),
    "keep": _option(
        list[str] | None,
        metavar="COL",
        help="A column to keep that does not look like a feature. May be repeated.",
    ),
    "features_in": _option(
        readers.FeaturesIn | None, show_default="columns", help="Where the features are."
    ),
    "missing": _option(
        readers.Missing | None, show_default="error", help="What to do about missing values."
    ),
    "categorical": _option(
        readers.Categorical | None,
        show_default="error",
        help="What to do about columns of text; onehot: a column of zeros and ones per level.",
    ),
    "vocabulary": _option(
        Path | None,
        "--vocabulary",
        "--names",
        help="A file with the names of the features, one per line.",
    ),
    "sample_names": _option(Path | None, help="A file with the names of the samples."),
    "format": _option(
        str | None,
        show_default="by the name of the file",
        help=f"The format of the file: {', '.join(readers.FORMATS)}.",
    ),
    "key": _option(
        str | None, help="Which array of an .npz, layer of an .h5ad, or sheet of a workbook."
    ),
    "header": _option(
        bool | None,
        "--header/--no-header",
        show_default="detected",
        help="Whether the first line has names.",
    ),
    "delimiter": _option(
        str | None, show_default="detected", help="The character between the cells."
    ),
    "encoding": _option(str | None, show_default="utf-8", help="Of text: latin-1, cp1252, utf-16."),
    "zero_based": _option(
        bool | None,
        "--zero-based/--one-based",
        show_default="detected",
        help="Whether svmlight counts features from 0.",
    ),
    "memory": _option(
        str | None,
        metavar="SIZE",
        help="How much memory to use: 2GB, 500MB. select memory-maps an .npy file larger than a "
        "quarter of it; files of other formats are loaded.",
    ),
}
FILE = Annotated[
    Path, typer.Argument(metavar="FILE", show_default=False, help="The data, samples in rows.")
]
TARGET = _option(
    str | None,
    "--target",
    "-t",
    metavar="COL",
    help="The target: the name of a column, or a file with one value per line.",
)


def _read_file(file: Path, **options: Any) -> readers.Table:
    """Read a user's file, and name options as the command does in notes and errors."""
    try:
        table = readers.read_table(file, **options)
        return replace(table, notes=tuple(with_flags(note) for note in table.notes))
    except ValueError as error:
        raise ValueError(with_flags(str(error))) from error


def with_flags(message: str) -> str:
    """Replace the options of Python in a message by those of the command.

    >>> with_flags("name the target with target=; drop='a b' leaves it out")
    "name the target with --target; --drop 'a b' leaves it out"
    """
    message = message.replace("zero_based=False", "--one-based")
    message = re.sub(r"\b(target|ids)=(?!\w)", r"--\1", message)
    return re.sub(
        r"\b(missing|categorical|features_in|encoding|keep|drop)='([^']+)'",
        lambda found: f"--{found[1].replace('_', '-')} {shlex.quote(found[2])}",
        message,
    )


def parse_memory(text: str) -> int:
    """Return the bytes of a size: 2GB, 1.5G (powers of 1000), 800 MiB (powers of 1024)."""
    found = SIZE.fullmatch(text.strip())
    if found is not None:
        power = 1 + "kmgt".index(found[2].lower())
        size = int(float(found[1]) * (1024 if found[3] else 1000) ** power)
        if size >= 2**20:
            return size
    raise ValueError(
        f"--memory takes a size of at least 1MiB, such as 2GB, 1.5G, 500MB or 800MiB; got {text!r}"
    )


@contextmanager
def working_memory(size: int | None) -> Iterator[None]:
    """Limit scikit-learn's blocks of data to a size, here and in child processes."""
    if size is None:
        yield
        return
    name, megabytes = "SKLEARN_WORKING_MEMORY", size // 2**20
    before = os.environ.get(name)
    os.environ[name] = str(megabytes)
    try:
        with config_context(working_memory=megabytes):
            yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def reads_file(command: Callable[..., None]) -> Callable[..., None]:
    """Add FILE and the options of `read_table` to the signature of a command.

    The first parameters of the command are the file and a function that reads it, which takes
    changes to the options.
    """
    own = list(inspect.signature(command).parameters.values())[2:]

    @wraps(command)
    def run(file: Path | None, **given: Any) -> None:
        if file is None:  # some versions of typer and click allow it
            raise ValueError("Missing argument 'FILE'")
        options = {name: given.pop(name) for name in ("target", *OPTIONS)}
        options = {name: value for name, value in options.items() if value is not None}
        if "memory" in options:
            options["memory"] = parse_memory(options["memory"])
        with working_memory(options.get("memory")):
            command(file, partial(_read_file, file, **options), **given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    in_help = [
        inspect.Parameter("file", keyword, annotation=FILE),
        inspect.Parameter("target", keyword, default=None, annotation=TARGET),
        *(each.replace(kind=keyword) for each in own),
        *(
            inspect.Parameter(name, keyword, default=None, annotation=kind)
            for name, kind in OPTIONS.items()
        ),
    ]
    run.__signature__ = inspect.Signature(in_help)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in in_help}
    return run


def stem_of(file: Path) -> str:
    """Return the name of a file without its suffixes: expression for expression.csv.gz."""
    path = Path(file.resolve().name)
    if path.suffix.lower() in readers.COMPRESSIONS:
        path = Path(path.stem)
    return path.stem


def check_not_read(file: Path, outputs: list[Path]) -> None:
    """Raise if an output would overwrite the input file."""
    for path in outputs:
        if path.resolve() == file.resolve():
            raise ValueError(f"cannot write {path}: it is the input file")
