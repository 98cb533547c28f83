"""The output directory of a command: never over the results of an earlier command."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final

from airpath.errors import OutputError

OUT: Final = Path("out")
"""The folder of results without a given path."""
LATEST: Final = OUT / "latest"
"""A symbolic link to the newest results in `OUT`."""

_claimed: list[tuple[Path, list[Path]]] = []
"""Directories of this command, each with the directories that were created for it."""


def claim(
    given: Path | None,
    default: Path,
    *,
    force: bool = False,
    may_replace: Callable[[Path], bool] | None = None,
    resumes: Callable[[Path], bool] = lambda _: False,
    beside: str = "",
) -> Path:
    """Return the directory for the results of this command, and create it, so that no other command takes it.

    Parameters
    ----------
    given
        The directory that the user gave. If it is not empty, it is refused unless `force` is set.
    default
        The directory without one. If it is taken, a number is added: NAME-2, NAME-3.
    force
        Whether earlier results in the given directory may be replaced.
    may_replace
        Whether a directory contains what `force` may replace; by default airpath results.
    resumes
        Whether a directory contains unfinished work of the same command, which continues there.
    beside
        Ending of a file next to the directory that belongs to the results. An existing file is replaced only
        if `force` is set.

    Raises
    ------
    OutputError
        If the directory is taken, or cannot be created.
    """

    def neighbour(folder: Path) -> Path:
        return folder.with_name(folder.name + beside)

    if given is None:
        _refuse_unwritable(default)
        for folder in _numbered(default):
            if resumes(folder) or (not (beside and neighbour(folder).exists()) and _make(folder)):
                return _claim(folder)
    assert given is not None
    _refuse_unwritable(given)
    if not resumes(given):
        if given.exists() and any(given.iterdir()):
            _refuse_taken(given, force=force, may_replace=may_replace or _has_results)
        if beside:
            claim_file(neighbour(given), neighbour(given), force=force)
    _make(given)
    return _claim(given)


def claim_file(given: Path | None, default: Path, *, force: bool = False) -> Path:
    """Return the file to write: the given one if it does not exist or `force` is set, else a numbered one.

    Raises
    ------
    OutputError
        If the given file exists.
    """
    if given is None:
        return next(file for file in _numbered(default) if not file.exists())
    if given.exists() and not force:
        raise OutputError(f"{given} exists; choose another file, or replace it by --force")
    return given


def settle() -> None:
    """Remove claimed directories that stayed empty, and let `LATEST` point to the newest of the others."""
    while _claimed:
        folder, made = _claimed.pop()
        for one in made:
            with suppress(OSError):  # it is not empty
                one.rmdir()
        if folder.is_dir() and folder.parent.resolve() == OUT.resolve() and any(folder.iterdir()):
            _point_latest(folder)


def _numbered(path: Path) -> Iterator[Path]:
    """Yield a path, then the same with 2, 3, … at the end of its name."""
    yield path
    ending = path.suffix if path.suffix == ".png" else ""
    stem = path.name.removesuffix(ending)
    for number in count(2):
        yield path.with_name(f"{stem}-{number}{ending}")


def _make(folder: Path) -> bool:
    """Create a directory; return whether it did not exist."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror or error}") from None
    _claimed.append((folder, missing))
    return True


def _claim(folder: Path) -> Path:
    if folder not in (claimed for claimed, _ in _claimed):
        _claimed.append((folder, []))
    return folder


def _has_results(folder: Path) -> bool:
    from airpath.results.directory import is_results

    return is_results(folder)


def _refuse_taken(folder: Path, *, force: bool, may_replace: Callable[[Path], bool]) -> None:
    if not may_replace(folder):
        raise OutputError(
            f"{folder} is not empty and contains no airpath results; choose another directory with --out"
        )
    if not force:
        raise OutputError(
            f"{folder} contains the results of an earlier command; choose another directory with --out,"
            " or replace them by --force"
        )


def _refuse_unwritable(folder: Path) -> None:
    """Refuse a directory that cannot be created or written, before the work starts.

    Raises
    ------
    OutputError
        If something else has this name, or the permission is missing.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} exists and is not a directory")
        parent = next(one for one in folder.absolute().parents if one.exists())
    except OSError as error:
        raise OutputError(f"{folder} cannot be read: {error.strerror or error}") from None
    if not parent.is_dir():
        raise OutputError(f"{folder} cannot be made: {parent} is not a directory")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise OutputError(f"{folder} cannot be made: {parent} is not writable")


def _point_latest(folder: Path) -> None:
    """Replace the link atomically, so that it always exists; some systems do not support links."""
    if LATEST.exists() and not LATEST.is_symlink():
        return
    with suppress(OSError), tempfile.TemporaryDirectory(prefix=".latest-", dir=OUT) as apart:
        link = Path(apart) / "latest"
        link.symlink_to(folder.name, target_is_directory=True)
        link.replace(LATEST)
