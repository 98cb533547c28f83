"""A configuration as text and as JSON."""

import math
from collections.abc import Iterator
from typing import Any

from airpath.units import format_duration, format_rate, format_size
from airpath_lint.amounts import PACKET, Directions, Lane
from airpath_lint.findings import Finding
from airpath_lint.linting import Linted
from airpath_lint.losses import FourStateLoss, GilbertElliottLoss, Loss, RandomLoss
from airpath_lint.options import HtbClass, Managed, Netem, Tbf
from airpath_lint.setup import Discipline, TrafficClass, Tree


def describe_entry(one: Discipline | TrafficClass) -> str:
    """Return one line of text about a discipline or class."""
    name = one.classid if isinstance(one, TrafficClass) else one.handle
    kind = f"class {one.kind}" if isinstance(one, TrafficClass) else one.kind
    said = ", ".join(_said(one.options))
    line = f" (line {one.place.line})" if one.place.line else ""
    return f"{kind} {name}".rstrip() + (f"  {said}" if said else "") + line


def _said(options: object) -> Iterator[str]:
    match options:
        case Netem():
            yield from _said_of_netem(options)
        case Tbf():
            yield f"rate {_rate(options.rate_bps)}"
            yield f"burst {format_size(options.burst)}"
            if options.limit is not None:
                yield f"limit {format_size(options.limit, 3)}"
        case HtbClass():
            if options.rate_bps is not None:
                yield f"rate {_rate(options.rate_bps)}"
            if options.ceil_bps is not None:
                yield f"ceil {_rate(options.ceil_bps)}"
        case Managed():
            if options.rate_bps is not None:
                yield f"bandwidth {_rate(options.rate_bps)}"
            if options.limit_packets is not None:
                yield f"limit {options.limit_packets} packets"
            if options.limit_bytes is not None:
                yield f"limit {format_size(options.limit_bytes, 3)}"
            if options.target_ns is not None:
                yield f"target {format_duration(options.target_ns)}"


def _said_of_netem(netem: Netem) -> Iterator[str]:
    if netem.delay_ns:
        spread = f" ± {format_duration(netem.jitter_ns)}" if netem.jitter_ns else ""
        yield f"delay {format_duration(netem.delay_ns)}{spread}"
    if netem.rate_bps:
        yield f"rate {_rate(netem.rate_bps)}"
    if netem.loss is not None:
        yield f"loss {loss_text(netem.loss.mean_loss)}{_model(netem.loss)}"
    for name, share in (
        ("duplicate", netem.duplicate),
        ("corrupt", netem.corrupt),
        ("reorder", netem.reorder),
    ):
        if share:
            yield f"{name} {loss_text(share)}"
    yield f"limit {netem.limit} packets"


def _model(loss: Loss) -> str:
    match loss:
        case RandomLoss(correlation=0):
            return ""
        case RandomLoss():
            return " (correlated)"
        case GilbertElliottLoss():
            return f" in bursts of {burst_text(loss.mean_burst)}"
        case FourStateLoss():
            return f" in bursts of {burst_text(loss.mean_burst)} (four states)"


def _rate(bits_per_second: int) -> str:
    return format_rate(bits_per_second, 6)


def loss_text(share: float) -> str:
    """Format a fraction of packets; `?` if it is not known."""
    return "?" if math.isnan(share) else f"{100 * share:.3g} %"


def burst_text(burst: float | None) -> str:
    """Format a mean burst, packets; empty if there is none."""
    if burst is None or math.isnan(burst):
        return ""
    return "∞" if math.isinf(burst) else f"{burst:.3g}"


def buffer_text(lane: Lane, directions: Directions) -> str:
    """Format a buffer in packets, in time, and in bandwidth-delay products."""
    size, rate = lane.buffer_bytes, lane.rate_bps
    if size is None or rate is None:
        return ""
    parts = [f"{size // PACKET} packets", format_duration(size * 8e9 / rate, 3)]
    bdp = directions.bdp_bytes(lane)
    if bdp:
        parts.append(f"{size / bdp:.3g} BDP")
    return ", ".join(parts)


def queue_text(lane: Lane) -> str:
    """Return the name of the queue discipline of a path."""
    managed = lane.aqm
    return managed.kind if managed is not None else "drop-tail" if lane.rate_bps else ""


def as_machine_reads(linted: Linted) -> dict[str, Any]:
    """Return everything as plain values for JSON; values without a number are null."""
    return {
        "inputs": list(linted.sources),
        "clean": linted.clean,
        "devices": [_device(tree) for tree in linted.trees],
        "amounts": [_amounts(lane, linted.directions) for lane in linted.directions.lanes],
        "findings": [_finding(one) for one in linted.findings],
    }


def _device(tree: Tree) -> dict[str, Any]:
    entries: list[Discipline | TrafficClass] = [*tree.disciplines, *tree.classes.values()]
    return {
        "device": str(tree.device),
        "entries": [
            {
                "what": "class" if isinstance(one, TrafficClass) else "qdisc",
                "kind": one.kind,
                "handle": one.classid if isinstance(one, TrafficClass) else one.handle,
                "parent": one.parent,
                "line": one.place.line,
                "says": describe_entry(one),
            }
            for one in entries
        ],
    }


def _amounts(lane: Lane, directions: Directions) -> dict[str, Any]:
    size, bdp = lane.buffer_bytes, directions.bdp_bytes(lane)
    return {
        "way": lane.name,
        "rate_bps": lane.rate_bps,
        "delay_s": lane.delay_ns / 1e9,
        "jitter_s": lane.jitter_ns / 1e9,
        "rtt_s": directions.rtt_ns(lane) / 1e9,
        "buffer_bytes": size,
        "buffer_s": None if size is None or not lane.rate_bps else size * 8 / lane.rate_bps,
        "buffer_bdp": None if size is None or not bdp else size / bdp,
        "queue": queue_text(lane),
        "mean_loss": _finite(lane.mean_loss),
        "mean_burst_packets": _finite(lane.mean_burst),
    }


def _finding(one: Finding) -> dict[str, Any]:
    return {
        "rule": one.rule.name,
        "level": one.rule.level.value,
        "input": one.place.source,
        "line": one.place.line,
        "device": one.device or None,
        "handle": one.handle or None,
        "what": one.what,
        "why": one.rule.why,
        "instead": one.instead or None,
        "source": one.rule.source,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
