"""The registry of links that are shipped with airpath, by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from airpath._nearest import suggestion
from airpath.errors import UsageError

__all__ = ["LINKS", "NamedLink", "find_link"]

FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True)
class NamedLink:
    """One direction of a link that is shipped with airpath."""

    name: str
    """Its name in scenarios and on the command line."""
    description: str
    """A description in one line."""
    rate: Mapping[str, Any]
    """Its rate process as a scenario writes it (a trace names a file in the folder of this module)."""
    reverse: str | None = None
    """The name of the link that is its opposite direction; by default the same rate process."""
    delay: str | None = None
    """Its one-way propagation delay, if it has its own."""
    buffer: str | None = None
    """Its buffer, if it has its own."""


def find_link(name: str) -> NamedLink:
    """Return the link with this name.

    Raises
    ------
    UsageError
        If there is no such link; the message names the nearest.
    """
    for link in LINKS:
        if name == link.name:
            return link
    raise UsageError(f'there is no link "{name}"; {suggestion(name, (link.name for link in LINKS), "links")}')


def _trace(file: str) -> dict[str, Any]:
    return {"kind": "trace", "file": str(FOLDER / file), "format": "mahimahi"}


LINKS: Final = (
    NamedLink(
        name="lte.down",
        description="synthetic LTE downlink: fading, bursts and short outages, mean about 9 Mbit/s, 60 s",
        rate=_trace("lte.down"),
        reverse="lte.up",
        delay="20ms",
    ),
    NamedLink(
        name="lte.up",
        description="synthetic LTE uplink: fading, bursts and short outages, mean about 4 Mbit/s, 60 s",
        rate=_trace("lte.up"),
        reverse="lte.down",
        delay="20ms",
    ),
    NamedLink(
        name="ebe.bottleneck",
        description="the EBE papers' bottleneck as one schedule, 2 to 19 Mbit/s, 10 s each",
        rate={
            "kind": "sequence",
            "rates": [f"{rate}mbps" for rate in (10, 14, 17, 19, 15, 17, 5, 2, 6, 4, 8, 5)],
            "hold": "10s",
        },
        delay="32ms",
        buffer="575kB",
    ),
    NamedLink(
        name="ebe.random",
        description="the EBE papers' bottleneck, drawn for each run: 1 to 20 Mbit/s every 10 s",
        rate={"kind": "uniform", "low": "1mbps", "high": "20mbps", "hold": "10s", "initial": "10mbps"},
        delay="32ms",
        buffer="575kB",
    ),
)
"""Every link that a scenario can name."""
