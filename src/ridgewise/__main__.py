# SPDX-License-Identifier: BSD-3-Clause
"""The command `ridgewise`, also as `python -m ridgewise`."""

import sys
from importlib.util import find_spec

EXTRA = ("jinja2", "matplotlib", "polars", "rich", "typer")  # of the extra "cli"


def main() -> int:
    """Run the command, or say what it needs; return the exit code."""
    if not all(map(find_spec, EXTRA)):
        needs = "the command needs its extra: pip install 'ridgewise[cli]'"
        print(f"ridgewise: {needs}", file=sys.stderr)
        return 2
    try:
        from ridgewise.cli import run  # not above: it needs the extra

        return run()
    except KeyboardInterrupt:
        print("ridgewise: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
