"""The tables of captures: the single source of their columns, units and descriptions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from airpath.captures.analysis import CaptureAnalysis, FlowAnalysis
from airpath.results.labelled import labelled, table_of


@dataclass(frozen=True, slots=True)
class FlowColumn:
    """One column of the table of flows.

    Attributes
    ----------
    name
        Its name, ending in the unit if it has one.
    type
        The Arrow type.
    unit
        The unit, or empty for a plain number or a name.
    description
        Its meaning.
    value
        The value for a flow, from the engine's facts; ``None`` if there is none.
    """

    name: str
    type: pa.DataType
    unit: str
    description: str
    value: Callable[[dict[str, Any]], Any]


def _fact(name: str, kind: pa.DataType, unit: str, text: str, key: str | None = None) -> FlowColumn:
    return FlowColumn(name, kind, unit, text, lambda facts: facts[key or name])


def _seconds(name: str, text: str) -> FlowColumn:
    key = f"{name.removesuffix('_s')}_ns"
    return FlowColumn(
        name, pa.float64(), "s", text, lambda facts: None if facts[key] is None else facts[key] * 1e-9
    )


def _count(name: str, text: str, unit: str = "packets", key: str | None = None) -> FlowColumn:
    return _fact(name, pa.int64(), unit, text, key)


FLOW_COLUMNS: tuple[FlowColumn, ...] = (
    _fact("source", pa.string(), "", "address and port of the end that sent the data; QUIC: which end"),
    _fact("destination", pa.string(), "", "address and port of the end that received it"),
    _seconds("start_s", "first packet, since the first packet of the capture"),
    _seconds("duration_s", "from the first to the last packet"),
    _count("packets", "packets of both directions"),
    _fact(
        "vantage",
        pa.string(),
        "",
        "where it was captured: near the sender or the receiver of the data, in the middle, local (both ends "
        "are near), unknown",
    ),
    _seconds("sender_answer_s", "shortest time in which the sender answered at the point of capture"),
    _seconds("receiver_answer_s", "shortest time in which the receiver answered there"),
    _fact("handshake", pa.bool_(), "", "SYN and SYN-ACK were captured"),
    _fact(
        "sack",
        pa.bool_(),
        "",
        "selective acknowledgments were agreed or seen, or assumed for want of a handshake",
    ),
    _fact("timestamps", pa.bool_(), "", "the receiver sent timestamps"),
    _fact("clock_hz", pa.float64(), "1/s", "ticks in a second of the receiver's timestamps"),
    _fact("window_scale", pa.int64(), "", "shift of the receiver's window; null when not agreed or not seen"),
    _count("window_max_bytes", "largest receive window; unscaled without the handshake", "B", "window_max"),
    _count("mss_bytes", "payload of a full segment", "B", "mss"),
    _count("data_packets", "packets with payload"),
    _count("bytes", "payload, each byte once", "B"),
    _count("reverse_bytes", "payload of the other direction", "B"),
    _count("acked_bytes", "payload acknowledged", "B"),
    _count("acks", "acknowledgments replayed"),
    _fact(
        "delivered_bps",
        pa.float64(),
        "bit/s",
        "payload acknowledged, from the first data to the last new acknowledgment",
    ),
    _count("rtt_samples", "round-trip samples", ""),
    _seconds("rtt_min_s", "smallest round trip"),
    _seconds("rtt_median_s", "median round trip (to 1 %)"),
    _seconds("rtt_max_s", "largest round trip"),
    _count("retransmitted_packets", "full segments retransmitted; QUIC: packets lost", key="retransmitted"),
    _count("needless_packets", "of these, sent after their data was acknowledged", key="needless"),
    _count("reordered_packets", "arrived out of order at the point of capture", key="reordered"),
    _count("recoveries", "loss recoveries, as inferred", ""),
    _count("timeouts", "retransmission timeouts, as inferred", ""),
    FlowColumn(
        "loss_runs",
        pa.int64(),
        "",
        "runs of adjacent segments that were retransmitted",
        lambda facts: sum(count for _, count in facts["loss_runs"]),
    ),
    FlowColumn(
        "loss_run_mean_packets",
        pa.float64(),
        "packets",
        "mean length of these runs",
        lambda facts: _mean_length(facts["loss_runs"]),
    ),
    FlowColumn(
        "loss_run_max_packets",
        pa.int64(),
        "packets",
        "longest of these runs",
        lambda facts: max((length for length, _ in facts["loss_runs"]), default=None),
    ),
    FlowColumn(
        "loss_run_lengths",
        pa.list_(pa.struct([("length", pa.int64()), ("runs", pa.int64())])),
        "packets",
        "how many runs of each length",
        lambda facts: [{"length": length, "runs": runs} for length, runs in facts["loss_runs"]],
    ),
    _count("uncaptured_bytes", "payload acknowledged that the capture does not have", "B"),
    _fact(
        "ecn",
        pa.string(),
        "",
        "off, classic (RFC 3168), accurate (RFC 9768), unknown (no handshake captured)",
    ),
    _count("ect0_packets", "data packets with ECT(0)", key="ect0"),
    _count("ect1_packets", "data packets with ECT(1)", key="ect1"),
    _count("ce_packets", "data packets marked before the point of capture", key="ce"),
    _count("ecn_echoes", "acknowledgments with the classic echo"),
    _count("reported_marks", "marks that the counter of accurate ECN reports"),
    _count("backward_times", "packets with a time before that of the packet before"),
    _count("duplicates", "packets captured twice, or seen at a second interface"),
    _count(
        "restarts", "times that following began anew (only one direction captured, numbers without sense)", ""
    ),
)

SERIES_UNITS: dict[str, tuple[str, str]] = {
    "delivered_bps": ("bit/s", "payload newly acknowledged over the bin's width"),
    "lost_bytes": ("B", "payload that acknowledgments revealed as lost"),
    "retransmitted_packets": ("packets", "full segments retransmitted"),
    "marks": ("", "acknowledgments that report congestion marks"),
    "rtt_min_s": ("s", "smallest round trip in the bin"),
    "rtt_mean_s": ("s", "mean round trip in the bin"),
}

LOGGED_UNITS: dict[str, tuple[str, str]] = {
    "logged_congestion_window_bytes": ("B", "congestion window, as the log says"),
    "logged_in_flight_bytes": ("B", "bytes in flight, as the log says"),
    "logged_smoothed_rtt_s": ("s", "smoothed round trip, as the log says"),
    "logged_pacing_rate_bps": ("bit/s", "pacing rate, as the log says"),
}
"""Columns of the series of QUIC logs; absent if only captures were read."""


def flows_table(captures: Sequence[CaptureAnalysis]) -> pa.Table:
    """Return one row for each flow of each capture."""
    rows = [(capture, flow) for capture in captures for flow in capture.flows]
    columns = [
        labelled([capture.path.name for capture, _ in rows], pa.string(), "capture", "name of the file"),
        labelled([flow.number for _, flow in rows], pa.int64(), "flow", "number within the capture"),
    ]
    for column in FLOW_COLUMNS:
        values = [column.value(flow.facts) for _, flow in rows]
        columns.append(labelled(values, column.type, column.name, column.description, column.unit))
    return table_of(columns)


def estimates_table(captures: Sequence[CaptureAnalysis]) -> pa.Table:
    """Return one row for each flow and estimator: mean and last estimate, or the reason if there is none."""
    rows = [
        (capture.path.name, flow.number, entry)
        for capture in captures
        for flow in capture.flows
        for entry in flow.estimates
    ]
    text, real = pa.string(), pa.float64()
    mean = "mean over time of the estimate, from its first value on"
    return table_of(
        [
            labelled([row[0] for row in rows], text, "capture", "name of the file"),
            labelled([row[1] for row in rows], pa.int64(), "flow", "number within the capture"),
            labelled([row[2]["name"] for row in rows], text, "estimator", "name of the estimator"),
            labelled([row[2]["mean_bps"] for row in rows], real, "mean_bps", mean, "bit/s"),
            labelled([row[2]["last_bps"] for row in rows], real, "last_bps", "last estimate", "bit/s"),
            labelled([row[2]["missing"] for row in rows], text, "missing", "why there is no estimate"),
        ]
    )


def series_table(captures: Sequence[CaptureAnalysis]) -> pa.Table:
    """Return one row for each flow and bin of time; a column for each estimator."""
    pairs = [(capture, flow) for capture in captures for flow in capture.flows]
    estimators = list(dict.fromkeys(name for _, flow in pairs for name in flow.estimates_bps))

    def joined(of: Callable[[FlowAnalysis], Any]) -> Any:
        return np.concatenate([of(flow) for _, flow in pairs]) if pairs else np.empty(0)

    names = [capture.path.name for capture, flow in pairs for _ in flow.time_s]
    numbers = [flow.number for _, flow in pairs for _ in flow.time_s]
    real = pa.float64()
    columns = [
        labelled(names, pa.string(), "capture", "name of the file"),
        labelled(numbers, pa.int64(), "flow", "number within the capture"),
        labelled(joined(lambda f: f.time_s), real, "time_s", "end of the bin, since the capture began", "s"),
        labelled(joined(lambda f: np.full(len(f.time_s), f.width_s)), real, "bin_s", "width of the bin", "s"),
    ]
    logs = LOGGED_UNITS if any(capture.is_log for capture in captures) else {}
    for name, (unit, text) in {**SERIES_UNITS, **logs}.items():
        values = joined(lambda f: f.series.get(name, np.full(len(f.time_s), np.nan)))  # noqa: B023
        columns.append(labelled(values, real, name, text, unit))
    for name in estimators:
        text = f"last estimate of {name} in the bin; null where no acknowledgment came"
        values = joined(lambda f: f.estimates_bps[name])  # noqa: B023 - called at once
        columns.append(labelled(values, real, f"{name}_bps", text, "bit/s"))
    return table_of(columns)


def _mean_length(runs: list[tuple[int, int]]) -> float | None:
    count = sum(number for _, number in runs)
    return sum(length * number for length, number in runs) / count if count else None
