"""The parameters of a controller in Python, from the annotations of its class."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Final, Literal, get_args, get_origin, get_type_hints

from airpath.errors import UsageError
from airpath.messages import show
from airpath.plugins.units import Unit

_BOUNDS: Final = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}
_TYPES: Final[Mapping[type, str]] = {bool: "boolean", int: "integer", float: "number"}
_ACCEPTED: Final = (
    'bool, int, float, Literal["a", "b"], airpath.Share, airpath.Seconds, airpath.BitsPerSecond,'
    " airpath.Bytes"
)


def schema_of(controller: type, file: str) -> dict[str, Any]:
    """Return the JSON schema of the parameters of a controller.

    Raises
    ------
    UsageError
        If an annotation is none of a parameter, or a parameter has no default or a wrong one.
    """
    where = f"{file}: {controller.__name__}"
    try:
        hints = get_type_hints(controller, include_extras=True)
    except Exception as error:  # whatever an annotation that is evaluated raises
        raise UsageError(f"{where}: its annotations cannot be read: {error}") from error
    texts = {name: text for base in reversed(controller.__mro__) for name, text in _texts(base).items()}
    properties = {}
    for name, annotation in hints.items():
        if name.startswith("_") or get_origin(annotation) is ClassVar:
            continue
        if not hasattr(controller, name):
            raise UsageError(f"{where}.{name}: a parameter needs a default")
        properties[name] = {
            **_property(annotation, getattr(controller, name), f"{where}.{name}"),
            "description": texts.get(name, ""),
        }
    return {
        "title": controller.__name__,
        "description": (inspect.getdoc(controller) or controller.__name__).partition("\n")[0],
        "type": "object",
        "properties": properties,
        "x-order": list(properties),
        "additionalProperties": False,
    }


def values_of(controller: type, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of a plan as the controller has them: times in seconds."""
    hints = get_type_hints(controller, include_extras=True)
    units = {name: unit for name in plan if (unit := _unit(get_args(hints[name])[1:])) is not None}
    return {name: units[name].from_plan(value) if name in units else value for name, value in plan.items()}


def _unit(metadata: tuple[Any, ...]) -> Unit | None:
    return next((one for one in metadata if isinstance(one, Unit)), None)


def _property(annotation: Any, default: Any, where: str) -> dict[str, Any]:
    """Return the schema of one parameter."""
    metadata: tuple[Any, ...] = ()
    if get_origin(annotation) is Annotated:
        annotation, *rest = get_args(annotation)
        metadata = tuple(rest)
    if get_origin(annotation) is Literal:
        choices = get_args(annotation)
        if default not in choices:
            raise UsageError(f"{where}: found {show(default)}; accepted: {', '.join(map(str, choices))}")
        return {"oneOf": [{"const": choice} for choice in choices], "default": default}
    if annotation not in _TYPES:
        raise UsageError(f"{where}: a parameter cannot be {annotation}; accepted: {_ACCEPTED}")
    schema: dict[str, Any] = {"type": _TYPES[annotation]}
    for constraint in metadata:
        schema |= {
            keyword: getattr(constraint, bound)
            for bound, keyword in _BOUNDS.items()
            if hasattr(constraint, bound)
        }
    if (unit := _unit(metadata)) is not None:
        return {**schema, "type": "integer", "x-unit": unit.base, "default": unit.to_plan(default)}
    accepted = (int, float) if annotation is float else (annotation,)
    if not isinstance(default, accepted) or isinstance(default, bool) is not (annotation is bool):
        raise UsageError(f"{where}: found the default {show(default)}; accepted: {annotation.__name__}")
    return {**schema, "default": annotation(default)}


def _texts(controller: type) -> dict[str, str]:
    """Return the texts below the parameters of a class in its source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(controller)))
    except (OSError, TypeError, SyntaxError):  # a class that was made by a program has no source
        return {}
    definition = tree.body[0]
    body = definition.body if isinstance(definition, ast.ClassDef) else []
    return {
        one.target.id: inspect.cleandoc(text.value.value)
        for one, text in pairwise(body)
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
