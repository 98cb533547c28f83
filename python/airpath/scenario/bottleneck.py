"""A dumbbell described by the options of one link instead of a file."""

from collections.abc import Sequence
from typing import Any, Final

from airpath.errors import UsageError
from airpath.links import LINKS
from airpath.links.networks import Network, find_network
from airpath.links.options import DEFAULT_NETWORK, LinkAndFlows, OneLink
from airpath.plugins.specs import Spec, allow
from airpath.scenario.link_values import Rtt, around, jitter_of, link_rate, loss_of, reorder_of
from airpath.schemes import Scheme
from airpath.schemes.options import options_of, split_options

START: Final = {"uniform": ["0s", "1s"]}
"""Flows start at random within the first second, so that repetitions differ; equal repetitions of two schemes
have equal start times.
"""
HOLD_MUCH: Final = ("fq-codel", "dual-pi2")
"""Queues with a default limit of their own, because they keep the delay short with any limit."""


def queue_of(text: str, limit: str | None, buffer: str | None, bdp: str) -> dict[str, Any]:
    """Return a queue as a scenario writes it.

    Parameters
    ----------
    text
        The queue discipline, optionally with options: `codel:target=10ms,ecn=false`.
    limit
        The limit of the link, used if `buffer` is absent; without either, the queue's own limit is used, else
        `bdp`.
    buffer
        The requested limit.
    bdp
        One bandwidth-delay product.

    Raises
    ------
    UsageError
        If an option is not of the form `name=value`, or the limit is given twice.
    """
    try:
        if (spec := Spec.parse(text)) is not None:
            allow([text])
            kind, options = spec.without_options, options_of(spec.options, text)
        else:
            kind, options = split_options(text)
    except UsageError as error:
        raise UsageError(f"queue: {error}") from None
    if buffer is not None and "limit" in options:
        raise UsageError(
            f'buffer: found "{buffer}" with limit={options["limit"]} of the queue; accepted: one of them'
        )
    limit = buffer or limit or (None if kind in HOLD_MUCH else bdp)
    return {**({} if limit is None else {"limit": limit}), **options, "kind": kind}


def dumbbell(link: OneLink, schemes: Sequence[Scheme], *, draw_rtt: bool = False) -> dict[str, Any]:
    """Return the dumbbell of one link, as a scenario writes it.

    Parameters
    ----------
    link
        The link.
    schemes
        The schemes whose flows cross the link. If one has a router of its own, that is the queue.
    draw_rtt
        Whether to sample the delay of each run from `RTT_SPREAD` around its mean.

    Raises
    ------
    UsageError
        If a value is wrong.
    """
    network = network_of(link)
    bottleneck, reverse = ({}, {}) if network is None else network.directions()
    if link.link is not None:
        bottleneck["rate"], delay = link_rate(link.link)
        bottleneck.setdefault("delay", delay)
        reverse.pop("rate", None)
    if link.up is not None:
        reverse["rate"] = link_rate(link.up, "up")[0]
    rtt = None if link.rtt is None else Rtt.parse(link.rtt)
    if rtt is not None:
        bottleneck["delay"] = rtt.delay
    if draw_rtt:
        bottleneck["delay"] = around(bottleneck["delay"])
    _set_queue(bottleneck, reverse, link, schemes, rtt)
    _set_channel(bottleneck, reverse, link)
    return {"kind": "dumbbell", "bottleneck": bottleneck, **({"reverse": reverse} if reverse else {})}


def network_of(link: OneLink) -> Network | None:
    """Return the requested network; the default one if there is no link either."""
    name = link.network or (DEFAULT_NETWORK if link.link is None else None)
    return None if name is None else find_network(name)


def _set_queue(
    bottleneck: dict[str, Any],
    reverse: dict[str, Any],
    link: OneLink,
    schemes: Sequence[Scheme],
    rtt: Rtt | None,
) -> None:
    named = next((named for named in LINKS if named.name == link.link), None)
    queue, buffer = link.queue, link.buffer
    limit = bottleneck.get("queue", {}).get("limit") or (named.buffer if named else None)
    bdp = "1bdp"
    if rtt is not None:
        bdp, buffer, limit = rtt.limit(bdp), buffer and rtt.limit(buffer), limit and rtt.limit(limit)
    if queue is not None and all(scheme.router is None for scheme in schemes):
        bottleneck["queue"] = queue_of(queue, limit, buffer, bdp)
    elif buffer is not None or bdp != "1bdp":
        bottleneck["queue"] = {"kind": "scheme", "limit": buffer or limit or bdp}
    if queue is not None or buffer is not None:
        reverse.pop("queue", None)


def _set_channel(bottleneck: dict[str, Any], reverse: dict[str, Any], link: OneLink) -> None:
    """Replace the losses, repeats and jitter of a network by the requested ones."""
    if link.loss is not None and link.reorder is not None:
        raise UsageError(f'reorder: found "{link.reorder}" with loss "{link.loss}"; accepted: one of them')
    changed: dict[str, Any] = {}
    if link.loss is not None:
        changed = {"loss": loss_of(link.loss)}
    if link.reorder is not None:
        changed = reorder_of(link.reorder)
    for direction in (bottleneck, reverse) if changed else ():
        direction.pop("loss", None)
        direction.pop("arq", None)
    bottleneck |= changed
    if link.jitter is not None:
        bottleneck["jitter"] = jitter_of(link.jitter)
        reverse.pop("jitter", None)


def long_flows(name: str, text: str, scheme: Scheme, link: LinkAndFlows) -> dict[str, Any]:
    """Return an entry of long-lived flows as a scenario writes it.

    Parameters
    ----------
    name
        The name of the entry.
    text, scheme
        The scheme as written, and as found.
    link
        The link and its flows.

    Raises
    ------
    UsageError
        If a range of round-trip times is given for a single flow.
    """
    marks = link.ecn and scheme.router is None and "ecn" not in scheme.transport
    flows = {"name": name, "scheme": text, "count": link.flows, "start": START}
    if link.rtt is not None and (rtt := Rtt.parse(link.rtt)).is_range:
        if link.flows == 1:
            raise UsageError(f'rtt: found "{link.rtt}" for one flow; accepted: one time, or 2 flows or more')
        flows["extra_rtt"] = rtt.extra
    return {**flows, "transport": {"ecn": True}} if marks else flows


def refuse_for_routers_only(schemes: Sequence[Scheme], link: LinkAndFlows) -> None:
    """Refuse options without effect if all schemes have routers of their own.

    Raises
    ------
    UsageError
        If a queue or marks are requested.
    """
    if any(scheme.router is None for scheme in schemes):
        return
    names = ", ".join(scheme.id for scheme in schemes)
    for argument, found in (("queue", link.queue), ("ecn", "true" if link.ecn else None)):
        if found is not None:
            raise UsageError(
                f'{argument}: found "{found}", which has no effect: {names} have routers of their own'
            )
