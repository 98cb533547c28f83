"""The parameters of disciplines and classes, in plain units."""

from dataclasses import dataclass

from airpath_lint.losses import Loss


@dataclass(slots=True)
class Netem:
    """`netem`, the network emulator.

    Attributes
    ----------
    limit
        The maximum number of packets, delayed and queued.
    delay_ns, jitter_ns, delay_correlation
        Delay, its jitter, and the correlation of successive delays.
    distribution
        The table of delays; empty for the uniform distribution.
    loss
        The loss model.
    ecn
        Whether packets are marked instead of lost.
    duplicate, corrupt, reorder
        Fractions of packets.
    gap
        The distance of reordered packets; 0 if none are reordered.
    rate_bps
        The rate, bit/s.
    slotted
        Whether packets leave in slots.
    seed
        Seed of the random numbers.
    """

    limit: int = 1000
    delay_ns: int = 0
    jitter_ns: int = 0
    delay_correlation: float = 0.0
    distribution: str = ""
    loss: Loss | None = None
    ecn: bool = False
    duplicate: float = 0.0
    corrupt: float = 0.0
    reorder: float = 0.0
    gap: int = 0
    rate_bps: int | None = None
    slotted: bool = False
    seed: int | None = None

    @property
    def is_random(self) -> bool:
        """Whether the discipline uses random numbers."""
        return bool(self.jitter_ns or self.loss or self.duplicate or self.corrupt or self.reorder)


@dataclass(slots=True)
class Tbf:
    """`tbf`, the token bucket filter: rates in bit/s, sizes in bytes; `limit` bounds the waiting bytes."""

    rate_bps: int = 0
    burst: int = 0
    limit: int | None = None
    peak_bps: int | None = None
    minburst: int | None = None


@dataclass(slots=True)
class Htb:
    """`htb` itself: the minor number of the default class (0 is none) and the divisor of quanta."""

    default: int = 0
    r2q: int = 10
    direct_packets: int = 0


@dataclass(slots=True)
class Hfsc:
    """`hfsc` itself: the minor number of the default class; 0 is none."""

    default: int = 0


@dataclass(slots=True)
class HtbClass:
    """A class: rates in bit/s, sizes in bytes; `rate_bps` is `None` if its curve was not understood."""

    rate_bps: int | None = None
    ceil_bps: int | None = None
    burst: int | None = None
    quantum: int | None = None

    @property
    def most_bps(self) -> int | None:
        """The highest rate at which it can send, bit/s."""
        return self.ceil_bps if self.ceil_bps is not None else self.rate_bps


@dataclass(slots=True)
class Managed:
    """A queue, managed or not: limits in packets or bytes, times in ns.

    Attributes
    ----------
    limit_packets, limit_bytes
        The maximum backlog; `None` if it is not limited in this unit.
    target_ns, interval_ns
        Of CoDel, FQ-CoDel and PIE (`tupdate`).
    quantum
        Bytes that a flow sends in its turn.
    flows
        The number of queues that flows are hashed to.
    ecn
        Whether packets are marked; `None` if it is not set.
    rate_bps
        The rate of its shaper (CAKE's `bandwidth`), bit/s.
    minimum, maximum
        Thresholds of RED, bytes.
    probability
        The highest probability of RED.
    adaptive
        Whether RED adapts it.
    """

    limit_packets: int | None = None
    limit_bytes: int | None = None
    target_ns: int | None = None
    interval_ns: int | None = None
    quantum: int | None = None
    flows: int | None = None
    ecn: bool | None = None
    rate_bps: int | None = None
    minimum: int | None = None
    maximum: int | None = None
    probability: float | None = None
    adaptive: bool = False


@dataclass(slots=True)
class Unknown:
    """The parameters of a discipline that this linter has no rules for."""


Options = Netem | Tbf | Htb | Hfsc | Managed | Unknown
