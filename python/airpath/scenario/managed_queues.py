"""Queues with active management: their tables in a scenario."""

from typing import Annotated, Literal

from pydantic import Field, Strict

from airpath.quantities import Buffer, Flag, PositiveDuration, Probability, Rate, Size, Table, Threshold
from airpath.schemes.protocols import MILLISECOND, Gain, GainOrNone, Share
from airpath.units import parse_threshold


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
    """Mark packets that allow it instead of dropping them."""
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
    """Mark packets that allow it as they leave, instead of dropping them as they arrive."""
    unmarkable: Literal["drop", "pass"] = "drop"
    """With `ecn`, what happens to chosen packets that cannot be marked: `drop` (RFC 3168), or `pass` as in
    ns-2.35.
    """
    packet: Size | None = None
    """Mean size of a packet. Default: the largest that any flow sends."""
    capacity: Rate | None = None
    """The capacity that the price is reckoned with. Default: the mean rate of the link."""


ManagedQueue = RedQueue | RemQueue
"""The tables of queues that are managed."""
