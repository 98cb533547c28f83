"""The input of the rules, and the formatting of numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from airpath.units import format_duration, format_rate, format_size
from airpath_lint.amounts import Directions, Lane, lanes
from airpath_lint.findings import Finding, finding
from airpath_lint.rules_table import RULES
from airpath_lint.setup import Device, Discipline, Place, Setup, TrafficClass, Tree


@dataclass(frozen=True, slots=True)
class Context:
    """A configuration.

    Attributes
    ----------
    setup
        The configuration that was read.
    trees
        Every state of every device, the latest last.
    current
        The final state of every device.
    directions
        The paths out of the current devices.
    """

    setup: Setup
    trees: list[Tree]
    current: list[Tree]
    directions: Directions

    def disciplines(self) -> Iterator[tuple[Tree, Discipline]]:
        """Yield every discipline with its device."""
        for tree in self.trees:
            for one in tree.disciplines:
                yield tree, one

    def lanes(self) -> Iterator[Lane]:
        """Yield the paths out of every device."""
        for tree in self.trees:
            yield from lanes(tree)

    def rtt_ns(self, lane: Lane) -> int:
        """Return the base round-trip time over a path, with the final state of the other devices."""
        return self.directions.rtt_ns(lane)


def on(rule: str, tree: Tree, where: Discipline | TrafficClass, what: str, instead: str = "") -> Finding:
    """Return a finding about a discipline or class."""
    handle = where.classid if isinstance(where, TrafficClass) else where.handle
    return finding(RULES[rule], where.place, tree.device, handle, what, instead)


def about(rule: str, place: Place, device: Device | None, what: str, instead: str = "") -> Finding:
    """Return a finding about a device, or about a line only."""
    return finding(RULES[rule], place, device, "", what, instead)


def rate_text(bits_per_second: float) -> str:
    """Format a rate with three digits."""
    return format_rate(bits_per_second, 3)


def tc_rate(bits_per_second: float) -> str:
    """Format a rate in the syntax of tc."""
    return format_rate(bits_per_second, 6).lower().replace(" ", "").replace("/s", "")


def time_text(nanoseconds: float) -> str:
    """Format a time with three digits."""
    return format_duration(nanoseconds, 3)


def size_text(size: float) -> str:
    """Format a size with three digits."""
    return format_size(size, 3)


def percent(share: float) -> str:
    """Format a fraction as a percentage with three digits."""
    return f"{100 * share:.3g} %"


def tidy(value: float) -> int:
    """Round up to two digits: limits such as 1703 packets are unusual."""
    whole = max(math.ceil(value), 1)
    scale = int(10 ** max(len(str(whole)) - 2, 0))
    return -(-whole // scale) * scale
