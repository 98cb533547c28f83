"""Reads the table of a component by its schema, without a class for each component.

The messages are those of `airpath.messages`. `airpath.declared` uses it for nested components.
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from airpath import units
from airpath.bounds import bound
from airpath.declarations import BOUNDS, LARGEST, choices, declaration, ids
from airpath.errors import UnitError
from airpath.messages import Fault, not_one_of, show, unknown_key


def _window(text: object) -> int:
    """Read a window in bytes; the size of a packet is not known here."""
    window = units.parse_window(text)
    if window.unit is not units.AmountUnit.BYTES:
        raise UnitError(f'found "{text}"; accepted here: a window in bytes')
    return int(window.value)


_PARSERS: Final[Mapping[str, Callable[[object], Any]]] = {
    "ns": units.parse_duration,
    "bit/s": units.parse_rate,
    "B": units.parse_size,
    "threshold": units.parse_threshold,
    "window": _window,
}


_TESTS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "gt": operator.lt,
    "ge": operator.le,
    "lt": operator.gt,
    "le": operator.ge,
}
"""The test of each bound, with the limit as the first argument."""


class _WrongError(Exception):
    """A value is rejected; the text contains what was found and what is accepted."""


def read(kind: str, name: str, given: Mapping[str, Any], path: str) -> tuple[dict[str, Any], list[Fault]]:
    """Return the values of the table at `path` in base units, and all faults."""
    schema = declaration(kind, name)
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    properties = schema.get("properties", {})
    for key in schema.get("x-order", ()):
        left_out = given.get(key) is None and "x-default-from" in properties[key]
        if key in given and not left_out:
            try:
                if "x-component" in properties[key] and isinstance(given[key], Mapping):
                    values[key], wrong = read_component(
                        properties[key]["x-component"], given[key], f"{path}.{key}"
                    )
                    faults += wrong
                else:
                    values[key] = _value(properties[key], given[key])
            except _WrongError as error:
                faults.append(Fault(f"{path}.{key}", str(error)))
        elif not left_out and "default" not in properties[key]:
            faults.append(Fault(f"{path}.{key}", "required, but not given"))
    faults += [Fault(f"{path}.{key}", unknown_key(key, properties)) for key in given if key not in properties]
    return values, faults


def read_component(kind: str, given: Mapping[str, Any], path: str) -> tuple[dict[str, Any], list[Fault]]:
    """Return the values of a nested component with its kind, and all faults."""
    rest = {key: value for key, value in given.items() if key != "kind"}
    if (name := given.get("kind")) not in ids(kind):
        return {}, [Fault(f"{path}.kind", not_one_of(name, ids(kind)))]
    values, faults = read(kind, str(name), rest, path)
    return {"kind": name, **values}, faults


def _value(schema: Mapping[str, Any], given: Any) -> Any:
    """Return a value in its base unit."""
    if "x-component" in schema or "oneOf" in schema:
        accepted = (
            choices(schema["x-component"], "x-or-none" in schema)
            if "x-component" in schema
            else _choices(schema)
        )
        if given not in accepted or not isinstance(given, str):
            raise _WrongError(not_one_of(given, accepted))
        return given
    if unit := schema.get("x-unit"):
        try:
            value = _PARSERS[unit](given)
        except UnitError as error:
            raise _WrongError(str(error)) from None
        if value == 0 and ("exclusiveMinimum" in schema or unit == "B"):
            raise _WrongError(f'found "{given}"; it must be more than zero')
        return value
    match schema["type"]:
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
    """Return a number as a float; reject NaN and infinity whatever the bounds."""
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


def _choices(schema: Mapping[str, Any]) -> list[str]:
    return [choice["const"] for choice in schema["oneOf"]]


def _bounds(schema: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[float], bool]]]:
    """Return each bound in words, and its test."""
    limits = {BOUNDS[key]: schema[key] for key in BOUNDS if key in schema}
    limits |= {"le": LARGEST[schema["format"]]} if schema.get("format") in LARGEST else {}
    for name, limit in limits.items():
        yield bound(name, limit), partial(_TESTS[name], limit)


def _reject_unless(condition: bool, given: Any, accepted: str) -> None:
    if not condition:
        raise _WrongError(f"found {show(given)}; accepted: {accepted}")
