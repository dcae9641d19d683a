# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise demo`: what it tells people and programs, of one computation."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from ridgewise.cli import _demo

PNG = b"\x89PNG\r\n\x1a\n"
DEMO = [sys.executable, "-m", "ridgewise", "demo"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def computed_once():
    """Compute what the demo shows once, for people and for programs."""
    found = []

    def compute_once(*arguments, on_step, **options):
        if not found:
            found.append(compute(*arguments, on_step=on_step, **options))
        return found[0]

    compute = _demo.run_demo
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_demo, "run_demo", compute_once)
        yield


@pytest.fixture(scope="module")
def text(folder, run_in, computed_once):
    """What the demo prints to a pipe; its plot is in `folder`, under the default name."""
    (folder / "ridgewise-demo.png").write_bytes(b"of an earlier run")
    return run_in(folder, "demo")


@pytest.fixture(scope="module")
def found(folder, run_in, computed_once):
    """What the demo tells programs; it overwrites a file when forced to."""
    (folder / "named.png").write_bytes(b"of somebody")
    return json.loads(run_in(folder, "demo", "--json", "--output", "named.png", "--force"))


def test_pipe_gets_plain_text(text):
    assert "\x1b" not in text
    assert "\r" not in text.replace("\r\n", "\n")
    assert max(map(len, text.splitlines())) <= 80


def test_plots_are_there(folder, text, found):
    assert "The figure: ridgewise-demo.png\n" in text
    assert found["plot"] == "named.png"
    for name in ("ridgewise-demo.png", "named.png"):
        assert (folder / name).read_bytes().startswith(PNG)
    assert not list(folder.glob(".*"))


def test_text_and_json_agree(text, found):
    flat = " ".join(text.split())
    for row in found["methods"]:
        cells = f"{row['n_selected']:.0f} {row['error_mean']:.1%} {row['error_std']:.1%}"
        assert f"{row['method']} {cells}" in flat
    for method, kept in found["kept"].items():
        shown = re.search(rf"{method}, measured (\S+) (\S+)", flat).groups()
        bounds = pytest.approx([kept["lower"], kept["upper"]], rel=0.02, abs=6e-5)
        assert [float(bound) for bound in shown] == bounds
    for words in found["telling_words"].values():
        assert ", ".join(words) in flat


def test_promise_is_kept(found):
    certificate = found["certificate"]
    s = (found["rank"] / found["n_features"]) ** 0.5
    assert certificate["promised_lower"] == pytest.approx((1 - s) ** 2)
    assert certificate["promised_upper"] == pytest.approx((1 + s) ** 2)
    assert certificate["promised_lower"] <= certificate["lower"]
    assert certificate["upper"] <= certificate["promised_upper"]
    assert certificate["lower"] == pytest.approx(found["kept"]["BSS"]["lower"])


def test_figures_make_sense(found):
    assert found["n_features"] == 2 * found["rank"] < found["n_words"]
    errors = {row["method"]: row["error_mean"] for row in found["methods"]}
    assert errors["BSS"] < errors["random"]
    assert all(error < 0.3 for error in errors.values())


@pytest.mark.slow
def test_another_run_prints_the_same(text, tmp_path):
    done = subprocess.run(DEMO, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    first, second = (re.sub(r" +[\d.]+$", "", it, flags=re.M) for it in (text, done.stdout))
    assert first == second  # but for milliseconds, which end a line


@pytest.mark.slow
def test_what_to_try_next_works(text):
    code = text[text.index("from ridgewise import") :]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    measured = re.search(r"measured +\[([\d.]+), ([\d.]+)\]", done.stdout.decode())
    assert re.search("BSS, measured +{} +{}\n".format(*measured.groups()), text)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_interruption(tmp_path):
    """Ctrl-C while it works: the spinner goes, one line is said, and no file is left."""
    reader, terminal = os.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(
        DEMO, cwd=tmp_path, stdout=subprocess.PIPE, stderr=terminal, env=environment
    )
    os.close(terminal)
    shown = os.read(reader, 1000)
    while b"selecting" not in shown:
        shown += os.read(reader, 1000)
    process.send_signal(signal.SIGINT)
    shown += read_all(reader)
    assert process.wait(30) == 130
    assert process.stdout.read() == b""
    process.stdout.close()
    assert shown.count(b"ridgewise: interrupted") == 1
    assert b"Traceback" not in shown
    assert os.listdir(tmp_path) == []


def read_all(reader):
    """Read until the other end of a pseudo-terminal is closed, which Linux calls an error."""
    parts = []
    try:
        while part := os.read(reader, 1000):
            parts.append(part)
    except OSError:
        pass
    os.close(reader)
    return b"".join(parts)
