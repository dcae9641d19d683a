# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share, and the reading of a user's file."""

import inspect
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn import config_context

from ridgewise import report
from ridgewise.barrier import RULES
from ridgewise.cli import arguments
from ridgewise.datasets import readers
from ridgewise.evaluation import SCALES
from ridgewise.selectors import METHODS

ONLY_OUTPUT = {"--force", "-f", "--quiet", "-q", "--json"}
ONLY_OUTPUT_WITH_VALUE = {"--output", "-o", "--save", "--write", "--memory", "--jobs", "-j"}
SIZE = re.compile(r"(\d+\.?\d*|\.\d+)\s*([kmgt])(i?)b?", re.IGNORECASE)

Seed = Annotated[
    int, typer.Option(min=0, max=2**32 - 1, help="Random seed of splits and random methods.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors, and JSON if asked for.")
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing output files.")]
DataHome = Annotated[
    Path | None,
    typer.Option(
        show_default="SCIKIT_LEARN_DATA, or ~/scikit_learn_data",
        help="The folder of the TechTC sets, or one with a subfolder techtc300.",
    ),
]

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
    typer.Option(
        help=f"For bss: {', '.join(RULES)}.", show_default="slack for dense data, or norm"
    ),
]
Polish = Annotated[
    bool,
    typer.Option("--polish", help="For bss: reweight the selection, for a tighter certificate."),
]
NoVerify = Annotated[
    bool, typer.Option("--no-verify", help="Do not account for rounding in the certificate.")
]
HeldOutFolds = Annotated[
    int,
    typer.Option("--folds", min=0, help="With --target: folds for the held-out error; 0: none."),
]


def _option(kind: Any, words: str, *flags: str, **settings: Any) -> Any:
    """An option of `read_table`. None: its default."""
    return Annotated[kind | None, typer.Option(*flags, help=words, **settings)]


# In the order of the help.
READ_OPTIONS: dict[str, Any] = {
    "ids": _option(
        list[str], "A column with the names of the samples. May be repeated.", metavar="COL"
    ),
    "drop": _option(list[str], "A column to leave out. May be repeated.", metavar="COL"),
    "keep": _option(
        list[str],
        "A column to keep that does not look like a feature. May be repeated.",
        metavar="COL",
    ),
    "features_in": _option(readers.FeaturesIn, "Where the features are.", show_default="columns"),
    "missing": _option(readers.Missing, "What to do about missing values.", show_default="error"),
    "categorical": _option(
        readers.Categorical,
        "What to do about columns of text; onehot: a column of zeros and ones per level.",
        show_default="error",
    ),
    "vocabulary": _option(
        Path, "A file with the names of the features, one per line.", "--vocabulary", "--names"
    ),
    "sample_names": _option(Path, "A file with the names of the samples."),
    "format": _option(
        str,
        f"The format of the file: {', '.join(readers.FORMATS)}.",
        show_default="by the name of the file",
    ),
    "key": _option(str, "Which array of an .npz, layer of an .h5ad, or sheet of a workbook."),
    "header": _option(
        bool,
        "Whether the first line has names.",
        "--header/--no-header",
        show_default="detected",
    ),
    "delimiter": _option(str, "The character between the cells.", show_default="detected"),
    "encoding": _option(str, "Of text: latin-1, cp1252, utf-16.", show_default="utf-8"),
    "zero_based": _option(
        bool,
        "Whether svmlight counts features from 0.",
        "--zero-based/--one-based",
        show_default="detected",
    ),
    "memory": _option(
        str,
        "How much memory to use: 2GB, 500MB. select memory-maps an .npy file larger than a "
        "quarter of it; files of other formats are loaded.",
        metavar="SIZE",
    ),
}
FILE = Annotated[
    Path, typer.Argument(metavar="FILE", show_default=False, help="The data, samples in rows.")
]
TARGET = _option(
    str,
    "The target: the name of a column, or a file with one value per line.",
    "--target",
    "-t",
    metavar="COL",
)


def folder_option(default: str) -> Any:
    """The option --output of a command that writes a folder."""
    return typer.Option(
        "--output", "-o", metavar="DIR", show_default=default, help="The folder to write."
    )


def check_options(methods: Sequence[str], options: Mapping[str, Any]) -> None:
    """Raise if an option is given (not None) that no method has."""
    known = {name for method in methods for name in METHODS[method].parameters}
    for name, value in options.items():
        if value is not None and name not in known:
            option = "no-rescale" if name == "rescale" else name
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


def parse_numbers(parts: Sequence[str], expected: str) -> list[float]:
    """Parse numbers, each finite and at least 0."""
    try:
        values = [float(part) for part in parts]
    except ValueError:
        values = [-1.0]
    if min(values) < 0 or not np.isfinite(values).all():
        raise ValueError(f"{expected}; got {','.join(parts)!r}")
    return values


def _read_file(file: Path, **options: Any) -> readers.Table:
    """Read a user's file; notes and errors name the options of the command."""
    try:
        table = readers.read_table(file, **options)
        return replace(table, notes=tuple(with_flags(note) for note in table.notes))
    except ValueError as error:
        raise ValueError(with_flags(str(error))) from error


def with_flags(message: str) -> str:
    """Replace parameters of `read_table` in a message by options of the command.

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
    """Limit scikit-learn's working memory, here and in child processes; None: no limit."""
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

    The command gets the file and a function that reads it; keywords of that override the options.
    """
    own = list(inspect.signature(command).parameters.values())[2:]

    @wraps(command)
    def run(file: Path | None, **given: Any) -> None:
        if file is None:  # some versions of typer and click pass None if it is missing
            raise ValueError("Missing argument 'FILE'")
        options = {name: given.pop(name) for name in ("target", *READ_OPTIONS)}
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
            for name, kind in READ_OPTIONS.items()
        ),
    ]
    run.__signature__ = inspect.Signature(in_help)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in in_help}
    return run


def check_outputs(
    file: Path,
    given: Path | None,
    suffix: str,
    names: Sequence[str],
    *,
    overwrite: bool,
    more: Mapping[Path, Collection[str]] | None = None,
) -> Path:
    """Return the folder to write: as given, or named after the input file.

    Raise, before any work is done, if an output cannot be written, or is the input file. ``names``
    are the files of the folder; ``more`` has other files, each with its formats.
    """
    stem, more = Path(file.resolve().name), more or {}
    if stem.suffix.lower() in readers.COMPRESSIONS:  # expression for expression.csv.gz
        stem = Path(stem.stem)
    folder = given or Path(f"{stem.stem}-{suffix}")
    for path, formats in more.items():
        report.check_target(path, formats=formats, overwrite=overwrite)
    for path in [*(folder / name for name in names), *more]:
        if path.resolve() == file.resolve():
            raise ValueError(f"cannot write {path}: it is the input file")
    report.check_folder(folder, names, overwrite=overwrite)
    return folder


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
