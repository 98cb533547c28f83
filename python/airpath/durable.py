"""Files that are there as a whole or not at all, also after a crash."""

import os
from pathlib import Path


def write_whole(file: Path, content: bytes) -> None:
    """Write a file beside its place, force it to the disk, and rename it.

    Parameters
    ----------
    file
        The place; its folder is made if there is none. An earlier file is replaced.
    content
        What will be in it.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    with unfinished.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    put_in_place(unfinished, file)


def put_in_place(unfinished: Path, file: Path) -> None:
    """Rename a file that is on the disk, and force the new name to the disk where the system can."""
    unfinished.replace(file)
    if os.name != "posix":
        return
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
