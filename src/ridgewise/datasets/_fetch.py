# SPDX-License-Identifier: BSD-3-Clause
"""Download of TechTC-300."""

import tempfile
from pathlib import Path
from zlib import crc32

from ridgewise.datasets._archive import extract_zip
from ridgewise.datasets._download import OnProgress, download
from ridgewise.datasets._techtc import StrPath, resolve_data_home, techtc_names

ARCHIVE = "techtc300_preprocessed.zip"
ADDRESS = f"http://techtc.cs.technion.ac.il/techtc300/data/{ARCHIVE}"
PAGE = "http://gabrilovich.com/resources/data/techtc/"
FOLDER = "techtc300"

# Several times the size of 295 sets of up to 280 documents
MAX_DOWNLOAD = 1 << 30
MAX_EXTRACTED = 4 << 30
MAX_MEMBERS = 10_000


def fetch_techtc300(
    *,
    data_home: StrPath | None = None,
    mirror: str | None = None,
    max_download: int = MAX_DOWNLOAD,
    max_extracted: int = MAX_EXTRACTED,
    on_progress: OnProgress | None = None,
) -> list[str]:
    """Download the sets of TechTC-300, unless they are present.

    They are written to the subfolder ``techtc300`` of `data_home`, all or none of them. An
    interrupted download is resumed by the next call.

    Parameters
    ----------
    data_home : str or path, default=None
        The data folder, as of `load_techtc`, which is created if needed.
    mirror : str, default=None
        Another source: the http or https address of a zip archive (ending in ``.zip``), or of a
        folder with ``techtc300_preprocessed.zip``; or the path of a local archive.
    max_download, max_extracted : int, default=2**30 and 2**32
        Limits on the downloaded and on the extracted bytes.
    on_progress : callable, default=None
        Called with the number of bytes so far and in total; the total is None if the server does
        not state it.

    Returns
    -------
    list of str
        The names of the sets, for `load_techtc`, sorted.

    Notes
    -----
    No checksum of the original archive is known, so it is treated as untrusted: links, paths
    outside the folder, and an expansion to more than 100 times its size raise an error. To
    download again, delete the folder ``techtc300`` first.

    Examples
    --------
    Nothing is downloaded if the sets are present:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ridgewise import fetch_techtc300
    >>> with TemporaryDirectory() as home:
    ...     Path(home, "techtc300", "Exp_10341_14525").mkdir(parents=True)
    ...     fetch_techtc300(data_home=home)
    ['10341_14525']
    """
    home = resolve_data_home(data_home)
    target = home / FOLDER
    if names := techtc_names(target):
        return names
    _check_target(home, target)
    if mirror is not None and Path(mirror).is_file():
        _install(Path(mirror), target, max_extracted, source=mirror)
        return techtc_names(target)
    address = ADDRESS if mirror is None else mirror
    if not address.lower().endswith(".zip"):
        address = f"{address.rstrip('/')}/{ARCHIVE}"
    # The name depends on the address: a part is resumed only from its own server.
    archive = home / f"{FOLDER}-{crc32(address.encode()):08x}.download"
    if not archive.exists():  # it does if its extraction was interrupted
        try:
            download(address, archive, max_bytes=max_download, on_progress=on_progress)
        except OSError as error:
            hint = f" (see {PAGE} for other sources, and give one as the mirror)"
            raise OSError(f"{error}{'' if mirror else hint}") from error
    try:
        _install(archive, target, max_extracted, source=address)
    except Exception:
        archive.unlink()  # it is invalid; Ctrl-C keeps it
        raise
    archive.unlink()
    return techtc_names(target)


def _check_target(home: Path, target: Path) -> None:
    """Create the data folder; raise, before any download, if the target exists and is not empty."""
    home.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not any(target.iterdir()):
        target.rmdir()
    if target.exists() or target.is_symlink():
        raise FileExistsError(
            f"{target} is in the way: it has no TechTC set, and is not empty. Move it away, or "
            "name another data_home."
        )


def _install(archive: Path, target: Path, max_extracted: int, *, source: str) -> None:
    """Extract beside the target, then rename: the target appears at once and complete."""
    with tempfile.TemporaryDirectory(
        prefix=f".{FOLDER}-", dir=target.parent, ignore_cleanup_errors=True
    ) as scratch:
        content = Path(scratch, "content")
        try:
            extract_zip(archive, content, max_bytes=max_extracted, max_members=MAX_MEMBERS)
            # the archive's top folder, or one within it
            tops = {folder.parent for folder in content.rglob("Exp_*/")}
            tops = {top for top in tops if techtc_names(top)}
            if len(tops) != 1:
                raise ValueError(
                    f"the archive has TechTC sets in {len(tops)} places, expected one with "
                    "folders such as Exp_10341_14525"
                )
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from error
        tops.pop().rename(target)
