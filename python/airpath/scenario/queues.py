"""The queue in front of a link, as written in a scenario, and the registry of queue disciplines."""

from dataclasses import dataclass
from typing import Final, Literal

from airpath.quantities import Buffer, Table


class DropTailQueue(Table):
    """First in, first out; an arrival that does not fit is dropped."""

    kind: Literal["drop-tail"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, the packet being sent excluded: bytes, packets, time at the link's mean rate,
    bandwidth-delay products (mean rate times base RTT), or "unlimited".
    """


AnyQueue = DropTailQueue


@dataclass(frozen=True)
class QueueDiscipline:
    """One line of the registry."""

    name: str
    """The `kind` in a scenario."""
    description: str
    """What it does, in one line."""


QUEUES: Final = (QueueDiscipline("drop-tail", "first in, first out; arrivals that do not fit are dropped"),)
"""Every queue discipline that a scenario can name."""
