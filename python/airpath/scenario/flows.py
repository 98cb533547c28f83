"""Flows: their traffic and their transport, as written in a scenario."""

from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from airpath._declared.messages import show
from airpath._declared.quantities import (
    BoundedDurationSpread,
    Constant,
    Count,
    Duration,
    DurationSpread,
    Flag,
    Name,
    PositiveDuration,
    Size,
    Table,
    Text,
    Window,
)
from airpath._declared.tables import Tagged, Values, tables, without_context


def _ecn(value: object) -> object:
    if isinstance(value, bool) or value == "accurate":
        return value
    raise ValueError(f'found {show(value)}; accepted: true, false, or "accurate"')


EcnSetting = Annotated[bool | Literal["accurate"], BeforeValidator(_ecn)]
"""`true`, `false` or `"accurate"`."""


TRAFFIC: Final = {
    name: without_context(one) for name, one in tables("traffic", "Traffic", "The kind of traffic.").items()
}
"""The tables of traffic by their kind."""

DATAGRAMS: Final = ("constant-bit-rate", "poisson-datagrams")
"""The kinds of traffic without controller and transport."""

Traffic = Annotated[Values, Tagged(TRAFFIC, or_name=True)]


class Transport(Table):
    """How data is transported (TCP).

    A key that is absent takes the value of the next level: flow, scenario, scheme, default.
    """

    mss: Size | None = None
    """Largest payload of one segment. Default: 1500 bytes minus `headers`."""
    headers: Size | None = None
    """Bytes of headers on each data segment. Default: 40 (IPv4 and TCP), 52 with timestamps (RFC 7323,
    section 3), plus the header of the scheme's own if it has one.
    """
    ack: Size | None = None
    """Size of an acknowledgment on the wire. Default: `headers`."""
    initial_window: Window | None = None
    """Initial window. Default: 2 packets for router-assisted schemes and LEDBAT++, 3 for CUBIC of 2008 and
    CUBIC-EBE, else 10 (RFC 6928).
    """
    receive_window: Window | None = None
    """Receive window. Default: 1 GiB, the largest that TCP can announce (RFC 7323, section 2.3): no limit
    in practice.
    """
    recovery: Literal["prr", "sack", "newreno", "reno"] | None = None
    """Loss recovery: `prr` (RFC 6675 with RFC 6937, the default), `sack` (RFC 6675), `newreno` (RFC 6582,
    no SACK), `reno` (RFC 5681, no SACK).
    """
    lost_retransmission_detection: Flag | None = None
    """Find lost retransmissions without waiting for the timer (RFC 8985). Default: true."""
    loss_detection: Literal["threshold", "rack"] | None = None
    """How losses are detected, if `recovery` uses selective acknowledgments: `threshold`, by three segments'
    worth of data above the segment (RFC 6675, the default), or `rack`, by time (RFC 8985), which tolerates
    reordering and probes for a lost tail.
    """
    spurious_timeout_undo: Flag | None = None
    """Undo a timeout that timestamps prove spurious (RFC 3522, RFC 4015). Default: as `timestamps`."""
    timestamps: Flag | None = None
    """Timestamps option (RFC 7323). Default: true."""
    delayed_ack_segments: Annotated[Count, Field(le=2**32 - 1)] | None = None
    """Segments per acknowledgment: 1 acknowledges each. Default: 1 for router-assisted schemes, else 2 (RFC
    5681, section 4.2).
    """
    delayed_ack_timeout: Duration | None = None
    """Longest delay of an acknowledgment. Default: 40 ms (Linux; RFC 5681 allows up to 500 ms)."""
    min_rto: Duration | None = None
    """Lower bound of the retransmission timeout. Default: 200 ms (Linux, ns-2; RFC 6298, section 2.4, says
    1 s).
    """
    rto_floor: Literal["variance", "timeout"] | None = None
    """What `min_rto` bounds: the `variance` term of the timeout (Linux, the default) or the whole `timeout`
    (RFC 6298).
    """
    max_rto: PositiveDuration | None = None
    """Upper bound of the retransmission timeout. Default: 120 s (Linux; RFC 6298, section 2.5, asks for at
    least 60 s).
    """
    initial_rto: PositiveDuration | None = None
    """Retransmission timeout before the first RTT sample. Default: 1 s (RFC 6298, section 2.1)."""
    ecn: EcnSetting | None = None
    """ECN-capable data packets and echo (RFC 3168); `"accurate"` for ECT(1) and a count of marked arrivals
    (RFC 9768), as L4S requires. Default: false.
    """
    pacing: Flag | None = None
    """Pace at a gain times window over RTT if the controller sets no pacing rate. Default: false."""
    stack: Literal["rfc", "linux"] | None = None
    """Stack whose details the transport follows: `rfc` (the default), or `linux`, which acknowledges the
    first 16 segments one by one, offers a receive window of 64 kB that grows by two bytes for each byte
    received, and has timestamps of 1 ms.
    """
    gso: Flag | None = None
    """In the emulator: bursts of segments (generic segmentation offload), the same for all flows. A simulated
    sender has none. Default: true.
    """


class Flow(Table):
    """A group of flows with equal settings."""

    name: Name
    """Name of the group, unique; its flows are NAME-1, NAME-2, …, the path of their random streams."""
    scheme: Text | None = None
    """Congestion-control scheme, optionally with options: `cubic`, `cubic:beta=0.8`. Absent for datagrams
    only.
    """
    parameters: Annotated[dict[str, Any], Field(default_factory=dict)]
    """Parameters of the scheme; they override options in `scheme`."""
    count: Annotated[Count, Field(le=100_000)] = 1
    """Number of flows (in each direction, if `direction` is `both`)."""
    direction: Literal["forward", "reverse", "both"] = "forward"
    """Dumbbell and parking lot: the direction of the data."""
    hop: Count | Literal["each"] | None = None
    """Parking lot: the number of the single bottleneck that the flow crosses (1 is the first), or `each` for
    a group on every one. Default: all of them, end to end.
    """
    source: Annotated[Text | None, Field(alias="from")] = None
    """Graph: the sending node."""
    destination: Annotated[Text | None, Field(alias="to")] = None
    """Graph: the receiving node."""
    via: tuple[Text, ...] = ()
    """Graph: nodes that the data visits on its way, in order. Without it, the path with fewest hops; ties
    by delay, then by name.
    """
    measured_at: Text | None = None
    """Link at whose exit throughput is measured. Default: the first recorded link on the path, else the
    first link.
    """
    start: DurationSpread = Constant(0)
    """Start time of the flow."""
    stop: DurationSpread | None = None
    """Time at which the flow stops sending new data. Default: the end of the run."""
    extra_rtt: BoundedDurationSpread = Constant(0)
    """Added to the base RTT of the flow. A fixed value is split equally between the directions; a random
    value is added to the reverse path only, so that the RTT has exactly this distribution.
    """
    estimators: tuple[Text, ...] = ()
    """ACK-rate estimators, optionally with options, that the sender runs in addition to its controller: their
    estimates are recorded and control nothing. `["westwood", "sarbe:resolution=10ms"]`.
    """
    traffic: Traffic = TRAFFIC["bulk"].read({"kind": "bulk"})
    """Traffic of the flow."""
    transport: Transport = Transport.model_construct()
    """Settings of the transport for these flows."""
