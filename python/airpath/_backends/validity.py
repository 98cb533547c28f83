"""Whether an emulation behaved as configured."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class EmulatedLink:
    """Configured and achieved properties of one link. Rates in bit/s of IP packets, delays in seconds."""

    name: str
    """Its name in the scenario."""
    configured_bps: float
    """Its capacity; infinite without a limit."""
    carried_bps: float
    """The rate that it carried."""
    configured_delay_s: float
    """Its propagation delay."""
    achieved_delay_s: float
    """The propagation delay plus the median scheduling delay of packets to the host at its end; NaN without
    packets to one.
    """
    configured_loss: float
    """Expected long-term share of corrupted packets; NaN if bursts of losses coincide with link-layer
    repeats.
    """
    achieved_loss: float
    """Share of packets that were corrupted; NaN if none was sent."""
    damaged_packets: int | None
    """Number of corruptions since the start, including link-layer repeats; `None` if there can be none."""
    expected_damaged_packets: float | None
    """Sum of the probabilities of corruption, each given the fate of the earlier packets."""


@dataclass(frozen=True)
class Validity:
    """Configured versus achieved behaviour of an emulation. Times in seconds."""

    problems: tuple[str, ...]
    """Reasons not to trust the results; empty if they can be trusted."""
    links: tuple[EmulatedLink, ...]
    """The recorded links."""
    lasted_s: float
    """Its duration."""
    realtime: bool
    """Whether the link thread was granted real time (`SCHED_FIFO`)."""
    processor: int | None
    """The processor to which the link thread was pinned."""
    refused: str
    """Real-time settings that were refused, and why."""
    routers: tuple[Mapping[str, Any], ...]
    """For each router of the kernel, with the name of its link: rate changes and the latest of them in
    seconds; packets that vanished there and injected packets; the worst second (the share of the rate that
    was unused or exceeded while packets waited); the largest number of bytes that left the kernel before
    their transmission began; and the number of intervals at whose end its daemon reported its observations,
    and did not.
    """
    measurements: Mapping[str, float] = field(repr=False)
    """All other measurements by name: scheduling delays of packets (`lateness_p50_s` …, of each host's
    `lateness_p50_senders_s` …), destinations of packets (`delivered_packets` …), packets that the kernel
    dropped at a device, the worst second, the longest time between two polls of the devices.
    """

    @classmethod
    def from_engine(cls, raw: Mapping[str, Any], names: Sequence[str]) -> "Validity":
        """Return the record of the engine, with the names of the plan's links."""
        known = ("problems", "links", "routers", "lasted_s", "realtime", "processor", "refused")
        links = [
            EmulatedLink(names[link["link"]], **{key: value for key, value in link.items() if key != "link"})
            for link in raw["links"]
        ]
        return cls(
            problems=tuple(raw["problems"]),
            links=tuple(links),
            lasted_s=raw["lasted_s"],
            realtime=raw["realtime"],
            processor=raw["processor"],
            refused=raw["refused"],
            routers=tuple({**router, "link": names[router["link"]]} for router in raw["routers"]),
            measurements={name: value for name, value in raw.items() if name not in known},
        )

    @property
    def valid(self) -> bool:
        """Whether the results can be trusted."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return the record for JSON: missing and infinite values are null."""
        return {
            "valid": self.valid,
            "problems": list(self.problems),
            "lasted_s": self.lasted_s,
            "realtime": self.realtime,
            "processor": self.processor,
            "refused": self.refused,
            **{name: value if _finite(value) else None for name, value in self.measurements.items()},
            "links": [
                {name: value if _finite(value) else None for name, value in vars(link).items()}
                for link in self.links
            ],
            **({"routers": [dict(router) for router in self.routers]} if self.routers else {}),
        }


def _finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)
