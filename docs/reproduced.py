# SPDX-License-Identifier: BSD-3-Clause
"""Generate the page "The paper, reproduced" from the output of `ridgewise reproduce all`.

python docs/reproduced.py ridgewise-paper
"""

import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent
IMAGES = "images/paper"
HEAD = """\
# The paper, reproduced

Every experiment of *Feature Selection for Ridge Regression with Provable Guarantees* (Paul and
Drineas), with the printed results beside the measured ones. `python docs/reproduced.py` generates
this page from the output of the command below; no result is typed in. The TechTC sets are rebuilt,
stemmed and without stop words, so they cannot give the paper's exact figures. The protocol is the
paper's, and the ordering can be compared. Errors in the paper's theorems are on another page,
[The paper, corrected](paper-corrected.md).

## How it was run

The run below resumed from cached folds. Without a cache, `ridgewise reproduce table3 figures words
risk -j 2` (24 sets, ten ten-fold cross-validations, nine methods) took 16 minutes on two cores. At
the paper's speed, BSS alone would take 150 hours.

"""


def main(folder: Path) -> None:
    """Write the page, and copy its figures."""
    text = (folder / "report.md").read_text(encoding="utf-8")
    images = re.findall(r"\]\(([\w.-]+\.png)\)", text)
    (DOCS / IMAGES).mkdir(parents=True, exist_ok=True)
    for name in images:
        shutil.copyfile(folder / name, DOCS / IMAGES / name)
    text = re.sub(r"\]\(([\w.-]+\.png)\)", rf"]({IMAGES}/\1)", text)
    (DOCS / "paper-reproduced.md").write_text(HEAD + text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
