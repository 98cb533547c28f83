"""Reads a table of parameters by the schemas of its keys, without a class for each component.

The messages are those of `airpath._declared.messages`.
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from airpath._declared.bounds import bound
from airpath._declared.declarations import (
    BOUNDS,
    LARGEST,
    declared_keys,
    ids,
    is_list,
    is_optional,
    is_required,
    names_of,
    parts_of,
    type_of,
)
from airpath._declared.messages import NAMES, Fault, faults, not_one_of, show, unknown_key
from airpath._declared.quantities import (
    Buffer,
    Duration,
    DurationDraw,
    PositiveDuration,
    Quantity,
    Rate,
    RateOrOutage,
    Size,
    SizeDraw,
    Table,
    Threshold,
    Window,
)
from airpath.errors import UnitError

Keys = Mapping[str, Mapping[str, Any]]
"""The schema of each key of a table, in the order in which they are read.

`x-type` is a type of pydantic, for a key that belongs to the scenario language and to no component.
"""

_QUANTITIES: Final[Mapping[str, tuple[Any, Any]]] = {
    "ns": (Duration, PositiveDuration),
    "bit/s": (RateOrOutage, Rate),
    "B": (Size, Size),
    "threshold": (Threshold, Threshold),
    "window": (Window, Window),
    "buffer": (Buffer, Buffer),
}
"""The types of each unit: zero allowed, and greater than zero."""

_TESTS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "gt": operator.lt,
    "ge": operator.le,
    "lt": operator.gt,
    "le": operator.ge,
}
"""The test of each bound, with the limit as the first argument."""

_DRAWS: Final[Mapping[str, Any]] = {"ns": DurationDraw, "B": SizeDraw}
"""The types of quantities that may be random."""

_MISSING: Final = "required, but not given"
"""The message about a value that must be given."""


class _WrongError(Exception):
    """A value is rejected; the text contains what was found and what is accepted."""


def read(keys: Keys, given: Mapping[str, Any], path: str) -> tuple[dict[str, Any], list[Fault]]:
    """Return the given values of the table at `path` in base units, and all faults."""
    values: dict[str, Any] = {}
    found: list[Fault] = []
    for key, schema in keys.items():
        here = f"{path}.{key}"
        if key not in given:
            if is_required(schema):
                found.append(Fault(here, _MISSING))
        elif given[key] is not None or not is_optional(schema):
            values[key], wrong = _read_one(schema, given[key], here)
            found += wrong
    found += [Fault(f"{path}.{key}", unknown_key(str(key), keys)) for key in given if key not in keys]
    return values, found


def written(keys: Keys, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values in the form in which users write them: quantities with their units."""
    return {key: write(keys[key], value) for key, value in values.items()}


def write(schema: Mapping[str, Any], value: Any) -> Any:
    """Return a value in the form in which users write it."""
    if "x-type" in schema:
        return schema["x-type"].dump_python(value, mode="json")
    if is_list(schema):
        parts = parts_of(schema, len(value))
        return [write(part, one) for part, one in zip(parts, value, strict=True)]
    return quantity(schema).write(value) if "x-unit" in schema else value


def _read_one(schema: Mapping[str, Any], given: Any, path: str) -> tuple[Any, list[Fault]]:
    """Return a value in its base unit, and all faults; without meaning if there are faults."""
    try:
        if "x-type" in schema:
            return schema["x-type"].validate_python(given), []
        if "x-component" in schema and isinstance(given, Mapping):
            return _read_component(schema["x-component"], given, path)
        if is_list(schema):
            return _read_list(schema, given, path)
        return _value(schema, given), []
    except ValidationError as error:
        return None, faults(error, Table, given, path)
    except _WrongError as error:
        return None, [Fault(path, str(error))]


def _read_list(schema: Mapping[str, Any], given: Any, path: str) -> tuple[list[Any], list[Fault]]:
    """Return a list with its values in base units, and all faults."""
    _reject_unless(isinstance(given, list | tuple), given, "a list")
    parts = parts_of(schema, len(given))
    _reject_unless(len(given) <= len(parts), given, f"{len(parts)} values")
    if "items" in schema:
        least = schema.get("minItems", 0)
        _reject_unless(len(given) >= least, given, bound("ge", least))
    values: list[Any] = []
    found: list[Fault] = []
    for index, part in enumerate(parts):
        here = f"{path}[{index}]"
        if index < len(given):
            value, wrong = _read_one(part, given[index], here)
            values.append(value)
            found += wrong
        else:
            found.append(Fault(here, _MISSING))
    return values, found


def _read_component(kind: str, given: Mapping[str, Any], path: str) -> tuple[dict[str, Any], list[Fault]]:
    """Return the values of a nested component with its kind, and all faults."""
    rest = {key: value for key, value in given.items() if key != "kind"}
    if (name := given.get("kind")) not in ids(kind):
        return {}, [Fault(f"{path}.kind", not_one_of(name, ids(kind)))]
    values, found = read(declared_keys(kind, str(name)), rest, path)
    return {"kind": name, **values}, found


def _value(schema: Mapping[str, Any], given: Any) -> Any:
    """Return a value in its base unit."""
    if (accepted := names_of(schema)) is not None:
        if given not in accepted or not isinstance(given, str):
            raise _WrongError(not_one_of(given, accepted))
        return given
    if "x-unit" in schema:
        try:
            return quantity(schema).read(given)
        except UnitError as error:
            raise _WrongError(str(error)) from None
    match type_of(schema):
        case "string":
            _reject_unless(isinstance(given, str), given, "text")
            if "pattern" in schema:
                _reject_unless(re.fullmatch(schema["pattern"], given) is not None, given, NAMES)
        case "boolean":
            _reject_unless(isinstance(given, bool), given, "true or false")
        case "integer":
            _reject_unless(isinstance(given, int) and not isinstance(given, bool), given, "a whole number")
        case "number":
            _reject_unless(isinstance(given, int | float) and not isinstance(given, bool), given, "a number")
            return _number(schema, given)
    for text, holds in _bounds(schema):
        _reject_unless(holds(given), given, text)
    return given


def _number(schema: Mapping[str, Any], given: float) -> float:
    """Return a number as a float; reject NaN and infinity with any bounds."""
    try:
        value = float(given)
    except OverflowError:  # a whole number with hundreds of digits
        raise _WrongError(f"found {show(given)}; accepted: a number") from None
    if not math.isfinite(value):
        said = ", ".join(["a finite number", *(text for text, _ in _bounds(schema))])
        raise _WrongError(f"found {show(given)}; accepted: {said}")
    for text, holds in _bounds(schema):
        _reject_unless(holds(value), given, text)
    return value


def quantity(schema: Mapping[str, Any]) -> Quantity:
    """Return how a quantity is read, written and described."""
    unit = schema["x-unit"]
    one = _DRAWS[unit] if "x-draw" in schema else _QUANTITIES[unit]["exclusiveMinimum" in schema]
    found: Quantity = one.__metadata__[0]
    return found


def _bounds(schema: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[float], bool]]]:
    """Return each bound in words, and its test."""
    limits = {BOUNDS[key]: schema[key] for key in BOUNDS if key in schema}
    if schema.get("format") in LARGEST:
        limits.setdefault("le", LARGEST[schema["format"]])
    for name, limit in limits.items():
        yield bound(name, limit), partial(_TESTS[name], limit)


def _reject_unless(condition: bool, given: Any, accepted: str) -> None:
    if not condition:
        raise _WrongError(f"found {show(given)}; accepted: {accepted}")
