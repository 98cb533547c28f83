"""A folder in which one process works at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from airpath.errors import OutputError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

LOCK: Final = ".lock"
"""Name of the file that is locked; it stays, since one that is removed could be locked twice."""


@contextmanager
def locked(folder: Path, refusal: str) -> Iterator[None]:
    """Keep other processes out of a folder. The system gives it free when this process ends, however it does.

    Parameters
    ----------
    folder
        The folder; made if there is none.
    refusal
        What is said when another process has it.

    Raises
    ------
    OutputError
        If another process has it.
    OSError
        If the file of the lock cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(refusal) from None
        yield
