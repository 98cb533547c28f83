"""netem's delay, jitter, limit, duplicates and seed."""

from collections.abc import Iterator

from airpath_lint.amounts import PACKET, Lane
from airpath_lint.findings import Finding
from airpath_lint.options import Netem
from airpath_lint.reordering import reordered_share
from airpath_lint.rules.context import Context, on, percent, rate_text, tc_rate, tidy, time_text
from airpath_lint.setup import ROOT, Discipline, Tree

FAST_BPS = 10**9
"""The rate of a common device, used if no rate is set."""


def delay_rules(context: Context) -> Iterator[Finding]:
    """Yield findings about delay and the parameters related to it."""
    for lane in context.lanes():
        for one, netem in lane.netems:
            yield from _limit(context, lane, one, netem)
            yield from _jitter(lane, one, netem)
    for tree, one in context.disciplines():
        if isinstance(one.options, Netem):
            yield from _rest(tree, one, one.options)


def _limit(context: Context, lane: Lane, one: Discipline, netem: Netem) -> Iterator[Finding]:
    delay = netem.delay_ns + netem.jitter_ns
    if not delay:
        return
    holds = netem.limit * PACKET * 8e9 / delay
    rate = lane.rate_bps
    if rate is None:
        if holds < FAST_BPS:
            yield on(
                "netem-limit",
                lane.tree,
                one,
                f"limit {netem.limit} holds {rate_text(holds)} for {time_text(delay)}; above that rate"
                " packets are dropped, and no rate is set",
                f"limit {tidy(2 * FAST_BPS * delay / (8e9 * PACKET))}, which is enough for 1 Gbit/s, or set"
                " a rate",
            )
        return
    flying = lane.in_flight(netem)
    own = one is lane.disciplines[-1]
    if flying > netem.limit:
        wanted = flying + (rate * max(context.rtt_ns(lane), delay) / (8e9 * PACKET) if own else flying)
        yield on(
            "netem-limit",
            lane.tree,
            one,
            f"{rate_text(rate)} for {time_text(delay)} are {flying:.0f} packets of {PACKET} bytes, and limit"
            f" {netem.limit} holds {rate_text(holds)}: the rate is never reached",
            f"limit {tidy(wanted)}",
        )
    elif own and netem.limit - flying < flying / 10:
        yield on(
            "netem-limit",
            lane.tree,
            one,
            f"{flying:.0f} of the {netem.limit} packets of limit are in flight at {rate_text(rate)}; this"
            f" leaves {netem.limit - flying:.0f} for a queue",
            f"limit {tidy(flying + rate * max(context.rtt_ns(lane), delay) / (8e9 * PACKET))} for a"
            " queue of one"
            " bandwidth-delay product",
        )


def _jitter(lane: Lane, one: Discipline, netem: Netem) -> Iterator[Finding]:
    if not netem.jitter_ns or netem.rate_bps or netem.slotted:
        return
    said = []
    for rate in [lane.rate_bps] if lane.rate_bps else [10_000_000, 100_000_000]:
        spacing = PACKET * 8e9 / rate
        share = reordered_share(spacing, netem.jitter_ns, netem.distribution)
        if share is not None and share >= 0.0005:
            said.append(f"{percent(share)} at {rate_text(rate)} (packets {time_text(spacing)} apart)")
        elif share is None:
            said = [f"more than a few at any rate with packets closer than {time_text(netem.jitter_ns)}"]
    if not said:
        return
    if netem.delay_correlation:
        said.append(
            f"fewer with the correlation of {percent(netem.delay_correlation)}, which does not keep order"
        )
    suggestion = tc_rate(lane.rate_bps) if lane.rate_bps else "RATE"
    yield on(
        "jitter-reorders",
        lane.tree,
        one,
        f"jitter of {time_text(netem.jitter_ns)} reorders packets: {', '.join(said)}",
        f"set a rate in netem (rate {suggestion}), which keeps the order; or model jitter by a variable rate",
    )


def _rest(tree: Tree, one: Discipline, netem: Netem) -> Iterator[Finding]:
    if netem.jitter_ns > netem.delay_ns:
        yield on(
            "jitter-above-delay",
            tree,
            one,
            f"delay {time_text(netem.delay_ns)} with jitter {time_text(netem.jitter_ns)}",
            f"a delay of at least {time_text(netem.jitter_ns)}",
        )
    if netem.reorder:
        yield on(
            "reorder-is-early",
            tree,
            one,
            f"{percent(netem.reorder)} of packets arrive {time_text(netem.delay_ns)} early",
            "use a smaller delay here, and the rest at another device",
        )
    if netem.is_random and netem.seed is None:
        yield on(
            "no-seed",
            tree,
            one,
            "random values differ from run to run",
            "seed 1 (and increase the seed with each run)",
        )
    if netem.duplicate and one.parent != ROOT:
        yield on(
            "duplicates-through-root",
            tree,
            one,
            f"duplicates of {percent(netem.duplicate)} of packets enter the root of {tree.device} again",
            "attach the duplicating netem at the root of a separate device",
        )
    if netem.corrupt:
        yield on(
            "corruption-is-loss",
            tree,
            one,
            f"{percent(netem.corrupt)} of frames are corrupted, and most of these are lost at the receiver",
            "use loss to model packet loss",
        )
