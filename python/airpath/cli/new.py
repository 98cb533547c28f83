"""`airpath new`."""

import keyword
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from airpath.cli.output import show
from airpath.errors import OutputError, UsageError
from airpath.plugins.templates import c_start, python_start, rust_start

HELP = """\
Examples:

    airpath new controller mine

writes `mine.py` with a class `Mine`, which `airpath compare mine.py:Mine cubic` runs;

    airpath new controller mine --c

writes `mine.c`, and prints the command that builds `./mine.so` of it;

    airpath new queue mine --rust

writes a crate with a queue discipline.
"""

_STARTS: Final = {"c": c_start, "rust": rust_start, "python": python_start}


class Kind(StrEnum):
    """The kinds of components that can be written."""

    CONTROLLER = "controller"
    ESTIMATOR = "estimator"
    SOURCE = "source"
    QUEUE = "queue"


def new(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="What to write: a congestion controller, an ACK-rate estimator, a capacity source of a"
            " router, or a queue discipline."
        ),
    ],
    name: Annotated[
        str, typer.Argument(help="Name of the file or crate, without its ending, and of the class.")
    ],
    in_c: Annotated[bool, typer.Option("--c", help="A file in C, for a shared library.")] = False,
    in_rust: Annotated[bool, typer.Option("--rust", help="A crate in Rust, for a shared library.")] = False,
    in_python: Annotated[bool, typer.Option("--python", help="A file in Python; the default.")] = False,
) -> None:
    """Write files to start from."""
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise UsageError(
            f"name: found {name!r}; accepted: letters, digits and _, not a digit first, not a word of Python"
        )
    languages = {"c": in_c, "rust": in_rust, "python": in_python}
    given = [language for language, is_given in languages.items() if is_given]
    if len(given) > 1:
        raise UsageError(f"found {' and '.join(f'--{one}' for one in given)}; accepted: one of them")
    language = given[0] if given else "python"
    start = _STARTS[language](name, kind.value)
    _write(start.files)
    show(f"{kind}: {start.place}")
    if start.build:
        show(f"build it: {start.build}")
    if kind is Kind.CONTROLLER:
        show(f"check it: airpath conform {start.compare.partition(' ')[0]}")
    show(f"compare it: airpath compare {start.compare}")
    if start.note:
        show(start.note)


def _write(files: Mapping[Path, str]) -> None:
    """Write files that do not exist yet."""
    for file in files:
        if file.exists():
            raise OutputError(f"{file} exists; choose another name")
    for file, text in files.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as opened:
                opened.write(text)
        except OSError as error:
            raise OutputError(f"cannot write {file}: {error.strerror or error}") from error
