"""What a scheme is: a congestion controller, and for router-assisted ones what the routers on its way do."""

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
    """What the router of a link may take from the scenario instead of being told."""

    mean_bps: float | None
    """Mean rate of the link in bits per second; `None` when unlimited, or not known before the run."""
    packet_bytes: int
    """Size on the wire of the largest packet that any flow sends."""


@dataclass(frozen=True)
class Router:
    """What the routers of a scheme do: a protocol, and where its knowledge of the capacity comes from."""

    protocol: str
    """The router protocol, as in the queue of a scenario."""
    source: str
    """The capacity source, as in the queue of a scenario."""
    plan: Callable[[Values, LinkFacts], dict[str, Any]]
    """From the scheme's parameters and a link to `protocol` and `source` of a plan. Raises `UsageError` if
    the link does not say what the source must know.
    """


@dataclass(frozen=True)
class Scheme:
    """One congestion-control scheme: a controller, possibly fed by an estimator."""

    id: str
    """Its name in scenarios, tables and on the command line."""
    title: str
    """Its name in figures and reports."""
    description: str
    """What it is, in one line."""
    colour: str
    """Its colour in every figure, `#rrggbb`, told apart by colour-blind readers from those of the schemes
    that it is compared with.
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
    """Other names under which it is found."""
    transport: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the transport that belong to the scheme; a scenario can override them."""
    header_bytes: int = 0
    """Bytes of a header of its own on each packet, beside those of IP and TCP."""
    router: Router | None = None
    """What its routers do; `None` for an end-to-end scheme."""


def controller_plan(parameters: Values, mss_bytes: int) -> dict[str, Any]:
    """Return a controller as in a plan."""
    return plan_values(parameters, {"mss": mss_bytes})
