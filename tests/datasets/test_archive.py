# SPDX-License-Identifier: BSD-3-Clause
"""Whatever an archive holds, nothing leaves the folder and nothing fills the disk."""

import stat
import struct
import warnings
import zipfile

import pytest

from ridgewise.datasets import _fetch
from ridgewise.datasets._fetch import extract_zip

FILES = {"a/one": b"1" * 1000, "a/two": b"22", "three": b""}


@pytest.fixture
def archive(tmp_path):
    return tmp_path / "archive.zip"


@pytest.fixture
def extract(tmp_path, archive):
    """Extract and return the contents of the files by their names."""
    folder = tmp_path / "out"

    def extract(*, max_bytes=100_000_000, max_members=100):
        extract_zip(archive, folder, max_bytes=max_bytes, max_members=max_members)
        files = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}

    yield extract
    assert {path.name for path in tmp_path.iterdir()} == {"archive.zip", "out"}


def write(path, members=(), method=zipfile.ZIP_DEFLATED):
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in [*FILES.items(), *members]:
            archive.writestr(name, content)


def member(name, kind=stat.S_IFREG):
    info = zipfile.ZipInfo("placeholder")
    info.filename = name  # the constructor would make it harmless
    info.external_attr = (kind | 0o777) << 16
    return info


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_files_and_folders(archive, extract, method):
    write(archive, [("empty/", b""), ("./b/four", b"4")], method)
    assert extract() == {**FILES, "b/four": b"4"}


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (member("../evil"), "leaves the folder"),
        (member("a/../../evil"), "leaves the folder"),
        (member("a/../b"), "leaves the folder"),
        (member("..\\evil"), "leaves the folder"),
        (member("/evil"), "leaves the folder"),
        (member("//host/evil"), "leaves the folder"),
        (member("C:/evil"), "leaves the folder"),
        (member("a/x\0/../../evil"), "leaves the folder"),
        (member("."), "has no name"),
        (member("link", stat.S_IFLNK), "is a link or a device"),
        (member("pipe", stat.S_IFIFO), "is a link or a device"),
        (member("socket", stat.S_IFSOCK), "is a link or a device"),
        (member("device", stat.S_IFCHR), "is a link or a device"),
        (member("a/two"), "occurs twice"),
        (member("A/./TWO"), "occurs twice"),
    ],
    ids=lambda value: repr(getattr(value, "filename", "")),
)
def test_hostile_members(archive, extract, tmp_path, info, message):
    write(archive, [(info, b"/etc/passwd")])
    with pytest.raises(ValueError, match=f"refused the archive: its member .* {message}"):
        extract()
    assert not list((tmp_path / "out").iterdir())  # found before anything is written


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_without_bounds(archive, extract, method):
    write(archive, method=method)
    with pytest.raises(ValueError, match="by a method other than deflate"):
        extract()


def test_encrypted_member(archive, extract):
    write(archive)
    change(archive, offset=8, new=b"\1")
    with pytest.raises(ValueError, match="is encrypted"):
        extract()


def test_number_of_members(archive, extract):
    write(archive)
    with pytest.raises(ValueError, match="it has 3 members, and 2 are allowed"):
        extract(max_members=2)


@pytest.mark.parametrize("too_few", [0, 1])
def test_number_of_bytes(archive, extract, too_few):
    write(archive)
    if too_few:
        with pytest.raises(ValueError, match="'a/two' it expands to more than is allowed"):
            extract(max_bytes=1001)
    else:
        assert extract(max_bytes=1002) == FILES


def test_bomb(archive, extract, monkeypatch, tmp_path):
    """10 MB of zeros in 10 kB: refused once a hundred times the archive is out."""
    monkeypatch.setattr(_fetch, "SLACK", 0)
    write(archive, [("zeros", bytes(10_000_000))])
    size = archive.stat().st_size
    assert size < 20_000
    with pytest.raises(ValueError, match="'zeros' it expands to more than is allowed"):
        extract()
    assert (tmp_path / "out" / "zeros").stat().st_size <= 100 * size


@pytest.mark.parametrize("claimed", [0, 500, 2**31])
def test_sizes_that_are_lies(archive, extract, claimed):
    """What the directory says is neither trusted nor, where it is wrong, let pass."""
    write(archive)
    change(archive, offset=24, new=struct.pack("<I", claimed))
    with pytest.raises(ValueError, match="the archive is damaged"):
        extract()


def test_changed_content(archive, extract):
    write(archive, method=zipfile.ZIP_STORED)
    archive.write_bytes(archive.read_bytes().replace(b"1111", b"1112", 1))
    with pytest.raises(ValueError, match=r"the archive is damaged.*CRC"):
        extract()


def test_cut_off(archive, extract):
    write(archive)
    archive.write_bytes(archive.read_bytes()[:-30])
    with pytest.raises(ValueError, match="or has more than the"):
        extract()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!DOCTYPE html><html>welcome</html>", "got a web page instead of a zip archive"),
        (b"\x1f\x8b\x08 something else", "expected a zip archive, got"),
        (b"", "expected a zip archive"),
    ],
    ids=["page", "other", "empty"],
)
def test_what_is_no_archive(archive, extract, content, message):
    archive.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        extract()


def change(archive, *, offset, new):
    """Overwrite a field of the first member, in the directory at the archive's end."""
    content = archive.read_bytes()
    at = content.index(b"PK\1\2") + offset
    archive.write_bytes(content[:at] + new + content[at + len(new) :])
