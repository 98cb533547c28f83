"""`airpath list FILE`: the controllers of a file, with their parameters."""

from typing import Any

from airpath.cli.output import show, show_json
from airpath.declared import formatted_in
from airpath.plugins.loading import load_all
from airpath.plugins.specs import Spec


def list_file(spec: Spec, *, as_json: bool) -> None:
    """Print the controllers of a file.

    Raises
    ------
    UsageError
        If the file cannot be loaded.
    """
    plugins = {plugin.id: plugin.schema for plugin in load_all(spec).values()}
    if as_json:
        show_json({"controllers": {name: _facts(schema) for name, schema in plugins.items()}})
        return
    from rich.table import Table

    for name, schema in plugins.items():
        show(f"{name}  {schema['description']}")
        table = Table(show_header=False, box=None, padding=(0, 2))
        for parameter, one in _facts(schema)["parameters"].items():
            table.add_row(parameter, str(one["default"]), one["description"])
        if table.rows:
            show(table)


def _facts(schema: Any) -> dict[str, Any]:
    """Return the description of a controller, and its parameters."""
    return {
        "description": schema["description"],
        "parameters": {
            name: {"default": formatted_in(one, one["default"]), "description": one["description"]}
            for name, one in schema["properties"].items()
        },
    }
