"""Differences between two tables of facts, such as those of provenance."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that differs between two places, or two times.

    Attributes
    ----------
    what
        The subject of the fact: a version, the platform, an input, a key of a scenario.
    first, second
        Its first and its second value; ``None`` if it is absent.
    """

    what: str
    first: str | None
    second: str | None


def changes(first: Mapping[str, Any], second: Mapping[str, Any], prefix: str = "") -> Iterator[Change]:
    """Yield the differences between two tables, in the order of the first; `prefix` begins their names."""
    for name in dict.fromkeys((*first, *second)):
        ours, theirs = first.get(name), second.get(name)
        if ours != theirs:
            yield Change(f"{prefix}{name}", _text(ours), _text(theirs))


def environment_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Change]:
    """Return the differences in versions and platform between two ``provenance.json``."""
    return [
        change
        for table in ("versions", "platform")
        for change in changes(first.get(table) or {}, second.get(table) or {})
    ]


def input_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Change]:
    """Return the inputs whose SHA-256 differs between two ``provenance.json``."""
    ours, theirs = ((facts.get("sha256") or {}).get("inputs") or {} for facts in (first, second))
    return list(changes(ours, theirs, "input "))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
