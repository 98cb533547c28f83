"""Tables of components, read by the schema that each component declares in the engine.

A component has one declaration, next to its algorithm. From its schema follow the type of its table (units,
ranges, choices, defaults, help texts) and the form of its values in a plan.
"""

import functools
import json
from collections.abc import Callable, Mapping
from types import new_class
from typing import Annotated, Any, Final, Literal

from pydantic import Field, Strict, WrapValidator

from airpath import _core
from airpath.errors import UsageError
from airpath.quantities import Duration, Flag, PositiveDuration, Rate, RateOrOutage, Size, Table
from airpath.units import format_duration, format_rate, format_size

__all__ = ["BOUNDS", "LARGEST", "component_type", "declaration", "ids", "plan_values", "table"]

BOUNDS: Final = {"exclusiveMinimum": "gt", "minimum": "ge", "exclusiveMaximum": "lt", "maximum": "le"}
"""Bounds by their keyword in schemas."""
LARGEST: Final = {"uint8": 2**8 - 1, "uint16": 2**16 - 1, "uint32": 2**32 - 1}
"""The largest value of each integer format in schemas."""
_QUANTITIES: Final[Mapping[str, tuple[Any, Any]]] = {
    "ns": (Duration, PositiveDuration),
    "bit/s": (RateOrOutage, Rate),
    "B": (Size, Size),
}
"""The types of each unit: zero allowed, and greater than zero."""
_FORMATS: Final = {"ns": format_duration, "bit/s": format_rate, "B": format_size}


@functools.cache
def _declarations() -> dict[str, dict[str, Any]]:
    declarations: dict[str, dict[str, Any]] = json.loads(_core.component_schemas())
    return declarations


def ids(kind: str) -> list[str]:
    """Return the ids of the components of a kind in the order of their registration."""
    return list(_declarations()[kind]["x-order"])


def declaration(kind: str, name: str) -> dict[str, Any]:
    """Return the schema of a component."""
    schema: dict[str, Any] = _declarations()[kind][name]
    return schema


def table(
    kind: str,
    name: str,
    title: str,
    /,
    *,
    base: type[Table] = Table,
    fixed: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    help_texts: Mapping[str, str] | None = None,
    **more: Any,
) -> Any:
    """Return the class of the table of a component.

    Parameters
    ----------
    kind, name
        Kind and id of the component.
    title
        Name of the class.
    base
        Base class of the class.
    fixed
        Parameters with a constant value; the table does not have these keys.
    defaults
        Defaults that differ from those of the component, as in a scenario.
    help_texts
        Help texts that differ from those of the component.
    **more
        Further fields: annotation and `Field`.
    """
    schema = declaration(kind, name)
    properties = schema.get("properties", {})
    fields: dict[str, Any] = {}
    for key in schema.get("x-order", properties):
        if key in (fixed or {}):
            continue
        one = properties[key]
        default = (defaults or {}).get(key, one.get("default"))
        text = (help_texts or {}).get(key, one.get("description", ""))
        annotation = _annotation(one)
        if default is None and "x-default-from" in one:
            annotation = annotation | None
        elif default is None:
            default = ...
        fields[key] = (annotation, Field(default=default, description=text.strip()))
    fields |= more

    def body(namespace: dict[str, Any]) -> None:
        namespace["__doc__"] = schema.get("description")
        namespace["__module__"] = __name__
        namespace["__annotations__"] = {key: annotation for key, (annotation, _) in fields.items()}
        namespace.update({key: field for key, (_, field) in fields.items()})

    made: Any = new_class(title, (base,), exec_body=body)
    made.component = (kind, name, dict(fixed or {}))
    return made


def _annotation(schema: Mapping[str, Any]) -> Any:
    """Return the type of a parameter."""
    if component := schema.get("x-component"):
        return component_type(component)
    if choices := schema.get("oneOf"):
        return Literal[tuple(choice["const"] for choice in choices)]
    bounds = {ours: schema[theirs] for theirs, ours in BOUNDS.items() if theirs in schema}
    if unit := schema.get("x-unit"):
        return _QUANTITIES[unit]["gt" in bounds]
    match schema["type"]:
        case "boolean":
            return Flag
        case "number":
            return Annotated[float, Strict(), Field(**bounds)]
        case "integer":
            largest = LARGEST.get(schema.get("format", ""))
            bounds = bounds if largest is None else {"le": largest, **bounds}
            return Annotated[int, Strict(), Field(**bounds)]
    raise TypeError(f"no type for {schema}")


@functools.cache
def component_type(kind: str) -> Any:
    """Return the type of a nested component: its id, or a table with its `kind` and parameters.

    Such a table has no class: a class for each pair of components would take milliseconds at import.
    """

    def read(value: object, handler: Callable[[object], Any]) -> Any:
        if not isinstance(value, Mapping):
            return handler(value)
        # Imported late, because the package of scenarios imports the schemes.
        from airpath.declared_reader import read_component
        from airpath.messages import ValueOfKeyError

        values, faults = read_component(kind, value, "")
        if faults:
            raise ValueOfKeyError(faults[0].path.removeprefix("."), faults[0].message)
        return values

    return Annotated[Literal[tuple(ids(kind))], WrapValidator(read)]


def plan_values(
    given: Any, context: Mapping[str, Any], component: tuple[str, str] | None = None
) -> dict[str, Any]:
    """Return a component as in a plan: its kind and all its values.

    Parameters
    ----------
    given
        The table of the component.
    context
        Properties of its link or flow: `packet`, `mean_bps`, `mss`.
    component
        Kind and id of the component, if the table contains the parameters of several.

    Raises
    ------
    UsageError
        If parameters contradict each other or the context.
    """
    kind, name, fixed = (*component, {}) if component else given.component
    plan = {"kind": name, **fixed, **_written(given, kind, name)}
    try:
        completed = _core.complete_component(kind, json.dumps(plan), json.dumps(context))
    except _core.ComponentError as error:
        parameter, problem, values = error.args
        raise UsageError(_message(kind, name, parameter, problem, json.loads(values))) from None
    return {"kind": name, **json.loads(completed)}


def _written(given: Any, kind: str, name: str) -> dict[str, Any]:
    """Return the values of a table except those for which the component has a default of its own."""
    values = {key: getattr(given, key) for key in declaration(kind, name)["x-order"] if hasattr(given, key)}
    return {key: value for key, value in values.items() if value is not None}


def _message(kind: str, name: str, parameter: str, problem: str, values: Mapping[str, Any]) -> str:
    """Return a problem with the values of parameters in place of their placeholders, with units."""
    properties = declaration(kind, name).get("properties", {})
    for key, value in values.items():
        write = _FORMATS.get(properties.get(key, {}).get("x-unit"), str)
        problem = problem.replace(f"{{{key}}}", write(value))
    return f"{parameter}: {problem}" if parameter else problem
