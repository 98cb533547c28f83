"""The queue in front of a link, as written in a scenario, and the registry of queue disciplines."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from airpath._declared.quantities import Buffer, Table, Text
from airpath._declared.tables import Parameters, Tagged, Values, tables
from airpath.plugins.specs import is_code
from airpath.scenario.managed_queues import LIMIT, MANAGED_QUEUES
from airpath.schemes.protocols import PROTOCOL, SOURCE


class DropTailQueue(Table):
    """First in, first out; an arrival that does not fit is dropped."""

    kind: Literal["drop-tail"]
    """The queue discipline."""
    limit: Buffer
    """Largest backlog, without the packet being sent: bytes, packets, time at the link's mean rate,
    bandwidth-delay products (mean rate times base RTT), or "unlimited".
    """


def _source_of_user(name: str) -> Parameters | None:
    """Return the table of a capacity source in a file."""
    from airpath.schemes.plugin import table_of_user  # imported here because few scenarios need it

    return table_of_user(SOURCE, name, {}) if is_code(name) else None


def _queue_of_user(name: str) -> Parameters | None:
    """Return the table of a queue discipline in a file."""
    from airpath.schemes.plugin import table_of_user  # imported here because few scenarios need it

    return table_of_user("queue", name, {"limit": LIMIT}) if is_code(name) else None


Protocol = Annotated[Values, Tagged(tables(PROTOCOL, "Protocol", "The router protocol."), or_name=True)]
CapacitySource = Annotated[
    Values, Tagged(tables(SOURCE, "Capacity", "The capacity source."), or_name=True, of_user=_source_of_user)
]


class RouterQueue(Table):
    """A drop-tail queue under a router protocol with a capacity source."""

    kind: Literal["router"]
    """The queue discipline."""
    limit: Buffer
    """Largest backlog, as for drop-tail."""
    protocol: Protocol
    """The router protocol: its name, or a table with a `kind`."""
    source: CapacitySource
    """The source of the link's capacity: the name of a capacity source, or of one in a file (`my.py:Mine`,
    `libmine.so`), or a table with a `kind`.
    """


class SchemeQueue(Table):
    """The queue that the schemes of its flows need: drop-tail, under a router if they are router-assisted."""

    kind: Literal["scheme"]
    """The queue discipline."""
    limit: Buffer
    """Largest backlog, as for drop-tail."""
    scheme: Text | None = None
    """The scheme whose router this is, optionally with options: `xcp-ebe:monitor=hold`. Default: that of the
    flows that cross the link; drop-tail if none of them has a router.
    """


AnyQueue = DropTailQueue | RouterQueue | SchemeQueue | Values
QUEUE_TABLES: Final = {
    "drop-tail": DropTailQueue,
    "router": RouterQueue,
    "scheme": SchemeQueue,
    **MANAGED_QUEUES,
}
Queue = Annotated[AnyQueue, Tagged(QUEUE_TABLES, of_user=_queue_of_user)]
"""A queue: a table with a `kind`, which may be one in a file (`my.py:Mine`, `libmine.so`)."""


@dataclass(frozen=True)
class QueueDiscipline:
    """One entry of the registry."""

    name: str
    """The `kind` in a scenario."""
    description: str
    """A description in one line."""


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
    QueueDiscipline("policer", "token bucket: drops what exceeds a rate, delays nothing"),
)
"""Every queue discipline that a scenario can name."""
