"""What a linter finds: the rules, by name, and where one of them was broken."""

from dataclasses import dataclass
from enum import StrEnum

from airpath_lint.setup import Device, Place


class Level(StrEnum):
    """How bad it is."""

    ERROR = "error"
    """`tc` refuses it, or it cannot do what it says."""
    WARNING = "warning"
    """It works, and measures something else than most people think."""
    NOTE = "note"
    """Worth knowing; nothing is wrong yet."""

    @property
    def counts(self) -> bool:
        """Whether it makes the exit code 1."""
        return self is not Level.NOTE


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule.

    Attributes
    ----------
    name
        Its stable name.
    level
        How bad it is to break it.
    why
        Why it is a rule.
    source
        Where that is written.
    """

    name: str
    level: Level
    why: str
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that is broken somewhere.

    Attributes
    ----------
    rule
        Which.
    place
        The input and the line.
    device, handle
        The device and the discipline or class; empty where it is about none.
    what
        What was found, with the numbers.
    instead
        What to write or do instead.
    """

    rule: Rule
    place: Place
    device: str
    handle: str
    what: str
    instead: str


def finding(
    rule: Rule, place: Place, device: Device | None, handle: str, what: str, instead: str = ""
) -> Finding:
    """Return a finding."""
    return Finding(rule, place, str(device) if device else "", handle, what, instead)
