"""What differs between two tables of facts, such as those of provenance."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that is not the same in two places, or at two times.

    Attributes
    ----------
    what
        What it is a fact of: a version, the platform, an input, a key of a scenario.
    first, second
        What it is in the first and in the second; ``None`` where nothing is said of it.
    """

    what: str
    first: str | None
    second: str | None


def changes(first: Mapping[str, Any], second: Mapping[str, Any], prefix: str = "") -> Iterator[Change]:
    """Give what differs between two tables, in the order of the first; `prefix` begins their names."""
    for name in dict.fromkeys((*first, *second)):
        ours, theirs = first.get(name), second.get(name)
        if ours != theirs:
            yield Change(f"{prefix}{name}", _text(ours), _text(theirs))


def environment_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Change]:
    """Return what differs in versions and platform between two ``provenance.json``."""
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
