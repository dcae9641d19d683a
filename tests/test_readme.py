# SPDX-License-Identifier: BSD-3-Clause
"""The README's example gives what the README shows."""

import re
from pathlib import Path

from ridgewise import load_stdlib_text

README = Path(__file__).resolve().parents[1] / "README.md"


def block(language):
    return re.search(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.S)[1]


def test_example(capsys):
    exec(block("python"), {})
    shown, printed = block("text").splitlines(), capsys.readouterr().out.splitlines()
    assert len(printed) == len(shown)
    if load_stdlib_text().data.shape == (256, 2609):  # other versions of Python have other text
        assert printed == shown


def test_first_screen_has_both_commands():
    text = README.read_text(encoding="utf-8")
    assert "\npip install -e '.[cli]' && ridgewise demo\n" in text
    assert "\npip install -e '.[test]' && pytest\n" in text
