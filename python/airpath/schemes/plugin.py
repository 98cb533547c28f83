"""Schemes from files of the user."""

import functools
from typing import Any, Final

from airpath.declarations import add
from airpath.declared import Values, table
from airpath.plugins.loading import Plugin, load
from airpath.plugins.specs import Spec
from airpath.schemes.scheme import Scheme

_LOOKS: Final = (
    ("#D81B60", "X"),
    ("#1E88E5", "P"),
    ("#8D6E00", "d"),
    ("#004D40", "p"),
    ("#7B1FA2", "h"),
    ("#E65100", "*"),
)
"""Colours and markers of schemes from files, in the order in which they are first named."""
_order: Final[dict[str, int]] = {}


def plugin_scheme(spec: Spec) -> Scheme:
    """Return the scheme of a controller in a file, without options.

    Raises
    ------
    UsageError
        If it cannot be loaded (`airpath.plugins.loading.load`).
    """
    return _scheme(load(spec))


@functools.cache
def _scheme(plugin: Plugin) -> Scheme:
    add("controller", plugin.id, plugin.schema)
    colour, marker = _LOOKS[_order.setdefault(plugin.id, len(_order)) % len(_LOOKS)]
    return Scheme(
        id=plugin.id,
        title=plugin.schema["title"],
        description=plugin.schema["description"],
        colour=colour,
        marker=marker,
        controller=plugin.id,
        parameters=table("controller", plugin.id),
        build=functools.partial(_plan, plugin),
        transport=plugin.transport,
    )


def _plan(plugin: Plugin, parameters: Values, _mss_bytes: int) -> dict[str, Any]:
    """Return the controller as in a plan."""
    return {"kind": plugin.id, **{key: parameters[key] for key in plugin.schema["x-order"]}}
