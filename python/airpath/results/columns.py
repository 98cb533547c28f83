"""What every result table holds: the single source of names, types, units and descriptions.

The Arrow schemas, the written Parquet files and ``docs/results.md`` all come from the lists in this
module. The engine hands out numbers only; the front end replaces codes by names and adds the labels of
the run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Literal

import pyarrow as pa

EngineType = Literal["i64", "f64"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a result table.

    Attributes
    ----------
    name
        Its name, ending in the unit where it has one.
    engine_type
        What the engine hands out: ``i64`` or ``f64`` (NaN where there is no value).
    unit
        The unit: ``s``, ``B`` (bytes), ``bit/s``, ``packets``, or empty for a plain number or a name.
    description
        What it means.
    names
        For a code: the name of each value 0, 1, …; written results hold the name instead of the code.
    names_of_run
        For a code whose names each run brings along: the attribute of `RunRecord` that has them.
    """

    name: str
    engine_type: EngineType
    unit: str
    description: str
    names: tuple[str, ...] = ()
    names_of_run: Literal["", "quantities", "estimators"] = ""

    @property
    def type(self) -> pa.DataType:
        """The Arrow type in written results."""
        if self.names or self.names_of_run:
            return NAME_TYPE
        return pa.int64() if self.engine_type == "i64" else pa.float64()


@dataclass(frozen=True)
class TableDescription:
    """One result table.

    Attributes
    ----------
    name
        Its name, also that of its file.
    rows
        What one row is.
    subject
        What a row is about: a flow, a source of flows, or a link; decides the joined names.
    columns
        The engine's columns, in order.
    optional
        Written only when there is something in it.
    """

    name: str
    rows: str
    subject: Literal["flow", "source", "link"]
    columns: tuple[Column, ...]
    optional: bool = False

    @property
    def labels(self) -> tuple[tuple[str, pa.DataType, str], ...]:
        """The columns that the front end adds: name, Arrow type, description."""
        if self.subject != "link":
            return RUN_LABELS + FLOW_LABELS
        if any(column.name == "flow" for column in self.columns):
            return RUN_LABELS + LINK_LABELS + FLOW_LABELS
        return RUN_LABELS + LINK_LABELS

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema: labels first, then the engine's columns; unit and description are metadata."""
        labels = [_field(name, kind, "", text) for name, kind, text in self.labels]
        return pa.schema(labels + [_field(c.name, c.type, c.unit, c.description) for c in self.columns])


NAME_TYPE = pa.dictionary(pa.int32(), pa.string())
"""Names are dictionary-encoded: they repeat on every row."""

RUN_LABELS: tuple[tuple[str, pa.DataType, str], ...] = (
    ("scheme", NAME_TYPE, "scheme under test in the run"),
    ("repetition", pa.int64(), "0, 1, … within the scheme"),
    ("seed", pa.uint64(), "seed of the run; repetitions with the same seed are paired between schemes"),
)
FLOW_LABELS: tuple[tuple[str, pa.DataType, str], ...] = (
    ("source_name", NAME_TYPE, "name of the plan's source that the flow belongs to"),
    ("group", NAME_TYPE, "flows shown together: as the scenario says, else those of one scheme"),
    ("flow_scheme", NAME_TYPE, "scheme of this flow; null for datagrams without a controller"),
)
LINK_LABELS: tuple[tuple[str, pa.DataType, str], ...] = (("link_name", NAME_TYPE, "name of the plan's link"),)

PHASES = (
    "slow start",
    "conservative slow start",
    "congestion avoidance",
    "steady",
    "drain",
    "probe down",
    "probe cruise",
    "probe refill",
    "probe up",
    "probe rtt",
    "slowdown",
)
EVENTS = ("loss", "timeout", "ecn reduction", "spurious timeout", "recovery left")
DROP_REASONS = ("overflow", "early", "corruption")
DELAY_KINDS = ("one-way", "queueing")


def _whole(name: str, unit: str, description: str) -> Column:
    return Column(name, "i64", unit, description)


def _real(name: str, unit: str, description: str) -> Column:
    return Column(name, "f64", unit, description)


def _named(name: str, names: tuple[str, ...], description: str) -> Column:
    return Column(name, "i64", "", description, names)


_FLOW = _whole("flow", "", "flow number: row of `flows` within the run")
_SOURCE = _whole("source", "", "index of the source in the plan's `flows`")
_FIRST_SOURCE = _whole(
    "source",
    "",
    "index in the plan's `flows` of the first of the sources that are counted together: those with the same "
    "group, scheme and measuring link",
)
_LINK = _whole("link", "", "index of the link in the plan")
_ESTIMATOR = Column(
    "estimator",
    "i64",
    "",
    "which: as written in the flow's `estimators`, or `controller` for that of the controller itself",
    names_of_run="estimators",
)
_INTERVAL_END = _real("time_s", "s", "end of the interval")

_TABLES = (
    TableDescription(
        "flows",
        "one flow; short flows that arrive at random are rows of their own",
        "flow",
        (
            _FLOW,
            _SOURCE,
            _whole("instance", "", "0, 1, … within the source"),
            _real("start_s", "s", "when it began to send"),
            _real(
                "first_departure_s", "s", "first departure from its measuring link in the measured interval"
            ),
            _real("last_departure_s", "s", "last departure from its measuring link in the measured interval"),
            _whole(
                "departed_bytes",
                "B",
                "wire bytes that left the measuring link in the measured interval, damaged ones included",
            ),
            _whole(
                "arrived_bytes",
                "B",
                "wire bytes that reached the measuring link's queue in the measured interval",
            ),
            _whole(
                "goodput_bytes",
                "B",
                "new payload handed in order to the receiving application, measured interval",
            ),
            _whole(
                "delivered_packets",
                "packets",
                "data packets that reached the receiver in the measured interval",
            ),
            _whole("sent_packets", "packets", "data packets sent in the measured interval"),
            _whole("retransmitted_packets", "packets", "data packets retransmitted in the measured interval"),
            _whole(
                "lost_packets",
                "packets",
                "data packets dropped or damaged anywhere on the path in the measured interval",
            ),
            _whole("timeouts", "", "retransmission timeouts in the measured interval"),
            _whole(
                "recoveries",
                "",
                "times that loss recovery was entered in the measured interval; null for kernels and QUIC",
            ),
            _whole(
                "ecn_reductions",
                "",
                "reductions in answer to ECN marks in the measured interval; null for kernels",
            ),
            _whole(
                "spurious_timeouts",
                "",
                "timeouts found spurious and undone in the measured interval; null for kernels",
            ),
            _real(
                "delay_mean_s", "s", "mean one-way delay of data packets received in the measured interval"
            ),
            _real("queueing_mean_s", "s", "the part of the mean one-way delay spent waiting in queues"),
            _real("delay_min_s", "s", "smallest one-way delay seen"),
            _real("srtt_s", "s", "smoothed round-trip time at the end"),
            _real("min_rtt_s", "s", "smallest round-trip time, at the end"),
        ),
    ),
    TableDescription(
        "flow_series",
        "one flow and interval in which the flow was active",
        "flow",
        (
            _FLOW,
            _INTERVAL_END,
            _whole("sent_bytes", "B", "wire bytes sent in the interval"),
            _whole("departed_bytes", "B", "wire bytes that left the measuring link in the interval"),
            _whole("goodput_bytes", "B", "new payload handed in order to the application in the interval"),
            _whole("lost_packets", "packets", "data packets dropped or damaged in the interval"),
            _real(
                "delay_mean_s", "s", "mean one-way delay of packets received in the interval, to seven digits"
            ),
            _real(
                "delay_max_s",
                "s",
                "largest one-way delay of packets received in the interval, to seven digits",
            ),
            _real(
                "queueing_mean_s",
                "s",
                "mean time waiting in queues of packets received in the interval, to seven digits",
            ),
            _real("cwnd_bytes", "B", "congestion window at the end of the interval"),
            _real("ssthresh_bytes", "B", "slow-start threshold at the end; NaN while there is none"),
            _real("in_flight_bytes", "B", "bytes in flight at the end"),
            _real("srtt_s", "s", "smoothed round-trip time at the end, to seven digits"),
            _real(
                "pacing_rate_bps",
                "bit/s",
                "pacing rate at the end; NaN when not paced (kernels: their target)",
            ),
            _named("phase", PHASES, "what the controller was doing at the end"),
        ),
    ),
    TableDescription(
        "flow_events",
        "one congestion event; kernels tell of none",
        "flow",
        (
            _FLOW,
            _real("time_s", "s", "when it happened"),
            _named(
                "event",
                EVENTS,
                "what happened; `loss` is fast recovery entered (but not where the window was reduced for a "
                "mark already), `spurious timeout` a timeout undone",
            ),
        ),
    ),
    TableDescription(
        "flow_observations",
        "one quantity that a sender's controller reported in an interval; absent where none did",
        "flow",
        (
            _FLOW,
            _INTERVAL_END,
            Column(
                "quantity",
                "i64",
                "",
                "what is reported; see the list of quantities",
                names_of_run="quantities",
            ),
            _real("value", "", "the last value in the interval, in the unit of the quantity"),
        ),
        optional=True,
    ),
    TableDescription(
        "completions",
        "one finished transfer",
        "flow",
        (
            _FLOW,
            _whole("transfer", "", "0, 1, … within the flow"),
            _real("start_s", "s", "first packet sent"),
            _real("end_s", "s", "last byte acknowledged"),
            _whole("bytes", "B", "size of the transfer"),
        ),
    ),
    TableDescription(
        "links",
        "one recorded link, over the measured interval",
        "link",
        (
            _LINK,
            _real("offered_bytes", "B", "capacity; NaN when unlimited"),
            _whole("arrived_bytes", "B", "wire bytes that reached the queue"),
            _whole("departed_bytes", "B", "wire bytes that left, those damaged on the way included"),
            _whole("arrived_packets", "packets", "packets that reached the queue"),
            _whole("departed_packets", "packets", "packets that left"),
            _whole("dropped_packets_overflow", "packets", "dropped because the queue was full"),
            _whole("dropped_packets_early", "packets", "dropped by the queue discipline before it was full"),
            _whole(
                "dropped_packets_corruption",
                "packets",
                "damaged by the channel, and not repaired by a link that sends again",
            ),
            _whole("dropped_bytes_overflow", "B", "dropped because the queue was full"),
            _whole("dropped_bytes_early", "B", "dropped by the queue discipline before it was full"),
            _whole("dropped_bytes_corruption", "B", "damaged by the channel"),
            _whole("marked_packets", "packets", "marked Congestion Experienced"),
            _whole("retransmitted_packets", "packets", "sent again by the link itself"),
            _whole("retransmitted_bytes", "B", "sent again by the link itself; not part of what departed"),
            _real("queue_mean_bytes", "B", "time-weighted mean queue, the packet being sent excluded"),
            _real(
                "queue_mean_packets", "packets", "time-weighted mean queue, the packet being sent excluded"
            ),
            _whole("queue_max_bytes", "B", "longest queue"),
            _whole("queue_max_packets", "packets", "longest queue"),
            _whole("dropped_packets_total", "packets", "all drops, whole run"),
            _real("delay_s", "s", "propagation delay that was drawn"),
        ),
    ),
    TableDescription(
        "link_series",
        "one recorded link and interval",
        "link",
        (
            _LINK,
            _INTERVAL_END,
            _real("offered_bytes", "B", "capacity in the interval; NaN when unlimited"),
            _whole("arrived_bytes", "B", "wire bytes that reached the queue in the interval"),
            _whole("departed_bytes", "B", "wire bytes that left in the interval"),
            _whole("dropped_packets", "packets", "packets dropped or damaged in the interval"),
            _whole("marked_packets", "packets", "packets marked Congestion Experienced in the interval"),
            _whole("retransmitted_packets", "packets", "packets sent again by the link in the interval"),
            _real("queue_mean_bytes", "B", "time-weighted mean queue in the interval"),
            _real("queue_mean_packets", "packets", "time-weighted mean queue in the interval"),
            _whole("queue_max_bytes", "B", "longest queue in the interval"),
            _whole("queue_bytes", "B", "queue at the end of the interval"),
            _whole("queue_packets", "packets", "queue at the end of the interval"),
            _real("queue_share", "", "time-weighted mean queue over the buffer; NaN when that is unlimited"),
        ),
    ),
    TableDescription(
        "link_observations",
        "one quantity that the router of a recorded link reports, and interval; absent without routers",
        "link",
        (
            _LINK,
            _INTERVAL_END,
            Column(
                "quantity",
                "i64",
                "",
                "what is reported; see the list of quantities",
                names_of_run="quantities",
            ),
            _real("value", "", "its value at the end of the interval, in the unit of the quantity"),
        ),
        optional=True,
    ),
    TableDescription(
        "flow_estimates",
        "one ACK-rate estimator of a flow, and interval; absent without estimators",
        "flow",
        (
            _FLOW,
            _INTERVAL_END,
            _ESTIMATOR,
            _real("estimate_bps", "bit/s", "the estimate at the end of the interval; NaN before the first"),
            _real("sample_bps", "bit/s", "the newest sample, before any filter"),
            _real("largest_sample_bps", "bit/s", "the largest sample of the interval; NaN without any"),
            _whole("samples", "", "how many samples the interval brought"),
        ),
        optional=True,
    ),
    TableDescription(
        "estimate_samples",
        "one sample of an ACK-rate estimator; only when the scenario asks for it",
        "flow",
        (
            _FLOW,
            _real("time_s", "s", "when it was complete"),
            _ESTIMATOR,
            _real("sample_bps", "bit/s", "the sample, before any filter"),
            _real("estimate_bps", "bit/s", "the estimate that it led to"),
        ),
        optional=True,
    ),
    TableDescription(
        "drops",
        "one lost packet, in the order of time; empty with `record.drops = false`",
        "link",
        (
            _LINK,
            _FLOW,
            _real("time_s", "s", "when it was lost"),
            _whole("bytes", "B", "its size on the wire"),
            _named(
                "reason",
                DROP_REASONS,
                "why; `early` is a drop by the queue discipline, `corruption` damage by the channel",
            ),
        ),
    ),
    TableDescription(
        "delay_histogram",
        "one bin of the delay distribution of a group of sources over data packets received in the measured "
        "interval; bins are at most 0.8 % wide and empty ones are left out; percentiles in the summary come "
        "from bins of 0.1 %",
        "source",
        (
            _FIRST_SOURCE,
            _named(
                "kind",
                DELAY_KINDS,
                "which delay; `queueing` is the part of the one-way delay spent in queues",
            ),
            _real("delay_s", "s", "upper end of the bin"),
            _whole("packets", "packets", "packets in the bin"),
        ),
    ),
    TableDescription(
        "packets",
        "one data packet received; only when the scenario asks for it",
        "flow",
        (
            _FLOW,
            _real("sent_s", "s", "when it was sent"),
            _real("received_s", "s", "when it reached the receiver"),
            _real("queueing_s", "s", "time waiting in queues"),
            _whole("bytes", "B", "its size on the wire"),
            _whole("sequence", "", "number of its first payload byte; -1 where nobody knows (emulations)"),
            _whole("retransmission", "", "1 if sent again, else 0"),
            _whole("ecn", "", "the two ECN bits at arrival"),
        ),
        optional=True,
    ),
)

TABLES: Mapping[str, TableDescription] = MappingProxyType({table.name: table for table in _TABLES})
"""Every table, by name, in the order of the documentation."""


def _field(name: str, kind: pa.DataType, unit: str, description: str) -> pa.Field:
    return pa.field(name, kind, metadata={"unit": unit, "description": description})
