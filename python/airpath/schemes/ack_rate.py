"""ACK-rate estimators: their parameters, and how they stand in a plan.

An estimator is a sampler and a filter. Every filter can take its samples from any sampler (`samples`).
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, model_validator

from airpath.quantities import PositiveDuration, Table

MICROSECOND = 1_000
MILLISECOND = 1_000_000
SECOND = 1_000_000_000

Kept = Annotated[float, Strict(), Field(ge=0, lt=1)]
"""The part of an old value that is kept: from 0 to below 1."""
Samples = Literal["per-ack", "round-trip", "interval", "receiver-clock", "delivery-rate"]
Start = Literal["first", "zero"]


class Sampling(Table):
    """Where samples of bandwidth come from."""

    samples: Samples = "per-ack"
    """Where samples come from: `per-ack` (data of each acknowledgment over the time since the one before),
    `round-trip` (data of one RTT over that time, GM's anti-aliasing), `interval` (data of a fixed time),
    `receiver-clock` (data over the receiver's timestamps, as SARBE does) or `delivery-rate` (the
    transport's own samples).
    """
    interval: PositiveDuration = 10 * MILLISECOND
    """For `samples = "interval"`: how long data is added up, at least. 10 ms or more cures links whose
    scheduler delivers many packets in a millisecond.
    """
    resolution: PositiveDuration = MICROSECOND
    """For `samples = "receiver-clock"`: the step of the receiver's clock; stamps are rounded down to it.
    Linux stamps in 1 ms, older systems in 10 ms.
    """

    @model_validator(mode="after")
    def _nothing_without_meaning(self) -> Self:
        for key, sampler in (("interval", "interval"), ("resolution", "receiver-clock")):
            if key in self.model_fields_set and self.samples != sampler:
                raise ValueError(f'"{key}" not applicable with samples = "{self.samples}"')
        return self


class RoundTripSampling(Sampling):
    """Anti-aliased samples."""

    samples: Samples = "round-trip"
    """As `samples` elsewhere; here one for each round trip unless told otherwise."""


class ZeroOrderHold(Sampling):
    """Parameters of GM's filter (2)."""

    tau: PositiveDuration = SECOND
    """tau, the time constant (GM: 1 s; 0.1 s shows what is too short)."""
    start: Start = "first"
    """Where the filter begins: at the `first` sample, or at `zero`; GM does not say."""


class AntiAliasedZeroOrderHold(RoundTripSampling, ZeroOrderHold):
    """Parameters of GM's filter (2) over anti-aliased samples."""


class TimeInvariant(Sampling):
    """Parameters of GM's filter (3)."""

    alpha: Kept = 0.9
    """alpha: the part of the old estimate that is kept at each sample (GM: 0.9)."""
    start: Start = "first"
    """Where the filter begins: at the `first` sample, or at `zero`; GM does not say."""


class AntiAliasedTimeInvariant(RoundTripSampling, TimeInvariant):
    """Parameters of GM's filter (3) over anti-aliased samples."""


class Bilinear(Sampling):
    """Parameters of the filter of the first Westwood, GM's (6)."""

    tau: PositiveDuration = SECOND
    """tau, the time constant (GM: 1 s)."""
    virtual_samples: Literal["zero", "held", "none"] = "zero"
    """What long gaps are filled with: samples of `zero` each tau/2 (the first Westwood), the sample itself
    `held` each tau/4 (GM, section 5), or nothing, which lets a gap above 2 tau swing the estimate.
    """
    start: Start = "first"
    """Where the filter begins: at the `first` sample, or at `zero`; GM does not say."""


class IntervalBilinear(Bilinear):
    """Parameters of GM's filter (6) over data of a fixed time."""

    samples: Samples = "interval"
    """As `samples` elsewhere; here data of a fixed time unless told otherwise."""


class AntiAliasedBilinear(RoundTripSampling, Bilinear):
    """Parameters of GM's filter (6) over anti-aliased samples."""

    virtual_samples: Literal["zero", "held", "none"] = "held"
    """What long gaps are filled with; here the sample itself each tau/4 (GM, section 5)."""


class Stability(Sampling):
    """Parameters of SARBE's stability filter."""

    samples: Samples = "receiver-clock"
    """As `samples` elsewhere; here by the receiver's timestamps unless told otherwise."""
    beta: Kept = 0.8
    """beta: the part of the old instability that is kept (SARBE: 0.8)."""
    window: Annotated[int, Strict(), Field(ge=1, le=16)] = 8
    """N: of how many samples the largest instability is taken (SARBE: 8)."""


class TwoState(Sampling):
    """Parameters of the stand-in for DynaPara with coefficients for each sample."""

    good: Kept = 0.9
    """The part of the old estimate that is kept at each sample in the good state (our choice)."""
    bad: Kept = 0.6
    """The same in the bad state (our choice)."""


class TimedTwoState(Sampling):
    """Parameters of the stand-in for DynaPara with coefficients for each round trip."""

    good: Kept = 0.5
    """The part of the old estimate that is kept over one smoothed RTT in the good state (our choice)."""
    bad: Kept = 0.2
    """The same in the bad state (our choice)."""


class WestwoodPlus(Table):
    """Parameters of Westwood+ as in Linux."""

    ticks_per_second: Annotated[int, Strict(), Field(ge=20, le=1_000_000)] = 1000
    """HZ: ticks of the kernel's clock in a second, in which it counts (1000 or 250 are usual)."""


class DeliveryRate(Sampling):
    """Delivery-rate samples without a filter."""

    samples: Samples = "delivery-rate"
    """As `samples` elsewhere; here the transport's own unless told otherwise."""


class PacketPair(Table):
    """Parameters of packet pair (Keshav 1991)."""

    spacing: PositiveDuration = MILLISECOND
    """Packets that left within this time of each other are a pair (our choice)."""
    window: Annotated[int, Strict(), Field(ge=1, le=15)] = 9
    """Of how many pairs the median is taken (our choice)."""


class Hoe(Table):
    """Parameters of Hoe's slope (1996)."""

    spacing: PositiveDuration = MILLISECOND
    """Packets that left within this time of each other are close (our choice)."""
    acks: Annotated[int, Strict(), Field(ge=2, le=16)] = 3
    """How many acknowledgments the slope goes through (Hoe 1996: 3)."""


def zero_order_hold(parameters: ZeroOrderHold) -> dict[str, Any]:
    """Return GM's filter (2) as in a plan."""
    plan = {"kind": "zero-order-hold", "tau_ns": parameters.tau, "start": parameters.start}
    return _filtered(parameters, plan)


def time_invariant(parameters: TimeInvariant) -> dict[str, Any]:
    """Return GM's filter (3) as in a plan."""
    plan = {"kind": "time-invariant", "alpha": float(parameters.alpha), "start": parameters.start}
    return _filtered(parameters, plan)


def bilinear(parameters: Bilinear) -> dict[str, Any]:
    """Return GM's filter (6) as in a plan."""
    plan = {
        "kind": "bilinear",
        "tau_ns": parameters.tau,
        "virtual_samples": parameters.virtual_samples,
        "start": parameters.start,
    }
    return _filtered(parameters, plan)


def stability(parameters: Stability) -> dict[str, Any]:
    """Return SARBE's filter as in a plan."""
    plan = {"kind": "stability", "beta": float(parameters.beta), "window": parameters.window}
    return _filtered(parameters, plan)


def two_state(parameters: TwoState) -> dict[str, Any]:
    """Return the stand-in for DynaPara as in a plan."""
    return _filtered(parameters, _two_state(parameters.good, parameters.bad, timed=False))


def timed_two_state(parameters: TimedTwoState) -> dict[str, Any]:
    """Return the timed stand-in for DynaPara as in a plan."""
    return _filtered(parameters, _two_state(parameters.good, parameters.bad, timed=True))


def unfiltered(parameters: Sampling) -> dict[str, Any]:
    """Return raw samples as in a plan."""
    return _filtered(parameters, {"kind": "none"})


def westwood_plus(parameters: WestwoodPlus) -> dict[str, Any]:
    """Return Westwood+ as in a plan."""
    return {"kind": "westwood-plus", "ticks_per_second": parameters.ticks_per_second}


def packet_pair(parameters: PacketPair) -> dict[str, Any]:
    """Return packet pair as in a plan."""
    sampler = {"kind": "back-to-back", "acks": 2, "spacing_ns": parameters.spacing}
    median = {"kind": "median", "window": parameters.window}
    return {"kind": "filtered", "sampler": sampler, "filter": median}


def hoe(parameters: Hoe) -> dict[str, Any]:
    """Return Hoe's slope as in a plan."""
    sampler = {"kind": "back-to-back", "acks": parameters.acks, "spacing_ns": parameters.spacing}
    return {"kind": "filtered", "sampler": sampler, "filter": {"kind": "first"}}


def _two_state(good: float, bad: float, *, timed: bool) -> dict[str, Any]:
    return {"kind": "two-state", "good": float(good), "bad": float(bad), "timed": timed}


def _filtered(parameters: Sampling, smoothing: dict[str, Any]) -> dict[str, Any]:
    sampler: dict[str, Any] = {"kind": parameters.samples}
    if parameters.samples == "interval":
        sampler["interval_ns"] = parameters.interval
    elif parameters.samples == "receiver-clock":
        sampler["resolution_ns"] = parameters.resolution
    return {"kind": "filtered", "sampler": sampler, "filter": smoothing}
