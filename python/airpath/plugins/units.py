"""Units of parameters: plans count in whole numbers of ns, bit/s and bytes, controllers in seconds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from airpath import units

_PARSERS: Final[Mapping[str, Callable[[object], int]]] = {
    "ns": units.parse_duration,
    "bit/s": units.parse_rate,
    "B": units.parse_size,
}


@dataclass(frozen=True)
class Unit:
    """The unit in which a plan counts a quantity: `ns`, `bit/s` or `B`."""

    base: str

    def to_plan(self, default: Any) -> int:
        """Return a default as in a plan. A number is in seconds, bits per second or bytes."""
        if isinstance(default, str):
            return _PARSERS[self.base](default)
        return int(round(default * 1e9) if self.base == "ns" else round(default))

    def from_plan(self, value: int) -> float:
        """Return a value of a plan in seconds, bits per second or bytes."""
        return value / 1e9 if self.base == "ns" else value
