# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise data`: list, download and describe data sets."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ridgewise import datasets
from ridgewise.cli import app, command, make_app, print_help
from ridgewise.cli._options import AsJson, DataHome, Quiet
from ridgewise.report import progress_bar, to_json

N_WORDS_SHOWN = 10
BUILT_IN = {
    "synthetic": "the paper's synthetic data: make_ridge_synthetic, make_ridge_regression",
    "stdlib": "text from Python's own standard library: load_stdlib_text",
}

GROUP_HELP = """\
List, download and describe data sets: TechTC-300, and those that need no download.

Examples:

\b
  ridgewise data list
  ridgewise data fetch
  ridgewise data info 10341_14525
"""

data = make_app(help=GROUP_HELP)
data.callback(invoke_without_command=True)(print_help)
app.add_typer(data, name="data")


@command(data, "list")
def list_sets(data_home: DataHome = None, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """List the data sets on this machine.

    Words of at most four letters are not counted, as in the paper.

    Examples
    --------
      ridgewise data list
      ridgewise data list --data-home ~/techtc --json
    """
    names = datasets.techtc_names(data_home)
    rows = []
    with progress_bar("reading", quiet=quiet, unit="sets") as update:
        for done, name in enumerate(names):
            update(done, len(names))
            try:
                found = _describe(name, data_home)
                keys = ("name", "n_documents", "n_words", "n_empty", "folder")
                rows.append({key: found[key] for key in keys})
            except (ValueError, OSError) as error:  # so that the others are still listed
                rows.append({"name": name, "error": str(error)})
    home = datasets.resolve_data_home(data_home)
    record = {"data_home": str(home), "built_in": BUILT_IN, "techtc": rows}
    _print(record, _list_lines(home, rows), as_json=as_json, quiet=quiet)


@command(data)
def fetch(
    data_home: DataHome = None,
    mirror: Annotated[
        str | None,
        typer.Option(
            show_default="the original address",
            help="Another source: the address of an archive or of its folder, or a local zip file.",
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Download the sets of TechTC-300, unless they are present.

    The same command resumes an interrupted download.

    Examples
    --------
      ridgewise data fetch
      ridgewise data fetch --data-home ~/data
      ridgewise data fetch --mirror https://example.org/techtc300_preprocessed.zip
      ridgewise data fetch --mirror Downloads/techtc300_preprocessed.zip
    """
    with progress_bar("downloading", quiet=quiet, unit="bytes") as update:
        names = datasets.fetch_techtc300(data_home=data_home, mirror=mirror, on_progress=update)
    folder = datasets.resolve_data_home(data_home) / "techtc300"
    lines = [f"{len(names)} TechTC sets are in {folder}: see ridgewise data list"]
    _print({"folder": str(folder), "names": names}, lines, as_json=as_json, quiet=quiet)


@command(data)
def info(
    name: Annotated[
        str, typer.Argument(help=f"A TechTC set, such as 10341_14525, or {', '.join(BUILT_IN)}.")
    ],
    data_home: DataHome = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Describe one data set: its documents, words, classes and folder.

    Examples
    --------
      ridgewise data info 10341_14525
      ridgewise data info stdlib --json
    """
    described = _describe(name, data_home)
    _print(described, _info_lines(described), as_json=as_json, quiet=quiet)


def _list_lines(home: Path, rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "Built in:"
    for name, what in BUILT_IN.items():
        yield f"  {name:11}{what}"
    yield ""
    if not rows:
        yield f"TechTC: no set in {home} (ridgewise data fetch downloads them)"
        return
    yield f"TechTC: {len(rows)} in {home}"
    width = max(len(row["name"]) for row in rows)
    yield f"  {'name':{width}}  documents  words"
    for row in rows:
        sizes = row.get("error") or f"{row['n_documents']:9}  {row['n_words']:5}"
        yield f"  {row['name']:{width}}  {sizes}"


def _describe(name: str, data_home: Path | None) -> dict[str, Any]:
    """Collect what `info` prints."""
    if name == "synthetic":
        return {"name": name, "folder": None, "description": datasets.description(name).rstrip()}
    if name == "stdlib":
        found, folder = datasets.load_stdlib_text(), None
    elif not any(letter.isdigit() for letter in name):
        names = ", ".join(BUILT_IN)
        raise ValueError(f"no data set {name!r}: expected {names}, or a name like 10341_14525")
    else:
        found = datasets.load_techtc(name, data_home=data_home)
        folder = found.folder
    n_documents, n_words = found.data.shape
    labels, counts = np.unique(found.target, return_counts=True)
    return {
        "name": found.get("name", name),
        "folder": folder,
        "n_documents": n_documents,
        "n_words": n_words,
        "n_empty": int((found.data.sum(axis=1) == 0).sum()),
        "density": found.data.nnz / (n_documents * n_words),
        "classes": [
            {"label": int(label), "name": found.target_names[at], "n_documents": int(counts[at])}
            for at, label in enumerate(labels)
        ],
        "most_frequent_words": _words(found, found.data.sum(axis=0)),
        "longest_words": _words(found, np.char.str_len(found.feature_names)),
        "description": found.DESCR,
    }


def _words(found: Any, scores: Any) -> list[str]:
    """The words with the largest scores; ties in column order."""
    best = np.argsort(-np.asarray(scores), kind="stable")[:N_WORDS_SHOWN]
    return [str(word) for word in found.feature_names[best]]


def _info_lines(described: dict[str, Any]) -> Iterator[str]:
    if "classes" not in described:
        yield described["description"]
        return
    yield described["name"] + (f", in {described['folder']}" if described["folder"] else "")
    yield f"documents      {described['n_documents']}"
    for one in described["classes"]:
        yield f"  class {one['label']:2}     {one['n_documents']} of {one['name']}"
    yield f"  without any word: {described['n_empty']}"
    yield f"words          {described['n_words']}"
    yield f"  in a document on average: {described['density']:.1%} of them"
    yield f"most frequent  {', '.join(described['most_frequent_words'])}"
    yield f"longest        {', '.join(described['longest_words'])}"


def _print(record: Any, lines: Iterable[str], *, as_json: bool, quiet: bool) -> None:
    if as_json or not quiet:
        typer.echo(to_json(record) if as_json else "\n".join(lines))
