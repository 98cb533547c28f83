"""Names with options: `cubic:beta=0.8,slow_start=standard`."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from airpath.errors import UsageError


def split_options(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name, and the options: numbers and `true`/`false` as such, everything else as text.

    Raises
    ------
    UsageError
        If an option is not of the form `name=value`, or is given twice.
    """
    name, _, options = text.partition(":")
    return name.strip(), options_of(options, text)


def options_of(options: str, text: str) -> dict[str, Any]:
    """Return the options after the name in `text`, as `split_options` does."""
    given = list(_options(options.split(","), text)) if options else []
    if twice := [key for key, count in Counter(key for key, _ in given).items() if count > 1]:
        raise UsageError(f'found "{twice[0]}" twice in "{text}"; accepted: each option once')
    return dict(given)


def _options(options: Iterable[str], text: str) -> Iterator[tuple[str, Any]]:
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UsageError(f'found "{option}" in "{text}"; accepted: options of the form name=value')
        yield key.strip(), _value(value.strip())


def _value(text: str) -> Any:
    """Return a number or truth value as such, anything else as text."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # not TOML, too many digits, or nested too deeply
        return text
    return value if isinstance(value, bool | int | float | str) else text
