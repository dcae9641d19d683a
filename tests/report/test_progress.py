# SPDX-License-Identifier: BSD-3-Clause
"""Progress is for terminals: elsewhere nothing is written."""

import re
import time

import pytest

from ridgewise._run import FEATURES, advance
from ridgewise.report import progress, progress_bar


@pytest.fixture
def in_a_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)


def run(unit="", **options):
    with progress_bar("reading [x]", unit=unit, **options) as update:
        update(0, None)
        for done in range(1, 4):
            update(done * 1_000_000, 3_000_000)


@pytest.mark.parametrize(
    ("unit", "shown"), [("bytes", "3.0/3.0 MB"), ("sets", "3000000/3000000 sets")]
)
def test_terminal(in_a_terminal, capsys, unit, shown):
    run(unit)
    out, err = capsys.readouterr()
    assert out == ""
    assert "reading [x]" in err
    assert shown in plain(err)


def test_a_step_tells_the_time_left(in_a_terminal, capsys):
    with progress() as on_step:
        on_step("selection")
        for done in range(1, 6):
            time.sleep(0.01)
            advance(done, 10, "draws")
            advance(1000 * done, 5000, FEATURES)  # a pass within: not shown
    err = plain(capsys.readouterr().err)
    assert "selection ..." in err
    assert re.search(r"\d:\d\d:\d\d", err)
    advance(1, 2, "draws")  # nobody listens: nothing happens


def test_quiet(in_a_terminal, capsys):
    run(quiet=True)
    assert capsys.readouterr() == ("", "")


def test_pipe(capsys, monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    run()
    assert capsys.readouterr() == ("", "")


def test_errors_pass_through(in_a_terminal):
    with pytest.raises(KeyboardInterrupt), progress_bar("reading"):
        raise KeyboardInterrupt


def plain(text):
    """Without the codes of a terminal."""
    return re.sub(r"\x1b\[[\d;?]*\w", "", text)
