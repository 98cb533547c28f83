"""Queues with active management, and schedulers: their tables in a scenario."""

from typing import Annotated, Literal

from pydantic import Field, Strict

from airpath.declared import table
from airpath.quantities import (
    Buffer,
    Count,
    Duration,
    Flag,
    Name,
    PositiveDuration,
    Probability,
    Rate,
    Size,
    Table,
    Threshold,
)
from airpath.schemes.protocols import MILLISECOND, Fraction, Gain, GainOrNone, Share
from airpath.units import parse_buffer, parse_threshold

Queues = Annotated[int, Strict(), Field(ge=1, le=2**20)]
"""How many queues there are."""


class RedQueue(Table):
    """Random early detection (Floyd and Jacobson 1993), gentle or not, adaptive or not (Floyd et al.)."""

    kind: Literal["red"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""
    unit: Literal["packets", "bytes"] = "packets"
    """What the queue is counted in: `packets` of any size, or `bytes`; small packets are then chosen less."""
    minimum: Threshold | None = None
    """min_th: the average queue from which on packets are chosen. Default: half of 5 ms at the mean rate, at
    least 5 packets (ns-2.35; Floyd et al. 2001).
    """
    maximum: Threshold | None = None
    """max_th: the average queue at which the probability is `max_probability`. Default: three times
    `minimum`.
    """
    max_probability: Share = 0.1
    """max_p: the probability at `maximum`; the first one if it adapts."""
    weight: Share | None = None
    """w_q: weight of the newest queue in the average. Default: 0.002 (Floyd and Jacobson 1993); if adaptive,
    1 - exp(-1/C) with C the mean rate in packets per second (Floyd et al. 2001).
    """
    gentle: Flag = True
    """From `maximum` to twice it the probability grows from `max_probability` to 1 instead of jumping."""
    wait: Flag = True
    """Spare at least 1/p packets between two that are chosen, as ns-2 does; `false` is the paper's rule."""
    adaptive: Flag = False
    """`max_probability` adapts, so that the average stays halfway between the thresholds."""
    ecn: Flag = True
    """Mark packets of flows with `ecn = true` in their `transport` instead of dropping them."""
    mark_limit: Probability = 0.1
    """Probability from which on packets are dropped all the same (ns-2.35: 0.1); 1 marks while it can."""
    packet: Size | None = None
    """Mean size of a packet. Default: the largest that any flow sends."""
    capacity: Rate | None = None
    """The rate at which an idle queue is thought to have sent. Default: the mean rate of the link."""


class RemQueue(Table):
    """Random exponential marking (Athuraliya et al. 2001) as in ns-2.35."""

    kind: Literal["rem"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""
    unit: Literal["packets", "bytes"] = "packets"
    """What arrivals and the queue are counted in: `packets` of any size, acknowledgments included (ns-2.35),
    or `bytes`.
    """
    interval: PositiveDuration = 2 * MILLISECOND
    """T: time between two prices (ns-2.35: 2 ms)."""
    gamma: Gain = 0.001
    """Gain of the price (0.001)."""
    alpha: GainOrNone = 0.1
    """Weight of the queue against the rate (0.1)."""
    phi: Annotated[float, Strict(), Field(gt=1)] = 1.001
    """Base of the probability (1.001)."""
    target: Threshold = parse_threshold("20 packets")
    """b*: the target queue (ns-2.35: 20 packets)."""
    ecn: Flag = True
    """Mark packets of flows with `ecn = true` in their `transport` as they leave, instead of dropping them as
    they arrive.
    """
    unmarkable: Literal["drop", "pass"] = "drop"
    """With `ecn`, what happens to chosen packets that cannot be marked: `drop` (RFC 3168), or `pass` as in
    ns-2.35.
    """
    packet: Size | None = None
    """Mean size of a packet. Default: the largest that any flow sends."""
    capacity: Rate | None = None
    """The capacity that the price is reckoned with. Default: the mean rate of the link."""


class AvqQueue(Table):
    """Adaptive virtual queue (Kunniyur and Srikant 2001)."""

    kind: Literal["avq"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail; the virtual queue has the same buffer, so that there must be one."""
    alpha: Gain = 0.15
    """How fast the virtual capacity adapts (0.15)."""
    gamma: Share = 0.98
    """The utilisation that is wanted (0.98)."""
    initial_share: Probability = 0.8
    """The first virtual capacity as a share of the capacity (0.8)."""
    ecn: Flag = True
    """Mark packets of flows with `ecn = true` in their `transport` instead of dropping them."""
    capacity: Rate | None = None
    """The capacity that the virtual one adapts to. Default: the mean rate of the link."""


class CodelParameters(Table):
    """The parameters of FQ-CoDel that CoDel has too."""

    target: PositiveDuration = 5 * MILLISECOND
    """The accepted minimum queueing delay (RFC 8289: 5 ms)."""
    interval: PositiveDuration = 100 * MILLISECOND
    """Time above the target after which packets are dropped: a long round-trip time (RFC 8289: 100 ms)."""
    packet: Size | None = None
    """Packets are dropped only if more bytes than this wait. Default: the largest packet of any flow."""
    ecn: Flag = True
    """Mark packets of flows with `ecn = true` in their `transport` instead of dropping them."""


class CodelQueue(table("queue", "codel", "CodelTable")):  # type: ignore[misc]
    """Controlled delay (RFC 8289)."""

    kind: Literal["codel"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""


class FqCodelQueue(CodelParameters):
    """Flow queueing with controlled delay (RFC 8290)."""

    kind: Literal["fq-codel"]
    """The queue discipline."""
    limit: Buffer = parse_buffer("10240 packets")
    """Most that waits in all queues together, as for drop-tail."""
    quantum: Size | None = None
    """What a queue sends in its turn. Default: the largest packet that any flow sends."""
    queues: Queues = 1024
    """How many queues flows are hashed to (RFC 8290: 1024)."""


class PieQueue(Table):
    """Proportional integral controller enhanced (RFC 8033)."""

    kind: Literal["pie"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""
    target: PositiveDuration = 15 * MILLISECOND
    """QDELAY_REF: the delay that is wanted (RFC 8033: 15 ms)."""
    update_interval: PositiveDuration = 15 * MILLISECOND
    """T_UPDATE: time between two probabilities (RFC 8033: 15 ms)."""
    alpha: GainOrNone = 0.125
    """Gain on the distance to the target, per second (RFC 8033: 0.125)."""
    beta: GainOrNone = 1.25
    """Gain on the change of the delay, per second (RFC 8033: 1.25)."""
    max_burst: Duration = 150 * MILLISECOND
    """MAX_BURST: how long a queue that rested lets everything pass (RFC 8033: 150 ms)."""
    delay: Literal["timestamps", "departure-rate"] = "timestamps"
    """How the delay is known: how long the packet at the head has waited (`timestamps`), or the queue over
    the rate at which it drains (`departure-rate`).
    """
    derandomise: Flag = True
    """Spread drops evenly (RFC 8033, section 5.4)."""
    ecn: Flag = True
    """Mark packets of flows with `ecn = true` in their `transport` instead of dropping them."""
    mark_limit: Probability = 0.1
    """Probability above which packets are dropped all the same (RFC 8033: 0.1)."""
    packet: Size | None = None
    """Mean size of a packet: no more than two always pass. Default: the largest that any flow sends."""


class DualPi2Queue(Table):
    """Dual-queue coupled AQM (RFC 9332, appendix A), with the defaults of Linux."""

    kind: Literal["dual-pi2"]
    """The queue discipline."""
    limit: Buffer = parse_buffer("10000 packets")
    """Most that waits in both queues together, as for drop-tail."""
    target: PositiveDuration = 15 * MILLISECOND
    """The delay that is wanted in the classic queue (15 ms)."""
    update_interval: PositiveDuration = 16 * MILLISECOND
    """Tupdate: time between two probabilities (16 ms)."""
    alpha: GainOrNone = 0.16
    """Integral gain, Hz (0.16)."""
    beta: GainOrNone = 3.2
    """Proportional gain, Hz (3.2)."""
    coupling: Gain = 2.0
    """k: how much more the low-latency queue is marked than p', whose square classic flows see (2)."""
    step: Duration = MILLISECOND
    """The delay above which every packet of the low-latency queue is marked (1 ms)."""
    classic_share: Fraction = 0.1
    """Share of the link that the classic queue has at least while both are busy (0.1)."""
    packet: Size | None = None
    """While less than two of these wait, none is chosen. Default: the largest that any flow sends."""


class PriorityQueue(Table):
    """Strict priority: a class waits as long as one before it is busy."""

    kind: Literal["priority"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits in all classes together, as for drop-tail; the last class loses packets first."""
    classes: Annotated[list[list[Name]], Field(min_length=1)]
    """Names of flow entries, from the class that goes first on. Flows that are not named go behind them."""


class DrrQueue(Table):
    """Deficit round robin (Shreedhar and Varghese 1995)."""

    kind: Literal["drr"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits in all queues together, as for drop-tail; the longest loses packets."""
    quantum: Size | None = None
    """What a queue of weight 1 sends in its turn. Default: the largest packet that any flow sends."""
    weights: Annotated[dict[Name, Annotated[Count, Field(le=1_000_000)]], Field(min_length=1)] | None = None
    """Weights of flow entries by name, 1 to 1 000 000, each of which has one queue; all others share one of
    weight 1. Default: a queue for each flow.
    """
    queues: Queues = 1024
    """Without `weights`, how many queues flows are hashed to."""


ManagedQueue = (
    RedQueue
    | RemQueue
    | AvqQueue
    | CodelQueue
    | FqCodelQueue
    | PieQueue
    | DualPi2Queue
    | PriorityQueue
    | DrrQueue
)
"""The tables of queues that are managed, or that schedule."""
