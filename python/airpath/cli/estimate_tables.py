"""The results of captures, for terminals and for machines."""

from typing import Any

from rich.table import Table
from rich.text import Text

from airpath.captures import CaptureAnalysis, FlowAnalysis, estimates_table, flows_table
from airpath.cli.estimate_json import answer_of_capture, answer_of_flow
from airpath.cli.output import show, tell
from airpath.units import format_duration, format_rate, format_size

NOTHING = "-"
MOST_COLUMNS = 6
"""Maximum number of flows whose estimates are printed."""


def tell_of_an_early_end(name: str, ended_early: str) -> None:
    """Report on standard error that a capture was not read to its end, if so."""
    if ended_early:
        tell(f"{name}: {ended_early}; what stands before is analysed")


def print_read(capture: CaptureAnalysis) -> None:
    """Print the counts of packets that were read and left out."""
    report = capture.report
    if capture.is_log:
        read = f"qlog, {report['events']} events, {report['events_used']} of packets and congestion control"
    else:
        read = f"{report['packets']} packets, {report['tcp_packets']} of TCP"
    show(f"{capture.path.name}: {read}, {_flows(capture)}")
    if report["skipped"]:
        reasons = ", ".join(f"{count} {reason}" for reason, count in report["skipped"].items())
        show(f"left out: {reasons}")
    if capture.evicted:
        tell(f"{capture.path}: {capture.evicted} flows were ended early to bound memory")
    if not capture.flows:
        show("no connection carried data" if capture.is_log else "no TCP flow carried data")


def print_estimates(capture: CaptureAnalysis, most_rows: int) -> None:
    """Print the largest flows, and their estimates."""
    if not capture.flows:
        return
    shown = capture.flows[:most_rows]
    show(_flow_rows(shown))
    if len(capture.flows) > len(shown):
        show(f"and {len(capture.flows) - len(shown)} smaller flows, in flows.parquet")
    counted = "packets, headers of QUIC included" if capture.is_log else "payload"
    show(_estimate_rows(shown[:MOST_COLUMNS], counted))


def as_machine_reads(capture: CaptureAnalysis) -> dict[str, Any]:
    """Return everything, ready for ``json.dumps``; the answers come first."""
    rows = flows_table([capture]).to_pylist()
    estimates: dict[int, dict[str, Any]] = {row["flow"]: {} for row in rows}
    for row in estimates_table([capture]).to_pylist():
        values = {key: row[key] for key in ("mean_bps", "last_bps", "missing")}
        estimates[row["flow"]][row["estimator"]] = values
    flows = [
        {**answer_of_flow(flow), **row, "estimates": estimates[flow.number]}
        for flow, row in zip(capture.flows, rows, strict=True)
    ]
    return {
        "answer": answer_of_capture(capture),
        "path": str(capture.path),
        **capture.report,
        "flows_ended_early": capture.evicted,
        "flows_not_kept": capture.dropped,
        "flows_without_data": capture.silent,
        "flows": flows,
    }


def _flows(capture: CaptureAnalysis) -> str:
    count = len(capture.flows) + capture.dropped
    text = f"{count} {'flow' if count == 1 else 'flows'} with data"
    return f"{text}, {capture.silent} without" if capture.silent else text


def _flow_rows(flows: tuple[FlowAnalysis, ...]) -> Table:
    table = Table("", "flow", "captured at")
    for title in (
        "duration",
        "payload",
        "delivered",
        "RTT min",
        "median",
        "retransmitted",
        "loss runs",
        "ECN",
    ):
        table.add_column(title, justify="right")
    for flow in flows:
        facts = flow.facts
        runs = facts["loss_runs"]
        cells = (
            str(flow.number),
            f"{facts['source']}\n> {facts['destination']}",
            facts["vantage"],
            _duration(facts["duration_ns"]),
            format_size(facts["bytes"], 4),
            _rate(facts["delivered_bps"]),
            _duration(facts["rtt_min_ns"]),
            _duration(facts["rtt_median_ns"]),
            str(facts["retransmitted"]),
            f"{sum(count for _, count in runs)}, longest {runs[-1][0]}" if runs else "0",
            _ecn(facts),
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _ecn(facts: dict[str, Any]) -> str:
    """Name the kind of feedback, marks seen at the point of capture, and marks that the receiver reported."""
    if facts["ecn"] == "off":
        return "off"
    reported = facts["reported_marks"] if facts["ecn"] == "accurate" else facts["ecn_echoes"]
    if facts["ecn"] == "unknown" and not (facts["ce"] or reported):
        return NOTHING
    what = "counted" if facts["ecn"] == "accurate" else "echoes"
    return f"{facts['ecn']}: {facts['ce']} CE, {reported} {what}"


def _estimate_rows(flows: tuple[FlowAnalysis, ...], counted: str) -> Table:
    table = Table("estimate: mean, last", caption_justify="left")
    for flow in flows:
        table.add_column(f"flow {flow.number}", justify="right", no_wrap=True)
    for row, entry in enumerate(flows[0].estimates):
        cells = [_estimate(flow.estimates[row]) for flow in flows]
        table.add_row(Text(entry["name"]), *(Text(cell) for cell in cells))
    table.add_section()
    table.add_row("delivered", *(Text(_megabits(flow.facts["delivered_bps"])) for flow in flows))
    reasons = dict.fromkeys(
        f"{entry['name']}: {entry['missing']}"
        for flow in flows
        for entry in flow.estimates
        if entry["missing"] and entry["missing"] != TOO_FEW
    )
    too_few = any(entry["missing"] == TOO_FEW for flow in flows for entry in flow.estimates)
    notes = [f"Mbit/s of {counted}", *([f"{NOTHING} {TOO_FEW}"] if too_few else []), *reasons]
    table.caption = "; ".join(notes)
    return table


TOO_FEW = "too few acknowledgments that it can use"
"""The engine's reason if no other is known: it is so common that the table abbreviates it."""


def _estimate(entry: dict[str, Any]) -> str:
    if entry["missing"]:
        return NOTHING if entry["missing"] == TOO_FEW else "no*"
    return f"{_megabits(entry['mean_bps'])}, {_megabits(entry['last_bps'])}"


def _megabits(rate_bps: float | None) -> str:
    return NOTHING if rate_bps is None else f"{rate_bps * 1e-6:.3g}"


def _rate(rate_bps: float | None) -> str:
    return NOTHING if rate_bps is None else format_rate(rate_bps, 3)


def _duration(nanoseconds: int | None) -> str:
    return NOTHING if nanoseconds is None else format_duration(nanoseconds, 3)
