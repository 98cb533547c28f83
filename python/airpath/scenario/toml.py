"""Writing TOML: the standard library reads it only, and what a scenario needs is little."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any


def write_toml(tables: Mapping[str, Any]) -> str:
    """Return nested tables of text, numbers, truth values, lists and tables as TOML (version 1.0)."""
    return "\n".join(_lines(tables, ())) + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Return the lines of one table: its own values first, since a header ends them."""
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping) or _is_tables(value)}
    for key, value in table.items():
        if key not in inner:
            yield f"{_key(key)} = {value_text(value)}"
    for key, value in inner.items():
        header = ".".join(_key(step) for step in (*path, key))
        for item in [value] if isinstance(value, Mapping) else value:
            yield f"\n[{header}]" if isinstance(value, Mapping) else f"\n[[{header}]]"
            yield from _lines(item, (*path, key))


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def value_text(value: Any) -> str:
    """Return a value as TOML writes it in one line.

    Raises
    ------
    TypeError
        If it has no form here: dates and times.
    """
    match value:
        case str():
            return _text(value)
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case list():
            return f"[{', '.join(value_text(item) for item in value)}]"
        case Mapping():
            return f"{{ {', '.join(f'{_key(key)} = {value_text(item)}' for key, item in value.items())} }}"
        case _:
            raise TypeError(f"{type(value).__name__} cannot be written as TOML")


def _text(text: str) -> str:
    """Return a basic string: JSON's escapes are valid, and TOML wants the delete character escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
