# SPDX-License-Identifier: BSD-3-Clause
"""The options of commands that read a user's file."""

import inspect
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn import config_context

from ridgewise.datasets.readers import FORMATS, Table, read_table

FORMAT_ENDS = (".gz", ".bz2", ".xz", ".zst")
SIZE = re.compile(r"(\d+\.?\d*|\.\d+)\s*([kmgt])(i?)b?", re.IGNORECASE)


class FeaturesIn(StrEnum):
    """Where the features are."""

    columns = "columns"
    rows = "rows"


class Missing(StrEnum):
    """What is done about missing values."""

    error = "error"
    drop_features = "drop-features"
    drop_samples = "drop-samples"
    mean = "mean"


class Categorical(StrEnum):
    """What is done about columns that hold no numbers."""

    error = "error"
    drop = "drop"
    onehot = "onehot"


File = Annotated[
    Path, typer.Argument(metavar="FILE", show_default=False, help="The data, samples in rows.")
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COL",
        help="The target: a column's name, or a file with a value a line. No feature.",
    ),
]
Ids = Annotated[
    list[str] | None,
    typer.Option("--ids", metavar="COL", help="A column with the samples' names. May be repeated."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COL", help="A column to leave out. May be repeated."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COL",
        help="A column to keep that looks like no feature. May be repeated.",
    ),
]
InRows = Annotated[
    FeaturesIn | None,
    typer.Option("--features-in", show_default="columns", help="Where the features are."),
]
OnMissing = Annotated[Missing, typer.Option("--missing", help="What to do about missing values.")]
OnCategorical = Annotated[
    Categorical,
    typer.Option(
        "--categorical",
        help="What to do about columns of text; onehot: a column of zeros and ones for each level.",
    ),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option("--vocabulary", "--names", help="A file with the features' names, one a line."),
]
SampleNames = Annotated[
    Path | None, typer.Option("--sample-names", help="A file with the samples' names.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        show_default="by the name of the file",
        help=f"What the file is: {', '.join(FORMATS)}.",
    ),
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key", help="Which array of an .npz, layer of an .h5ad, or sheet of a workbook."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header", show_default="looks", help="Whether the first line has names."
    ),
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", show_default="looks", help="What parts the cells.")
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", show_default="utf-8", help="Of text: latin-1, cp1252, utf-16."),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        show_default="looks",
        help="Whether svmlight counts features from 0.",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="How much memory to work in: 2GB, 500MB. select then reads an .npy file above a "
        "quarter of it where it lies; any other file is itself held in memory.",
    ),
]


def read_file(
    file: File,
    target: Target = None,
    ids: Ids = None,
    drop: Drop = None,
    keep: Keep = None,
    features_in: InRows = None,
    missing: OnMissing = Missing.error,
    categorical: OnCategorical = Categorical.error,
    vocabulary: Vocabulary = None,
    sample_names: SampleNames = None,
    file_format: Format = None,
    key: Key = None,
    header: Header = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    zero_based: ZeroBased = None,
    memory: Memory = None,
) -> Table:
    """Read a user's file, with the options that the user gave."""
    read = partial(
        read_table,
        file,
        target=target,
        ids=ids or (),
        drop=drop or (),
        keep=keep or (),
        features_in=None if features_in is None else features_in.value,
        missing=missing.value,
        categorical=categorical.value,
        vocabulary=vocabulary,
        sample_names=sample_names,
        format=file_format,
        key=key,
        header=header,
        delimiter=delimiter,
        encoding=encoding,
        zero_based="auto" if zero_based is None else zero_based,
        memory=None if memory is None else parse_memory(memory),
    )
    try:
        table = read()
        return replace(table, notes=tuple(with_flags(note) for note in table.notes))
    except ValueError as error:
        raise ValueError(with_flags(str(error))) from error


def with_flags(message: str) -> str:
    """Name options as the command has them, where a message names them as Python has.

    >>> from ridgewise.cli._reading import with_flags
    >>> with_flags("missing='drop-features', 'drop-samples' or 'mean' lets them in")
    "--missing drop-features, 'drop-samples' or 'mean' lets them in"
    >>> with_flags("it has a feature 0, and zero_based=False was given")
    'it has a feature 0, and --one-based was given'
    """
    message = message.replace("zero_based=False", "--one-based")
    options = "missing|categorical|features_in|encoding|keep"
    return re.sub(rf"\b({options})='([\w-]+)'", _as_flag, message)


def _as_flag(found: re.Match[str]) -> str:
    return f"--{found[1].replace('_', '-')} {found[2]}"


def parse_memory(text: str) -> int:
    """Read a size: 2GB, 1.5G (thousands), 800 MiB (1024s).

    >>> from ridgewise.cli._reading import parse_memory
    >>> parse_memory("1.5G"), parse_memory("800 MiB")
    (1500000000, 838860800)
    """
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
    """Keep blocks of data within so many bytes, here and in processes that start meanwhile."""
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
    """Give a command the options of `read_file`."""
    reading = inspect.signature(read_file).parameters
    own = list(inspect.signature(command).parameters.values())[2:]
    file, target, *others = reading.values()
    parameters = [file, target, *own, *others]  # in the order of the help

    @wraps(command)
    def run(file: Path | None, **given: Any) -> None:
        if file is None:  # which some versions of typer and click let pass
            raise ValueError("Missing argument 'FILE'")
        options = {name: given.pop(name) for name in reading if name in given}
        memory = options.get("memory")
        with working_memory(None if memory is None else parse_memory(memory)):
            command(file, partial(read_file, file, **options), **given)

    keyword_only = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    run.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in keyword_only}
    return run


def stem_of(file: Path) -> str:
    """Name a file without its suffixes: expression for expression.csv.gz."""
    name = file.resolve().name
    for _ in range(2):
        name = name.removesuffix(Path(name).suffix) or name
        if Path(file.name).suffix.lower() not in FORMAT_ENDS:
            break
    return name


def check_not_read(file: Path, outputs: list[Path]) -> None:
    """Refuse to write over the file that is read."""
    for path in outputs:
        if path.resolve() == file.resolve():
            raise ValueError(f"cannot write {path}: it is what is read")
