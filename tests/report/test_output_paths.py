# SPDX-License-Identifier: BSD-3-Clause
"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from ridgewise.report import check_target, write_atomically

needs_posix = pytest.mark.skipif(os.name != "posix", reason="of POSIX file systems")


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_old_file_survives_what_goes_wrong(tmp_path, monkeypatch, error):
    path = tmp_path / "plot.png"
    path.write_bytes(b"old")

    def fail(self, target):
        raise error

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(error):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["plot.png"]


def test_new_file_replaces_the_old(tmp_path):
    path = tmp_path / "plot.png"
    for content in (b"old", b"new"):
        write_atomically(path, content)
        assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["plot.png"]


@needs_posix
def test_permissions_are_those_of_any_new_file(tmp_path):
    (tmp_path / "other").write_bytes(b"")
    write_atomically(tmp_path / "plot.png", b"")
    assert (tmp_path / "plot.png").stat().st_mode == (tmp_path / "other").stat().st_mode


@needs_posix
def test_links_are_followed(tmp_path):
    (tmp_path / "link.png").symlink_to(tmp_path / "plot.png")
    write_atomically(tmp_path / "link.png", b"new")
    assert (tmp_path / "link.png").is_symlink()
    assert (tmp_path / "plot.png").read_bytes() == b"new"


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("plot.txt", ValueError, r"must end in one of \.png, \.svg"),
        ("plot", ValueError, "must end in"),
        ("nowhere/plot.png", FileNotFoundError, "there is no folder .*nowhere"),
        ("old.png/plot.png", FileNotFoundError, "there is no folder .*old.png"),
        ("folder.png", IsADirectoryError, "it is a folder"),
        ("old.png", FileExistsError, "exists already: --force overwrites it"),
    ],
)
def test_refused(tmp_path, name, error, message):
    (tmp_path / "old.png").write_bytes(b"old")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(error, match=message):
        check_target(tmp_path / name, formats=("png", "svg"), overwrite=False)


def test_refused_where_writing_is_forbidden(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may always
    with pytest.raises(PermissionError, match="no permission to write"):
        check_target(tmp_path / "plot.png", formats=("png",), overwrite=False)


@pytest.mark.parametrize("name", ["new.png", "NEW.SVG"])
def test_accepted(tmp_path, name):
    check_target(tmp_path / name, formats=("png", "svg"), overwrite=False)


def test_overwriting_on_demand(tmp_path):
    (tmp_path / "old.png").write_bytes(b"old")
    check_target(tmp_path / "old.png", formats=("png",), overwrite=True)
