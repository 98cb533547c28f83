"""The parameters of a controller in Python, from the annotations of its class."""

import ast
import inspect
import textwrap
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Final, Literal, get_args, get_origin, get_type_hints

from airpath._declared.reader import read
from airpath.errors import UsageError
from airpath.plugins.controller import RULES, Unit

_BOUNDS: Final = {"gt": "exclusiveMinimum", "ge": "minimum", "lt": "exclusiveMaximum", "le": "maximum"}
_TYPES: Final[Mapping[type, str]] = {bool: "boolean", int: "integer", float: "number"}
_SCALES: Final = {"ns": 1e9, "bit/s": 1, "B": 1}
"""Number of base units in one unit of a controller: a second, a bit per second, a byte."""
_ACCEPTED: Final = (
    'bool, int, float, Literal["a", "b"], airpath.Share, airpath.Seconds, airpath.BitsPerSecond,'
    " airpath.Bytes"
)


def schema_of(controller: type, file: str) -> dict[str, Any]:
    """Return the JSON schema of the parameters of a controller.

    Raises
    ------
    UsageError
        If an annotation is not that of a parameter, or a parameter has no default or a wrong one.
    """
    where = f"{file}: {controller.__name__}"
    try:
        hints = get_type_hints(controller, include_extras=True)
    except Exception as error:  # evaluating an annotation can raise anything
        raise UsageError(f"{where}: its annotations cannot be read: {error}") from error
    texts = {name: text for base in reversed(controller.__mro__) for name, text in _texts(base).items()}
    properties: dict[str, dict[str, Any]] = {}
    for name, annotation in hints.items():
        if name.startswith("_") or get_origin(annotation) is ClassVar:
            continue
        if not hasattr(controller, name):
            raise UsageError(f"{where}.{name}: a parameter needs a default")
        schema = _schema(annotation, f"{where}.{name}")
        default = _in_plan(schema, name, getattr(controller, name), where)
        properties[name] = {**schema, "default": default, "description": texts.get(name, "")}
    return {
        "title": controller.__name__,
        "description": (inspect.getdoc(controller) or controller.__name__).partition("\n")[0],
        "type": "object",
        "properties": properties,
        "x-order": list(properties),
        "additionalProperties": False,
        **_follows(controller, where),
    }


def values_of(schema: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of a plan as the controller has them: times in seconds."""
    scales = {name: _SCALES.get(schema["properties"][name].get("x-unit"), 1) for name in plan}
    return {name: value if scales[name] == 1 else value / scales[name] for name, value in plan.items()}


def _follows(controller: type, where: str) -> dict[str, str]:
    """Return the rules for the window that a controller declares, unless they are the usual ones."""
    follows = getattr(controller, "follows", RULES[0])
    if follows not in RULES:
        accepted = ", ".join(map(repr, RULES))
        raise UsageError(f"{where}.follows: found {follows!r}; accepted: {accepted}")
    return {} if follows == RULES[0] else {"x-follows": follows}


def _in_plan(schema: Mapping[str, Any], name: str, default: Any, where: str) -> Any:
    """Return a default as in a plan. A quantity without a unit is in seconds, bits per second or bytes."""
    unit = schema.get("x-unit")
    if unit is not None and isinstance(default, int | float) and not isinstance(default, bool):
        return round(default * _SCALES[unit])
    values, faults = read({name: schema}, {name: default}, where)
    if faults:
        raise UsageError(f"{faults[0].path}: {faults[0].message}")
    return values[name]


def _schema(annotation: Any, where: str) -> dict[str, Any]:
    """Return the schema of one parameter without its default."""
    metadata: tuple[Any, ...] = ()
    if get_origin(annotation) is Annotated:
        annotation, *rest = get_args(annotation)
        metadata = tuple(rest)
    if get_origin(annotation) is Literal:
        return {"oneOf": [{"const": choice} for choice in get_args(annotation)]}
    if annotation not in _TYPES:
        raise UsageError(f"{where}: a parameter cannot be {annotation}; accepted: {_ACCEPTED}")
    unit = next((one for one in metadata if isinstance(one, Unit)), None)
    if unit is not None:
        return {"type": "integer", "x-unit": unit.base}
    bounds = {
        keyword: getattr(constraint, bound)
        for constraint in metadata
        for bound, keyword in _BOUNDS.items()
        if hasattr(constraint, bound)
    }
    return {"type": _TYPES[annotation], **bounds}


def _texts(controller: type) -> dict[str, str]:
    """Return the docstrings of the parameters of a class."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(controller)))
    except (OSError, TypeError, SyntaxError):  # a class that was generated at run time has no source
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
