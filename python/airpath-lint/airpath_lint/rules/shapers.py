"""tbf, HTB, HFSC and the queues in them."""

from collections.abc import Iterator

from airpath_lint.amounts import PACKET, Lane
from airpath_lint.disciplines import AQM
from airpath_lint.findings import Finding
from airpath_lint.options import Hfsc, Htb, Managed, Tbf
from airpath_lint.rules.context import Context, on, rate_text, size_text, tc_rate, tidy, time_text
from airpath_lint.setup import ROOT, Discipline, TrafficClass, Tree, major

FASTEST_HZ = 1000
LONG_NS = 10**9
"""A queueing delay that no real link has."""
LEAST_QUANTUM, MOST_QUANTUM = 1000, 200_000
SHORT_RTT_NS = 20_000_000
"""The round-trip time that is assumed if none is set."""


def shaper_rules(context: Context) -> Iterator[Finding]:
    """Yield findings about shapers and queues."""
    for lane in context.lanes():
        yield from _buffer(context, lane)
        yield from _targets(lane)
        for one in lane.disciplines:
            if isinstance(one.options, Tbf):
                yield from _bucket(context, lane, one, one.options)
    for tree, one in context.disciplines():
        if isinstance(one.options, Htb | Hfsc):
            yield from _classes(tree, one, one.options)
        if one.kind in AQM and one.parent == ROOT:
            yield on(
                "aqm-without-shaper",
                tree,
                one,
                f"{one.kind} is at the root of {tree.device} without a shaper",
                f"in a shaper: tc qdisc add dev {tree.device.name} root handle 1: tbf rate …, and"
                f" {one.kind} at parent 1:1",
            )


def _bucket(context: Context, lane: Lane, one: Discipline, tbf: Tbf) -> Iterator[Finding]:
    if not tbf.rate_bps or not tbf.burst:
        return
    if tbf.burst < PACKET:
        yield on(
            "burst-below-packet",
            lane.tree,
            one,
            f"burst {tbf.burst} bytes, a full packet {PACKET}",
            f"burst {max(1600, tidy(tbf.rate_bps / 8 / FASTEST_HZ))}b",
        )
    elif tbf.burst * 8 * FASTEST_HZ < tbf.rate_bps:
        yield on(
            "burst-below-tick",
            lane.tree,
            one,
            f"burst {size_text(tbf.burst)} is {time_text(tbf.burst * 8e9 / tbf.rate_bps)} at"
            f" {rate_text(tbf.rate_bps)}",
            f"burst {tidy(tbf.rate_bps / 8 / FASTEST_HZ)}b at HZ = 1000,"
            f" {tidy(tbf.rate_bps / 8 / 250)}b at 250",
        )
    rtt = context.rtt_ns(lane) or SHORT_RTT_NS
    if tbf.peak_bps is None and tbf.burst * 8e9 > tbf.rate_bps * rtt and tbf.burst > 2 * PACKET:
        yield on(
            "burst-large",
            lane.tree,
            one,
            f"burst {size_text(tbf.burst)} is {time_text(tbf.burst * 8e9 / tbf.rate_bps)} at"
            f" {rate_text(tbf.rate_bps)},"
            f" more than a round trip of {time_text(rtt)}",
            f"burst {max(1600, tidy(tbf.rate_bps / 8 / 250))}b",
        )


def _buffer(context: Context, lane: Lane) -> Iterator[Finding]:
    size, rate = lane.buffer_bytes, lane.rate_bps
    if size is None or rate is None or lane.aqm is not None:
        return
    leaf: Discipline | TrafficClass = lane.disciplines[-1]
    if lane.classes and leaf.kind in ("htb", "hfsc"):
        leaf = lane.classes[-1]
    lasts = size * 8e9 / rate
    if lasts > LONG_NS:
        rtt = context.rtt_ns(lane)
        bdp = f", {size * 8e9 / (rate * rtt):.3g} bandwidth-delay products" if rtt else ""
        wanted = rate * (rtt or 100_000_000) / 8e9
        yield on(
            "buffer-deep",
            lane.tree,
            leaf,
            f"{size_text(size)} wait at {rate_text(rate)}: {time_text(lasts)}{bdp}",
            f"{tidy(wanted / PACKET)} packets or {tidy(wanted)} bytes are one bandwidth-delay product at"
            f" {time_text(rtt or 100_000_000)}",
        )
    elif size < 2 * PACKET and all(lane.in_flight(netem) < netem.limit for _, netem in lane.netems):
        yield on(
            "buffer-shallow",
            lane.tree,
            leaf,
            f"{size_text(size)} can wait, and a full packet has {PACKET} bytes",
            f"at least {tidy(10 * PACKET)}b",
        )


def _targets(lane: Lane) -> Iterator[Finding]:
    rate = lane.rate_bps
    for one in lane.disciplines:
        if rate and isinstance(one.options, Managed) and one.options.target_ns is not None:
            packet = PACKET * 8e9 / rate
            if one.options.target_ns < packet:
                yield on(
                    "target-below-packet",
                    lane.tree,
                    one,
                    f"target {time_text(one.options.target_ns)}, and a packet takes {time_text(packet)} at"
                    f" {rate_text(rate)}",
                    f"target {tidy(1.5 * packet / 1e6)}ms",
                )


def _classes(tree: Tree, one: Discipline, options: Htb | Hfsc) -> Iterator[Finding]:
    own = {name: found for name, found in tree.classes.items() if major(name) == one.handle and one.handle}
    if not own:
        # The output of `tc qdisc show` alone does not list classes.
        if tree.filters_known:
            yield on(
                "no-class",
                tree,
                one,
                f"{one.kind} has no class",
                f"tc class add dev {tree.device.name} parent …",
            )
        return
    default = f"{one.handle}{options.default:x}"
    if not options.default or default not in own:
        becomes = "passes unshaped" if isinstance(options, Htb) else "is dropped"
        there = f"default {options.default:x} is not a class" if options.default else "there is no default"
        leaf = next(reversed(own)).split(":")[1]
        yield on(
            "no-default-class",
            tree,
            one,
            f"{there}: unclassified traffic {becomes}",
            f"{one.kind} default {leaf}, or another of {', '.join(own)}",
        )
    parents = {found.parent for found in own.values()}
    targets = {found.target for found in tree.filters} | {default}
    for name, found in own.items():
        yield from _class(tree, found, own)
        if name in parents:
            continue
        if isinstance(options, Htb):
            yield from _quantum(tree, found, options)
        if tree.filters_known and name not in targets and f":{name.split(':')[1]}" not in targets:
            yield on(
                "class-unused",
                tree,
                found,
                f"no filter sends packets to {name}",
                f"add a filter with flowid {name}",
            )


def _class(tree: Tree, one: TrafficClass, own: dict[str, TrafficClass]) -> Iterator[Finding]:
    rate, ceil = one.options.rate_bps, one.options.ceil_bps
    if rate is not None and ceil is not None and rate > ceil:
        yield on(
            "rate-above-ceil",
            tree,
            one,
            f"rate {rate_text(rate)}, ceil {rate_text(ceil)}",
            f"ceil {tc_rate(rate)}, or a rate of at most {tc_rate(ceil)}",
        )
    below = [child.options.rate_bps or 0 for child in own.values() if child.parent == one.classid]
    if rate is not None and sum(below) > rate:
        yield on(
            "children-exceed-parent",
            tree,
            one,
            f"the {len(below)} classes below have {rate_text(sum(below))} together, this one"
            f" {rate_text(rate)}",
            f"use rates with the sum {tc_rate(rate)}, and ceil for borrowing",
        )


def _quantum(tree: Tree, one: TrafficClass, htb: Htb) -> Iterator[Finding]:
    rate = one.options.rate_bps
    if rate is None or one.options.quantum is not None or not htb.r2q:
        return
    quantum = rate / 8 / htb.r2q
    if not LEAST_QUANTUM <= quantum <= MOST_QUANTUM:
        small = quantum < LEAST_QUANTUM
        yield on(
            "quantum",
            tree,
            one,
            f"{rate_text(rate)} / r2q {htb.r2q} is {quantum:.0f} bytes, which becomes"
            f" {LEAST_QUANTUM if small else MOST_QUANTUM}",
            f"quantum {PACKET if small else 60_000}, or another r2q",
        )
