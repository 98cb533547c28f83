"""The type of a scheme: a congestion controller and, if router-assisted, the behaviour of the routers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from airpath._declared.tables import Parameters, Values, plan_values

__all__ = [
    "LinkFacts",
    "Router",
    "Scheme",
    "controller_plan",
]


@dataclass(frozen=True)
class LinkFacts:
    """Properties of a link that its router may take from the scenario instead of from parameters."""

    mean_bps: float | None
    """Mean rate of the link in bits per second; `None` if unlimited, or not known before the run."""
    packet_bytes: int
    """Size on the wire of the largest packet that any flow sends."""


@dataclass(frozen=True)
class Router:
    """The routers of a scheme: a protocol, and its source of the capacity."""

    protocol: str
    """The router protocol, as in the queue of a scenario."""
    source: str
    """The capacity source, as in the queue of a scenario."""
    plan: Callable[[Values, LinkFacts], dict[str, Any]]
    """From the scheme's parameters and a link to `protocol` and `source` of a plan. Raises `UsageError` if
    the link lacks a property that the source needs.
    """


@dataclass(frozen=True)
class Scheme:
    """One congestion-control scheme: a controller, possibly fed by an estimator."""

    id: str
    """Its name in scenarios, tables and on the command line."""
    title: str
    """Its name in figures and reports."""
    description: str
    """A description in one line."""
    colour: str
    """Its colour in every figure, `#rrggbb`; colour-blind readers can distinguish it from those of the
    schemes that it is compared with.
    """
    marker: str
    """Its marker in every figure, a Matplotlib marker code."""
    controller: str
    """The congestion controller of the sender."""
    parameters: Parameters
    """Its parameters, with units, ranges and defaults."""
    build: Callable[[Values, int], dict[str, Any]]
    """From the parameters and the maximum segment size in bytes to the controller of a plan."""
    estimator: str | None = None
    """The bandwidth estimator that feeds the controller."""
    aliases: tuple[str, ...] = ()
    """Other names of the scheme."""
    transport: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the transport that belong to the scheme; a scenario can override them."""
    header_bytes: int = 0
    """Bytes of a header of its own on each packet, in addition to those of IP and TCP."""
    router: Router | None = None
    """Its routers; `None` for an end-to-end scheme."""


def controller_plan(parameters: Values, mss_bytes: int) -> dict[str, Any]:
    """Return a controller in the form of a plan."""
    return plan_values(parameters, {"mss": mss_bytes})
