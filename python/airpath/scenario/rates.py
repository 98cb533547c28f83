"""The rate of a link over time, as written in a scenario."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator

from airpath._declared.quantities import Table, Text
from airpath._declared.tables import Tagged, Values, tables, without_context
from airpath.links import LINKS

TraceFormat = Literal[
    "mahimahi",
    "seconds-mbps",
    "milliseconds-kbps",
    "value-unit-csv",
    "gnettrack-csv",
    "starlink-csv",
    "airpath-csv",
]
"""The formats of trace files: packet-delivery opportunities (`mahimahi`), all others rate logs."""


class TraceRate(Table):
    """A rate or a series of delivery opportunities read from a file."""

    kind: Literal["trace"]
    """The kind of rate."""
    file: Text
    """Path of the file; a relative path begins at the folder of the scenario file."""
    format: TraceFormat | None = None
    """Format of the file: `mahimahi` (packet-delivery opportunities) or a rate log; detected by default."""
    direction: Literal["down", "up"] = "down"
    """The direction to read, for formats that contain both."""
    mode: Literal["repeat", "once"] = "repeat"
    """At the end of the trace: start again, or stop for good."""


class NamedRate(Table):
    """The rate of a shipped link, by name. Short form: `rate = "lte.down"`.

    It may define a delay, a buffer and the opposite direction.
    """

    kind: Literal["link"]
    """The kind of rate."""
    name: Text
    """The name in the registry of links, such as `lte.down`."""
    mode: Literal["repeat", "once"] = "repeat"
    """At the end of a trace: start again, or stop for good."""


RATES: Final = {
    name: without_context(one)
    for name, one in tables("rate", "Rate", "The kind of rate.").items()
    if "trace" not in one.keys  # an index that only plans contain
}
"""The tables of rates that the engine declares, by kind. Traces and shipped links are resolved to these."""

AnyRate = Values | TraceRate | NamedRate

_BY_KIND: Final = {**RATES, "trace": TraceRate, "link": NamedRate}


def _expand(value: Any) -> Any:
    """Return the long form of a short one: a rate, "unlimited", or the name of a shipped link."""
    if value == "unlimited":
        return {"kind": "unlimited"}
    if any(value == link.name for link in LINKS):
        return {"kind": "link", "name": value}
    return value if isinstance(value, Mapping | Table) else {"kind": "constant", "rate": value}


_Table = Annotated[AnyRate, Tagged(_BY_KIND)]

RateProcess = Annotated[_Table, BeforeValidator(_expand, json_schema_input_type=str | _Table)]
"""Rate over time: a rate, "unlimited", the name of a shipped link, or a table with a `kind`."""
