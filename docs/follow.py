# SPDX-License-Identifier: BSD-3-Clause
"""Run all code blocks of a page, and compare their output with the page.

    python docs/follow.py docs/start.md
    python docs/follow.py docs/start.md --installed      leave out its "pip install ..."

Bash blocks start here, with a new home folder; each continues in the final folder of the one before
it. Python blocks are one session in that folder. A text block is the expected output of the block
before it; "..." matches anything. After a line <!-- if EXPRESSION -->, it is compared only if the
expression is true in that session. Exit status 1 if a block fails or its output differs.
"""

import contextlib
import importlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple


class Block(NamedTuple):
    """A code block of a page, its expected output (or None), and when to compare that."""

    language: str
    code: str
    shown: str | None
    condition: str


def main(page: Path, installed: bool, afterwards: Callable[[], None] = lambda: None) -> None:
    """Run all blocks of a page, and then a function in their folder."""
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
            if block.shown is None or not eval(block.condition, names):
                continue
            if not is_alike(printed, block.shown):
                sys.exit(f"{page} shows something else:\n\n{block.shown}")
        afterwards()
        os.chdir("/")  # out of the folder that is about to go


def blocks(text: str) -> list[Block]:
    """The code blocks of a page."""
    found = re.findall(r"(?:^<!-- if ([^\n]*) -->\n)?^```(\w+)\n(.*?)^```$", text, re.M | re.S)
    result = []
    for (_, language, code), after in zip_longest(found, found[1:], fillvalue=("", "", "")):
        if language in ("bash", "python"):
            condition, following, shown = after
            is_shown = following == "text"
            result.append(Block(language, code, shown if is_shown else None, condition or "True"))
    return result


def run_bash(code: str, names: dict[str, Any]) -> str:
    """Run a block in a shell; keep its final folder."""
    with tempfile.NamedTemporaryFile() as place:
        script = f"{code}\npwd > {place.name}"
        shell = ["bash", "-euo", "pipefail", "-c", script]
        done = subprocess.run(shell, stdout=subprocess.PIPE, text=True, check=True)
        os.chdir(Path(place.name).read_text(encoding="utf-8").strip())
    return done.stdout


def run_python(code: str, names: dict[str, Any]) -> str:
    """Run a block in the namespace of the blocks before it."""
    importlib.invalidate_caches()  # something may have been installed
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "page", "exec"), names)
    return printed.getvalue()


def is_alike(printed: str, shown: str) -> bool:
    """Compare with the expected output, up to white space and "..."."""
    parts = " ".join(shown.split()).split("...")
    pattern = ".*".join(re.escape(part) for part in parts)
    return re.fullmatch(pattern, " ".join(printed.split()), re.S) is not None


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--installed"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    main(Path(arguments[0]), "--installed" in sys.argv)
