# SPDX-License-Identifier: BSD-3-Clause
"""Follow a page word for word, and hold what comes out against what it shows.

    python docs/follow.py docs/start.md
    python docs/follow.py docs/start.md --installed      leave out its "pip install ..."

Blocks of bash start here, with a new home, and each goes on in the folder where the one before it
was left. Blocks of Python are one session, in that folder. A block of text is what the block before
it printed; "..." in it stands for anything. Ends with 1 where something fails or differs.
"""

import contextlib
import importlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple


class Block(NamedTuple):
    """A block of a page, and what the page says that it prints (None: nothing said)."""

    language: str
    code: str
    shown: str | None


def main(page: Path, installed: bool) -> None:
    """Run all blocks of a page."""
    text = page.read_text(encoding="utf-8")
    if installed:
        text = re.sub(r"^pip install .*\n", "", text, flags=re.M)
    with tempfile.TemporaryDirectory() as home:
        os.environ.update({"HOME": home, "COLUMNS": "80", "MPLBACKEND": "Agg"})
        names: dict[str, Any] = {"__name__": "__main__"}
        for block in blocks(text):
            print(f"== {block.language}\n{block.code}", flush=True)
            run = run_bash if block.language == "bash" else run_python
            printed = run(block.code, names)
            print(printed, flush=True)
            if block.shown is not None and not is_alike(printed, block.shown):
                sys.exit(f"{page} shows something else:\n\n{block.shown}")
        os.chdir("/")  # out of the folder that is about to go


def blocks(text: str) -> list[Block]:
    """The blocks of a page that are to be run."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)
    shown = [code if language == "text" else None for language, code in found[1:]] + [None]
    return [
        Block(language, code, after)
        for (language, code), after in zip(found, shown, strict=True)
        if language in ("bash", "python")
    ]


def run_bash(code: str, names: dict[str, Any]) -> str:
    """Run a block in a shell, and go where it goes."""
    with tempfile.NamedTemporaryFile() as place:
        script = f"{code}\npwd > {place.name}"
        shell = ["bash", "-euo", "pipefail", "-c", script]
        done = subprocess.run(shell, stdout=subprocess.PIPE, text=True, check=True)
        os.chdir(Path(place.name).read_text(encoding="utf-8").strip())
    return done.stdout


def run_python(code: str, names: dict[str, Any]) -> str:
    """Run a block among the names that the blocks before it left."""
    importlib.invalidate_caches()  # something may have been installed
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "page", "exec"), names)
    return printed.getvalue()


def is_alike(printed: str, shown: str) -> bool:
    """Whether this is what was shown, but for white space and what "..." stands for."""
    parts = " ".join(shown.split()).split("...")
    pattern = ".*".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, " ".join(printed.split()), re.S) is not None


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--installed"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    main(Path(arguments[0]), "--installed" in sys.argv)
