"""Tables of components, read by the schema that each component declares in the engine.

A component has one declaration, beside its algorithm. From its schema follow the type of its table (units, ranges,
choices, defaults, help), and how its values stand in a plan.
"""

import functools
import json
from collections.abc import Callable, Mapping
from types import new_class
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, Strict, WrapValidator

from airpath import _core
from airpath.errors import UsageError
from airpath.quantities import Duration, Flag, PositiveDuration, Rate, RateOrOutage, Size, Table
from airpath.units import format_duration, format_rate, format_size

__all__ = ["declaration", "ids", "part_type", "plan_values", "table"]

_QUANTITIES: Final[Mapping[str, tuple[Any, Any]]] = {
    "ns": (Duration, PositiveDuration),
    "bit/s": (RateOrOutage, Rate),
    "B": (Size, Size),
}
"""The type of each unit: from zero, and above zero."""
_FORMATS: Final = {"ns": format_duration, "bit/s": format_rate, "B": format_size}
_BOUNDS: Final = {"exclusiveMinimum": "gt", "minimum": "ge", "exclusiveMaximum": "lt", "maximum": "le"}
_LARGEST: Final = {"uint8": 2**8 - 1, "uint16": 2**16 - 1, "uint32": 2**32 - 1}


@functools.cache
def _declarations() -> dict[str, dict[str, Any]]:
    return json.loads(_core.component_schemas())


def ids(kind: str) -> list[str]:
    """Return the components of a kind, in order."""
    return list(_declarations()[kind]["x-order"])


def declaration(kind: str, name: str) -> dict[str, Any]:
    """Return the schema of a component."""
    return _declarations()[kind][name]


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
    """Return the class of a component's table.

    Parameters
    ----------
    kind, name
        The component.
    title
        The name of the class.
    base
        What it inherits from.
    fixed
        Parameters with values that nobody chooses; they are no keys of the table.
    defaults
        Defaults of a variant, as a person writes them.
    help_texts
        What the variant says of its parameters instead.
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
        # The fields bring their descriptions along; looking for a source text takes 5 ms a class.
        namespace["model_config"] = ConfigDict(use_attribute_docstrings=False)
        namespace["__annotations__"] = {key: annotation for key, (annotation, _) in fields.items()}
        namespace.update({key: field for key, (_, field) in fields.items()})

    made: Any = new_class(title, (base,), exec_body=body)
    made.model_config = {**made.model_config, "use_attribute_docstrings": True}  # of subclasses
    made.component = (kind, name, dict(fixed or {}))
    return made


def _annotation(schema: Mapping[str, Any]) -> Any:
    """Return the type of a parameter."""
    if component := schema.get("x-component"):
        return part_type(component)
    if choices := schema.get("oneOf"):
        return Literal[tuple(choice["const"] for choice in choices)]
    bounds = {ours: schema[theirs] for theirs, ours in _BOUNDS.items() if theirs in schema}
    if unit := schema.get("x-unit"):
        return _QUANTITIES[unit]["gt" in bounds]
    match schema["type"]:
        case "boolean":
            return Flag
        case "number":
            return Annotated[float, Strict(), Field(**bounds)]
        case "integer":
            largest = _LARGEST.get(schema.get("format", ""))
            bounds = bounds if largest is None else {"le": largest, **bounds}
            return Annotated[int, Strict(), Field(**bounds)]
    raise TypeError(f"no type for {schema}")


@functools.cache
def part_type(kind: str) -> Any:
    """Return the type of a component inside another: its name, or a table with its `kind` and parameters.

    No class is made for the tables: one for each pair of components would take milliseconds at import.
    """

    def read(value: object, handler: Callable[[object], Any]) -> Any:
        if not isinstance(value, Mapping):
            return handler(value)
        # Not above: the package of scenarios imports the schemes.
        from airpath.declared_reader import read_part
        from airpath.scenario.messages import ValueOfKeyError

        values, faults = read_part(kind, value, "")
        if faults:
            raise ValueOfKeyError(faults[0].path.removeprefix("."), faults[0].message)
        return values

    return Annotated[Literal[tuple(ids(kind))], WrapValidator(read)]


def plan_values(
    given: Any, place: Mapping[str, Any], component: tuple[str, str] | None = None
) -> dict[str, Any]:
    """Return a component as in a plan: its kind and all its values.

    Parameters
    ----------
    given
        Its table.
    place
        What is known where it stands: `packet`, `mean_bps`, `mss`.
    component
        Its kind and name, if the table holds the parameters of several.

    Raises
    ------
    UsageError
        If parameters do not fit each other or the place.
    """
    kind, name, fixed = (*component, {}) if component else given.component
    part = {"kind": name, **fixed, **_written(given, kind, name)}
    try:
        return {"kind": name, **json.loads(_core.complete_component(kind, json.dumps(part), json.dumps(place)))}
    except _core.ComponentError as error:
        parameter, problem, values = error.args
        raise UsageError(_said(kind, name, parameter, problem, json.loads(values))) from None


def _written(given: Any, kind: str, name: str) -> dict[str, Any]:
    """Return the values of a table, without what is left to the component."""
    values = {key: getattr(given, key) for key in declaration(kind, name)["x-order"] if hasattr(given, key)}
    return {key: value for key, value in values.items() if value is not None}


def _said(kind: str, name: str, parameter: str, problem: str, values: Mapping[str, Any]) -> str:
    """Return a problem with the values of parameters as a person writes them."""
    properties = declaration(kind, name)["properties"]
    for key, value in values.items():
        write = _FORMATS.get(properties.get(key, {}).get("x-unit"), str)
        problem = problem.replace(f"{{{key}}}", write(value))
    return f"{parameter}: {problem}" if parameter else problem
