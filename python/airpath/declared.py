"""Tables of components, read by the schema that each component declares in the engine.

A component has one declaration, next to its algorithm. From its schema follow the type of its table (units,
ranges, choices, defaults, help texts) and the form of its values in a plan.
"""

import functools
import json
import operator
from collections.abc import Callable, Collection, Mapping
from types import new_class
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, Strict, WrapValidator

from airpath import _core
from airpath.declarations import BOUNDS, LARGEST, choices, declaration, ids
from airpath.declared_reader import read_component
from airpath.errors import UsageError
from airpath.messages import ValueOfKeyError
from airpath.quantities import (
    Duration,
    Flag,
    PositiveDuration,
    Rate,
    RateOrOutage,
    Size,
    Table,
    Threshold,
    Window,
)
from airpath.units import format_duration, format_rate, format_size, parse_threshold

__all__ = ["ParameterError", "component_type", "formatted", "plan_values", "table", "tagged"]

_QUANTITIES: Final[Mapping[str, tuple[Any, Any]]] = {
    "ns": (Duration, PositiveDuration),
    "bit/s": (RateOrOutage, Rate),
    "B": (Size, Size),
    "threshold": (Threshold, Threshold),
    "window": (Window, Window),
}
"""The types of each unit: zero allowed, and greater than zero."""
_FORMATS: Final = {
    "ns": format_duration,
    "bit/s": format_rate,
    "B": format_size,
    "threshold": "{:g}".format,
    "window": format_size,
}


class ParameterError(UsageError):
    """A parameter of a component is wrong in its context, or contradicts another one."""

    def __init__(self, parameter: str, problem: str) -> None:
        super().__init__(f"{parameter}: {problem}" if parameter else problem)
        self.parameter = parameter
        self.problem = problem


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
    without: Collection[str] = (),
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
        Base class of the class. It may have fields for some of the parameters.
    fixed
        Parameters with a constant value; the table does not have these keys.
    defaults
        Defaults that differ from those of the component, as in a scenario.
    help_texts
        Help texts that differ from those of the component.
    without
        Parameters for which the caller of `plan_values` has a value (`resolved`).
    **more
        Further fields: annotation and `Field`.
    """
    schema = declaration(kind, name)
    properties = schema.get("properties", {})
    fields: dict[str, Any] = {}
    for key in schema.get("x-order", properties):
        if key in (fixed or {}) or key in without or key in base.model_fields:
            continue
        one = properties[key]
        default = (defaults or {}).get(key, one.get("default"))
        text = (help_texts or {}).get(key, one.get("description", ""))
        annotation = _annotation(one)
        if "x-default-from" in one or "null" in one.get("type", ()):
            annotation = annotation | None
        elif default is None:
            default = ...
        elif one.get("x-unit") == "threshold":
            default = parse_threshold(f"{default:g} packets")
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
        return component_type(component, "x-or-none" in schema)
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


def tagged(kind: str, ending: str, text: str) -> Any:
    """Return the type of a component of a scenario: its id, or a table with a `kind`.

    Parameters
    ----------
    kind
        Kind of the component.
    ending
        Ending of the names of the classes of its tables.
    text
        Help text of the key `kind`.
    """
    of_kind = Field(description=text)
    tables = [
        table(kind, name, f"{name.title().replace('-', '')}{ending}", kind=(Literal[name], of_kind))
        for name in ids(kind)
    ]
    one: Any = Annotated[functools.reduce(operator.or_, tables), Field(discriminator="kind")]
    expand = BeforeValidator(
        lambda value: {"kind": value} if isinstance(value, str) else value,
        json_schema_input_type=str | one,
    )
    return Annotated[one, expand]


@functools.cache
def component_type(kind: str, or_none: bool = False) -> Any:
    """Return the type of a nested component: its id, or a table with its `kind` and parameters.

    Such a table has no class: a class for each pair of components would take milliseconds at import.
    """

    def read(value: object, handler: Callable[[object], Any]) -> Any:
        if not isinstance(value, Mapping):
            return handler(value)
        values, faults = read_component(kind, value, "")
        if faults:
            raise ValueOfKeyError(faults[0].path.removeprefix("."), faults[0].message)
        return values

    return Annotated[Literal[tuple(choices(kind, or_none))], WrapValidator(read)]


def plan_values(
    given: Any,
    context: Mapping[str, Any],
    component: tuple[str, str] | None = None,
    resolved: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a component as in a plan: its kind and all its values.

    Parameters
    ----------
    given
        The table of the component.
    context
        Properties of its link or flow: `packet`, `mean_bps`, `mss`, `protocol`.
    component
        Kind and id of the component, if the table contains the parameters of several.
    resolved
        Values that replace those of the table: amounts whose unit depends on the link.

    Raises
    ------
    ParameterError
        If parameters contradict each other or the context.
    """
    kind, name, fixed = (*component, {}) if component else given.component
    plan = {"kind": name, **fixed, **_written(given, kind, name), **(resolved or {})}
    try:
        completed = _core.complete_component(kind, json.dumps(plan), json.dumps(context))
    except _core.ComponentError as error:
        parameter, problem, values = error.args
        problem = _with_values(kind, name, problem, json.loads(values))
        raise ParameterError(parameter, problem) from None
    return {"kind": name, **json.loads(completed)}


def _written(given: Any, kind: str, name: str) -> dict[str, Any]:
    """Return the values of a table except those for which the component has a default of its own."""
    values = {key: getattr(given, key) for key in declaration(kind, name)["x-order"] if hasattr(given, key)}
    return {key: value for key, value in values.items() if value is not None}


def _with_values(kind: str, name: str, problem: str, values: Mapping[str, Any]) -> str:
    """Return a problem with the values of parameters in place of their placeholders, with units."""
    for key, value in values.items():
        problem = problem.replace(f"{{{key}}}", str(formatted(kind, name, key, value)))
    return problem


def formatted(kind: str, name: str, parameter: str, value: Any) -> Any:
    """Return a value of a plan as a person writes it: a quantity with its unit, all else unchanged."""
    unit = declaration(kind, name).get("properties", {}).get(parameter, {}).get("x-unit")
    return _FORMATS[unit](value) if unit else value
