"""The queue in front of a link, as written in a scenario, and the registry of queue disciplines."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from airpath.declared import Tagged, Values, tables
from airpath.quantities import Buffer, Table, Text
from airpath.scenario.managed_queues import MANAGED_QUEUES
from airpath.schemes.protocols import PROTOCOL, SOURCE


class DropTailQueue(Table):
    """First in, first out; an arrival that does not fit is dropped."""

    kind: Literal["drop-tail"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, the packet being sent excluded: bytes, packets, time at the link's mean rate,
    bandwidth-delay products (mean rate times base RTT), or "unlimited".
    """


Protocol = Annotated[Values, Tagged(tables(PROTOCOL, "Protocol", "The router protocol."), or_name=True)]
CapacitySource = Annotated[Values, Tagged(tables(SOURCE, "Capacity", "The capacity source."), or_name=True)]


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


AnyQueue = DropTailQueue | RouterQueue | SchemeQueue | Values
QUEUE_TABLES: Final = {
    "drop-tail": DropTailQueue,
    "router": RouterQueue,
    "scheme": SchemeQueue,
    **MANAGED_QUEUES,
}
Queue = Annotated[AnyQueue, Tagged(QUEUE_TABLES)]
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
