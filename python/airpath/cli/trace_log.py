"""`airpath trace log`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airpath.cli.output import (
    FiguresOption,
    ForceOption,
    JsonOption,
    OutOption,
    recording_name,
    show,
    show_json,
    tell,
)

if TYPE_CHECKING:
    from rich.table import Table

    from airpath.link_logs import LinkLog

HELP = """Summarise logs of Mahimahi's mm-link and Pantheon's tunnels as tables and figures.

Computes what mm-throughput-graph, mm-delay-graph and tunnel_graph.py compute: capacity, throughput,
utilisation, delay, signal delay and loss, in total and per flow. Reads drops, and gzip-compressed logs.

Examples:

    airpath trace log uplink.log

    airpath trace log bbr_datalink_run1.log --bin 250ms --out bbr

    airpath trace log up.log down.log --json | jq '.logs[].utilisation'
"""

NOTHING = "-"
MOST_ROWS = 20
"""Number of flows printed per log; the tables have all."""


def log(
    files: Annotated[list[str], typer.Argument(metavar="LOG…", help="Logs or pipes; - for standard input.")],
    bin_width: Annotated[
        str, typer.Option("--bin", help="Averaging interval of rates in series and figures.")
    ] = "500ms",
    out: OutOption = None,
    force: ForceOption = False,
    figures: FiguresOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print and plot the statistics of link logs."""
    from rich.markup import escape

    from airpath._os.input_file import input_name, refuse_standard_input_twice
    from airpath._os.progress import progress_bar
    from airpath.cli.place import claim
    from airpath.errors import UsageError
    from airpath.link_logs import read_link_log, write_link_logs
    from airpath.results.origin import origin_of_this_process
    from airpath.units import parse_duration

    refuse_standard_input_twice(files)
    bin_ns = parse_duration(bin_width)
    if bin_ns == 0:
        raise UsageError(f'bin: found "{bin_width}"; it must be more than zero')
    logs = []
    for file in files:
        with progress_bar(f"reading {escape(Path(input_name(file)).name)}", None) as on_progress:
            logs.append(read_link_log(file, on_progress))
    target = claim(out, Path("out") / f"log-{recording_name(input_name(files[0]))}", force=force)
    for one in logs:
        _tell_of(one)
    if not as_json:
        for one in logs:
            show(_rows(one))
    write_link_logs(logs, target, origin_of_this_process(), bin_ns, figures=figures)
    if as_json:
        show_json({"logs": [_as_machine_reads(one) for one in logs], "out": str(target)})
        return
    show(f"results: {target}")


def _tell_of(log: "LinkLog") -> None:
    """Report anomalies of a log on standard error."""
    if log.ended_early:
        tell(f"{log.path}: {log.ended_early}; what stands before is shown")
    negative = int((log.departures["delay_ns"] < 0).sum())
    if negative:
        tell(f"{log.path}: {negative} packets left before they arrived: the clocks of the two ends differ")


def _as_machine_reads(log: "LinkLog") -> dict[str, Any]:
    """Return the tables of a log, ready for ``json.dumps``."""
    from airpath.link_logs import flows_table, logs_table

    (whole,) = logs_table([log]).to_pylist()
    flows = [
        {name: value for name, value in row.items() if name != "log"}
        for row in flows_table([log]).to_pylist()
    ]
    return {"path": str(log.path), **whole, "ended_early": log.ended_early or None, "flows": flows}


def _rows(log: "LinkLog") -> "Table":
    from rich.table import Table
    from rich.text import Text

    from airpath.link_logs import flow_measures, log_measures

    title = f"{log.path} ({'log of mm-link' if log.kind == 'mm-link' else 'tunnel log'})"
    table = Table("", title=Text(title), title_justify="left")
    whole = log_measures(log)
    shown = log.flows[:MOST_ROWS] if log.names_flows else []
    columns = {"all": whole} | {f"flow {flow}": flow_measures(log, flow) for flow in shown}
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    delay = "queueing delay" if log.kind == "mm-link" else "one-way delay"
    for title, form, name in (
        ("average capacity", "{:.2f} Mbit/s", "capacity_mbps"),
        ("average throughput", "{:.2f} Mbit/s", "throughput_mbps"),
        ("utilisation", "{:.1%}", "utilisation"),
        ("average ingress", "{:.2f} Mbit/s", "ingress_mbps"),
        (f"95th percentile of {delay}", "{:.4g} ms", "delay_p95_ms"),
        ("95th percentile of signal delay", "{:.4g} ms", "signal_delay_p95_ms"),
        ("loss rate", "{:.2%}", "loss_rate"),
        ("packets dropped by the queue", "{:.0f}", "dropped_packets"),
    ):
        if name == "dropped_packets" and not whole[name]:
            continue  # tunnels and older mm-link do not log drops
        cells = [_cell(measures.get(name), form) for measures in columns.values()]
        table.add_row(title, *cells)
    if len(shown) < len(log.flows) and log.names_flows:
        table.caption = f"and {len(log.flows) - len(shown)} more flows, in flows.parquet"
    return table


def _cell(value: float | None, form: str) -> str:
    # NaN is not equal to itself.
    return NOTHING if value is None or value != value else form.format(value)
