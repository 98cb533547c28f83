"""Ingress: policers, and ifb devices that packets are redirected to."""

from collections.abc import Iterator

from airpath_lint.amounts import PACKET
from airpath_lint.findings import Finding
from airpath_lint.rules.context import Context, about, on, rate_text, size_text, tidy, time_text
from airpath_lint.setup import Device, Filter, Tree

USUAL_RTT_NS = 50_000_000
"""The round-trip time that is assumed if none is set."""


def ingress_rules(context: Context) -> Iterator[Finding]:
    """Yield findings about arriving packets."""
    redirected: dict[Device, Filter] = {}
    for tree in context.current:
        for one in tree.filters:
            if one.police_bps:
                yield from _policer(context, tree, one, one.police_bps)
            if one.redirect:
                redirected[Device(tree.device.namespace, one.redirect)] = one
    known = {tree.device: tree for tree in context.current}
    for device, by in redirected.items():
        there = known.get(device)
        if device.name.startswith("ifb") and (there is None or there.root is None):
            yield about(
                "ifb-unshaped",
                by.place,
                device,
                f"packets are redirected to {device}, which has no discipline",
                f"tc qdisc add dev {device.name} root …",
            )
    for tree in context.current:
        lonely = tree.device.name.startswith("ifb") and tree.device not in redirected
        if lonely and tree.root is not None and context.setup.written:
            yield on(
                "ifb-without-redirect",
                tree,
                tree.root,
                f"no filter redirects packets to {tree.device}",
                "tc qdisc add dev DEVICE ingress; tc filter add dev DEVICE parent ffff: matchall"
                " action mirred egress"
                f" redirect dev {tree.device.name}",
            )


def _policer(context: Context, tree: Tree, one: Filter, rate: int) -> Iterator[Finding]:
    burst = one.police_burst
    yield about(
        "policer",
        one.place,
        tree.device,
        f"police {rate_text(rate)}",
        "use an ifb device with a shaper to model a link",
    )
    rtt = context.directions.rtt_ns() or USUAL_RTT_NS
    if burst is not None and burst * 8e9 < max(rate * rtt, 2 * PACKET * 8e9):
        yield about(
            "policer-burst",
            one.place,
            tree.device,
            f"burst {size_text(burst)} is {time_text(burst * 8e9 / rate)} at {rate_text(rate)},"
            " less than a round trip"
            f" of {time_text(rtt)}",
            f"burst {max(tidy(rate * rtt / 8e9), 2 * PACKET)}b",
        )
