"""Queues with active management, and schedulers: their tables in a scenario."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, Union

from pydantic import Field

from airpath.declarations import ids
from airpath.declared import table
from airpath.quantities import Buffer, Count, Name, Table
from airpath.units import parse_buffer


class ManagedTable(Table):
    """What the table of a managed queue begins with."""

    kind: str
    limit: Buffer


_LIMITS: Final[Mapping[str, tuple[Any, str]]] = MappingProxyType(
    {
        "avq": (
            ...,
            "Most that waits, as for drop-tail; the virtual queue has the same buffer, so that there must be"
            " one.",
        ),
        "fq-codel": (
            parse_buffer("10240 packets"),
            "Most that waits in all queues together, as for drop-tail.",
        ),
        "dual-pi2": (
            parse_buffer("10000 packets"),
            "Most that waits in both queues together, as for drop-tail.",
        ),
        "drr": (
            ...,
            "Most that waits in all queues together, as for drop-tail; the longest loses packets.",
        ),
    }
)
"""Default and help text of the limit of a queue, where they differ from those of the others."""


def _table(name: str, **more: Any) -> Any:
    """Return the class of the table of a queue; `more` has the options of `declared.table`."""
    default, text = _LIMITS.get(name, (..., "Most that waits, as for drop-tail."))
    return table(
        "queue",
        name,
        f"{name.title().replace('-', '')}Queue",
        base=ManagedTable,
        kind=(Literal[name], Field(description="The queue discipline.")),
        limit=(Buffer, Field(default=default, description=text)),
        **more,
    )


class PriorityQueue(ManagedTable):
    """Strict priority: a class waits as long as one before it is busy."""

    kind: Literal["priority"]
    """The queue discipline."""
    limit: Buffer
    """Most that waits in all classes together, as for drop-tail; the last class loses packets first."""
    classes: Annotated[list[list[Name]], Field(min_length=1)]
    """Names of flow entries, from the class that goes first on. Flows that are not named go behind them."""


_WEIGHTS = Annotated[dict[Name, Annotated[Count, Field(le=1_000_000)]], Field(min_length=1)]
DrrQueue: Final = _table(
    "drr",
    weights=(
        _WEIGHTS | None,
        Field(
            default=None,
            description="Weights of flow entries by name, 1 to 1 000 000, each of which has one queue; all"
            " others share one of\nweight 1. Default: a queue for each flow.",
        ),
    ),
)

_OF_FLOWS: Final = ("priority", "drr", "weighted-drr")
"""The queues whose parameters are names of flows in a scenario, and numbers in a plan."""

ManagedQueue: Any = Union[
    *(_table(name) for name in ids("queue") if name not in _OF_FLOWS), PriorityQueue, DrrQueue
]
"""The tables of queues that are managed, or that schedule."""
