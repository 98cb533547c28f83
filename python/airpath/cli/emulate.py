"""`airpath emulate`."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from airpath.cli.link_options import hint_at_bursts, takes_link_options
from airpath.cli.output import (
    FiguresOption,
    ForceOption,
    JsonOption,
    NoReportOption,
    OutOption,
    file_name_of,
    show_json,
    tell,
)
from airpath.links.options import LinkOptions, OneLink

if TYPE_CHECKING:
    from rich.console import Console

    from airpath.emulation import Connections, Validity

HELP = """\
The command runs in a network of its own at 10.7.0.1; the server, if given, at 10.8.0.1. The link between them
has the simulator's queue, channel and delay, in real time. Needs Linux, and root or user namespaces;
`airpath doctor` reports what works here. TCP connections between the two become flows of the results. The
exit code is that of the command.

Examples:

    airpath emulate --link 12mbps --rtt 80ms -- ping -c 5 10.8.0.1

    airpath emulate --link 20mbps --up 5mbps --loss 1%:4 --jitter 5ms -- ping -c 5 10.8.0.1

    airpath emulate --link lte.up --server "iperf3 -s -1" -- iperf3 -c 10.8.0.1 -t 20

    airpath emulate --link 20mbps --queue codel --buffer 1MB --server "iperf3 -s -1" -- iperf3 -c 10.8.0.1 -R

    airpath emulate --link 5mbps --server "python3 -m http.server 80" -- bash
"""


@takes_link_options(OneLink)
def emulate(
    command: Annotated[list[str], typer.Argument(help="Command and its arguments, after --.")],
    link: str | None,
    back: Annotated[
        str | None, typer.Option(metavar="LINK", help="The old name of --up.", hidden=True)
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="Command for the other host, started first.", show_default=False
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Time after which to end the command; default: 1h.", show_default=False)
    ] = None,
    capture: Annotated[
        list[str] | None,
        typer.Option(
            metavar="sender|receiver",
            help="Side at which to capture packets (pcapng), sender or receiver; repeatable.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random streams of the link.")] = 1,
    out: OutOption = None,
    force: ForceOption = False,
    no_report: NoReportOption = False,
    figures: FiguresOption = False,
    as_json: JsonOption = False,
    **options: Unpack[LinkOptions],
) -> None:
    """Run a command over an emulated link."""
    enter_user_namespace()
    from airpath.cli.place import claim
    from airpath.cli.work import Output, write_results
    from airpath.emulation import CaptureUnfinishedError, connection_rows, emulated_scenario
    from airpath.emulation import emulate as run_command
    from airpath.errors import UsageError
    from airpath.results import summary_json

    sides = {"sender": "senders", "senders": "senders", "receiver": "receivers", "receivers": "receivers"}
    if wrong := [side for side in capture or () if side not in sides]:
        raise UsageError(f'capture: found "{wrong[0]}"; accepted: sender, receiver')
    if back is not None:
        options["up"] = back
    scenario = emulated_scenario(link, duration=duration, seed=seed, **options)
    one = OneLink.of(link, options)
    hint_at_bursts(one)
    serving = None if server is None else _words(server)
    ending = ".pcapng" if capture else ""
    default = Path("out") / f"emulate-{file_name_of(one.name)}"
    out = claim(out, default, force=force, beside=ending)
    packets = out.parent / f"{out.name}.pcapng"
    if capture:
        packets.parent.mkdir(parents=True, exist_ok=True)
    output = Output(out, report=not no_report, figures=figures)
    unfinished = None
    try:
        result = run_command(
            command,
            scenario,
            server=serving,
            capture=(packets, list(dict.fromkeys(sides[side] for side in capture))) if capture else None,
            to_stderr=as_json,
        )
    except CaptureUnfinishedError as error:
        result, unfinished = error.result, error
    rows: list[dict[str, Any]] = []
    if result.results is not None:
        write_results(result.results, output, {"command": scenario}, scenario.to_toml())
        rows = connection_rows(result.results.runs[0], result.connections)
    if as_json:
        show_json(
            {
                "exit_code": result.exit_code,
                **(summary_json(result.results.summary) if result.results is not None else {}),
                "connections": {"flows": rows, **result.connections.as_json()},
                "validity": result.validity.as_json(),
                **(output.facts if result.results is not None else dict.fromkeys(output.facts)),
                "capture": str(packets) if capture else None,
            }
        )
    else:
        _print_connections(rows, result.connections)
        _print(result.validity)
        if result.results is None:
            tell("too short for results: nothing was written")
        else:
            tell(f"results: {out}")
            if output.report:
                tell(f"report:  {output.page}")
        if capture:
            tell(f"packets: {packets}")
    if unfinished is not None:
        raise unfinished
    raise typer.Exit(result.exit_code)


def _words(command: str) -> list[str]:
    """Return the words of a command, split as by a shell."""
    from airpath.errors import UsageError

    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(
            f"server: found {command!r}: {str(error).lower()}; accepted: a command as in a shell"
        ) from None
    if not words:
        raise UsageError(f"server: found {command!r}; accepted: a command as in a shell")
    return words


def enter_user_namespace() -> None:
    """Become root in a user namespace, unless this process is root.

    Must be called before the process starts a thread.
    """
    from airpath import _core
    from airpath.errors import EmulationError

    if not hasattr(_core, "become_root_in_user_namespace"):
        raise EmulationError("emulations need Linux: network namespaces and TUN devices")
    try:
        _core.become_root_in_user_namespace()
    except _core.EmulationFailed as error:
        raise EmulationError(str(error)) from None


MOST_CONNECTIONS = 10
"""Maximum number of printed flows of connections, the largest; the results contain all."""


def _print_connections(rows: Sequence[Mapping[str, Any]], connections: "Connections") -> None:
    """Print the data sent in connections, for readers."""
    from rich.table import Table

    console = _console()
    if rows:
        table = Table(box=None, padding=(0, 2))
        for column in ("connection", "control", "data", "goodput", "least RTT", "retransmitted", "timeouts"):
            table.add_column(column, justify="left" if column in ("connection", "control") else "right")
        for row in rows[:MOST_CONNECTIONS]:
            table.add_row(
                row["name"],
                row["scheme"].removeprefix("kernel:"),
                _cell(row["goodput_bytes"] / 1e6, "MB"),
                _cell(row["goodput_mbps"], "Mbit/s"),
                _cell(None if row["min_rtt_s"] is None else row["min_rtt_s"] * 1e3, "ms"),
                f"{row['retransmitted_packets']}",
                f"{row['timeouts']}",
            )
        console.print(table)
    if len(rows) > MOST_CONNECTIONS:
        console.print(f"  and {len(rows) - MOST_CONNECTIONS} more, none of them with more data")
    for problem in connections.problems:
        console.print(problem)


def _console() -> "Console":
    """Return the console for readers: standard error, because standard output belongs to the command."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 120)


def _print(validity: "Validity") -> None:
    """Print how exact the emulation was, for readers."""
    from rich.table import Table

    console = _console()
    table = Table(box=None, padding=(0, 2))
    for column in ("link", "rate", "carried", "delay", "achieved", "loss", "achieved"):
        table.add_column(column, justify="left" if column == "link" else "right")
    for link in validity.links:
        table.add_row(
            link.name,
            _cell(link.configured_bps / 1e6, "Mbit/s"),
            _cell(link.carried_bps / 1e6, "Mbit/s"),
            _cell(link.configured_delay_s * 1e3, "ms"),
            _cell(link.achieved_delay_s * 1e3, "ms"),
            _cell(link.configured_loss * 100, "%"),
            _cell(link.achieved_loss * 100, "%"),
        )
    console.print(table)
    late = {name: validity.measurements[f"lateness_{name}_s"] * 1e3 for name in ("mean", "p50", "p99", "max")}
    console.print(
        f"scheduling delay of packets: {late['mean']:.3f} ms on average, {late['p50']:.3f} at the median,"
        f" {late['p99']:.3f} at p99, {late['max']:.3f} at most;"
        f" {validity.measurements['longest_gap_s'] * 1e3:.3f} ms at most between two polls of the devices;"
        f" {'real time' if validity.realtime else 'no real time'}"
        + (f", processor {validity.processor}" if validity.processor is not None else "")
        + (f"; not granted: {validity.refused}" if validity.refused else "")
    )
    if validity.valid:
        console.print("valid: rates, delays and losses were those of the link")
    for problem in validity.problems:
        console.print(f"NOT valid: {problem}")


def _cell(value: float | None, unit: str) -> str:
    if value is None or value != value:
        return "-"
    return "unlimited" if value == float("inf") else f"{value:.4g} {unit}"
