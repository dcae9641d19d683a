# SPDX-License-Identifier: BSD-3-Clause
"""The README's example gives what the README shows."""

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"


def block(language):
    return re.search(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.S)[1]


def test_example(capsys):
    exec(block("python"), {})
    shown, printed = block("text").splitlines(), capsys.readouterr().out.splitlines()
    assert len(printed) == len(shown)
    if sys.version_info[:2] == (3, 11):  # the library's text is another in other versions
        assert printed == shown


def test_first_screen_has_both_commands():
    text = README.read_text(encoding="utf-8")
    assert "\npip install -e '.[cli]' && ridgewise demo\n" in text
    assert "\npip install -e '.[test]' && pytest\n" in text
