"""Scenarios over QUIC: what of their transport quinn decides itself."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from airpath.units import format_duration

HEADERS: Final = 28
"""Bytes of IPv4 and UDP on each packet."""
SMALLEST_PACKET: Final = 1200 + HEADERS
"""The largest packets that QUIC sends have at least so many bytes on the wire (RFC 9000, section 14)."""
ACKNOWLEDGED_WITHIN_NS: Final = 25_000_000
"""The longest that quinn's receivers wait with an acknowledgment (RFC 9000, section 18.2)."""


def quic_departures(transport: Mapping[str, Any] | None) -> Iterator[str]:
    """Say what quinn does not take from a transport of the plan."""
    if transport is None:
        return
    packet = transport["mss_bytes"] + transport["header_bytes"]
    if packet < SMALLEST_PACKET:
        yield f"packets: {packet} bytes in the scenario, {SMALLEST_PACKET} here, since QUIC's are no smaller"
    if not transport["pacing"]:
        yield "pacing: at 5/4 of the window in a round trip; none in the scenario"
    if transport["delayed_ack_timeout_ns"] != ACKNOWLEDGED_WITHIN_NS:
        wait = format_duration(transport["delayed_ack_timeout_ns"])
        yield f"acknowledgments: after 25ms at the latest; after {wait} in the scenario"
    yield "handshake, loss detection and timers (RFC 9000 and 9002)"
