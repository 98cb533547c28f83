"""Files that are complete or absent, also after a crash."""

import os
from pathlib import Path


def write_whole(file: Path, content: bytes, forced: bool = True) -> None:
    """Write a file under a temporary name, force it to disk, and rename it.

    Parameters
    ----------
    file
        The final path; its folder is created if needed. An earlier file is replaced.
    content
        The content of the file.
    forced
        Whether to wait until the file is on disk. If not, the file is complete even if the process crashes,
        but a machine that stops may leave a damaged file, which its reader must be able to detect.

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
    """Return the final name of an unfinished file with this name; `None` if it is not an unfinished file."""
    name, _, process = unfinished.rpartition(".")
    return name if name and process.isdecimal() else None


def put_in_place(unfinished: Path, file: Path) -> None:
    """Rename a file that is on disk, and force the new name to disk if the system supports it."""
    unfinished.replace(file)
    force_names(file.parent)


def force_names(folder: Path) -> None:
    """Force the names of the files in a folder to disk if the system supports it."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
