"""The declarations of components: the JSON schema of each, from the engine.

`airpath_model::declare` describes the keywords that begin with "x-".
"""

import functools
import json
from collections.abc import Mapping
from typing import Any, Final

from airpath import _core

BOUNDS: Final = {"exclusiveMinimum": "gt", "minimum": "ge", "exclusiveMaximum": "lt", "maximum": "le"}
"""Bounds by their keyword in schemas."""
LARGEST: Final = {"uint8": 2**8 - 1, "uint16": 2**16 - 1, "uint32": 2**32 - 1}
"""The largest value of each integer format in schemas."""


@functools.cache
def _declarations() -> dict[str, dict[str, Any]]:
    declarations: dict[str, dict[str, Any]] = json.loads(_core.component_schemas())
    return declarations


def add(kind: str, name: str, schema: Mapping[str, Any]) -> None:
    """Add the schema of a component that is not part of the engine. Lists of components do not contain it."""
    _declarations()[kind][name] = dict(schema)
    _added.add((kind, name))


_added: Final[set[tuple[str, str]]] = set()
"""Kinds and names of the components that are not part of the engine."""


def is_added(kind: str, name: str) -> bool:
    """Return whether a component is not part of the engine."""
    return (kind, name) in _added


def ids(kind: str) -> list[str]:
    """Return the ids of the components of a kind in the order of their registration."""
    return list(_declarations()[kind]["x-order"])


def declaration(kind: str, name: str) -> dict[str, Any]:
    """Return the schema of a component."""
    schema: dict[str, Any] = _declarations()[kind][name]
    return schema


def declared_keys(kind: str, name: str) -> dict[str, Mapping[str, Any]]:
    """Return the parameters of a component with their schemas, in the order of its declaration.

    The keys are those of scenarios; `plan_keys` maps them to those of plans.
    """
    schema = declaration(kind, name)
    return {key: schema["properties"][in_plan] for key, in_plan in plan_keys(kind, name).items()}


def plan_keys(kind: str, name: str) -> dict[str, str]:
    """Return the key in plans of each parameter of a component, by its key in scenarios."""
    schema = declaration(kind, name)
    return {schema["properties"][key].get("x-key", key): key for key in schema["x-order"]}


def is_optional(schema: Mapping[str, Any]) -> bool:
    """Return whether a parameter may be absent without a default of its own."""
    return "x-default-from" in schema or "null" in schema.get("type", ())


def is_required(schema: Mapping[str, Any]) -> bool:
    """Return whether a parameter must be given."""
    return "default" not in schema and not is_optional(schema)


def type_of(schema: Mapping[str, Any]) -> str:
    """Return the type of a value that is not null."""
    types: str | list[str] = schema["type"]
    return types if isinstance(types, str) else next(one for one in types if one != "null")


def names_of(schema: Mapping[str, Any]) -> list[str] | None:
    """Return the names that a value may have; `None` for a number, a quantity or a truth value."""
    if kind := schema.get("x-component"):
        return ["none", *ids(kind)] if "x-or-none" in schema else ids(kind)
    return [choice["const"] for choice in schema["oneOf"]] if "oneOf" in schema else None


def is_list(schema: Mapping[str, Any]) -> bool:
    """Return whether a value is a list."""
    return "items" in schema or "prefixItems" in schema


def parts_of(schema: Mapping[str, Any], count: int) -> list[Mapping[str, Any]]:
    """Return the schema of each value of a list: of `count` values, unless the schema fixes their number."""
    return list(schema["prefixItems"]) if "prefixItems" in schema else [schema["items"]] * count
