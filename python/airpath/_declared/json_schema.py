"""The JSON schema of tables of parameters, for editors and for the documentation."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from airpath._declared.declarations import (
    BOUNDS,
    LARGEST,
    is_list,
    is_optional,
    is_required,
    names_of,
    parts_of,
    type_of,
)
from airpath._declared.reader import Keys, quantity, write


def json_schema(keys: Keys) -> dict[str, Any]:
    """Return the JSON schema of a table, for editors and for the documentation."""
    schema = {
        "type": "object",
        "properties": {key: _described(key, one) for key, one in keys.items()},
        "additionalProperties": False,
    }
    required = [key for key, one in keys.items() if is_required(one)]
    return {**schema, "required": required} if required else schema


def _described(key: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a key."""
    value = _described_value(schema)
    if is_optional(schema):
        value = {"anyOf": [value, {"type": "null"}]}
    if not is_required(schema):
        value["default"] = _default(schema)
    title = key.replace("_", " ").title()
    return {"title": title, "description": schema.get("description", "").strip(), **value}


def _described_value(schema: Mapping[str, Any]) -> dict[str, Any]:
    if "x-type" in schema:
        adapter: TypeAdapter[Any] = schema["x-type"]
        return adapter.json_schema()
    if (accepted := names_of(schema)) is not None:
        return {"type": "string", **({"enum": accepted} if len(accepted) > 1 else {"const": accepted[0]})}
    if "x-unit" in schema:
        return dict(quantity(schema).described)
    if is_list(schema):
        parts = [_described_value(part) for part in parts_of(schema, 1)]
        content = {"prefixItems": parts} if "prefixItems" in schema else {"items": parts[0]}
        return {"type": "array", **_stated(schema, "minItems", "maxItems"), **content}
    largest = LARGEST.get(schema.get("format", ""))
    return {
        "type": type_of(schema),
        **({} if largest is None else {"maximum": largest}),
        **_stated(schema, "pattern", *BOUNDS),
    }


def _stated(schema: Mapping[str, Any], *keywords: str) -> dict[str, Any]:
    """Return those of the keywords that a schema has."""
    return {keyword: schema[keyword] for keyword in keywords if keyword in schema}


def _default(schema: Mapping[str, Any]) -> Any:
    """Return the default as users write it; that of a threshold is a number of packets."""
    default = schema.get("default")
    if default is None:
        return None
    if schema.get("x-unit") == "threshold":
        return f"{default:g} packets"
    return write(schema, default)
