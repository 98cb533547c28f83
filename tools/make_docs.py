"""Make the pages of the site that are generated from the package itself.

    python tools/make_docs.py

They are written into `docs/reference` and are not under version control.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from results_tables import result_columns

from airpath._declared.json_schema import json_schema
from airpath._declared.tables import Parameters
from airpath.links import LINKS
from airpath.links.networks import networks
from airpath.links.options import LinkAndFlows, options_of
from airpath.scenario import QUEUES, Scenario, scenario_names, scenario_schema
from airpath.scenario.managed_queues import MANAGED_QUEUES
from airpath.schemes import ESTIMATORS, SCHEMES
from airpath.schemes.loss_differentiation import LossDifferentiation
from airpath.schemes.router_assisted import CAPACITY_SOURCES, FAMILIES
from airpath_lint.rules_table import RULES
from airpath_papers.registry import FIGURES

OUT = Path(__file__).parent.parent / "docs" / "reference"
COMMANDS = (
    "run",
    "compare",
    "gap",
    "conform",
    "check",
    "rerun",
    "diff",
    "view",
    "figures",
    "emulate",
    "estimate",
    "fit",
    "lint",
    "sweep",
    "reproduce",
    "rivals",
    "leaderboard",
    "new",
    "validate",
    "schema",
    "list",
    "trace show",
    "trace convert",
    "trace log",
    "doctor",
)


def main() -> None:
    """Write every page."""
    write("scenario.md", scenario_page(scenario_schema()))
    write("command-line.md", command_page())
    for name, parameters in parameter_tables().items():
        write(f"parameters/{name}.md", "\n".join(keys(json_schema(parameters.keys))) + "\n")
    write("lists/columns.md", result_columns())
    write("lists/compositions.md", compositions())
    write("lists/schemes.md", listed({scheme.id: scheme.description for scheme in SCHEMES}))
    write("lists/estimators.md", estimators())
    write("lists/queues.md", listed({queue.name: queue.description for queue in QUEUES}))
    write("lists/links.md", listed({link.name: link.description for link in LINKS}))
    write("lists/networks.md", listed({network.name: network.description for network in networks()}))
    write("lists/link-options.md", link_options())
    write("lists/figures.md", listed({figure.id: figure.heading for figure in FIGURES}))
    write("lists/lint-rules.md", lint_rules())
    write(
        "lists/scenarios.md",
        listed({name: Scenario.load(name).document.description for name in scenario_names()}),
    )


def write(name: str, text: str) -> None:
    """Write one page."""
    path = OUT / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def link_options() -> str:
    """Return the table of the options that describe one link and its flows."""
    return listed({f"--{name}": option.help for name, option in options_of(LinkAndFlows).items()})


def listed(entries: Mapping[str, str]) -> str:
    """Return a table of names and descriptions."""
    return (
        "\n".join(
            ["| name | description |", "|---|---|", *(f"| `{n}` | {cell(t)} |" for n, t in entries.items())]
        )
        + "\n"
    )


def parameter_tables() -> dict[str, Parameters]:
    """Return every table of parameters, by file."""
    tables = {scheme.id: scheme.parameters for scheme in SCHEMES if scheme.router is None}
    for family in FAMILIES:
        # The first of the families with one protocol has the table; other defaults are with the compositions.
        tables.setdefault(f"protocols/{family.protocol}", Parameters.joined(*family.parameters))
    tables["loss-differentiation"] = LossDifferentiation
    tables |= {f"estimators/{estimator.id}": estimator.parameters for estimator in ESTIMATORS}
    tables |= {f"sources/{source.id}": source.parameters for source in CAPACITY_SOURCES}
    return tables | {f"queues/{kind}": table for kind, table in MANAGED_QUEUES.items()}


def lint_rules() -> str:
    """Return the table of the rules of `airpath lint`."""
    rows = [
        f"| `{one.name}` | {one.level} | {cell(one.why)} | {cell(one.source)} |" for one in RULES.values()
    ]
    return "\n".join(["| rule | level | why | source |", "|---|---|---|---|", *rows]) + "\n"


def estimators() -> str:
    """Return the table of the ACK-rate estimators, for pages in their folder."""
    rows = [f"| [`{one.id}`]({page_of(one.id)}) | {cell(one.description)} |" for one in ESTIMATORS]
    return "\n".join(["| estimator | description |", "|---|---|", *rows]) + "\n"


def page_of(estimator: str) -> str:
    """Return the name of the page that documents an estimator; variants share one."""
    if estimator == "westwood+":
        return "westwood-plus.md"
    return f"{estimator.removesuffix('-aa').removesuffix('-10ms').removesuffix('-timed')}.md"


def compositions() -> str:
    """Return the table of the router-assisted schemes, for pages one folder below that of the site."""
    tables = {name: properties(table) for name, table in parameter_tables().items()}
    lines = ["| scheme | protocol | capacity source | other defaults |", "|---|---|---|---|"]
    for scheme in SCHEMES:
        if scheme.router is not None:
            protocol, source = scheme.router.protocol, scheme.router.source
            usual = {**tables[f"protocols/{protocol}"], **tables[f"sources/{source}"]}
            changed = [
                f"`{key} = {toml(value.get('default'))}`"
                for key, value in properties(scheme.parameters).items()
                if key not in usual or value.get("default") != usual[key].get("default")
            ]
            lines.append(
                f"| `{scheme.id}` | [{protocol}](../schemes/{protocol}.md)"
                f" | [{source}](../sources/{source}.md) | {', '.join(changed)} |"
            )
    return "\n".join(lines) + "\n"


def properties(parameters: Parameters) -> Mapping[str, Any]:
    """Return the keys of a table of parameters in their notation, so that defaults have their units."""
    found: Mapping[str, Any] = json_schema(parameters.keys)["properties"]
    return found


def scenario_page(schema: Mapping[str, Any]) -> str:
    """Return the reference of the scenario language."""
    parts = [
        SCENARIO_OPENING,
        "## The scenario\n",
        str(schema.get("description", "")) + "\n",
        *keys(schema),
        "",
    ]
    for name, definition in schema["$defs"].items():
        if "properties" in definition:
            parts += [
                f"## {name}\n",
                one_line(definition.get("description", "")) + "\n",
                *keys(definition),
                "",
            ]
        elif "enum" in definition:
            parts += [f"## {name}\n", one_line(definition.get("description", "")) + "\n"]
            parts += [f"- `{value}`" for value in definition["enum"]] + [""]
    return "\n".join(parts)


def keys(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the table of the keys of one object, line by line."""
    properties = schema.get("properties", {})
    if not properties:
        yield "It has no parameters."
        return
    yield "| key | value | default | meaning |"
    yield "|---|---|---|---|"
    for key, value in properties.items():
        default = "required" if key in schema.get("required", ()) else default_of(value)
        yield f"| `{key}` | {cell(kind(value))} | {cell(default)} | {cell(value.get('description', ''))} |"


def default_of(value: Mapping[str, Any]) -> str:
    """Return the default in scenario notation; empty if the description explains what absence means."""
    default = value.get("default")
    if default is None or default in ("", [], {}):
        return ""
    return f"`{toml(default)}`"


def toml(value: Any) -> str:
    """Return a value in TOML notation."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case dict():
            return (
                "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items() if one is not None) + "}"
            )
        case list() | tuple():
            return "[" + ", ".join(toml(one) for one in value) + "]"
        case _:
            return str(value)


def kind(value: Mapping[str, Any]) -> str:
    """Return the accepted values of a key in words, with links to tables."""
    if "$ref" in value:
        name = value["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](scenario.md#{name.lower()})"
    for choice in ("anyOf", "oneOf"):
        if choice in value:
            kinds = [kind(option) for option in value[choice] if option.get("type") != "null"]
            return " or ".join(dict.fromkeys(kinds))
    if "allOf" in value:
        return kind(value["allOf"][0])
    if "const" in value:
        return f"`{toml(value['const'])}`"
    if "enum" in value:
        return ", ".join(f"`{toml(one)}`" for one in value["enum"])
    if examples := value.get("examples"):
        return ", ".join(f"`{toml(example)}`" for example in examples)
    match value.get("type"):
        case "array":
            if "prefixItems" in value:
                return "[" + ", ".join(kind(item) for item in value["prefixItems"]) + "]"
            return f"list of {kind(value.get('items', {}))}"
        case "object":
            inner = value.get("properties", {})
            return (
                "{" + ", ".join(f"{key} = {kind(one)}" for key, one in inner.items()) + "}"
                if inner
                else "table"
            )
        case "number" | "integer":
            return numeric(value)
        case "boolean":
            return "`true` or `false`"
        case "string":
            return "text"
    return "any"


def numeric(value: Mapping[str, Any]) -> str:
    """Return the range of a number."""
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "more than",
        "maximum": "at most",
        "exclusiveMaximum": "less than",
    }
    limits = [f"{text} {value[key]}" for key, text in words.items() if key in value]
    return " ".join(["whole number" if value["type"] == "integer" else "number", ", ".join(limits)]).strip()


def cell(text: str) -> str:
    """Return text that does not break a table."""
    return one_line(text).replace("|", "\\|")


def one_line(text: str) -> str:
    """Return text without line breaks."""
    return " ".join(text.split())


def command_page() -> str:
    """Return the help of every command."""
    parts = [COMMAND_OPENING]
    for command in COMMANDS:
        parts += [f"## airpath {command}\n", "```text", help_of(command), "```\n"]
    return "\n".join(parts)


def help_of(command: str) -> str:
    """Return the output of `--help`."""
    done = subprocess.run(
        [sys.executable, "-m", "airpath", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"},
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


SCENARIO_OPENING = """# The scenario language

A scenario is one TOML file that describes an experiment completely; `airpath validate FILE --resolved` prints
its resolved values. Every quantity has a unit: rates are in bits (`10mbps`, `1.5 Mbit/s`), sizes in bytes
(`575kB`, `64KiB`), durations in `ns`, `us`, `ms`, `s`, `min` or `h`. k is 1000, Ki is 1024. A quantity
without a unit is refused. In the tables below, quantities are shown as examples.

A key that accepts a random quantity takes a fixed value or a table: `{uniform = ["0ms", "300ms"]}`,
`{exponential = "1s"}`, and for groups of flows `{even = ["0ms", "10ms"]}` (spread evenly, not random).

Scenarios that come with airpath:

--8<-- "docs/reference/lists/scenarios.md"

## Completion in an editor

`airpath schema > airpath.schema.json` writes the JSON schema of scenarios, with the parameters of every
scheme. A TOML language server, such as [Taplo](https://taplo.tamasfe.dev) or the extension Even Better TOML
of Visual Studio Code, completes, describes and checks the keys of a scenario whose first line names the
schema:

```toml
#:schema ./airpath.schema.json
```

For editors that do not read such a comment, write the key `"$schema" = "./airpath.schema.json"` at the top;
airpath ignores it.
"""

COMMAND_OPENING = """# The command line

Every command takes `--json`, which prints the same summary as JSON, alone on standard output; messages go to
standard error. Exit codes: 0 success, 2 the command line or the scenario is wrong, 1 any other error, 130
interrupted (Ctrl-C keeps the completed repetitions). `check`, `rerun` and `diff` answer with the exit code:
0 yes, 1 no, 2 error. An unexpected failure is printed as one line; with
`AIRPATH_TRACEBACK=1` in the environment it is printed as a traceback.
"""


if __name__ == "__main__":
    main()
