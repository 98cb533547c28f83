"""Types of fields: quantities with units, and numbers that are fixed or random."""

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, Strict
from pydantic_core import core_schema

from airpath import units
from airpath.errors import UnitError
from airpath.units import Amount

AUTOMATIC: Final = "auto"
"""Requests the warm-up that fits the scenario."""


class Table(BaseModel):
    """A table of a scenario: unknown keys and infinity are refused, and tables are immutable."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        defer_build=True,
        allow_inf_nan=False,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )


@dataclass(frozen=True)
class Constant:
    """Always `value`."""

    value: int


@dataclass(frozen=True)
class Uniform:
    """Uniform distribution over [`low`, `high`)."""

    low: int
    high: int


@dataclass(frozen=True)
class Exponential:
    """Exponential distribution with this `mean`."""

    mean: int


@dataclass(frozen=True)
class Even:
    """Not random: spaced evenly from `low` (the first flow of a group) to `high` (the last)."""

    low: int
    high: int

    def at(self, index: int, count: int) -> Constant:
        """Return the value with number `index` of `count`; a group of one has `low`."""
        return Constant(self.low + (self.high - self.low) * index // max(count - 1, 1))


Draw = Constant | Uniform | Exponential
Spread = Constant | Uniform | Exponential | Even


def mean(draw: Draw) -> float:
    """Return the expected value."""
    match draw:
        case Constant(value):
            return float(value)
        case Uniform(low, high):
            return (low + high) / 2
        case Exponential(value):
            return float(value)


def smallest(spread: Spread) -> int:
    """Return the smallest possible value."""
    match spread:
        case Constant(value):
            return value
        case Exponential():
            return 0
    return min(spread.low, spread.high)


def largest(spread: Spread) -> float:
    """Return an upper bound of all possible values."""
    match spread:
        case Constant(value):
            return value
        case Exponential():
            return math.inf
    return max(spread.low, spread.high)


def draw_plan(draw: Draw) -> dict[str, Any]:
    """Return the form in a plan, in the base unit."""
    match draw:
        case Constant(value):
            return {"kind": "constant", "value": float(value)}
        case Uniform(low, high):
            return {"kind": "uniform", "low": float(low), "high": float(high)}
        case Exponential(value):
            return {"kind": "exponential", "mean": float(value)}


_SHAPES: Final = {"uniform": Uniform, "exponential": Exponential, "even": Even}


@dataclass(frozen=True, eq=False)
class Quantity:
    """How a quantity is read, written and described.

    Replaces pydantic's `PlainValidator`, which first builds a validator for the annotated type.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    described: dict[str, Any]

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.read, serialization=core_schema.plain_serializer_function_ser_schema(self.write)
        )

    def __get_pydantic_json_schema__(
        self, _: core_schema.CoreSchema, __: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return deepcopy(self.described)  # a copy, because pydantic modifies it


def _draw_field(
    parse: Callable[[object], int],
    write: Callable[[int], str],
    example: str,
    shapes: tuple[str, ...],
) -> Quantity:
    """Return the definition of a number that may be random, with one of `shapes`."""
    forms = {
        "uniform": '{uniform = ["LOW", "HIGH"]}',
        "exponential": '{exponential = "MEAN"}',
        "even": '{even = ["FIRST", "LAST"]}',
    }
    accepted = f'"{example}" or ' + " or ".join(forms[shape] for shape in shapes)

    def read(value: object) -> Spread:
        if isinstance(value, Constant | Uniform | Exponential | Even):
            return value
        if not isinstance(value, dict):
            return Constant(parse(value))
        if len(value) != 1 or (shape := next(iter(value))) not in shapes:
            raise UnitError(f"found {value!r}; accepted: {accepted}")
        argument = value[shape]
        if shape == "exponential":
            return Exponential(parse(argument))
        if not isinstance(argument, list | tuple) or len(argument) != 2:
            raise UnitError(f"found {value!r}; accepted: {accepted}")
        low, high = parse(argument[0]), parse(argument[1])
        if low > high:
            raise UnitError(f"found {value!r}, whose first value is larger than its second")
        return Even(low, high) if shape == "even" else Uniform(low, high)

    def show(spread: Spread) -> str | dict[str, Any]:
        match spread:
            case Constant(value):
                return write(value)
            case Exponential(value):
                return {"exponential": write(value)}
            case Uniform(low, high):
                return {"uniform": [write(low), write(high)]}
            case Even(low, high):
                return {"even": [write(low), write(high)]}

    text = {"type": "string", "examples": [example]}
    pair = {"type": "array", "prefixItems": [text, text], "minItems": 2, "maxItems": 2}
    tables = [
        {
            "type": "object",
            "properties": {shape: text if shape == "exponential" else pair},
            "required": [shape],
            "additionalProperties": False,
        }
        for shape in shapes
    ]
    return Quantity(read, show, {"anyOf": [text, *tables]})


def _text_field(
    parse: Callable[[object], Any], write: Callable[[Any], str], kept: type, examples: list[str]
) -> Quantity:
    """Return the definition of a quantity that is written as text."""

    def read(value: object) -> Any:
        return value if kept is Amount and isinstance(value, Amount) else parse(value)

    return Quantity(read, write, {"type": "string", "examples": examples})


def _positive(parse: Callable[[object], int]) -> Callable[[object], int]:
    def read(value: object) -> int:
        parsed = parse(value)
        if parsed == 0:
            raise UnitError(f'found "{value}"; it must be more than zero')
        return parsed

    return read


Rate = Annotated[
    int, _text_field(_positive(units.parse_rate), units.format_rate, int, ["10mbps", "1.5 Mbit/s"])
]
"""Bits per second, more than zero."""

RateOrOutage = Annotated[int, _text_field(units.parse_rate, units.format_rate, int, ["10mbps", "0bps"])]
"""Bits per second; zero is an outage."""

Duration = Annotated[int, _text_field(units.parse_duration, units.format_duration, int, ["32ms"])]
"""Nanoseconds."""

PositiveDuration = Annotated[
    int, _text_field(_positive(units.parse_duration), units.format_duration, int, ["100ms"])
]
"""Nanoseconds, more than zero."""

WarmUp = Annotated[
    int | str,
    _text_field(
        lambda text: AUTOMATIC if text == AUTOMATIC else units.parse_duration(text),
        lambda warm_up: warm_up if warm_up == AUTOMATIC else units.format_duration(warm_up),
        int,
        ["2s", AUTOMATIC],
    ),
]
"""Nanoseconds, or `AUTOMATIC`."""

Size = Annotated[int, _text_field(_positive(units.parse_size), units.format_size, int, ["1500B", "100kB"])]
"""Bytes, more than zero."""

Window = Annotated[
    Amount, _text_field(units.parse_window, units.format_amount, Amount, ["10 packets", "64KiB"])
]
"""Bytes or packets."""

Buffer = Annotated[
    Amount,
    _text_field(
        units.parse_buffer,
        units.format_amount,
        Amount,
        ["575kB", "500 packets", "100ms", "1bdp", "unlimited"],
    ),
]
"""Bytes, packets, time at the mean rate, bandwidth-delay products, or no limit."""

Threshold = Annotated[
    Amount,
    _text_field(
        units.parse_threshold,
        units.format_amount,
        Amount,
        ["30kB", "20 packets", "5ms", "0.5bdp"],
    ),
]
"""Bytes, packets, time at the mean rate, or bandwidth-delay products."""

DurationDraw = Annotated[
    Draw, _draw_field(units.parse_duration, units.format_duration, "32ms", ("uniform", "exponential"))
]
"""Nanoseconds, fixed or random."""

DurationSpread = Annotated[
    Spread,
    _draw_field(units.parse_duration, units.format_duration, "300ms", ("uniform", "exponential", "even")),
]
"""Nanoseconds, fixed, sampled for each flow of a group, or spread evenly over the group."""

BoundedDurationSpread = Annotated[
    Constant | Uniform | Even,
    _draw_field(units.parse_duration, units.format_duration, "10ms", ("uniform", "even")),
]
"""As `DurationSpread`, without the distribution that has no upper bound."""

SizeDraw = Annotated[
    Draw, _draw_field(_positive(units.parse_size), units.format_size, "100kB", ("uniform", "exponential"))
]
"""Bytes, fixed or random."""

Probability = Annotated[float, Strict(), Field(ge=0, le=1)]
"""From 0 (never) to 1 (always)."""

Count = Annotated[int, Strict(), Field(ge=1)]
"""A whole number, at least 1."""

Repetitions = Annotated[Count, Field(le=10**9)]
"""The number of runs, at least 1."""

Flag = Annotated[bool, Strict()]
"""`true` or `false`."""

Text = Annotated[str, Strict()]
"""Any text."""

Name = Annotated[str, Strict(), Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")]
"""Letters, digits, dots, hyphens and underscores, beginning with a letter or digit: names become parts of
file names.
"""
