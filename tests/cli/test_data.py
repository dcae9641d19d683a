# SPDX-License-Identifier: BSD-3-Clause
"""`ridgewise data` as its users run it."""

import functools
import json
import os
import signal
import subprocess
import sys
import threading
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ridgewise import cli

DATA = [sys.executable, "-m", "ridgewise", "data"]
FEATURES = "# id1 Rivers\n# id2 Mountains\n1 river\n2 the\n3 mountain\n4 forest\n"
VECTORS = "+1 1:5 2:7\n-1 2:5 3:1\n-1 2:4\n"


@pytest.fixture
def home(tmp_path):
    """A folder of data with two sets, the second of which is damaged."""
    for name, vectors in (("Exp_10_20", VECTORS), ("Exp_10_30", "+1 9:9\n")):
        folder = tmp_path / "home" / "techtc300" / name
        folder.mkdir(parents=True)
        (folder / "features.idx").write_text(FEATURES)
        (folder / "vectors.dat").write_text(vectors)
    return tmp_path / "home"


@pytest.fixture
def archive(tmp_path, home):
    """The two sets as an archive, in a folder of its own."""
    (tmp_path / "web").mkdir()
    path = tmp_path / "web" / "techtc300_preprocessed.zip"
    with zipfile.ZipFile(path, "w") as file:
        for member in sorted(home.rglob("*.*")):
            file.write(member, member.relative_to(home))
        file.writestr("README", bytes(3_000_000), zipfile.ZIP_STORED)
    return path


@pytest.fixture
def url(archive):
    """The address of a server of the archive."""
    handler = functools.partial(QuietHandler, directory=archive.parent)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def run(*arguments, **environment):
    """Run the command; return its exit code and what it printed."""
    done = subprocess.run(
        [*DATA, *map(str, arguments)],
        capture_output=True,
        env={**os.environ, "no_proxy": "127.0.0.1", **environment},
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def run_here(capsys):
    """Run the command in this process, which is faster."""

    def run(*arguments):
        code = cli.run(["data", *map(str, arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]], ids=str)
def test_help(run_here, arguments):
    code, out, err = run_here(*arguments)
    assert (code, err) == (0, "")
    assert "\n    ridgewise data info 10341_14525\n" in out


@pytest.mark.parametrize("command", ["list", "fetch", "info"])
def test_help_of_the_commands(run_here, command):
    code, out, err = run_here(command, "--help")
    assert (code, err) == (0, "")
    assert f"\n    ridgewise data {command}" in out
    for option in ("--data-home", "--json", "--quiet"):
        assert option in out
    assert ("--mirror" in out) == (command == "fetch")


def test_list(home):
    code, out, err = run("list", "--data-home", home)
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    lines = out.splitlines()
    assert f"TechTC: 2 in {home}" in lines
    assert ["10_20", "3", "3"] in [line.split() for line in lines]
    assert "vectors.dat, line 1: the index 9 has no word" in lines[-1]
    assert any(line.startswith("  stdlib ") for line in lines)


def test_list_where_scikit_learn_keeps_data(home):
    code, out, _ = run("list", SCIKIT_LEARN_DATA=str(home))
    assert code == 0
    assert f"TechTC: 2 in {home}" in out


def test_list_for_programs(run_here, home):
    code, out, err = run_here("list", "--data-home", home, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["data_home"] == str(home)
    assert set(found["built_in"]) == {"synthetic", "stdlib"}
    good, bad = found["techtc"]
    assert good == {
        "name": "10_20",
        "n_documents": 3,
        "n_words": 3,
        "n_empty": 1,
        "folder": str(home / "techtc300" / "Exp_10_20"),
    }
    assert bad["name"] == "10_30"
    assert "line 1" in bad["error"]


def test_empty_list_says_how_to_get_sets(run_here, tmp_path):
    code, out, err = run_here("list", "--data-home", tmp_path)
    assert (code, err) == (0, "")
    assert f"TechTC: no set in {tmp_path} (ridgewise data fetch downloads them)\n" in out


def test_info(run_here, home):
    code, out, err = run_here("info", "10-20", "--data-home", home)
    assert (code, err) == (0, "")
    assert out == (
        f"10_20, in {home / 'techtc300' / 'Exp_10_20'}\n"
        "documents      3\n"
        "  class -1     2 of Mountains\n"
        "  class  1     1 of Rivers\n"
        "  without any word: 1\n"
        "words          3\n"
        "  in a document on average: 22.2% of them\n"
        "most frequent  river, mountain, forest\n"
        "longest        mountain, forest, river\n"
    )


def test_info_for_programs(run_here, home):
    code, out, _ = run_here("info", "Exp_10_20", "--data-home", home, "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["name"], found["n_documents"], found["n_words"]) == ("10_20", 3, 3)
    assert found["classes"][1] == {"label": 1, "name": "Rivers", "n_documents": 1}
    assert found["description"].startswith("TechTC set 10_20\n")


def test_info_of_the_built_in_sets(run_here):
    code, out, _ = run_here("info", "stdlib")
    assert code == 0
    assert "of data formats\n" in out
    code, out, _ = run_here("info", "synthetic")
    assert code == 0
    assert "make_ridge_regression" in out
    assert json.loads(run_here("info", "synthetic", "--json")[1])["name"] == "synthetic"


def test_fetch(url, tmp_path):
    new = tmp_path / "new"
    code, out, err = run("fetch", "--data-home", new, "--mirror", url)
    assert (code, err) == (0, "")
    assert out == f"2 TechTC sets are in {new / 'techtc300'}: see ridgewise data list\n"
    assert [path.name for path in new.iterdir()] == ["techtc300"]


def test_fetch_again_for_programs(run_here, home):
    code, out, err = run_here("fetch", "--data-home", home, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {"folder": str(home / "techtc300"), "names": ["10_20", "10_30"]}


def test_fetch_from_a_file(run_here, archive, tmp_path):
    code, out, _ = run_here("fetch", "--data-home", tmp_path / "new", "--mirror", archive)
    assert code == 0
    assert out.startswith("2 TechTC sets")


@pytest.mark.parametrize("command", [["list"], ["fetch"], ["info", "10_20"]], ids=" ".join)
def test_quiet(run_here, home, command):
    assert run_here(*command, "--data-home", home, "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lists"], "No such command 'lists'"),
        (["info"], "Missing argument 'NAME'"),
        (["info", "10_21"], "the nearest of 2 is 10_20"),
        (["info", "10_30"], "vectors.dat, line 1: the index 9 has no word"),
        (["info", "stdlb"], "no data set 'stdlb': expected synthetic, stdlib"),
        (["info", "10"], "'10' is not the name of a TechTC set"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors_are_one_line(run_here, home, arguments, message):
    home_option = ["--data-home", home] if len(arguments) == 2 else []
    code, out, err = run_here(*arguments, *home_option)
    assert (code, out) == (2, "")
    assert err.startswith("ridgewise: ")
    assert message.lower() in err.lower()
    assert err.count("\n") == 1


def test_failed_fetch_is_one_line(url, tmp_path):
    code, out, err = run("fetch", "--data-home", tmp_path / "new", "--mirror", f"{url}absent.zip")
    assert (code, out) == (2, "")
    assert err == f"ridgewise: cannot download {url}absent.zip: 404 File not found\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_bar_and_interruption(archive, tmp_path):
    """Ctrl-C in the middle: the bar goes, one line is said, and the part is kept."""
    release = threading.Event()

    class SlowHandler(QuietHandler):
        def copyfile(self, source, outputfile):
            outputfile.write(source.read(1_000_000))
            outputfile.flush()
            release.wait(60)

    handler = functools.partial(SlowHandler, directory=archive.parent)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        new = tmp_path / "new"
        code, shown = interrupt(
            ["fetch", "--data-home", new, "--mirror", f"http://127.0.0.1:{server.server_port}"]
        )
        release.set()
        server.shutdown()
        thread.join()
    assert code == 130
    assert b"downloading" in shown
    assert b"0:00" in shown or b"-:--:--" in shown  # the time left
    assert shown.count(b"ridgewise: interrupted") == 1
    assert b"Traceback" not in shown
    (part,) = new.iterdir()
    assert part.suffix == ".part"
    assert part.read_bytes() == archive.read_bytes()[: part.stat().st_size]


def interrupt(arguments):
    """Run in a terminal, press Ctrl-C when a megabyte is there, and return what it showed."""
    reader, terminal = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "no_proxy": "127.0.0.1"}
    process = subprocess.Popen(
        [*DATA, *map(str, arguments)], stdout=subprocess.PIPE, stderr=terminal, env=environment
    )
    os.close(terminal)
    shown = b""
    while b"/3.0 MB" not in shown:
        shown += os.read(reader, 1000)
    process.send_signal(signal.SIGINT)
    try:
        while piece := os.read(reader, 1000):
            shown += piece
    except OSError:  # so Linux says that the other end is closed
        pass
    os.close(reader)
    assert process.communicate(timeout=30)[0] == b""
    return process.returncode, shown
