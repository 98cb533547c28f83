"""The link that a configuration creates: rate, delay, buffer and losses of each path out of a device."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from airpath_lint.disciplines import AQM
from airpath_lint.losses import Loss
from airpath_lint.options import Managed, Netem, Tbf
from airpath_lint.setup import Device, Discipline, TrafficClass, Tree

PACKET: Final = 1514
"""Size of a full packet at a discipline, in bytes: 1500 and the Ethernet header."""
TXQUEUELEN: Final = 1000
"""Packets in a class without a discipline of its own: the queue length of Ethernet devices."""
LOOPBACK: Final = "lo"
"""The loopback device, which both directions of connections within a host pass."""
MOST_LANES: Final = 64
"""The maximum number of paths out of a device that are examined."""
MOST_DEEP: Final = 16


@dataclass(slots=True)
class Lane:
    """One path of packets out of a device, from the root to a leaf.

    Attributes
    ----------
    tree
        The device.
    disciplines
        The disciplines on the path, starting at the root.
    classes
        The classes on the path, starting at the root.
    """

    tree: Tree
    disciplines: tuple[Discipline, ...]
    classes: tuple[TrafficClass, ...] = ()

    @property
    def name(self) -> str:
        """The device, followed by the class if the path has classes."""
        return f"{self.tree.device} {self.classes[-1].classid}" if self.classes else str(self.tree.device)

    @property
    def netems(self) -> list[tuple[Discipline, Netem]]:
        """The netem disciplines on the path."""
        return [(one, one.options) for one in self.disciplines if isinstance(one.options, Netem)]

    @property
    def rate_bps(self) -> int | None:
        """The lowest rate on the path, bit/s; `None` if nothing limits it."""
        rates = [one.options.most_bps for one in self.classes]
        for one in self.disciplines:
            options = one.options
            if isinstance(options, Tbf | Netem | Managed) and options.rate_bps:
                rates.append(options.rate_bps)
        return min((rate for rate in rates if rate), default=None)

    @property
    def delay_ns(self) -> int:
        """The sum of the delays of all netem disciplines."""
        return sum(netem.delay_ns for _, netem in self.netems)

    @property
    def jitter_ns(self) -> int:
        """The sum of their jitters."""
        return sum(netem.jitter_ns for _, netem in self.netems)

    @property
    def losses(self) -> list[Loss]:
        """The loss models on the path."""
        return [netem.loss for _, netem in self.netems if netem.loss is not None]

    @property
    def mean_loss(self) -> float:
        """The fraction of packets that all of them lose together."""
        if len(self.losses) == 1:
            return self.losses[0].mean_loss
        return 1 - math.prod(1.0 - loss.mean_loss for loss in self.losses)

    @property
    def mean_burst(self) -> float | None:
        """The mean burst of losses, packets; `None` without losses or with several models."""
        return self.losses[0].mean_burst if len(self.losses) == 1 else None

    @property
    def aqm(self) -> Discipline | None:
        """The discipline that manages the queue, if there is one."""
        return next((one for one in reversed(self.disciplines) if one.kind in AQM), None)

    def in_flight(self, netem: Netem) -> float:
        """Return how many full packets netem delays at the rate of this path; 0 if the path has no rate."""
        return (self.rate_bps or 0) * (netem.delay_ns + netem.jitter_ns) / (8e9 * PACKET)

    @property
    def buffer_bytes(self) -> int | None:
        """The buffer before the rate limit, bytes, at 1514 a packet; `None` without a rate or a limit."""
        if self.rate_bps is None:
            return None
        sizes: list[float] = []
        last = self.disciplines[-1].options
        if isinstance(last, Tbf) and last.limit is not None:
            sizes.append(last.limit)
        elif isinstance(last, Managed):
            sizes += [last.limit_packets * PACKET] if last.limit_packets is not None else []
            sizes += [last.limit_bytes] if last.limit_bytes is not None else []
        elif isinstance(last, Netem):
            pass
        elif self.classes:
            sizes.append(TXQUEUELEN * PACKET)
        for _, netem in self.netems:
            sizes.append(max(netem.limit - self.in_flight(netem), 0) * PACKET)
        return int(min(sizes)) if sizes else None


def lanes(tree: Tree) -> list[Lane]:
    """Return all paths out of a device."""
    root = tree.root
    if root is None:
        return []
    found: list[Lane] = []
    for lane in _walk(tree, root, (), (), set()):
        found.append(lane)
        if len(found) == MOST_LANES:
            break
    return found


def _walk(
    tree: Tree,
    at: Discipline,
    before: tuple[Discipline, ...],
    classes: tuple[TrafficClass, ...],
    seen: set[int],
) -> Iterator[Lane]:
    seen.add(id(at))
    here = (*before, at)
    if at.kind in ("htb", "hfsc") and len(here) < MOST_DEEP:
        own = [one for one in tree.classes.values() if one.classid.startswith(at.handle) and at.handle]
        parents = {one.parent for one in own}
        leaves = sorted((one for one in own if one.classid not in parents), key=lambda one: one.classid)
        for leaf in leaves:
            way = (*classes, *_line_of(tree, leaf))
            below = tree.at(leaf.classid)
            if below is None or id(below) in seen:
                yield Lane(tree, here, way)
            else:
                yield from _walk(tree, below, here, way, seen)
        if leaves:
            return
    children = [one for one in tree.below(at) if id(one) not in seen]
    if not children or len(here) >= MOST_DEEP:
        yield Lane(tree, here, classes)
        return
    for child in children:
        if id(child) not in seen:
            yield from _walk(tree, child, here, classes, seen)


def _line_of(tree: Tree, leaf: TrafficClass) -> tuple[TrafficClass, ...]:
    """Return a class and its ancestors, the topmost first."""
    line = [leaf]
    while (above := tree.classes.get(line[-1].parent)) is not None and above not in line:
        if len(line) >= MOST_DEEP:
            break
        line.append(above)
    return tuple(reversed(line))


class Directions:
    """The paths of all devices, and the round-trip time that results from them.

    Parameters
    ----------
    lanes
        The paths, in the order of their devices.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self.lanes = lanes
        self._delays: dict[Device, int] = {}
        for lane in lanes:
            self._delays[lane.tree.device] = max(self._delays.get(lane.tree.device, 0), lane.delay_ns)

    def rtt_ns(self, lane: Lane | None = None) -> int:
        """Return the base round-trip time over a path, or over all of them.

        It is the delay of the path plus that of the other device if there are two; over the loopback device,
        twice the delay of the path. With more devices, the configuration does not define which of them form a
        round trip: the result is then twice the delay of the path, or 0 over all.
        """
        own = 0 if lane is None else lane.delay_ns
        others = sum(self._delays.values())
        count = len(self._delays)
        if lane is not None and lane.tree.device in self._delays:
            others -= self._delays[lane.tree.device]
            count -= 1
        if lane is not None and lane.tree.device.name == LOOPBACK:
            return 2 * own
        return 2 * own if count > (2 if lane is None else 1) else own + others

    def bdp_bytes(self, lane: Lane) -> float | None:
        """Return the bandwidth-delay product of a path, bytes; `None` without a rate or a delay."""
        rtt = self.rtt_ns(lane)
        return None if lane.rate_bps is None or not rtt else lane.rate_bps * rtt / 8e9
