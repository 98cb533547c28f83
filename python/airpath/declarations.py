"""The declarations of components: the JSON schema of each, from the engine.

`airpath_model::declare` describes the keywords that begin with "x-".
"""

import functools
import json
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


def ids(kind: str) -> list[str]:
    """Return the ids of the components of a kind in the order of their registration."""
    return list(_declarations()[kind]["x-order"])


def choices(kind: str, or_none: bool) -> list[str]:
    """Return the ids that a nested component may have; `or_none` adds that of no component."""
    return ["none", *ids(kind)] if or_none else ids(kind)


def declaration(kind: str, name: str) -> dict[str, Any]:
    """Return the schema of a component."""
    schema: dict[str, Any] = _declarations()[kind][name]
    return schema
