"""The rate of a link over time, as written in a scenario."""

from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from airpath._declared.quantities import (
    Duration,
    Flag,
    Name,
    PositiveDuration,
    Rate,
    RateOrOutage,
    Table,
    Text,
)
from airpath.links import LINKS
from airpath.units import LARGEST, format_duration

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


class UnlimitedRate(Table):
    """No transmission time. Short form: `rate = "unlimited"`."""

    kind: Literal["unlimited"] = "unlimited"
    """The kind of rate."""


class ConstantRate(Table):
    """A constant rate. Short form: `rate = "10mbps"`."""

    kind: Literal["constant"] = "constant"
    """The kind of rate."""
    rate: Rate
    """The rate, with a unit of bits per second."""


class StepRate(Table):
    """A schedule of rates, each of which lasts until the next."""

    kind: Literal["steps"]
    """The kind of rate."""
    steps: Annotated[tuple[tuple[Duration, RateOrOutage], ...], Field(min_length=1)]
    """Pairs of a start (duration from the start of the run) and a rate; starts increase, the first is "0s";
    "0bps" is an outage.
    """
    repeat_after: PositiveDuration | None = None
    """Period after which the schedule starts again; without it, the last rate continues."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        starts = [start for start, _ in self.steps]
        if starts[0] != 0 or any(a >= b for a, b in pairwise(starts)):
            raise ValueError('the starts in "steps" must begin with "0s" and increase')
        if self.repeat_after is not None and self.repeat_after <= starts[-1]:
            raise ValueError('"repeat_after" must be later than the last start in "steps"')
        return self


class SequenceRate(Table):
    """Rates one after the other, each held for the same time."""

    kind: Literal["sequence"]
    """The kind of rate."""
    rates: Annotated[tuple[RateOrOutage, ...], Field(min_length=1)]
    """The rates in order; "0bps" is an outage."""
    hold: PositiveDuration
    """Duration of each rate."""
    repeat: Flag = True
    """Whether to start again at the end; otherwise the last rate continues."""

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if len(self.rates) * self.hold > LARGEST:
            raise ValueError(
                f'"hold": found {format_duration(self.hold)}; accepted: at most'
                f" {format_duration(LARGEST // len(self.rates))} with {len(self.rates)} rates"
            )
        return self


class UniformRate(Table):
    """A new rate for each interval, sampled uniformly (EBE journal paper, section IV-A)."""

    kind: Literal["uniform"]
    """The kind of rate."""
    low: Rate
    """The lowest rate."""
    high: Rate
    """The highest rate."""
    hold: PositiveDuration
    """Duration of each rate."""
    initial: Rate | None = None
    """The rate of the first interval; random like the others if absent."""
    stream: Name | None = None
    """Links that name the same stream have the same random rates. By default, the two directions of a link
    share one.
    """

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError('"low" must not be above "high"')
        return self


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


AnyRate = UnlimitedRate | ConstantRate | StepRate | SequenceRate | UniformRate | TraceRate | NamedRate


def _expand(value: Any) -> Any:
    """Return the long form of a short one: a rate, "unlimited", or the name of a shipped link."""
    if value == "unlimited":
        return {"kind": "unlimited"}
    if any(value == link.name for link in LINKS):
        return {"kind": "link", "name": value}
    return value if isinstance(value, dict | Table) else {"kind": "constant", "rate": value}


RateProcess = Annotated[
    Annotated[AnyRate, Field(discriminator="kind")],
    BeforeValidator(_expand, json_schema_input_type=str | Annotated[AnyRate, Field(discriminator="kind")]),
]
"""Rate over time: a rate, "unlimited", the name of a shipped link, or a table with a `kind`."""
