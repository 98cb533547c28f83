"""`airpath schema`."""

from airpath.cli.output import show_json

HELP = """\
A TOML language server reads it to complete, describe and check keys: write it into a file, and name the file
in the first line of a scenario, as in `#:schema ./airpath.schema.json`.

Examples:

    airpath schema > airpath.schema.json

    airpath schema | jq '."$defs".Flow.properties | keys'
"""


def schema() -> None:
    """Print the JSON schema of scenarios."""
    from airpath.scenario.schema import editor_schema

    show_json(editor_schema())
