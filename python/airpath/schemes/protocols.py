"""Router protocols: their parameters, and how they stand in a plan.

Defaults are those of the authors' or ns-2's code where the papers are silent; the reasons stand with the
fields.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import Field, Strict, model_validator

from airpath.quantities import Duration, PositiveDuration, Table
from airpath.units import format_duration

MILLISECOND = 1_000_000
SECOND = 1_000_000_000

Gain = Annotated[float, Strict(), Field(gt=0)]
"""A number above zero."""
GainOrNone = Annotated[float, Strict(), Field(ge=0)]
"""A number, zero for none."""
Share = Annotated[float, Strict(), Field(gt=0, le=1)]
"""Above 0, at most 1."""
Fraction = Annotated[float, Strict(), Field(gt=0, lt=1)]
"""Between 0 and 1."""


class XcpComputation(Table):
    """What XCP's senders and routers share."""

    form: Literal["rate", "window"] = "rate"
    """What feedback changes: the `rate` (draft-falk-xcp-spec-03, ns-2.35: it counts over the sender's newest
    RTT, and residues bound what an interval gives out) or the `window` (Katabi et al. 2002: over the RTT that
    its packet carried, without residues).
    """


class XcpRouter(XcpComputation):
    """Parameters of XCP's router (draft-falk-xcp-spec-03; ns-2.35)."""

    alpha: Gain = 0.4
    """Gain on spare bandwidth (Katabi et al. 2002: 0.4; stable below pi/(4√2) = 0.555)."""
    beta: GainOrNone = 0.226
    """Gain on the persistent queue (Katabi et al. 2002: alpha²√2 = 0.226)."""
    gamma: GainOrNone = 0.1
    """Share of the traffic that is shuffled between flows (Katabi et al. 2002: 0.1)."""
    min_interval: PositiveDuration = MILLISECOND
    """Shortest control interval (ns-2.35: 1 ms; the draft recommends 5 to 10 ms)."""
    max_interval: PositiveDuration = SECOND
    """Longest control interval, and cap of each packet's RTT (ns-2.35: 1 s; the draft allows 0.5 to 1 s)."""
    negative_share: Literal["all", "data"] = "all"
    """Whose bytes share negative feedback: those of `all` packets (ns-2.35) or of `data` packets, on which it
    can be written (Katabi et al. 2002).
    """
    upsilon_on: Literal["capacity", "spare", "feedback", "positive-feedback"] = "capacity"
    """What Upsilon of EBE's queue maintainer multiplies: the `capacity` (the only one that leaves a link at
    rest), the `spare` bandwidth C - y, the `feedback`, or `positive-feedback` only.
    """

    @model_validator(mode="after")
    def _shortest_below_longest(self) -> Self:
        _refuse_longer("min_interval", self.min_interval, "max_interval", self.max_interval)
        return self


class LoadFactorTiming(Table):
    """The interval that senders and routers of VCP and MPCP share."""

    load_factor_interval: PositiveDuration = 200 * MILLISECOND
    """t_rho: how often routers compute the load factor, and how long senders freeze after an overload (Xia et
    al. 2005: 200 ms).
    """


class LoadFactorRouter(LoadFactorTiming):
    """Parameters of VCP's router (Xia et al. 2005)."""

    queue_sampling_interval: PositiveDuration = 10 * MILLISECOND
    """t_q: how often the queue is sampled (Xia et al. 2005: 10 ms)."""
    kappa_q: GainOrNone = 0.5
    """kappa_q: how fast the steady queue is drained (Xia et al. 2005: 0.5)."""
    target_utilisation: Share = 0.98
    """gamma_l: the target utilisation (Xia et al. 2005: 0.98)."""
    queue_weight: Share = 0.25
    """Weight of the newest interval in the steady queue (the authors' code: 0.25)."""

    @model_validator(mode="after")
    def _sampled_within_an_interval(self) -> Self:
        _refuse_longer(
            "queue_sampling_interval",
            self.queue_sampling_interval,
            "load_factor_interval",
            self.load_factor_interval,
        )
        return self


class LoadWordLength(Table):
    """The length of a word of MPCP."""

    digits: Annotated[int, Strict(), Field(ge=1, le=8)] = 3
    """n: how many packets carry one word of 2n bits. Three, 64 levels, are our choice."""


class TwoDigits(LoadWordLength):
    """MPCP with words of two packets, which is DPCP."""

    digits: Annotated[int, Strict(), Field(ge=1, le=8)] = 2
    """n: how many packets carry one word of 2n bits; DPCP is MPCP with two (16 levels)."""


class MpcpRouter(LoadFactorRouter):
    """Parameters of MPCP's router (Li and Yousefi'zadeh 2009, reconstructed); packets tell word lengths."""


class QfcpRouter(Table):
    """Parameters of QFCP's router (Pu and Hamdi 2008, reconstructed)."""

    beta: GainOrNone = 0.5
    """Gain on the queue: R = (C - beta q/d)/N (0.5, as recalled from the literature)."""
    control_interval: PositiveDuration = 200 * MILLISECOND
    """Time between two fair rates: longer than the round trips (our choice: VCP's load-factor interval)."""


class AbcRouter(Table):
    """Parameters of ABC's router (Goyal et al. 2020, section 3.1; the authors' code)."""

    target_utilisation: Share = 0.98
    """eta: the target utilisation (the authors' code: 0.98)."""
    delta: PositiveDuration = 133_333_333
    """delta: in what time a queue that is too long is drained (the authors' script: 100 ms / 0.75). Stable
    above two thirds of the round-trip time.
    """
    delay_threshold: Duration = 50 * MILLISECOND
    """d_t: the queueing delay from which on the target rate falls (the authors' script: 50 ms)."""
    rate_window: PositiveDuration = 20 * MILLISECOND
    """T: over what time the dequeue rate is measured (the authors' code: 20 ms)."""
    token_limit: Annotated[float, Strict(), Field(ge=1)] = 5.0
    """The most accelerates that the token bucket saves up (the authors' code: 5)."""


def _refuse_longer(shorter: str, short: int, longer: str, long: int) -> None:
    """Refuse a time that is longer than another, both by name."""
    if short > long:
        raise ValueError(
            f'"{shorter}" ({format_duration(short)}) must not be longer than "{longer}"'
            f" ({format_duration(long)})"
        )


def xcp_protocol(router: XcpRouter) -> dict[str, Any]:
    """Return XCP's router as in a plan."""
    return {
        "kind": "xcp",
        "alpha": float(router.alpha),
        "beta": float(router.beta),
        "gamma": float(router.gamma),
        "min_interval_ns": router.min_interval,
        "max_interval_ns": router.max_interval,
        "negative_share": router.negative_share,
        "upsilon_on": router.upsilon_on,
        "form": router.form,
    }


def vcp_protocol(router: LoadFactorRouter) -> dict[str, Any]:
    """Return VCP's router as in a plan."""
    return {"kind": "vcp", **_load_factor(router)}


def mpcp_protocol(router: MpcpRouter) -> dict[str, Any]:
    """Return MPCP's router as in a plan."""
    return {"kind": "mpcp", **_load_factor(router)}


def qfcp_protocol(router: QfcpRouter) -> dict[str, Any]:
    """Return QFCP's router as in a plan."""
    return {
        "kind": "qfcp",
        "beta": float(router.beta),
        "interval_ns": router.control_interval,
    }


def abc_protocol(router: AbcRouter) -> dict[str, Any]:
    """Return ABC's router as in a plan."""
    return {
        "kind": "abc",
        "target": float(router.target_utilisation),
        "delta_ns": router.delta,
        "delay_threshold_ns": router.delay_threshold,
        "window_ns": router.rate_window,
        "token_limit": float(router.token_limit),
    }


PROTOCOLS: Mapping[str, Callable[[Any], dict[str, Any]]] = MappingProxyType(
    {
        "xcp": xcp_protocol,
        "vcp": vcp_protocol,
        "mpcp": mpcp_protocol,
        "qfcp": qfcp_protocol,
        "abc": abc_protocol,
    }
)
"""How each router protocol stands in a plan, from its parameters; by name."""


def _load_factor(router: LoadFactorRouter) -> dict[str, Any]:
    return {
        "interval_ns": router.load_factor_interval,
        "sampling_ns": router.queue_sampling_interval,
        "kappa_q": float(router.kappa_q),
        "target": float(router.target_utilisation),
        "queue_weight": float(router.queue_weight),
    }
