"""The output of `tc -s qdisc show`, `tc -s class show` and `tc filter show`, as text."""

import re
from typing import Final

from airpath_lint.disciplines import read_class, read_options
from airpath_lint.setup import (
    INGRESS,
    ROOT,
    Device,
    Discipline,
    Filter,
    Place,
    Setup,
    Statistics,
    TrafficClass,
    Tree,
    Unread,
    major,
)
from airpath_lint.units import RefusedError
from airpath_lint.words import NotUnderstoodError, Words

NAMELESS: Final = "(device)"
"""The name of a device that the output omits: `tc qdisc show dev eth0` does not repeat it."""
NO_DISCIPLINE: Final = ("noqueue", "pfifo_fast", "mq")
"""Disciplines that devices have by default, without configuration."""

_HEAD: Final = re.compile(r"(qdisc|class) (\S+) ([0-9a-fA-F]{0,8}:[0-9a-fA-F]{0,8})(?: dev (\S+))?(.*)")
_SENT: Final = re.compile(
    r"\s*Sent (\d{1,20}) bytes (\d{1,20}) pkts?"
    r" \(dropped (\d{1,20}), overlimits (\d{1,20}) requeues (\d{1,20})\)"
)
_BACKLOG: Final = re.compile(r"\s*(?:rate \S+ \S+ )?backlog (\d{1,15})([KMG]?)b (\d{1,15})p")
_FILTER: Final = re.compile(r"filter (?:dev (\S+) )?parent (\S+) .*?(?:flowid|classid) (\S+)")
_SCALES: Final = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def is_screen(text: str) -> bool:
    """Return whether a text begins like the output of `tc`."""
    return any(_HEAD.match(line) for line in text.splitlines()[:20])


def read_screen(text: str, source: str, setup: Setup) -> None:
    """Read the output of `tc` into a configuration; lines that are not understood are recorded."""
    setup.shown = True
    last: Discipline | TrafficClass | None = None
    for number, line in enumerate(text.splitlines(), 1):
        place = Place(source, number)
        if head := _HEAD.match(line):
            last = _entry(head, line, place, setup)
        elif sent := _SENT.match(line):
            if last is not None:
                last.statistics = Statistics(*(int(one) for one in sent.groups()))
        elif backlog := _BACKLOG.match(line):
            if last is not None and (before := last.statistics) is not None:
                last.statistics = Statistics(
                    before.sent_bytes,
                    before.sent_packets,
                    before.dropped,
                    before.overlimits,
                    before.requeues,
                    int(backlog[1]) * _SCALES[backlog[2]],
                    int(backlog[3]),
                )
        elif chosen := _FILTER.match(line):
            tree = owner(setup, chosen[1] or NAMELESS, chosen[2])
            tree.filters_known = True
            tree.filters.append(Filter(chosen[2], chosen[3], "", None, None, place))


def _entry(head: re.Match[str], line: str, place: Place, setup: Setup) -> Discipline | TrafficClass | None:
    what, kind, handle, device, rest = head.groups()
    words = rest.split()
    parent = ROOT
    if words[:1] == ["parent"]:
        parent, words = (words[1] if len(words) > 1 else ""), words[2:]
    elif words[:1] in (["root"], ["ingress"]):
        words = words[1:]
    if words[:1] == ["refcnt"]:
        words = words[2:]
    if what == "qdisc":
        return enter_discipline(kind, handle, device or NAMELESS, parent, words, line, place, setup)
    return enter_class(kind, handle, device or NAMELESS, parent, words, line, place, setup)


def enter_discipline(
    kind: str,
    handle: str,
    device: str,
    parent: str,
    words: list[str],
    line: str,
    place: Place,
    setup: Setup,
) -> Discipline | None:
    """Add a discipline from the output; `None` if it is a default one or is not understood."""
    if kind in NO_DISCIPLINE or handle == "0:":
        return None
    if kind in ("ingress", "clsact"):
        parent = INGRESS
    try:
        options = read_options(kind, Words(words, shown=True))
    except (NotUnderstoodError, RefusedError) as error:
        setup.unread.append(Unread(place, line.strip()[:200], str(error)))
        return None
    entry = Discipline(kind, handle, parent, options, {}, place)
    setup.tree(Device("", device)).disciplines.append(entry)
    return entry


def enter_class(
    kind: str,
    classid: str,
    device: str,
    parent: str,
    words: list[str],
    line: str,
    place: Place,
    setup: Setup,
) -> TrafficClass | None:
    """Add a class from the output; `None` if its kind has no classes of its own or it is not understood."""
    if kind not in ("htb", "hfsc"):
        return None
    try:
        options = read_class(kind, Words(words, shown=True))
    except (NotUnderstoodError, RefusedError) as error:
        setup.unread.append(Unread(place, line.strip()[:200], str(error)))
        return None
    entry = TrafficClass(kind, classid, parent, options, {}, place)
    owner(setup, device, classid).classes[classid] = entry
    return entry


def owner(setup: Setup, device: str, classid: str) -> Tree:
    """Return the tree of a device; for an unnamed one, the only tree with the discipline of the class."""
    if device == NAMELESS:
        holders = [tree for tree in setup.trees.values() if tree.named(major(classid)) is not None]
        if len(holders) == 1:
            return holders[0]
    return setup.tree(Device("", device))
