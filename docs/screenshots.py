# SPDX-License-Identifier: BSD-3-Clause
"""Screenshots of the HTML pages for README and guide: `python docs/screenshots.py`.

The data is text from Python's own library, 256 documents; needs Chromium (see docs/developing.md).
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp
from playwright.sync_api import sync_playwright

from ridgewise import load_stdlib_text

IMAGES = Path(__file__).parent / "images"
COMMANDS = {
    "select": ["-n", "600"],
    "compare": ["-t", "topics.txt", "-n", "150,300,600", "--alpha", "0.01,0.1,1"],
}
SIZE = {"width": 1180, "height": 940}


def main() -> None:
    """Generate the pages with the command, and take screenshots."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        for command, options in COMMANDS.items():
            file = ["words.npz", "--vocabulary", "vocabulary.txt", "-o", command, "-q"]
            arguments = [sys.executable, "-m", "ridgewise", command, *file, *options]
            subprocess.run(arguments, cwd=folder, check=True)
        take_pictures(folder)


def write_data(folder: Path) -> None:
    """Write the documents' words as a sparse matrix, a vocabulary and the topics."""
    text = load_stdlib_text()
    sp.save_npz(folder / "words.npz", sp.csr_array(text.data.log1p()))
    (folder / "vocabulary.txt").write_text("\n".join(text.feature_names) + "\n")
    topics = np.asarray(text.target_names)[text.target]
    (folder / "topics.txt").write_text("\n".join(topics) + "\n")


def take_pictures(folder: Path) -> None:
    """Take a screenshot of the top of each page."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for command in COMMANDS:
            page = browser.new_page(viewport=SIZE)
            page.goto((folder / command / "report.html").as_uri())
            page.screenshot(path=IMAGES / f"{command}.png")
        browser.close()


if __name__ == "__main__":
    main()
