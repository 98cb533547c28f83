"""Inputs that are read more than once, or must be files: files, pipes, standard input."""

import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from airpath._os.interrupts import InterruptRequest
from airpath.errors import AirpathError, UsageError

STANDARD_INPUT = "-"
"""The name of standard input where a path is expected."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read.

    Attributes
    ----------
    path
        The file itself, or a copy of the data of a pipe.
    name
        Its name for messages and results; `stdin` is standard input.
    """

    path: Path
    name: str

    def __str__(self) -> str:
        return self.name


def refuse_standard_input_twice(given: Sequence[str | Path]) -> None:
    """Refuse inputs if more than one of them is standard input.

    Raises
    ------
    UsageError
        If standard input is given twice: data read by one would be missing for the other.
    """
    count = sum(str(one) == STANDARD_INPUT for one in given)
    if count > 1:
        raise UsageError(
            f"{STANDARD_INPUT}: found {count} times; accepted: once, since standard input can be read once"
        )


def input_name(given: str | Path) -> str:
    """Return the name of an input in messages and results."""
    return "stdin" if str(given) == STANDARD_INPUT else str(given)


@contextmanager
def input_file(given: str | Path | InputFile, error: type[AirpathError]) -> Iterator[InputFile]:
    """Yield a file to read, for the duration of a `with`; the data of a pipe is first copied completely.

    Ctrl-C does not end the copying, because it is meant for the writing program; a second one does.

    Parameters
    ----------
    given
        A file, a named pipe (also that of a shell's `<(command)`), or `-` for standard input; an input file
        is yielded unchanged.
    error
        The exception to raise if it cannot be read.
    """
    if isinstance(given, InputFile):
        yield given
        return
    name = input_name(given)
    if str(given) == STANDARD_INPUT:
        if sys.stdin is None:
            raise error(f"{name}: is closed; accepted: a file or a pipe")
        if sys.stdin.isatty():
            raise error(f"{name}: is a terminal; accepted: a file or a pipe")
        with _copied(sys.stdin.buffer, name, error) as copy:
            yield copy
        return
    path = Path(given)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISFIFO(mode):
            raise error(f"{name}: not a file")
        opened = path.open("rb")
    except FileNotFoundError:
        raise error(f"{name}: there is no such file") from None
    except OSError as fault:
        raise error(f"{name}: cannot be read: {fault.strerror or fault}") from None
    with opened:
        if stat.S_ISREG(mode):
            yield InputFile(path, name)
            return
        with _copied(opened, name, error) as copy:
            yield copy


@contextmanager
def _copied(pipe: BinaryIO, name: str, error: type[AirpathError]) -> Iterator[InputFile]:
    with tempfile.NamedTemporaryFile(prefix="airpath-input-") as copy:
        try:
            # Ctrl-C also ends the program that writes into the pipe (`tcpdump -w - | …`); its remaining data
            # is read.
            with InterruptRequest():
                shutil.copyfileobj(pipe, copy, 1 << 20)
            copy.flush()
        except OSError as fault:
            raise error(f"{name}: cannot be copied to {copy.name}: {fault.strerror or fault}") from None
        yield InputFile(Path(copy.name), name)
