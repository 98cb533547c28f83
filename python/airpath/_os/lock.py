"""A folder in which one process works at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from airpath.errors import OutputError

LOCK: Final = ".lock"
"""Name of the locked file. It may stay in the folder."""


@contextmanager
def locked(folder: Path, refusal: str) -> Iterator[None]:
    """Keep other processes out of a folder. The system releases the lock when this process ends in any way.

    Parameters
    ----------
    folder
        The folder; created if it does not exist.
    refusal
        The message if another process holds the lock.

    Raises
    ------
    OutputError
        If another process holds the lock.
    OSError
        If the lock file cannot be written.
    """
    from filelock import FileLock, Timeout  # imported here because the import takes 0.1 s

    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / LOCK, timeout=0):
            yield
    except Timeout:
        raise OutputError(refusal) from None
