"""The findings of the linter: the rules, by name, and the places that break them."""

from dataclasses import dataclass
from enum import StrEnum

from airpath_lint.setup import Device, Place


class Level(StrEnum):
    """The severity of a rule."""

    ERROR = "error"
    """`tc` refuses the command, or it cannot have the stated effect."""
    WARNING = "warning"
    """The command works, and measures something other than most people expect."""
    NOTE = "note"
    """Information; nothing is wrong yet."""

    @property
    def counts(self) -> bool:
        """Whether a finding of this level makes the exit code 1."""
        return self is not Level.NOTE


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule.

    Attributes
    ----------
    name
        Its stable name.
    level
        The severity of breaking it.
    why
        The reason for the rule.
    source
        The document that the reason comes from.
    """

    name: str
    level: Level
    why: str
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation of a rule.

    Attributes
    ----------
    rule
        The rule.
    place
        The input and the line.
    device, handle
        The device and the discipline or class; empty if the finding is not about one.
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
    """Return a finding; one without a device concerns a command that was refused."""
    return Finding(rule, place, str(device) if device else "", handle, what, instead)
