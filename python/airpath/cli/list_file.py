"""`airpath list FILE`: the components of a file, with their parameters."""

from typing import Any, Final

from airpath._declared.tables import formatted_in
from airpath.cli.output import show, show_json
from airpath.plugins.loaded_file import KINDS
from airpath.plugins.loading import load_all
from airpath.plugins.specs import Spec

_HEADINGS: Final = {
    "controller": "controllers",
    "ack-rate": "estimators",
    "capacity-source": "capacity_sources",
    "queue": "queues",
}
"""The keys of JSON by kind."""


def list_file(spec: Spec, *, as_json: bool) -> None:
    """Print the components of a file.

    Raises
    ------
    UsageError
        If the file cannot be loaded.
    """
    plugins = load_all(spec).values()
    if as_json:
        kinds = sorted({plugin.kind for plugin in plugins})
        of_kind = {
            kind: {one.id: _facts(one.schema) for one in plugins if one.kind == kind} for kind in kinds
        }
        show_json({_HEADINGS[kind]: facts for kind, facts in of_kind.items()})
        return
    from rich.table import Table

    for plugin in plugins:
        show(f"{plugin.id}  {KINDS[plugin.kind]}: {plugin.schema['description']}")
        table = Table(show_header=False, box=None, padding=(0, 2))
        for parameter, one in _facts(plugin.schema)["parameters"].items():
            table.add_row(parameter, str(one["default"]), one["description"])
        if table.rows:
            show(table)


def _facts(schema: Any) -> dict[str, Any]:
    """Return the description of a component, and its parameters."""
    return {
        "description": schema["description"],
        "parameters": {
            name: {"default": formatted_in(one, one["default"]), "description": one["description"]}
            for name, one in schema["properties"].items()
        },
    }
