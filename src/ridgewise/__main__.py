# SPDX-License-Identifier: BSD-3-Clause
"""The command `ridgewise`, also as `python -m ridgewise`."""

import sys

# Of the extra "cli", under the names that they are imported by.
EXTRA = {"click", "jinja2", "markupsafe", "matplotlib", "polars", "rich", "typer"}


def main() -> int:
    """Run the command, or say what it needs; return the exit code."""
    try:
        # Not above: the library does without what this needs, and its absence is reported here.
        from ridgewise.cli import run

        return run()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRA:
            raise
        needs = "the command needs its extra: pip install 'ridgewise[cli]'"
        print(f"ridgewise: {needs}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ridgewise: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
