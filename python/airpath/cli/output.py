"""Common parts of commands: options, and output for readers and for machines."""

import functools
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

import typer

from airpath.errors import AirpathError, UsageError
from airpath.plugins.specs import allow_code

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and only JSON, on standard output.")]
JobsOption = Annotated[
    int | None,
    typer.Option(help="Number of concurrent runs; default: one per processor.", show_default=False),
]
IsolateOption = Annotated[
    bool,
    typer.Option(
        "--isolate",
        help="Run each simulation with code of yours in a process of its own, so that a crash ends it alone.",
    ),
]
LimitsOption = Annotated[
    bool,
    typer.Option(
        "--limits",
        help="Record what limits each sender (application, windows, pacing, recovery) for the report; not"
        " with --world quic.",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(help="Directory for the results; default: out/….", show_default=False, file_okay=True),
]
RepsOption = Annotated[
    int | None, typer.Option(help="Number of repetitions; default: that of the scenario.", show_default=False)
]
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace earlier results in the directory given by --out.")
]
AllowCodeOption = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Let the file name schemes that are code (`my.py:Mine`, `libmine.so`), and run it.",
        callback=lambda given: allow_code() if given else None,
    ),
]
NoReportOption = Annotated[bool, typer.Option("--no-report", help="Write tables only, without report.html.")]
FiguresOption = Annotated[
    bool, typer.Option("--figures", help="Also write the figures as PNG and SVG files.")
]
OpenOption = Annotated[bool, typer.Option("--open", help="Open the report in a browser.")]
AllOption = Annotated[bool, typer.Option("--all", help="Print every metric, not only the main ones.")]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Scenario key to change; repeatable."),
]


class WorldChoice(StrEnum):
    """The backends that run scenarios (`airpath._backends.BACKENDS`)."""

    SIM = "sim"
    QUIC = "quic"
    EMULATE = "emulate"
    DATAPATH = "datapath"
    ROUTERS = "routers"


WorldOption = Annotated[
    WorldChoice,
    typer.Option(
        help="Backend. sim: the simulator; quic: airpath's controllers in quinn (a QUIC stack) over the"
        " simulated network; emulate: the kernel's TCP over an emulated network (real time, Linux);"
        " datapath: airpath's controllers in the kernel; routers: its routers in the kernel as well."
    ),
]


def enter_world(world: WorldChoice) -> None:
    """Acquire the privileges of a backend before any thread starts: call it before heavy imports.

    Raises
    ------
    EmulationError
        If the system does not allow it.
    """
    from airpath._backends import REAL_TIME

    if world in REAL_TIME:
        from airpath.cli.emulate import enter_user_namespace

        enter_user_namespace()


def recorded_limits(limits: bool, world: WorldChoice) -> dict[str, Any]:
    """Return the changes to a scenario for `--limits`.

    Raises
    ------
    UsageError
        If the senders of the backend do not report what limits them.
    """
    if limits and world is WorldChoice.QUIC:
        raise UsageError("--limits: found --world quic; accepted: any other backend")
    return {"record.flow_limits": True} if limits else {}


P = ParamSpec("P")

TROUBLE = 2
"""Exit code of commands whose exit codes 0 and 1 are answers, if they have no answer."""


def answers(command: Callable[P, int]) -> Callable[P, int]:
    """Return the command with errors that prevent its answer turned into `TROUBLE`, as in diff and grep."""

    @functools.wraps(command)
    def answer(*arguments: P.args, **options: P.kwargs) -> int:
        try:
            return command(*arguments, **options)
        except AirpathError as error:
            for line in str(error).splitlines():
                tell(line)
            return TROUBLE

    return answer


WIDTH_WITHOUT_TERMINAL = 160
"""Width of a table that is printed to a file or a pipe, in columns."""


def show(what: "RenderableType") -> None:
    """Print for a reader, on standard output."""
    _console().print(what)


def show_json(content: Any) -> None:
    """Print for a machine, on standard output."""
    sys.stdout.write(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def show_json_list(items: Iterable[Any]) -> None:
    """Print a list for a machine as `show_json` does, one item at a time: it may be very long."""
    before = "["
    for item in items:
        text = json.dumps(item, indent=2, ensure_ascii=False, allow_nan=False)
        sys.stdout.write(f"{before}\n{textwrap.indent(text, '  ')}")
        before = ","
    sys.stdout.write("[]\n" if before == "[" else "\n]\n")


def tell(message: str) -> None:
    """Print a message for a reader, on standard error."""
    sys.stderr.write(f"airpath: {message}\n")


def file_name_of(link: str) -> str:
    """Return a link as part of a file name: the last part of a path."""
    name = Path(link).stem if Path(link).is_file() else link
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "link"


def recording_name(file: str) -> str:
    """Return the name of a recording as part of a file name: without `.gz` and the extension before it."""
    return file_name_of(Path(Path(file).name.removesuffix(".gz")).stem)


def refuse_no_files(wanted: Mapping[str, Path | None], taken: Mapping[str, Path] | None = None) -> None:
    """Refuse files that cannot be written, before the work starts.

    Parameters
    ----------
    wanted
        Files that will be written, by option.
    taken
        Files that must not be replaced, by description.

    Raises
    ------
    UsageError
        If a path is a directory, its parent is not one, or the file is one of `taken`.
    """
    places = {file.resolve(): what for what, file in (taken or {}).items()}
    for option, file in wanted.items():
        if file is None:
            continue
        if file.is_dir():
            raise UsageError(f"{option}: {file} is a directory; accepted: a file")
        parent = next(folder for folder in file.absolute().parents if folder.exists())
        if not parent.is_dir():
            raise UsageError(f"{option}: {file} cannot be made: {parent} is not a directory")
        if what := places.get(file.resolve()):
            raise UsageError(f"{option}: {file} is also {what}; accepted: another file")
        places[file.resolve()] = f"--{option}"


def write_file(file: Path, content: bytes) -> None:
    """Write a file, completely or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    from airpath._os.durable import write_whole
    from airpath.errors import OutputError

    try:
        write_whole(file, content)
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from None


def _console() -> "Console":
    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDTH_WITHOUT_TERMINAL
    return Console(width=width, highlight=False, soft_wrap=False)
