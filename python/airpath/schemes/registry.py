"""Every scheme by name."""

import tomllib
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final

from airpath.errors import UsageError
from airpath.nearest import suggestion
from airpath.schemes.end_to_end import END_TO_END
from airpath.schemes.router_assisted import ROUTER_ASSISTED, compositions
from airpath.schemes.scheme import Scheme


def find_scheme(name: str) -> Scheme:
    """Return the scheme with this identifier or alias, or the pair of family and source that it names.

    Raises
    ------
    UsageError
        If there is none; the text names the nearest.
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        raise UsageError(
            f'there is no scheme "{name}"; {suggestion(name, (scheme.id for scheme in SCHEMES))}'
        ) from None


def parse_scheme(text: str) -> tuple[Scheme, dict[str, Any]]:
    """Read a scheme with options, as in `cubic:beta=0.8,slow_start=standard`.

    Returns
    -------
    tuple
        The scheme, and the options as written (not yet checked against the scheme's parameters): numbers and
        `true`/`false` as such, everything else as text.

    Raises
    ------
    UsageError
        If there is no such scheme, or an option is not of the form `name=value`.
    """
    name, _, options = text.partition(":")
    return find_scheme(name.strip()), dict(_options(options.split(","), text)) if options else {}


SCHEMES: Final = (*END_TO_END, *ROUTER_ASSISTED)
"""Every scheme that is listed, in the order of lists and legends."""

_BY_NAME: Final = MappingProxyType(
    {
        name: scheme
        # The listed ones come last and so win over the pairs of the same name.
        for scheme in (*compositions(), *SCHEMES)
        for name in (*scheme.aliases, scheme.id)
    }
)


def _options(options: Iterable[str], text: str) -> Iterable[tuple[str, Any]]:
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UsageError(f'found "{option}" in "{text}"; accepted: options of the form name=value')
        yield key.strip(), _value(value.strip())


def _value(text: str) -> Any:
    """Return a number or truth value as such, anything else as text."""
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value if isinstance(value, bool | int | float | str) else text
