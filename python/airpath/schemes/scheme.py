"""What a scheme is: a congestion controller, and for router-assisted ones what the routers on its way do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import new_class
from typing import Any

from airpath.declared import plan_values, table
from airpath.quantities import Table
from airpath.units import Amount, AmountUnit

__all__ = [
    "LinkFacts",
    "Router",
    "Scheme",
    "SchemeParameters",
    "controller_plan",
    "controller_table",
    "joined",
    "window_bytes",
]


class SchemeParameters(Table):
    """The parameters of a scheme; each scheme has its own subclass."""


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
    plan: Callable[[Any, LinkFacts], dict[str, Any]]
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
    parameters: type[SchemeParameters]
    """Its parameters, with units, ranges and defaults."""
    build: Callable[[Any, int], dict[str, Any]]
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


def joined(name: str, description: str, parts: tuple[type[Table], ...]) -> type[SchemeParameters]:
    """Return the parameters of several parts together, at least one of them those of a scheme."""

    def body(namespace: dict[str, Any]) -> None:
        namespace["__doc__"] = description
        namespace["__module__"] = __name__

    made = new_class(name, parts, exec_body=body)
    assert issubclass(made, SchemeParameters)
    return made


def controller_table(name: str, title: str, **variant: Any) -> Any:
    """Return the class of the parameters of a controller; `variant` has the options of `declared.table`."""
    return table("controller", name, title, base=SchemeParameters, **variant)


def controller_plan(parameters: Any, mss_bytes: int) -> dict[str, Any]:
    """Return a controller as in a plan."""
    return plan_values(parameters, {"mss": mss_bytes})


def window_bytes(window: Amount, mss_bytes: int) -> int:
    """Return a window in bytes of payload, a packet counting as one maximum segment size."""
    count = int(window.value)
    return count * mss_bytes if window.unit is AmountUnit.PACKETS else count
