# SPDX-License-Identifier: BSD-3-Clause
"""What is printed is readable anywhere, and says what was found."""

import re
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from ridgewise.report import print_demo


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    for name in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


def printed(demo, plot="demo.png"):
    file = StringIO()
    print_demo(demo, Path(plot), file=file)
    return file.getvalue()


def test_plain_where_there_is_no_terminal(demo):
    text = printed(demo)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"[ \t]$", text, re.MULTILINE)


def test_everything_found_is_said(demo):
    text = " ".join(printed(demo).split())
    for words in ("40 documents", "Python 3.99.1", "left (15) and right (25)", "200 words"):
        assert words in text
    assert "BSS selected 80 of the words (40%)" in text
    assert "right dexterous, starboard" in text
    assert "BSS, promised 0.2500 2.2500" in text
    assert "BSS, measured 0.5000 1.5000" in text
    assert "random, measured 0 1.5000" in text
    assert "all words 200 5.1% 1.2% -" in text
    assert "RRQR 50 8.0% 1.2% 428.6" in text
    assert "BSSSelector(80, center=True)" in text


def test_terminal_has_colour_and_no_endless_lines(demo, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    text = printed(demo)
    assert "\x1b[" in text
    assert max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in text.splitlines()) <= 100


def test_path_is_printed_as_it_is(demo):
    plot = f"a [bold]folder[/] :smile:/{'long' * 30}.png"
    assert f"The figure: {plot}\n" in printed(demo, plot)


def test_ascii_suffices(demo):
    buffer = BytesIO()
    file = TextIOWrapper(buffer, encoding="ascii")
    print_demo(demo, Path("demo.png"), file=file)
    file.flush()
    assert buffer.getvalue().decode("ascii").startswith("The data\n")
