# SPDX-License-Identifier: BSD-3-Clause
"""The download, from a server that is good, flaky, dishonest or hostile."""

import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ridgewise import fetch_techtc300, load_techtc
from ridgewise.datasets import _fetch, techtc_names

FILES = {
    "Exp_1_2/features.idx": b"1 river\n2 mountain\n",
    "Exp_1_2/vectors.dat": b"+1 1:2\n-1 2:1\n",
    "Exp_1_3/features.idx": b"1 river\n2 forest\n",
    "Exp_1_3/vectors.dat": b"+1 1:1\n-1 2:4\n",
}


def zipped(files=FILES, *, top="", padding=0):
    """An archive of names and contents; with padding, a stored file makes it longer."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(f"{top}{name}", content)
        if padding:
            noise = bytes(range(256)) * (padding // 256)
            archive.writestr(f"{top}README", noise, zipfile.ZIP_STORED)
    return stream.getvalue()


class Server:
    """A web server on this machine; `behave` is what it does with a request, by its number."""

    def __init__(self):
        self.content = zipped()
        self.requests = []  # the headers of each
        self.behave = lambda handler, number: handler.send_file()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.requests.append(dict(self.headers))
                server.behave(self, len(server.requests))

            def send_file(self, *, ranges=True, announce=None, cut=None):
                """Send the file or its rest: announced as so long, cut off after so many bytes."""
                content, start = server.content, 0
                if ranges and "Range" in self.headers:
                    start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
                total = len(content) if announce is None else announce
                if start >= len(content):
                    self.answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
                    return
                span = {"Content-Range": f"bytes {start}-{total - 1}/{total}"} if start else {}
                self.answer(206 if start else 200, content[start:cut], span, total - start)

            def answer(self, status, body, headers=(), length=None):
                self.send_response(status)
                for name, value in dict(headers).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/{_fetch.ARCHIVE}"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(_fetch, "PAUSE", 0)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


@pytest.fixture
def home(tmp_path):
    """A folder of data that does not exist yet, in a folder that nothing else is in."""
    return tmp_path / "inner" / "home"


def left(home):
    """Names of what is around and in a folder of data, which a hostile archive may add to."""
    return sorted(str(path.relative_to(home)) for path in home.rglob("*")) + sorted(
        path.name for path in home.parent.parent.rglob("*") if home not in path.parents
    )


NOTHING = ["home", "inner"]


# --- a good server


@pytest.mark.parametrize("top", ["", "techtc300_preprocessed/", "a/b/"])
def test_sets_are_there_and_nothing_else(server, home, top):
    server.content = zipped(top=top)
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]
    assert techtc_names(home) == ["1_2", "1_3"]
    assert [path.name for path in home.iterdir()] == ["techtc300"]
    assert load_techtc("1_3", data_home=home).data.toarray().tolist() == [[1, 0], [0, 4]]


def test_nothing_is_downloaded_twice(server, home):
    fetch_techtc300(data_home=home, mirror=server.url)
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]
    assert len(server.requests) == 1


def test_default_folder_is_that_of_scikit_learn(server, home, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(home))
    fetch_techtc300(mirror=server.url)
    assert (home / "techtc300" / "Exp_1_2" / "vectors.dat").is_file()
    assert techtc_names() == ["1_2", "1_3"]


def test_mirror_may_be_a_folder(server, home):
    folder = server.url.removesuffix(_fetch.ARCHIVE)
    assert fetch_techtc300(data_home=home, mirror=folder) == ["1_2", "1_3"]


def test_mirror_may_be_a_file_here(tmp_path, home):
    archive = tmp_path / "mine.zip"
    archive.write_bytes(zipped())
    assert fetch_techtc300(data_home=home, mirror=str(archive)) == ["1_2", "1_3"]
    assert archive.exists()


def test_default_address_is_the_published_one(home, monkeypatch):
    asked = []

    def download(url, path, **options):
        asked.append(url)
        path.write_bytes(zipped())

    monkeypatch.setattr(_fetch, "download", download)
    fetch_techtc300(data_home=home)
    assert asked == ["http://techtc.cs.technion.ac.il/techtc300/data/techtc300_preprocessed.zip"]


def test_progress(server, home):
    server.content = zipped(padding=1 << 20)
    steps = []
    fetch_techtc300(data_home=home, mirror=server.url, on_progress=lambda *step: steps.append(step))
    total = len(server.content)
    assert steps[0] == (0, total)
    assert steps[-1] == (total, total)
    assert len(steps) > 10
    assert steps == sorted(steps)


def test_length_may_be_unsaid(server, home):
    def behave(handler, number):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(server.content)

    server.behave = behave
    steps = []
    fetch_techtc300(data_home=home, mirror=server.url, on_progress=lambda *s: steps.append(s))
    assert steps[-1] == (len(server.content), None)


# --- a flaky one


@pytest.mark.parametrize("ranges", [True, False])
def test_cut_off(server, home, ranges):
    """With ranges the rest is asked for; a server that knows none sends all of it again."""
    server.content = zipped(padding=1 << 18)

    def behave(handler, number):
        handler.send_file(ranges=ranges, cut=100_000 * number if number < 3 else None)

    server.behave = behave
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]
    assert [request.get("Range") for request in server.requests] == [
        None,
        "bytes=100000-",
        "bytes=200000-",
    ]
    assert [path.name for path in home.iterdir()] == ["techtc300"]


def test_next_call_resumes(server, home):
    server.behave = lambda handler, number: handler.send_file(cut=150)
    with pytest.raises(OSError, match=r"150 of the .* try again later to resume"):
        fetch_techtc300(data_home=home, mirror=server.url)
    assert len(server.requests) == _fetch.ATTEMPTS
    (part,) = home.iterdir()
    assert part.read_bytes() == server.content[:150]
    server.behave = lambda handler, number: handler.send_file()
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]
    assert server.requests[-1]["Range"] == "bytes=150-"


def test_part_of_one_mirror_is_not_completed_from_another(server, home):
    server.behave = lambda handler, number: handler.send_file(cut=150)
    with pytest.raises(OSError, match="150 of the"):
        fetch_techtc300(data_home=home, mirror=server.url)
    server.behave = lambda handler, number: handler.send_file()
    fetch_techtc300(data_home=home, mirror=server.url.replace(_fetch.ARCHIVE, "other.zip"))
    assert "Range" not in server.requests[-1]


def test_whole_part_is_recognised(server, home):
    """All had arrived, and then the computer was switched off."""
    server.behave = lambda handler, number: handler.send_file(cut=150)
    with pytest.raises(OSError, match="150 of the"):
        fetch_techtc300(data_home=home, mirror=server.url)
    (part,) = home.iterdir()
    part.write_bytes(server.content)
    server.behave = lambda handler, number: handler.send_file()
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]


def test_changed_file_is_not_mixed(server, home):
    """The rest is asked for of the version that it began with; of another, all is sent."""
    old = bytes(len(server.content))

    def behave(handler, number):
        if number == 1:
            handler.answer(200, old[:100], {"ETag": '"old"'}, len(old))
        else:
            handler.send_file(ranges=handler.headers["If-Range"] != '"old"')

    server.behave = behave
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [500, 503])
def test_server_with_a_bad_moment(server, home, status):
    def behave(handler, number):
        if number < 3:
            handler.answer(status, b"")
        else:
            handler.send_file()

    server.behave = behave
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]


def test_connection_that_is_dropped_at_once(server, home):
    server.behave = lambda handler, number: number < 2 or handler.send_file()
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]


@pytest.mark.parametrize("span", ["bytes 7-99/100", "nonsense", ""])
def test_rest_of_something_else_is_not_taken(server, home, span):
    def behave(handler, number):
        if "Range" in handler.headers:
            handler.answer(206, b"x" * 93, {"Content-Range": span})
        else:
            handler.send_file(cut=50 if number < 3 else None)

    server.behave = behave
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]


def test_silence(server, home, monkeypatch):
    monkeypatch.setattr(_fetch, "TIMEOUT", 0.1)
    done = threading.Event()
    server.behave = lambda handler, number: done.wait(10)
    with pytest.raises(OSError, match="timed out"):
        fetch_techtc300(data_home=home, mirror=server.url)
    done.set()


def test_no_server(home):
    with pytest.raises(OSError, match=r"cannot reach http://127\.0\.0\.1:9/"):
        fetch_techtc300(data_home=home, mirror="http://127.0.0.1:9/")


# --- a dishonest one


def test_more_is_announced_than_there_is(server, home):
    """The rest is asked for, and there is none."""
    length = len(server.content)
    server.behave = lambda handler, number: handler.send_file(announce=length + 1000)
    with pytest.raises(OSError, match=f"itself: {length + 1000} .* {length} now"):
        fetch_techtc300(data_home=home, mirror=server.url)
    assert left(home) == NOTHING


def test_more_is_announced_than_there_is_without_ranges(server, home):
    length = len(server.content)
    server.behave = lambda handler, number: handler.send_file(ranges=False, announce=length + 1000)
    with pytest.raises(OSError, match=f"{length} of the {length + 1000} bytes arrived"):
        fetch_techtc300(data_home=home, mirror=server.url)


def test_less_is_announced_than_there_is(server, home):
    server.behave = lambda handler, number: handler.send_file(announce=200)
    with pytest.raises(ValueError, match="has more than the 200 bytes received"):
        fetch_techtc300(data_home=home, mirror=server.url)
    assert left(home) == NOTHING


@pytest.mark.parametrize("honest", [True, False])
def test_size_limit(server, home, honest):
    """Kept before anything arrives where the length is said, and while it arrives elsewhere."""

    def behave(handler, number):
        handler.send_response(200)
        if honest:
            handler.send_header("Content-Length", str(len(server.content)))
        handler.end_headers()
        handler.wfile.write(server.content)

    server.behave = behave
    steps = []
    with pytest.raises(OSError, match=r"300 (bytes|are) allowed"):
        fetch_techtc300(
            data_home=home,
            mirror=server.url,
            max_download=300,
            on_progress=lambda *step: steps.append(step),
        )
    assert len(steps) == (0 if honest else 1)
    assert left(home) == NOTHING


def test_missing_file(server, home):
    server.behave = lambda handler, number: handler.answer(404, b"<html>not here</html>")
    with pytest.raises(OSError, match=r"techtc300_preprocessed\.zip: 404 Not Found"):
        fetch_techtc300(data_home=home, mirror=server.url)
    assert len(server.requests) == 1
    assert left(home) == NOTHING


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!DOCTYPE html><html>welcome</html>", "got a web page instead of a zip archive"),
        (zipped({"README": b"hello"}), "TechTC sets in 0 places"),
        (zipped({"a/Exp_1_2/x": b"", "b/Exp_1_2/x": b""}), "TechTC sets in 2 places"),
    ],
    ids=["page", "no sets", "sets twice"],
)
def test_other_content(server, home, content, message):
    server.behave = lambda handler, number: handler.answer(200, content)
    with pytest.raises(ValueError, match=message):
        fetch_techtc300(data_home=home, mirror=server.url)
    assert left(home) == NOTHING


@pytest.mark.parametrize("mirror", ["ftp://example.org/a.zip", "file:///a.zip", "a.zip", "http:/"])
def test_addresses_that_are_not_of_the_web(home, mirror):
    with pytest.raises(ValueError, match="expected an address with http://"):
        fetch_techtc300(data_home=home, mirror=mirror)


def test_address_with_a_space(home):
    with pytest.raises(ValueError, match="control characters"):
        fetch_techtc300(data_home=home, mirror="http://127.0.0.1/a b.zip")


# --- a hostile one: what else such an archive may try is in test_archive.py


@pytest.mark.parametrize(
    ("member", "content", "message"),
    [
        ("../../evil", b"evil", "'../../evil' leaves the folder"),
        ("Exp_1_2/zeros", bytes(10_000_000), "'Exp_1_2/zeros' it expands to more"),
        ("Exp_1_2/vectors.dat/more", b"", "vectors.dat"),
    ],
    ids=["up", "bomb", "file and folder"],
)
def test_hostile_archive(server, home, member, content, message):
    server.content = zipped([*FILES.items(), (member, content)])
    with pytest.raises((ValueError, OSError), match=message):
        fetch_techtc300(data_home=home, mirror=server.url)
    assert left(home) == NOTHING


def test_too_many_members(server, home, monkeypatch):
    monkeypatch.setattr(_fetch, "MAX_MEMBERS", 3)
    with pytest.raises(ValueError, match="it has 4 members, and 3 are allowed"):
        fetch_techtc300(data_home=home, mirror=server.url)
    assert left(home) == NOTHING


def test_limit_on_what_comes_out(server, home):
    total = sum(map(len, FILES.values()))
    fetch_techtc300(data_home=home / "a", mirror=server.url, max_extracted=total)
    with pytest.raises(ValueError, match="expands to more than is allowed"):
        fetch_techtc300(data_home=home / "b", mirror=server.url, max_extracted=total - 1)
    assert not list((home / "b").iterdir())


# --- what is in the way, and Ctrl-C


def test_what_is_in_the_way_stays(server, home):
    (home / "techtc300").mkdir(parents=True)
    (home / "techtc300" / "mine").write_text("precious")
    with pytest.raises(FileExistsError, match="exists, is not empty and has no TechTC set"):
        fetch_techtc300(data_home=home, mirror=server.url)
    assert (home / "techtc300" / "mine").read_text() == "precious"
    assert not server.requests


def test_empty_folder_is_not_in_the_way(server, home):
    (home / "techtc300").mkdir(parents=True)
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]


def test_interrupted_download_is_resumed(server, home):
    server.content = zipped(padding=1 << 20)

    def interrupt(done, total):
        if done > 300_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch_techtc300(data_home=home, mirror=server.url, on_progress=interrupt)
    (part,) = home.iterdir()
    size = part.stat().st_size
    assert size > 300_000
    assert part.read_bytes() == server.content[:size]
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]
    assert server.requests[-1]["Range"] == f"bytes={size}-"


def test_interrupted_extraction(server, home, monkeypatch):
    """Nothing half extracted is left; the archive is, for the next time."""

    def interrupt(file, member, folder, limit):
        (folder / "half").write_text("half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_fetch, "_extract", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fetch_techtc300(data_home=home, mirror=server.url)
    assert [path.suffix for path in home.iterdir()] == [".download"]
    assert fetch_techtc300(data_home=home, mirror=server.url) == ["1_2", "1_3"]
    assert len(server.requests) == 1
    assert [Path(path).name for path in home.iterdir()] == ["techtc300"]
