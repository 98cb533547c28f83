"""The counters of `tc -s`."""

import math
from collections.abc import Iterator

from airpath_lint.amounts import PACKET
from airpath_lint.findings import Finding
from airpath_lint.options import Htb, Managed, Netem, Tbf
from airpath_lint.rules.context import Context, on, percent, rate_text, tidy
from airpath_lint.setup import Discipline, Statistics, TrafficClass, Tree

NEAR = 0.9
"""The backlog from which a queue is considered full, as a fraction of its limit."""
MANY = 1000
"""The minimum number of packets before a limit without effect is reported."""
SURE = 5.0
"""The number of standard deviations from which drops are not due to chance."""


def statistics_rules(context: Context) -> Iterator[Finding]:
    """Yield findings about counters that should be zero or small."""
    for tree in context.current:
        for one in tree.disciplines:
            if one.statistics is not None:
                yield from _drops(tree, one, one.statistics)
                yield from _rest(tree, one, one.statistics)
        for found in tree.classes.values():
            if found.statistics is not None:
                yield from _nothing(tree, found, found.statistics)


def _drops(tree: Tree, one: Discipline, seen: Statistics) -> Iterator[Finding]:
    offered = seen.sent_packets + seen.dropped
    limit = _limit(one)
    if limit is not None and limit > 1 and seen.backlog_packets >= NEAR * limit:
        yield on(
            "near-limit",
            tree,
            one,
            f"{seen.backlog_packets} packets wait, and limit is {limit:.0f}",
            f"limit {tidy(2 * limit)}, to avoid drops here",
        )
    if not seen.dropped:
        return
    share = f"{seen.dropped} of {offered} packets ({percent(seen.dropped / offered)})"
    if isinstance(one.options, Netem):
        netem = one.options
        mean = 0.0 if netem.loss is None else netem.loss.mean_loss
        burst = 1.0 if netem.loss is None else netem.loss.mean_burst
        if math.isnan(mean):
            return
        # Losses in bursts have the variance of fewer independent losses.
        spread = math.sqrt(offered * mean * (1 - mean) * (2 * burst if math.isfinite(burst) else 1))
        over = seen.dropped - offered * mean - SURE * spread
        if over > 0 and mean < 1:
            explained = (
                f", of which its loss explains {offered * mean:.0f}" if mean else ", and it has no loss"
            )
            yield on(
                "netem-dropped-at-limit",
                tree,
                one,
                f"{share} were dropped{explained}",
                f"limit {tidy(2 * netem.limit)} or more",
            )
    elif one.kind not in ("codel", "fq_codel", "pie", "fq_pie", "red", "ingress", "clsact"):
        yield on(
            "overflowed",
            tree,
            one,
            f"{share} were dropped",
            "use a larger limit, unless drops are intended",
        )


def _limit(one: Discipline) -> float | None:
    options = one.options
    if isinstance(options, Netem):
        return options.limit
    if isinstance(options, Tbf) and options.limit is not None:
        return options.limit / PACKET
    if isinstance(options, Managed):
        return options.limit_packets
    return None


def _rest(tree: Tree, one: Discipline, seen: Statistics) -> Iterator[Finding]:
    if isinstance(one.options, Htb) and one.options.direct_packets:
        yield on(
            "direct-packets",
            tree,
            one,
            f"{one.options.direct_packets} packets passed unshaped",
            "a default class",
        )
    if isinstance(one.options, Tbf) and not seen.overlimits and seen.sent_packets >= MANY:
        yield on(
            "never-limited",
            tree,
            one,
            f"{seen.sent_packets} packets were sent; none waited for {rate_text(one.options.rate_bps)}",
            "send more traffic, or find out what limits it",
        )
    if seen.requeues:
        meant = " (reordered on purpose)" if isinstance(one.options, Netem) and one.options.reorder else ""
        yield on("requeued", tree, one, f"{seen.requeues} packets were requeued{meant}")
    yield from _nothing(tree, one, seen)


def _nothing(tree: Tree, one: Discipline | TrafficClass, seen: Statistics) -> Iterator[Finding]:
    root = tree.root
    sent = root.statistics.sent_packets if root is not None and root.statistics is not None else 0
    if not seen.sent_packets and not seen.backlog_packets and one is not root and sent > 100:
        yield on(
            "nothing-sent",
            tree,
            one,
            f"no packet was sent here, and {sent} packets by {tree.device}",
            "check the filters and the default class",
        )
