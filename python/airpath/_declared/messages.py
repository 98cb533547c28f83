"""Conversion of validation errors to readable messages, one line for each fault."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from airpath._declared.bounds import bound, finite_number
from airpath._nearest import nearest
from airpath.errors import ScenarioError

NAMES: Final = "letters, digits, dots, hyphens, underscores and plus signs, beginning with a letter or digit"
"""What a name may consist of: texts with a pattern are names."""


@dataclass(frozen=True)
class Fault:
    """One fault in a scenario."""

    path: str
    """Its location, as in `flows[0].transport.min_rto`; empty for the scenario as a whole."""
    message: str
    """What was found and what is accepted."""


class FieldError(Exception):
    """A fault found while a scenario is resolved; reported as a `ScenarioError`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.fault = Fault(path, message)


class ValueOfKeyError(ValueError):
    """A fault in one key of a table that depends on another key."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


def scenario_error(source: str, faults: Iterable[Fault]) -> ScenarioError:
    """Return one error for all faults: a line for each, beginning with the source of the scenario."""
    lines = (
        f"{source}: {fault.path}: {fault.message}" if fault.path else f"{source}: {fault.message}"
        for fault in faults
    )
    return ScenarioError("\n".join(dict.fromkeys(lines)))


def faults(error: ValidationError, root: type[BaseModel], raw: object, prefix: str = "") -> list[Fault]:
    """Return the faults of a validation of `raw` against `root`; `prefix` is the path of `raw` itself."""
    return [
        _fault(details, root, raw, prefix)
        for details in error.errors(include_url=False)
        if not _follows_from_another(details)
    ]


def validation_error(faults: Iterable[Fault], given: object) -> ValidationError:
    """Return the error that a reader of tables raises in a model, such that `faults` finds the problems."""
    lines = [
        InitErrorDetails(
            type=PydanticCustomError("fault", "{message}", {"message": fault.message}),
            loc=tuple(filter(None, [fault.path.removeprefix(".")])),
            input=given,
        )
        for fault in faults
    ]
    return ValidationError.from_exception_data("a table", lines)


def _follows_from_another(details: ErrorDetails) -> bool:
    """Return whether a list is reported as too short only because its items are invalid."""
    return details["type"] == "too_short" and len(details["input"]) >= details["ctx"]["min_length"]


def _fault(details: ErrorDetails, root: type[BaseModel], raw: object, prefix: str) -> Fault:
    location = details["loc"]
    path = prefix + _path(location, raw)
    found = details["input"]
    context = details.get("ctx", {})
    match details["type"]:
        case "extra_forbidden":
            return Fault(
                path.removeprefix("."), unknown_key(str(location[-1]), _known_keys(root, location[:-1]))
            )
        case "fault":
            message = details["msg"]
        case "missing":
            message = "required, but not given"
        case "value_error":
            message = str(context["error"])
            if isinstance(context["error"], ValueOfKeyError):
                path = ".".join(filter(None, (path, context["error"].key)))
        case "literal_error":
            message = not_one_of(found, _literals(str(context["expected"])))
        case "union_tag_invalid":
            path += ".kind"
            message = not_one_of(context["tag"], _literals(str(context["expected_tags"])))
            if path.endswith(".loss.kind"):
                message += '; for independent losses give a plain number, not a table: "loss = 0.01"'
        case "union_tag_not_found":
            message = f'found {show(found)}; accepted: a table with the key "kind"'
        case "model_type" | "model_attributes_type" | "dict_type":
            message = f"found {show(found)}; accepted: a table"
        case "tuple_type" | "list_type":
            message = f"found {show(found)}; accepted: a list"
        case "too_short":
            message = f"found {show(found)}; accepted: at least {context['min_length']}"
        case "string_pattern_mismatch":
            message = f"found {show(found)}; accepted: {NAMES}"
        case "finite_number":
            message = f"found {show(found)}; accepted: {finite_number(_fields(root, location))}"
        case _:
            message = f"found {show(found)}; accepted: {_accepted(details['type'], context, details['msg'])}"
    return Fault(path.removeprefix("."), message)


def _accepted(kind: str, context: Mapping[str, Any], message: str) -> str:
    """Return the accepted values of a simple type; the validator's text if there is no better one."""
    match kind:
        case "int_type":
            return "a whole number"
        case "float_type":
            return "a number"
        case "bool_type":
            return "true or false"
        case "string_type":
            return "text"
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            ((name, value),) = context.items()
            return bound(name, value)
        case _:
            return message.removeprefix("Input should be ")


def show(value: object) -> str:
    """Return a value as the author wrote it, shortened if it is long."""
    match value:
        case str():
            text = f'"{value}"'
        case bool():
            text = str(value).lower()
        case Mapping():
            text = "a table"
        case list() | tuple():
            text = f"a list of {len(value)}"
        case _:
            text = str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def not_one_of(found: object, accepted: Sequence[str]) -> str:
    """Return the message about a value that is not one of the accepted ones."""
    close = nearest(found, accepted) if isinstance(found, str) else None
    hint = f' (did you mean "{close}"?)' if close else ""
    return f"found {show(found)}{hint}; accepted: {', '.join(accepted)}"


def unknown_key(key: str, known: Iterable[str]) -> str:
    """Return the message about a key that a table does not have."""
    names = sorted(known)
    close = nearest(key, names)
    hint = f'; did you mean "{close}"?' if close else ""
    return f"unknown key{hint} (accepted: {', '.join(names)})"


def _literals(expected: str) -> list[str]:
    """Return the values in the validator's list, as in "'a', 'b' or 'c'"."""
    return [part.strip().strip("'") for part in expected.replace(" or ", ", ").split(",")]


def _path(location: Sequence[int | str], raw: object) -> str:
    """Return the location as in the file, without the steps that exist in the types only."""
    path = ""
    tag_may_follow = True
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
            raw = raw[step] if isinstance(raw, list | tuple) and step < len(raw) else None
        elif isinstance(raw, Mapping):
            # The first step into a table with a kind is that kind, even if a key has the same name.
            if tag_may_follow and raw.get("kind") == step:
                tag_may_follow = False
                continue
            path += f".{step}"
            raw = raw.get(step)
        # A step into something other than a table: the parts of a short form, which are not in the file.
        tag_may_follow = True
    return path


def _known_keys(root: type[BaseModel], location: Sequence[int | str]) -> list[str]:
    """Return the keys that the table at `location` accepts."""
    tables = _tables(root, location)
    return [field.alias or name for model in tables for name, field in model.model_fields.items()]


def _fields(root: type[BaseModel], location: Sequence[int | str]) -> list[FieldInfo]:
    """Return the fields at `location`: one for each table type that is possible there."""
    return [
        field
        for model in _tables(root, location[:-1])
        for name, field in model.model_fields.items()
        if (field.alias or name) == location[-1]
    ]


def _tables(root: type[BaseModel], location: Sequence[int | str]) -> list[type[BaseModel]]:
    """Return the possible models of the table at `location`."""
    candidates: list[type[BaseModel]] = [root]
    for step in location:
        if isinstance(step, int):
            continue
        tagged = [model for model in candidates if _kind(model) == step]
        if len(candidates) > 1 and tagged:
            candidates = tagged
            continue
        candidates = [
            inner
            for model in candidates
            for name, field in model.model_fields.items()
            if (field.alias or name) == step
            for inner in _models(field.annotation)
        ]
    return candidates


def _kind(model: type[BaseModel]) -> str | None:
    field = model.model_fields.get("kind")
    if field is None or get_origin(field.annotation) is not Literal:
        return None
    return str(get_args(field.annotation)[0])


def _models(annotation: object) -> list[type[BaseModel]]:
    """Return the models inside an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) is Annotated:
        return _models(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType, tuple):
        return [model for argument in get_args(annotation) for model in _models(argument)]
    return []
