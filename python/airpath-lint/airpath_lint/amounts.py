"""What a set-up amounts to: the way of packets out of a device as rate, delay, buffer and losses."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from airpath_lint.disciplines import AQM
from airpath_lint.losses import Loss
from airpath_lint.options import Managed, Netem, Tbf
from airpath_lint.setup import Device, Discipline, TrafficClass, Tree

PACKET: Final = 1514
"""Bytes of a full packet at a discipline: 1500 and the Ethernet header."""
TXQUEUELEN: Final = 1000
"""Packets that a class holds without a discipline of its own: the queue length of Ethernet devices."""
LOOPBACK: Final = "lo"
"""What both directions of connections within a host pass."""
MOST_LANES: Final = 64
"""So many ways out of a device are looked at."""
MOST_DEEP: Final = 16


@dataclass(slots=True)
class Lane:
    """One way of packets out of a device, from the root to a leaf.

    Attributes
    ----------
    tree
        The device.
    disciplines
        From the root on.
    classes
        Those on the way, from the root on.
    """

    tree: Tree
    disciplines: tuple[Discipline, ...]
    classes: tuple[TrafficClass, ...] = ()

    @property
    def name(self) -> str:
        """The device, and the class where there are several."""
        return f"{self.tree.device} {self.classes[-1].classid}" if self.classes else str(self.tree.device)

    @property
    def netems(self) -> list[tuple[Discipline, Netem]]:
        """The emulators on the way."""
        return [(one, one.options) for one in self.disciplines if isinstance(one.options, Netem)]

    @property
    def rate_bps(self) -> int | None:
        """The lowest rate on the way, bit/s; `None` where nothing limits it."""
        rates = [one.options.most_bps for one in self.classes]
        for one in self.disciplines:
            options = one.options
            if isinstance(options, Tbf | Netem | Managed) and options.rate_bps:
                rates.append(options.rate_bps)
        return min((rate for rate in rates if rate), default=None)

    @property
    def delay_ns(self) -> int:
        """The delay of all emulators together."""
        return sum(netem.delay_ns for _, netem in self.netems)

    @property
    def jitter_ns(self) -> int:
        """The spread of that delay."""
        return sum(netem.jitter_ns for _, netem in self.netems)

    @property
    def losses(self) -> list[Loss]:
        """The models of loss on the way."""
        return [netem.loss for _, netem in self.netems if netem.loss is not None]

    @property
    def mean_loss(self) -> float:
        """The share of packets that all of them lose."""
        if len(self.losses) == 1:
            return self.losses[0].mean_loss
        return 1 - math.prod(1.0 - loss.mean_loss for loss in self.losses)

    @property
    def mean_burst(self) -> float | None:
        """The mean run of losses, packets; `None` without losses or with several models."""
        return self.losses[0].mean_burst if len(self.losses) == 1 else None

    @property
    def aqm(self) -> Discipline | None:
        """What manages the queue, if anything does."""
        return next((one for one in reversed(self.disciplines) if one.kind in AQM), None)

    def in_flight(self, netem: Netem) -> float:
        """Return how many full packets an emulator delays at the rate of this way; 0 where it has none."""
        return (self.rate_bps or 0) * (netem.delay_ns + netem.jitter_ns) / (8e9 * PACKET)

    @property
    def buffer_bytes(self) -> int | None:
        """What can wait for the rate, bytes, a packet being 1514; `None` where nothing limits either."""
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
    """Return all ways out of a device."""
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
    """Return a class and those above it, the highest first."""
    line = [leaf]
    while (above := tree.classes.get(line[-1].parent)) is not None and above not in line:
        if len(line) >= MOST_DEEP:
            break
        line.append(above)
    return tuple(reversed(line))


class Directions:
    """The ways of all devices, and the round-trip time that they make together.

    Parameters
    ----------
    lanes
        The ways, in the order of their devices.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self.lanes = lanes
        self._delays: dict[Device, int] = {}
        for lane in lanes:
            self._delays[lane.tree.device] = max(self._delays.get(lane.tree.device, 0), lane.delay_ns)

    def rtt_ns(self, lane: Lane | None = None) -> int:
        """Return the base round-trip time over a way, or over all of them.

        Its own delay, and that of the other device where there are two; over the loopback device twice its
        own. Of more devices nobody says here which belong together: then twice its own, or 0 over all.
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
        """Return the bandwidth-delay product of a way, bytes; `None` without a rate or a delay."""
        rtt = self.rtt_ns(lane)
        return None if lane.rate_bps is None or not rtt else lane.rate_bps * rtt / 8e9
