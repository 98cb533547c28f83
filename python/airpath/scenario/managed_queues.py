"""Queues with active management, and schedulers: their tables in a scenario."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, TypeAdapter

from airpath._declared.declarations import ids
from airpath._declared.quantities import Count, Name
from airpath._declared.tables import Parameters, kind_key, table, title_of
from airpath.units import parse_buffer

_LIMITS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "avq": {
            "description": "Most that waits, as for drop-tail; the virtual queue has the same buffer, so that"
            " there must be one.",
        },
        "fq-codel": {
            "default": parse_buffer("10240 packets"),
            "description": "Most that waits in all queues together, as for drop-tail.",
        },
        "dual-pi2": {
            "default": parse_buffer("10000 packets"),
            "description": "Most that waits in both queues together, as for drop-tail.",
        },
        "priority": {
            "description": "Most that waits in all classes together, as for drop-tail; the last class loses"
            " packets first.",
        },
        "drr": {
            "description": "Most that waits in all queues together, as for drop-tail; the longest loses"
            " packets.",
        },
        "policer": {"description": "Most that waits for the link, as for drop-tail."},
    }
)
"""Default and help text of the limit of a queue, if they differ from those of other queues."""


LIMIT: Final = {"x-unit": "buffer", "description": "Most that waits, as for drop-tail."}
"""The schema of the limit of a queue."""


def _table(name: str, **more: Any) -> Parameters:
    """Return the table of a queue; `more` has the options of `declared.table`."""
    base = Parameters(
        {"kind": kind_key(name, "The queue discipline."), "limit": {**LIMIT, **_LIMITS.get(name, {})}}
    )
    return table("queue", name, base=base, title=title_of(name, "Queue"), **more)


_LATER: Final = ConfigDict(defer_build=True)
_CLASSES: Final[TypeAdapter[list[list[str]]]] = TypeAdapter(
    Annotated[list[list[Name]], Field(min_length=1)], config=_LATER
)
_WEIGHTS: Final[TypeAdapter[dict[str, int]]] = TypeAdapter(
    Annotated[dict[Name, Annotated[Count, Field(le=1_000_000)]], Field(min_length=1)], config=_LATER
)
_OF_FLOWS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "priority": {
            "without": ("classes", "class_of_flow"),
            "classes": {
                "x-type": _CLASSES,
                "description": "Names of flow entries, from the class that goes first on. Flows that are not"
                " named go behind them.",
            },
        },
        "drr": {
            "weights": {
                "x-type": _WEIGHTS,
                "type": ["object", "null"],
                "description": "Weights of flow entries by name, 1 to 1 000 000, each of which has one queue;"
                " all others share one of\nweight 1. Default: a queue for each flow.",
            },
        },
    }
)
"""The queues whose parameters are names of flows in a scenario, and indices in a plan."""

MANAGED_QUEUES: Final = {
    name: _table(name, **_OF_FLOWS.get(name, {})) for name in ids("queue") if name != "weighted-drr"
}
"""The tables of managed queues and of schedulers, by kind."""
