"""Capacity sources: what a router believes its link can carry. Parameters, and how they stand in a plan."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic import Field, Strict

from airpath.declared import plan_values, table
from airpath.errors import UsageError
from airpath.quantities import PositiveDuration, Rate, Size, Table
from airpath.schemes.protocols import MILLISECOND, SECOND, Share
from airpath.schemes.scheme import LinkFacts
from airpath.units import format_rate

ShareOrNone = Annotated[float, Strict(), Field(ge=0, lt=1)]
"""From 0 to below 1."""


class ConfiguredSource(Table):
    """Parameters of a capacity that somebody configured."""

    capacity: Rate | None = None
    """The capacity that the router believes in. Default: the mean rate of the link."""


class OracleSource(Table):
    """The true capacity at every moment: the bound that no estimator can beat."""

    averaging: PositiveDuration = 200 * MILLISECOND
    """Over what the capacity is averaged on a link that has delivery opportunities instead of a rate; at
    least 1 ms. The default is EBE's estimation interval.
    """


class LinkLayerSource(OracleSource):
    """The true capacity as ABC's routers are told it by their link layer."""

    averaging: PositiveDuration = 20 * MILLISECOND
    """Over what the capacity is averaged on a link that has delivery opportunities instead of a rate; at
    least 1 ms (ABC's authors' code: 20 ms).
    """


class XcpBSource(Table):
    """Parameters of XCP-b: spare bandwidth from the variation of the queue (Abrantes and Ricardo 2006)."""

    kappa: ShareOrNone = 0.0
    """Target queue as a share of the buffer. 0 is faithful to the EBE papers' ordering of schemes; 0.05 with
    `signal = "mean"` and `chi` 0.05 is better.
    """
    chi: Share = 0.2
    """Probing step as a share of the buffer; no overflow is promised up to 1/(5 - alpha - beta) = 0.2286."""
    late_reaction: Annotated[int, Strict(), Field(ge=0, le=2**32 - 1)] = 2
    """How many control intervals in a row must have seen the queue empty before the one that probes; 0 probes
    at once.
    """
    signal: Literal["minimum", "mean", "last"] = "minimum"
    """Which queue of a control interval counts: its `minimum`, its `mean` over time, or the `last`."""


QfcpSource: Final = table("capacity-source", "qfcp", "QfcpSource")
"""Parameters of QFCP's: the output rate while busy, growing while idle (Pu and Hamdi 2008)."""


class EbeSource(Table):
    """Parameters of EBE, the estimator by an extended Kalman filter on the M/M/1 transient mean."""

    profile: Literal["icc", "journal", "counting", "normalised", "linear", "none"] = "icc"
    """How the filter is read: `icc` (R = 1e-5, EBE-C table I), `journal` (R by running variance, as EBE-J
    prints it), `counting` (Poisson counting noise), `normalised` (noises as shares of the buffer), `linear`
    (EBE-C's linear filter), `none` (no filter: the mean of the samples).
    """
    sampled_queue: Literal["mean", "minimum", "last"] = "mean"
    """Which queue of an estimation interval the filter and the maintainer get: the `mean` of its samples
    (EBE-J), its `minimum` (what persists over the interval), or the `last`.
    """
    monitor: Literal["plain", "idle-corrected", "hold"] = "plain"
    """Link-capacity monitor: `plain` (arrival rate plus spare bandwidth, as the papers), `idle-corrected`
    (for the idle time that the filter predicts), `hold` (an empty queue may not lower the estimate).
    """
    maintainer: Literal["latch", "strict", "below-threshold", "off"] = "latch"
    """Queue maintainer: `latch` (on and off with memory), `strict` (on only while the condition to switch on
    holds), `below-threshold` (on whenever the queue is below the threshold), `off`.
    """
    spare_arrivals: Literal["protocol", "estimator"] = "protocol"
    """Whose arrivals are taken off the capacity, for the spare bandwidth that XCP asks for: those of XCP's
    control interval (`protocol`) or of EBE's estimation interval (`estimator`, under XCP only).
    """
    threshold: Share = 0.15
    """Threshold of the maintainer as a share of the buffer (EBE-J: 0.15, of 0.13 to 0.18; EBE-C: 0.20)."""
    upsilon: Annotated[float, Strict(), Field(ge=1)] | None = None
    """Upsilon, the factor on the capacity while the maintainer is on. Default: 1.40 under XCP, 1.14 under
    VCP and MPCP (EBE-J), and 1.14 under QFCP and ABC (our choice).
    """
    capacity: Rate | None = None
    """The first estimate. Default: the mean rate of the link."""
    min_capacity: Rate | None = None
    """Lower bound of the estimate. Default: one `packet` in each `estimation_interval`."""
    max_capacity: Rate | None = None
    """Upper bound of the estimate. Default: 10⁹ packets per second, no bound in practice."""
    unit: Literal["bytes", "packets"] = "bytes"
    """What queue and arrivals are counted in: `bytes` over the size of one `packet`, or `packets` of any
    size, in which an acknowledgment counts as much as a data packet.
    """
    packet: Size | None = None
    """Size of one packet in the filter, whose queue is counted in packets. Default: the largest packet that
    any flow sends.
    """
    measurement_interval: PositiveDuration = 10 * MILLISECOND
    """The measurement timer: how often the queue is sampled (EBE-J: 10 ms)."""
    estimation_interval: PositiveDuration = 200 * MILLISECOND
    """The estimation timer: how often the filter runs (EBE-J: 200 ms)."""


class HoldingEbeSource(EbeSource):
    """EBE as we would use it: other defaults, found by the ablation (`airpath reproduce ebe`).

    The filter that follows the last sample has the least lag; an empty queue does not lower the estimate, so
    that the maintainer need not win back what was lost and can probe gently.
    """

    profile: Literal["icc", "journal", "counting", "normalised", "linear", "none"] = "linear"
    """How the filter is read; see `xcp-ebe`."""
    monitor: Literal["plain", "idle-corrected", "hold"] = "hold"
    """Link-capacity monitor; see `xcp-ebe`."""
    upsilon: Annotated[float, Strict(), Field(ge=1)] | None = 1.2
    """Upsilon, the factor on the capacity while the maintainer is on."""


UPSILON: Final[Mapping[str, float]] = MappingProxyType(
    {"xcp": 1.40, "vcp": 1.14, "mpcp": 1.14, "qfcp": 1.14, "abc": 1.14}
)
"""EBE's Upsilon under each router protocol."""

MAX_PACKETS_PER_S: Final = 1e9
"""EBE's estimate is clipped here: the upper bound of the published test vectors."""

LARGEST_BPS: Final = 2**64 - 1
"""The largest rate that a plan can hold."""


def configured_source(source: ConfiguredSource, _protocol: str, link: LinkFacts) -> dict[str, Any]:
    """Return a configured capacity as in a plan."""
    return {"kind": "configured", "bps": _capacity(source.capacity, link)}


def oracle_source(source: OracleSource, _protocol: str, _link: LinkFacts) -> dict[str, Any]:
    """Return the true capacity as in a plan."""
    return {"kind": "oracle", "averaging_ns": source.averaging}


def no_capacity(protocol: str) -> str:
    """Say why XCP-b's source feeds no router protocol but XCP's."""
    return f'"xcp-b" gives spare bandwidth and never a capacity, which {protocol} needs; it works with xcp'


def xcp_b_source(source: XcpBSource, protocol: str, _link: LinkFacts) -> dict[str, Any]:
    """Return XCP-b's source as in a plan."""
    if protocol != "xcp":
        raise UsageError(no_capacity(protocol))
    return {
        "kind": "xcp-b",
        "kappa": float(source.kappa),
        "chi": float(source.chi),
        "late_reaction": source.late_reaction,
        "signal": source.signal,
    }


def declared_source(name: str) -> Callable[[Any, str, LinkFacts], dict[str, Any]]:
    """Return the function that returns the source of that id as in a plan."""

    def plan(source: Any, _protocol: str, link: LinkFacts) -> dict[str, Any]:
        context = {"packet": link.packet_bytes, "mean_bps": link.mean_bps}
        return plan_values(source, context, ("capacity-source", name))

    return plan


def ebe_source(source: EbeSource, protocol: str, link: LinkFacts) -> dict[str, Any]:
    """Return EBE as in a plan."""
    packet = source.packet or link.packet_bytes
    if source.measurement_interval > source.estimation_interval:
        raise UsageError("measurement_interval must not be above estimation_interval")
    if source.spare_arrivals == "estimator" and protocol != "xcp":
        raise UsageError(
            f'spare_arrivals = "estimator" is for xcp, which asks for spare bandwidth; found {protocol}'
        )
    initial = _capacity(source.capacity, link)
    smallest = source.min_capacity or max(1, round(packet * 8 * SECOND / source.estimation_interval))
    largest = source.max_capacity or min(round(MAX_PACKETS_PER_S * packet * 8), LARGEST_BPS)
    if source.capacity is None and source.min_capacity is None:
        smallest = min(smallest, initial)  # a link that is slower than that on average
    _refuse_disorder(min_capacity=smallest, capacity=initial, max_capacity=largest)
    return {
        "kind": "ebe",
        "profile": source.profile,
        "sampled_queue": source.sampled_queue,
        "monitor": source.monitor,
        "maintainer": source.maintainer,
        "spare_arrivals": source.spare_arrivals,
        "threshold": float(source.threshold),
        "upsilon": float(UPSILON[protocol] if source.upsilon is None else source.upsilon),
        "initial_bps": initial,
        "min_bps": smallest,
        "max_bps": largest,
        "unit": source.unit,
        "packet_bytes": packet,
        "sampling_ns": source.measurement_interval,
        "interval_ns": source.estimation_interval,
    }


SOURCES: Mapping[str, Callable[[Any, str, LinkFacts], dict[str, Any]]] = MappingProxyType(
    {
        "configured": configured_source,
        "oracle": oracle_source,
        "xcp-b": xcp_b_source,
        "qfcp": declared_source("qfcp"),
        "ebe": ebe_source,
    }
)
"""How each capacity source stands in a plan, from its parameters, the protocol and the link; by name."""


def _capacity(given: int | None, link: LinkFacts) -> int:
    """Return the capacity that was given, else the mean rate of the link."""
    capacity = given or round(link.mean_bps or 0)
    if capacity == 0:
        raise UsageError('the mean rate of the link is not known; give the parameter "capacity"')
    return capacity


def _refuse_disorder(**ascending: int) -> None:
    """Refuse rates that fall; each by the name of the parameter that sets it."""
    for (lower, low), (upper, high) in pairwise(ascending.items()):
        if low > high:
            raise UsageError(f"{lower} ({format_rate(low)}) must not be above {upper} ({format_rate(high)})")
