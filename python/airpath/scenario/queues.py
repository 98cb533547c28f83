"""The queue in front of a link, as written in a scenario, and the registry of queue disciplines."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from airpath.quantities import Buffer, Table, Text
from airpath.scenario.managed_queues import ManagedQueue
from airpath.schemes.protocols import AbcRouter, LoadFactorRouter, MpcpRouter, QfcpRouter, XcpRouter
from airpath.schemes.sources import ConfiguredSource, EbeSource, OracleSource, QfcpSource, XcpBSource


class DropTailQueue(Table):
    """First in, first out; an arrival that does not fit is dropped."""

    kind: Literal["drop-tail"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, the packet being sent excluded: bytes, packets, time at the link's mean rate,
    bandwidth-delay products (mean rate times base RTT), or "unlimited".
    """


class XcpProtocol(XcpRouter):
    """XCP: each packet carries the change of rate that routers allow."""

    kind: Literal["xcp"]
    """The router protocol."""


class VcpProtocol(LoadFactorRouter):
    """VCP: packets carry one of three load regions."""

    kind: Literal["vcp"]
    """The router protocol."""


class MpcpProtocol(MpcpRouter):
    """MPCP, and DPCP with `digits = 2`: packets carry the load factor, finely quantised."""

    kind: Literal["mpcp"]
    """The router protocol."""


class QfcpProtocol(QfcpRouter):
    """QFCP: packets carry the fair rate of a flow."""

    kind: Literal["qfcp"]
    """The router protocol."""


class AbcProtocol(AbcRouter):
    """ABC: packets carry an accelerate or a brake."""

    kind: Literal["abc"]
    """The router protocol."""


class ConfiguredCapacity(ConfiguredSource):  # type: ignore[misc, valid-type]
    """A capacity that somebody configured."""

    kind: Literal["configured"]
    """The capacity source."""


class OracleCapacity(OracleSource):  # type: ignore[misc, valid-type]
    """The true capacity at every moment: the bound that no estimator can beat."""

    kind: Literal["oracle"]
    """The capacity source."""


class XcpBCapacity(XcpBSource):  # type: ignore[misc, valid-type]
    """XCP-b: spare bandwidth from the variation of the queue; for the protocol `xcp` only."""

    kind: Literal["xcp-b"]
    """The capacity source."""


class QfcpCapacity(QfcpSource):  # type: ignore[misc, valid-type]
    """QFCP's: the output rate while busy, growing while idle."""

    kind: Literal["qfcp"]
    """The capacity source."""


class EbeCapacity(EbeSource):  # type: ignore[misc, valid-type]
    """EBE: an extended Kalman filter on queue and arrivals."""

    kind: Literal["ebe"]
    """The capacity source."""


AnyProtocol = XcpProtocol | VcpProtocol | MpcpProtocol | QfcpProtocol | AbcProtocol
AnySource = ConfiguredCapacity | OracleCapacity | XcpBCapacity | QfcpCapacity | EbeCapacity


def _expand(value: Any) -> Any:
    """Return the short form of a table that holds nothing but its kind."""
    return {"kind": value} if isinstance(value, str) else value


Protocol = Annotated[
    Annotated[AnyProtocol, Field(discriminator="kind")],
    BeforeValidator(
        _expand, json_schema_input_type=str | Annotated[AnyProtocol, Field(discriminator="kind")]
    ),
]
"""A router protocol: its name, or a table with a `kind`."""

CapacitySource = Annotated[
    Annotated[AnySource, Field(discriminator="kind")],
    BeforeValidator(_expand, json_schema_input_type=str | Annotated[AnySource, Field(discriminator="kind")]),
]
"""A capacity source: its name, or a table with a `kind`."""


class RouterQueue(Table):
    """Drop-tail under a router protocol with a capacity source."""

    kind: Literal["router"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""
    protocol: Protocol
    """What the router computes and writes on packets: its name, or a table with a `kind`."""
    source: CapacitySource
    """What it believes its link can carry: the name of a capacity source, or a table with a `kind`."""


class SchemeQueue(Table):
    """What the schemes of the flows need: drop-tail, under the router of a router-assisted scheme."""

    kind: Literal["scheme"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""
    scheme: Text | None = None
    """The scheme whose router this is, with options if wanted: `xcp-ebe:monitor=hold`. Default: that of the
    flows that cross the link; drop-tail if none of them has a router.
    """


AnyQueue = DropTailQueue | RouterQueue | SchemeQueue | ManagedQueue

Queue = Annotated[AnyQueue, Field(discriminator="kind")]
"""A queue: a table with a `kind`."""


@dataclass(frozen=True)
class QueueDiscipline:
    """One line of the registry."""

    name: str
    """The `kind` in a scenario."""
    description: str
    """What it does, in one line."""


QUEUES: Final = (
    QueueDiscipline("drop-tail", "first in, first out; arrivals that do not fit are dropped"),
    QueueDiscipline("router", "drop-tail under a router protocol with a capacity source"),
    QueueDiscipline("scheme", "what the schemes of the flows need: drop-tail, or their router"),
    QueueDiscipline("red", "random early detection: the average queue sets the probability to mark or drop"),
    QueueDiscipline("rem", "random exponential marking: a price of rate and queue sets the probability"),
    QueueDiscipline(
        "avq", "adaptive virtual queue: marks or drops what a slower link could not have carried"
    ),
    QueueDiscipline(
        "codel", "controlled delay (RFC 8289): drops from the head while the delay stands too high"
    ),
    QueueDiscipline("fq-codel", "flow queueing with CoDel (RFC 8290): a queue and a CoDel for each flow"),
    QueueDiscipline(
        "pie", "proportional integral controller (RFC 8033): delay and its change set the probability"
    ),
    QueueDiscipline("dual-pi2", "coupled queues for low-latency and classic flows (RFC 9332)"),
    QueueDiscipline("priority", "strict priority between classes of flows"),
    QueueDiscipline("drr", "deficit round robin: flows, or classes by weight, share the link by bytes"),
)
"""Every queue discipline that a scenario can name."""
