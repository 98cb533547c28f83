"""Queues with active management, and schedulers: their tables in a scenario."""

from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from airpath.declared import table
from airpath.quantities import Buffer, Count, Name, Size, Table
from airpath.units import parse_buffer

Queues = Annotated[int, Strict(), Field(ge=1, le=2**20)]
"""How many queues there are."""


class _ManagedTable(Table):
    """What the table of a managed queue begins with."""

    kind: str
    limit: Buffer


def _table(name: str) -> Any:
    """Return the class of the parameters of a declared queue."""
    return table("queue", name, name.title().replace("-", ""), base=_ManagedTable)


class RedQueue(_table("red")):  # type: ignore[misc]
    """Random early detection (Floyd and Jacobson 1993), gentle or not, adaptive or not (Floyd et al.)."""

    kind: Literal["red"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""


class RemQueue(_table("rem")):  # type: ignore[misc]
    """Random exponential marking (Athuraliya et al. 2001) as in ns-2.35."""

    kind: Literal["rem"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""


class AvqQueue(_table("avq")):  # type: ignore[misc]
    """Adaptive virtual queue (Kunniyur and Srikant 2001)."""

    kind: Literal["avq"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail; the virtual queue has the same buffer, so that there must be one."""


class CodelQueue(_table("codel")):  # type: ignore[misc]
    """Controlled delay (RFC 8289)."""

    kind: Literal["codel"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""


class FqCodelQueue(_table("fq-codel")):  # type: ignore[misc]
    """Flow queueing with controlled delay (RFC 8290)."""

    kind: Literal["fq-codel"]
    """The queue discipline."""
    limit: Buffer = parse_buffer("10240 packets")
    """Most that waits in all queues together, as for drop-tail."""


class PieQueue(_table("pie")):  # type: ignore[misc]
    """Proportional integral controller enhanced (RFC 8033)."""

    kind: Literal["pie"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits, as for drop-tail."""


class DualPi2Queue(_table("dual-pi2")):  # type: ignore[misc]
    """Dual-queue coupled AQM (RFC 9332, appendix A), with the defaults of Linux."""

    kind: Literal["dual-pi2"]
    """The queue discipline."""
    limit: Buffer = parse_buffer("10000 packets")
    """Most that waits in both queues together, as for drop-tail."""


class PriorityQueue(Table):
    """Strict priority: a class waits as long as one before it is busy."""

    kind: Literal["priority"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits in all classes together, as for drop-tail; the last class loses packets first."""
    classes: Annotated[list[list[Name]], Field(min_length=1)]
    """Names of flow entries, from the class that goes first on. Flows that are not named go behind them."""


class DrrQueue(Table):
    """Deficit round robin (Shreedhar and Varghese 1995)."""

    kind: Literal["drr"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits in all queues together, as for drop-tail; the longest loses packets."""
    quantum: Size | None = None
    """What a queue of weight 1 sends in its turn. Default: the largest packet that any flow sends."""
    weights: Annotated[dict[Name, Annotated[Count, Field(le=1_000_000)]], Field(min_length=1)] | None = None
    """Weights of flow entries by name, 1 to 1 000 000, each of which has one queue; all others share one of
    weight 1. Default: a queue for each flow.
    """
    queues: Queues = 1024
    """Without `weights`, how many queues flows are hashed to."""


ManagedQueue = (
    RedQueue
    | RemQueue
    | AvqQueue
    | CodelQueue
    | FqCodelQueue
    | PieQueue
    | DualPi2Queue
    | PriorityQueue
    | DrrQueue
)
"""The tables of queues that are managed, or that schedule."""
