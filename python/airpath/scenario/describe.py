"""A scenario in words, with every default filled in."""

import json
from collections.abc import Mapping
from typing import Any

from airpath._core import independent_packet_loss, packet_loss
from airpath.scenario.damage import damage
from airpath.scenario.model import ScenarioDocument
from airpath.scenario.resolve import BufferSize, Resolved
from airpath.units import format_duration, format_rate, format_size


def describe(document: ScenarioDocument, resolved: Resolved) -> str:
    """Return the run, each recorded link with its buffer in all four units, and each group of flows."""
    lines = [document.title or document.name]
    if document.description:
        lines += [document.description.strip()]
    lines += [
        f"{format_duration(document.duration)}, warm-up {format_duration(document.warm_up)},"
        f" seed {document.seed}, repetitions {document.repetitions}",
        "links:",
    ]
    for link in resolved.plan["links"]:
        if link["record"]:
            name = link["name"]
            mean = resolved.mean_rate_bps[name]
            rate = (
                "unlimited"
                if link["rate"]["kind"] == "unlimited"
                else "unknown"
                if mean is None
                else format_rate(mean, 4)
            )
            lines.append(
                f"  {name}: {link['rate']['kind']} rate, mean {rate};"
                f" base RTT {format_duration(resolved.base_rtt_ns[name], 6)};"
                f" buffer {describe_buffer(resolved.buffers[name])}{describe_router(link['queue'])}"
                f"{'; ' if damage(link) else ''}{damage(link)}"
                f"{describe_bursts(link['bursts'], resolved.packet_bytes)}"
            )
    lines.append("flows:")
    for entry in document.flows:
        count = resolved.groups.count(entry.name)
        what = entry.scheme or "datagrams"
        lines.append(f"  {entry.name}: {count} x {what}, {entry.traffic['kind']}")
    return "\n".join(lines)


def describe_router(queue: Mapping[str, Any]) -> str:
    """Return the router or the management of a queue of a plan; empty for drop-tail."""
    if queue["kind"] == "managed":
        return f"; managed by {queue['management']['kind']}"
    if queue["kind"] != "router":
        return ""
    protocol, source = queue["protocol"], queue["source"]
    text = f"; router {protocol['kind']}, capacity source {source['kind']}"
    return f"{text} ({format_rate(source['capacity'], 4)})" if source["kind"] == "configured" else text


def describe_bursts(bursts: Mapping[str, Any] | None, packet_bytes: int) -> str:
    """Return the long-term share of packets of a size that a chain corrupts; empty without a chain.

    For coded packets, the share with independent byte errors follows in parentheses.
    """
    if bursts is None:
        return ""
    chain = json.dumps(bursts)
    exact, independent = packet_loss(chain, packet_bytes), independent_packet_loss(chain, packet_bytes)
    text = f"; damages {100 * exact:.3g} % of packets of {packet_bytes} bytes in the long run"
    return text if independent is None else f"{text} ({100 * independent:.3g} % if bytes were independent)"


def describe_buffer(buffer: BufferSize) -> str:
    """Return a buffer in bytes, packets, time and bandwidth-delay products."""
    if buffer.bytes is None:
        return "unlimited"
    parts = [format_size(buffer.bytes), f"{buffer.packets:.4g} packets"]
    if buffer.seconds is not None:
        parts.append(format_duration(buffer.seconds * 1e9, 4))
    if buffer.bdp is not None:
        parts.append(f"{buffer.bdp:.4g} BDP")
    return " = ".join(parts)
