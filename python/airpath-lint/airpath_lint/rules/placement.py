"""The placement of disciplines: the device, the order, and one or both directions."""

from collections.abc import Iterator

from airpath_lint.amounts import LOOPBACK
from airpath_lint.disciplines import AQM, QUEUES, SHAPERS
from airpath_lint.findings import Finding
from airpath_lint.options import Netem
from airpath_lint.rules.context import Context, about, on
from airpath_lint.setup import ROOT, Discipline, Place, Tree


def placement_rules(context: Context) -> Iterator[Finding]:
    """Yield findings about disciplines in a wrong place."""
    for tree in context.trees:
        yield from _together(tree)
    yield from _hosts(context)
    yield from _loopback(context)
    yield from _directions(context)
    yield from _offloads(context)
    yield from _pacing(context)


def _together(tree: Tree) -> Iterator[Finding]:
    """Yield findings about delay and queue on one device, and about disciplines inside tbf."""
    for one in tree.disciplines:
        above = list(tree.above(one))
        if one.kind == "netem" and isinstance(one.options, Netem):
            shaper = next((other for other in above if other.kind in SHAPERS), None)
            if shaper is not None and one.options.delay_ns:
                yield on(
                    "netem-with-shaper",
                    tree,
                    one,
                    f"netem is inside {shaper.kind} ({shaper.handle}), and its limit counts delayed packets"
                    " and the queue of the shaper together",
                    _elsewhere(tree, one.options),
                )
        elif one.kind in (*SHAPERS, *AQM):
            netem = next((other for other in above if isinstance(other.options, Netem)), None)
            shaped = any(other.kind in SHAPERS for other in above)
            if (
                netem is not None
                and isinstance(netem.options, Netem)
                and netem.options.delay_ns
                and not shaped
            ):
                yield on(
                    "netem-with-shaper",
                    tree,
                    one,
                    f"packets are delayed by netem {netem.handle} and queue in {one.kind} behind"
                    " it; netem's limit of"
                    f" {netem.options.limit} counts both",
                    _elsewhere(tree, netem.options),
                )
        if one.kind == "tbf":
            # An inner queue sets the buffer by its own limit.
            inner = next(
                (other for other in tree.below(one) if other.kind not in (*QUEUES, "fq", "cake")), None
            )
            if inner is not None:
                given = "latency" if "latency" in one.given else "limit"
                yield on(
                    "inner-replaces-limit",
                    tree,
                    one,
                    f"{inner.kind} (line {inner.place.line}) is attached to tbf, so {given} of tbf has no"
                    " effect"
                    if inner.place.line
                    else f"{inner.kind} is attached to tbf, so {given} of tbf has no effect",
                    f"set the buffer by the limit of {inner.kind}, or attach it elsewhere",
                )


def _elsewhere(tree: Tree, netem: Netem) -> str:
    return (
        f"leave the shaper on {tree.device}, and add the delay at the next device on the path (of a router,"
        f" or the peer of a veth pair): tc qdisc add dev NEXT root netem delay {netem.delay_ns / 1e6:g}ms"
        " limit …"
    )


def _hosts(context: Context) -> Iterator[Finding]:
    """Yield findings about delays and queues on the device of the sending host, as far as it is known."""
    said = False
    for tree in context.current:
        root = tree.root
        if root is None or root.kind not in ("netem", *SHAPERS) or tree.device.name.startswith("ifb"):
            continue
        program = context.setup.programs.get(tree.device.namespace)
        if program is not None:
            name, place = program
            yield on(
                "on-the-end-host",
                tree,
                root,
                f"{name} (line {place.line}) sends through {root.kind} on its own device",
                "use three namespaces, and shape and delay at the devices of the middle one, which forwards",
            )
        elif not said:
            said = True
            yield on(
                "host-or-router",
                tree,
                root,
                f"if this is the device of a sender, {root.kind} is in its own stack",
                "use a router between the hosts, or the receiver's ifb",
            )


def _loopback(context: Context) -> Iterator[Finding]:
    for tree in context.current:
        root = tree.root
        if tree.device.name == LOOPBACK and root is not None and root.kind in ("netem", *SHAPERS):
            yield on(
                "loopback",
                tree,
                root,
                f"{root.kind} is on {LOOPBACK}",
                "use a veth pair with one end in a network namespace, and one direction at each end",
            )


def _directions(context: Context) -> Iterator[Finding]:
    trees = [tree for tree in context.current if tree.root is not None]
    if len(trees) != 1 or trees[0].device.name == LOOPBACK or any(one.redirect for one in trees[0].filters):
        return
    tree = trees[0]
    root = tree.root
    assert root is not None
    changes = any(lane.rate_bps or lane.delay_ns or lane.losses for lane in context.directions.lanes)
    if changes and not any(one.police_bps for one in tree.filters):
        yield on(
            "one-direction",
            tree,
            root,
            f"only packets that leave {tree.device} are affected",
            "repeat the configuration at the device of the opposite direction, or redirect arriving packets"
            " to an ifb device",
        )


def _offloads(context: Context) -> Iterator[Finding]:
    trees = [tree for tree in context.current if _counts_packets(tree)]
    if trees and not context.setup.written:
        root = trees[0].disciplines[0]
        yield on(
            "offloads-not-seen",
            trees[0],
            root,
            "this output does not show offloads",
            f"ethtool -k {trees[0].device.name} | grep -E 'tcp-seg|generic-seg|generic-rec'",
        )
        return
    for tree in trees:
        off = context.setup.offloads_off.get(tree.device, set())
        on_ = [one for one in ("tso", "gso", "gro") if one not in off]
        if on_ and tree.disciplines:
            name = tree.device.name
            yield on(
                "offloads",
                tree,
                tree.root or tree.disciplines[0],
                f"this script does not turn off {', '.join(on_)} of {name}",
                f"ethtool -K {name} tso off gso off gro off, and gro off at the receiving device",
            )


def _counts_packets(tree: Tree) -> bool:
    return any(one.kind in ("netem", *SHAPERS) and one.parent != "ingress" for one in tree.disciplines)


def _pacing(context: Context) -> Iterator[Finding]:
    """Yield findings if a pacing controller is chosen and the root is not fq, or fq was replaced."""
    bare = [tree for tree in context.current if tree.root is not None and not _has_fq(tree)]
    ends = {id(tree) for tree in context.current}
    replaced = [(tree, _fq(tree)) for tree in context.trees if id(tree) not in ends and _has_fq(tree)]
    for before, fq in replaced:
        after = next((tree for tree in bare if tree.device == before.device), None)
        if after is not None and after.root is not None and fq is not None:
            yield on(
                "pacing-lost",
                after,
                after.root,
                f"{after.root.kind} replaces fq of line {fq.place.line}",
                "keep fq at the sender, and configure the link on another device",
            )
            return
    place: Place | None = context.setup.paced
    if place is not None and bare and bare[0].root is not None:
        yield about(
            "pacing-lost",
            place,
            bare[0].device,
            f"BBR is selected, and {bare[0].root.kind} at the root of {bare[0].device} is not fq",
            f"tc qdisc replace dev DEVICE {ROOT} fq at the sender, and configure the link on another device",
        )


def _fq(tree: Tree) -> Discipline | None:
    return next((one for one in tree.disciplines if one.kind == "fq"), None)


def _has_fq(tree: Tree) -> bool:
    return _fq(tree) is not None
