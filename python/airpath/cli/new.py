"""`airpath new`."""

import keyword
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airpath.cli.output import show
from airpath.errors import OutputError, UsageError

HELP = """\
Example:

    airpath new controller mine

writes `mine.py` with a class `Mine`, which `airpath compare mine.py:Mine cubic` runs.
"""


class Kind(StrEnum):
    """What can be written."""

    CONTROLLER = "controller"


def new(
    kind: Annotated[Kind, typer.Argument(help="What to write.")],
    name: Annotated[str, typer.Argument(help="Name of the file, without `.py`, and of the class.")],
) -> None:
    """Write a file to start from."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"name: found {name!r}; accepted: letters, digits and _, not a word of Python")
    file, class_name = Path(f"{name}.py"), "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    template = Path(__file__).parent.parent / "plugins" / "template.py.txt"
    text = template.read_text(encoding="utf-8").replace("{name}", class_name)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise OutputError(f"{file} exists; choose another name") from None
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from error
    show(f"{kind}: {file}\ntry it: airpath compare {file}:{class_name} cubic --link lte.down")
