"""Reading scenarios: TOML text, shipped names, and overrides of single keys."""

import tomllib
from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Final

from airpath._os.shipped import find_shipped, shipped_names
from airpath.errors import ScenarioError, UsageError

DEEPEST: Final = 50
"""Largest nesting depth of a file; scenarios and sweeps have fewer than ten levels."""

SCHEMA_KEY: Final = "$schema"
"""A key at the top of a scenario that names its schema for editors; it is ignored."""

SHIPPED: Final = Path(__file__).parent.parent / "scenarios"
"""The folder of the shipped scenarios."""


def scenario_names() -> list[str]:
    """Return the names of the shipped scenarios, sorted."""
    return shipped_names(SHIPPED)


def find_file(path_or_name: str | Path) -> Path:
    """Return the file of a scenario: an existing path, else the shipped scenario of this name.

    Raises
    ------
    ScenarioError
        If there is neither.
    """
    return find_shipped(path_or_name, SHIPPED, "scenario")


def read_file(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises
    ------
    ScenarioError
        If the file cannot be read or is not TOML; the text gives line and column.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors write a byte order mark
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: not a text file in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path}: not valid TOML: {error}") from None
    except RecursionError:
        raise ScenarioError(f"{path}: not valid TOML: lists and tables are nested too deeply") from None
    except ValueError as error:  # an integer with more digits than Python accepts
        raise ScenarioError(f"{path}: not valid TOML: {error}") from None
    if _nests_deeper(tables, DEEPEST):  # dotted keys can nest without limit
        raise ScenarioError(f"{path}: lists and tables are nested too deeply; accepted: {DEEPEST} levels")
    return tables


def schemes_in(tables: Mapping[str, Any]) -> list[str]:
    """Return the schemes of the flows of a scenario that may be invalid otherwise."""
    flows = tables.get("flows")
    of_flows = (
        [flow.get("scheme") for flow in flows if isinstance(flow, Mapping)] if isinstance(flows, list) else []
    )
    return [scheme for scheme in of_flows if isinstance(scheme, str)]


def code_in(tables: Mapping[str, Any]) -> list[str]:
    """Return what may name code in a possibly invalid scenario: schemes, estimators, queues."""
    flows, topology = tables.get("flows"), tables.get("topology")
    named: list[Any] = list(schemes_in(tables))
    for flow in flows if isinstance(flows, list) else []:
        if isinstance(flow, Mapping) and isinstance(flow.get("estimators"), list):
            named += flow["estimators"]
    named += _kinds(topology)
    return [text for text in named if isinstance(text, str)]


def _kinds(table: Any) -> Iterator[Any]:
    """Yield the kinds of all queues and sources in a topology, and the schemes that a queue names."""
    inner = table.values() if isinstance(table, Mapping) else table if isinstance(table, list) else ()
    if isinstance(table, Mapping):
        yield from (table.get(key) for key in ("kind", "source", "scheme"))
    for value in inner:
        if isinstance(value, Mapping | list):
            yield from _kinds(value)


def _nests_deeper(tables: Mapping[str, Any], levels: int) -> bool:
    """Return whether values are nested deeper than `levels`, without recursion."""
    level: list[Any] = [tables]
    for _ in range(levels):
        inner = [value.values() if isinstance(value, dict) else value for value in level]
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    return bool(level)


def plain(value: Any) -> Any:
    """Return the same value with Python's own numbers, tables and lists instead of NumPy's."""
    match value:
        case bool() | str():
            return value
        case Integral():
            return int(value)
        case Real():
            return float(value)
        case Mapping():
            return {key: plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case _:
            return value


def parse_assignment(text: str) -> tuple[str, Any]:
    """Parse `key=value` of a command line.

    The key is a path with dots, list items by number (`flows.0.count`). The value is parsed as TOML if it is
    valid TOML, and is text otherwise: `5`, `true`, `{uniform = ["0ms", "1ms"]}`, `12mbps`.

    Raises
    ------
    UsageError
        If there is no `=` or no key.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f'found "{text}"; accepted: key=value, such as flows.0.count=5')
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")
    except (ValueError, RecursionError):  # not TOML, too many digits, nested too deeply
        return key.strip(), value.strip()
    # More than one key means that the text contained a line break.
    return key.strip(), parsed["value"] if len(parsed) == 1 else value.strip()


def override(tables: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Return a copy of `tables` with one key replaced or added.

    Raises
    ------
    UsageError
        If the path passes through a value that is neither table nor list, or ends at a missing list item.
    """
    return dict(_replace(tables, key.split("."), value, ""))


def _replace(container: Any, steps: list[str], value: Any, walked: str) -> Any:
    if not steps:
        return plain(value)
    step, rest = steps[0], steps[1:]
    here = f"{walked}.{step}".removeprefix(".")
    if isinstance(container, Mapping):
        return {**container, step: _replace(container.get(step, {}), rest, value, here)}
    if isinstance(container, list | tuple):
        if not step.isdecimal() or int(step) >= len(container):
            raise UsageError(f'cannot set "{here}": accepted are the numbers 0 to {len(container) - 1}')
        items = list(container)
        items[int(step)] = _replace(items[int(step)], rest, value, here)
        return items
    raise UsageError(f'cannot set "{here}": "{walked}" is the single value {container!r}, not a table')
