"""`airpath trace`: inspect and convert trace files."""

import math
import os
import tempfile
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airpath._os.input_file import STANDARD_INPUT, input_file, input_name
from airpath.cli import trace_log
from airpath.cli.commands import SUMMARIES
from airpath.cli.output import ForceOption, JsonOption, show, show_json
from airpath.cli.place import claim_file
from airpath.errors import OutputError, TraceError, UsageError

if TYPE_CHECKING:
    from airpath._core import Trace

HELP_SHOW = """Print statistics of a trace file or named link and plot its rate.

Examples:

    airpath trace show lte.down

    airpath trace show my-phone.trace --out phone.png

    airpath trace show log.txt --format milliseconds-kbps --json | jq .mean_bps
"""
HELP_CONVERT = """Convert a trace to another format, on standard output or in a file.

Examples:

    airpath trace convert 5g-walk.csv --to mahimahi --out 5g-walk.trace

    airpath trace convert lte.down --to csv --bin 1s | head
"""

app = typer.Typer(
    help=SUMMARIES["trace"],
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="markdown",
)

FileArgument = Annotated[
    str,
    typer.Argument(metavar="FILE", help="Trace file, named link that is a trace, or - for standard input."),
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", help="Format of the file; default: detected.", show_default=False),
]
DirectionOption = Annotated[str, typer.Option(help="Direction, down or up, in formats that contain both.")]
BIN_S = 0.1
"""Bin width of the figure in seconds, as in the statistics; longer traces get wider bins."""


MOST_BINS = 100_000
"""Maximum number of bins in a figure: a file of two lines can span years."""


class Target(StrEnum):
    """The formats to which a trace can be converted."""

    MAHIMAHI = "mahimahi"
    CSV = "csv"


@app.command("show", help=HELP_SHOW)
def show_trace(
    file: FileArgument,
    format_name: FormatOption = None,
    direction: DirectionOption = "down",
    out: Annotated[
        Path | None,
        typer.Option(help="File for the figure (PNG); default: out/FILE.png.", show_default=False),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print statistics of a trace and plot it."""
    from rich.table import Table

    from airpath.cli.trace_picture import trace_picture

    if out is not None and out.suffix.lower() != ".png":
        raise UsageError(f"--out: found {out}; accepted: a file name that ends in .png")
    trace, file = read(file, format_name, direction), input_name(file)
    statistics = trace.statistics()
    name = f"{Path(file).stem if Path(file).is_file() else Path(file).name}.png"
    picture = claim_file(out, Path("out") / name, force=force)
    write_file(picture, trace_picture(trace, Path(file).name, bin_width_s(statistics["duration_s"])))
    if as_json:
        show_json({"file": file, "format": trace.format, **statistics, "picture": str(picture)})
        return
    table = Table("", "", title=f"{file} ({trace.format})", title_justify="left", show_header=False)
    for name, value in _rows(statistics):
        table.add_row(name, value)
    show(table)
    show(f"figure: {picture}")


@app.command("convert", help=HELP_CONVERT)
def convert(
    file: FileArgument,
    to: Annotated[Target, typer.Option(help="Format to write.")],
    format_name: FormatOption = None,
    direction: DirectionOption = "down",
    bin_width: Annotated[
        str, typer.Option("--bin", help="Averaging interval of delivery opportunities, for csv.")
    ] = "100ms",
    out: Annotated[
        Path | None, typer.Option(help="File to write; default: standard output.", show_default=False)
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a trace in another format."""
    from airpath.units import parse_duration

    if as_json and out is None:
        raise UsageError("--json needs --out, since the trace would share standard output with the JSON")
    bin_s = parse_duration(bin_width) / 1e9
    if bin_s == 0:
        raise UsageError(f'bin: found "{bin_width}"; it must be more than zero')
    trace, file = read(file, format_name, direction), input_name(file)
    try:
        text = trace.to_mahimahi() if to is Target.MAHIMAHI else trace.to_csv(bin_s)
    except ValueError as error:
        raise TraceError(f"{file}: cannot be converted to {to.value}: {error}") from None
    if out is None:
        typer.echo(text, nl=False)
        return
    write_file(claim_file(out, out, force=force), text.encode())
    if as_json:
        show_json(
            {
                "file": file,
                "format": trace.format,
                "to": to.value,
                "out": str(out),
                "bytes": len(text.encode()),
            }
        )
    else:
        show(f"{out}: written from {file} ({trace.format})")


app.command("log", help=trace_log.HELP)(trace_log.log)


def bin_width_s(duration_s: float) -> float:
    """Return the width of the bins of a figure in seconds: `BIN_S`, or a multiple for a long trace."""
    return BIN_S * max(1, math.ceil(duration_s / BIN_S / MOST_BINS))


def read(file: str, format_name: str | None, direction: str) -> "Trace":
    """Read a trace file, the trace of a shipped link, or standard input.

    Raises
    ------
    TraceError
        If there is no such file or link, or the file breaks the rules of its format.
    UsageError
        If there is no such format or direction.
    """
    from airpath import _core
    from airpath._nearest import suggestion
    from airpath.links import LINKS
    from airpath.scenario.traces import TraceInput, read_recording, read_trace

    if format_name is not None and format_name not in _core.Trace.formats():
        raise UsageError(
            f'unknown trace format "{format_name}"; {suggestion(format_name, _core.Trace.formats())}'
        )
    if direction not in ("down", "up"):
        raise UsageError(f'direction: found "{direction}"; accepted: down, up')
    if file == STANDARD_INPUT:
        with input_file(file, TraceError) as recording:
            return _read(lambda: read_recording(recording, format_name, direction), recording.path)
    shipped = {link.name: str(link.rate["file"]) for link in LINKS if link.rate["kind"] == "trace"}
    path = Path(file if Path(file).exists() else shipped.get(file, file))
    if not path.exists():
        raise TraceError(f"{file}: neither a file nor a shipped link; {suggestion(file, shipped, 'links')}")
    return _read(lambda: read_trace(TraceInput(path, format_name, direction)), path)


def _read(read: Callable[[], "Trace"], path: Path) -> "Trace":
    """Read a trace; report a log of a link as such."""
    try:
        return read()
    except TraceError as error:
        if path.is_file() and _is_link_log(path):
            raise TraceError(f"{error}; this is a link log: use `airpath trace log`") from None
        raise


def _is_link_log(path: Path) -> bool:
    """Return whether a file begins with the headers of a log of `mm-link` or of a tunnel."""
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    return beginning.startswith(b"#") and any(header in beginning for header in _LOG_HEADERS)


_BEGINNING = 4096
_LOG_HEADERS = (b"# mahimahi mm-link", b"# base timestamp:", b"# init timestamp:")


def write_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all: to a temporary name first, then renamed.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    partial = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.partial-", delete=False
        ) as file:
            partial = Path(file.name)
            file.write(data)
        partial.chmod(0o666 & ~_umask())
        partial.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def _rows(statistics: dict[str, Any]) -> list[tuple[str, str]]:
    from airpath.units import format_duration, format_rate

    def rate(name: str) -> str:
        return format_rate(statistics[name], 4)

    def duration(name: str) -> str:
        return format_duration(statistics[name] * 1e9, 6)

    outage = duration("longest_outage_s")
    if statistics["longest_outage_at_s"] is not None:
        outage += f" (from {duration('longest_outage_at_s')})"
    return [
        ("duration", duration("duration_s")),
        ("mean rate", rate("mean_bps")),
        ("smallest rate over 100 ms", rate("min_bps")),
        ("5th percentile", rate("p5_bps")),
        ("median", rate("p50_bps")),
        ("95th percentile", rate("p95_bps")),
        ("largest rate over 100 ms", rate("max_bps")),
        ("longest time without capacity", outage),
        ("largest step between seconds", rate("largest_step_bps")),
    ]


def _umask() -> int:
    """Return the permission mask of new files, which temporary files do not follow."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
