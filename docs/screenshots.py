# SPDX-License-Identifier: BSD-3-Clause
"""Screenshots of the reports that the page "Start" makes: `python docs/screenshots.py`.

Needs Chromium (see docs/developing.md) and the `ridgewise` command.
"""

import shutil
from pathlib import Path

from follow import main as follow
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).resolve().parent
WIDTH = 1180
REPORTS = {"select": ("words-selected", 1105), "compare": ("words-compared", 1090)}  # heights


def take_pictures() -> None:
    """Take a screenshot of the top of each report in this folder."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, (folder, height) in REPORTS.items():
            page = browser.new_page(viewport={"width": WIDTH, "height": height})
            page.goto(Path(folder, "report.html").resolve().as_uri())
            page.screenshot(path=DOCS / "images" / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    follow(DOCS / "start.md", installed=True, afterwards=take_pictures)
