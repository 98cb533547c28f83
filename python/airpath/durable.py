"""Files that are there as a whole or not at all, also after a crash."""

import os
from pathlib import Path


def write_whole(file: Path, content: bytes, forced: bool = True) -> None:
    """Write a file beside its place, force it to the disk, and rename it.

    Parameters
    ----------
    file
        The place; its folder is made if there is none. An earlier file is replaced.
    content
        What will be in it.
    forced
        Whether to wait until the disk has it. Without, it is whole whatever becomes of the process; a machine
        that stops may leave a file that is damaged, which its reader must be able to tell.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as stream:
            stream.write(content)
            if forced:
                stream.flush()
                os.fsync(stream.fileno())
        if forced:
            put_in_place(unfinished, file)
        else:
            unfinished.replace(file)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def place_of(unfinished: str) -> str | None:
    """Return the name of the file that one of this name was to become; `None` if it is no unfinished one."""
    name, _, process = unfinished.rpartition(".")
    return name if name and process.isdecimal() else None


def put_in_place(unfinished: Path, file: Path) -> None:
    """Rename a file that is on the disk, and force the new name to the disk where the system can."""
    unfinished.replace(file)
    force_names(file.parent)


def force_names(folder: Path) -> None:
    """Force the names of the files in a folder to the disk where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
