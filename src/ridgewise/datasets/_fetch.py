# SPDX-License-Identifier: BSD-3-Clause
"""TechTC-300, from the web."""

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

# Several times what 295 sets of up to 280 documents can take
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
    """Download the sets of TechTC-300, where they are not at hand.

    They are put into the folder ``techtc300`` of `data_home`, all or none of them. A download
    that was interrupted is resumed by the next call.

    Parameters
    ----------
    data_home : str or path, default=None
        The folder of data, made where it is absent. None: scikit-learn's, that is the environment
        variable ``SCIKIT_LEARN_DATA``, or ``scikit_learn_data`` in the home folder.
    mirror : str, default=None
        Where to take them from instead: the http or https address of a zip archive (ending in
        ``.zip``), or of a folder that has ``techtc300_preprocessed.zip``; or the path of an
        archive on this machine.
    max_download : int, default=2**30
        The most bytes that are downloaded.
    max_extracted : int, default=2**32
        The most bytes that the sets may take.
    on_progress : callable, default=None
        Called with the number of bytes downloaded so far, and of all bytes, or None where the
        server does not say.

    Returns
    -------
    list of str
        The names of the sets, for `load_techtc`, sorted.

    Raises
    ------
    OSError
        Where the download fails, or the folder cannot be written.
    ValueError
        Where what was downloaded is no zip archive of sets, or is refused: no path may leave
        the folder, and there may be no links, no more than the stated bytes, and no more than
        100 times those of the archive.

    See Also
    --------
    load_techtc : Load one of the sets.

    Notes
    -----
    Nothing is known by which the archive could be checked to be the original one: it is handled
    as one from strangers. To download again, delete the folder ``techtc300`` first.

    Examples
    --------
    Nothing is downloaded where the sets are there already:

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
    _make_room(home, target)
    if mirror is not None and Path(mirror).is_file():
        _install(Path(mirror), target, max_extracted, source=mirror)
        return techtc_names(target)
    address = _address(mirror)
    # A part is resumed from where it came from only.
    archive = home / f"{FOLDER}-{crc32(address.encode()):08x}.download"
    if not archive.exists():  # as it does where extracting it was interrupted
        _download(address, archive, max_download, on_progress)
    try:
        _install(archive, target, max_extracted, source=address)
    except Exception:
        archive.unlink()  # it would hardly be better the next time; Ctrl-C keeps it
        raise
    archive.unlink()
    return techtc_names(target)


def _address(mirror: str | None) -> str:
    if mirror is None:
        return ADDRESS
    return mirror if mirror.lower().endswith(".zip") else f"{mirror.rstrip('/')}/{ARCHIVE}"


def _download(address: str, archive: Path, max_bytes: int, on_progress: OnProgress | None) -> None:
    try:
        download(address, archive, max_bytes=max_bytes, on_progress=on_progress)
    except OSError as error:
        if address != ADDRESS:
            raise
        raise OSError(f"{error} ({PAGE} may know other places: give one as the mirror)") from error


def _make_room(home: Path, target: Path) -> None:
    """Make the folder of data, and refuse to touch what is in the way, before any download."""
    home.mkdir(parents=True, exist_ok=True)
    if target.is_dir() and not any(target.iterdir()):
        target.rmdir()
    if target.exists() or target.is_symlink():
        raise FileExistsError(
            f"{target} is in the way: it has no TechTC set, and is not empty. Move it away, or "
            "name another data_home."
        )


def _install(archive: Path, target: Path, max_extracted: int, *, source: str) -> None:
    """Extract beside the target, which then appears at once and whole."""
    with tempfile.TemporaryDirectory(
        prefix=f".{FOLDER}-", dir=target.parent, ignore_cleanup_errors=True
    ) as scratch:
        content = Path(scratch, "content")
        try:
            extract_zip(archive, content, max_bytes=max_extracted, max_members=MAX_MEMBERS)
            top = _top(content)
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from error
        top.rename(target)


def _top(content: Path) -> Path:
    """Return the folder of the sets: the archive's own top, or one within it."""
    tops = {folder.parent for folder in content.rglob("Exp_*/")}
    tops = {top for top in tops if techtc_names(top)}
    if len(tops) != 1:
        raise ValueError(
            f"the archive has TechTC sets in {len(tops)} places, expected one with folders such "
            "as Exp_10341_14525"
        )
    return tops.pop()
