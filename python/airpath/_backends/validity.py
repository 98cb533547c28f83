"""Whether an emulation was what it says."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class EmulatedLink:
    """What one link was to do and did. Rates in bit/s of IP packets, delays in seconds."""

    name: str
    """Its name in the scenario."""
    configured_bps: float
    """What it could have carried; infinite without a limit."""
    carried_bps: float
    """What it carried."""
    configured_delay_s: float
    """Its propagation delay."""
    achieved_delay_s: float
    """The same and the median lateness of packets to the host at its end; NaN where none went there."""
    configured_loss: float
    """Share that should be damaged in the long run; NaN where bursts meet repeats on the link."""
    achieved_loss: float
    """Share of packets that were damaged; NaN where none was sent."""
    damaged_packets: int | None
    """How often a packet was damaged from the start on, repeats of the link too; `None` where none can be."""
    expected_damaged_packets: float | None
    """The sum of the probabilities of that, each given what had become of the packets before."""


@dataclass(frozen=True)
class Validity:
    """What was configured against what was achieved. Times in seconds."""

    problems: tuple[str, ...]
    """Why the results should not be trusted; empty when they may be."""
    links: tuple[EmulatedLink, ...]
    """The recorded links."""
    lasted_s: float
    """How long it went on."""
    realtime: bool
    """Whether the link thread was granted real time (`SCHED_FIFO`)."""
    processor: int | None
    """The processor on which it stayed."""
    refused: str
    """What it was not granted, and why."""
    routers: tuple[Mapping[str, Any], ...]
    """Of each router of the kernel, with the name of its link: changes of its rate and the latest of them in
    seconds, packets that vanished there and that were none of ours, the worst second (the share of the rate
    that was not used or used too much while packets waited), the most bytes that left the kernel before their
    transmission began, and the intervals at whose end its daemon said what it observes, and did not.
    """
    measurements: Mapping[str, float] = field(repr=False)
    """Everything else by name: lateness of packets (`lateness_p50_s` …, of each host's
    `lateness_p50_senders_s` …), where packets went (`delivered_packets` …), packets that the kernel dropped
    at a device, the worst second, the longest time between two looks at the devices.
    """

    @classmethod
    def from_engine(cls, raw: Mapping[str, Any], names: Sequence[str]) -> "Validity":
        """Return the record that the engine gives, with the names of the plan's links."""
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
        """Whether the results may be trusted."""
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """Return the record for JSON: no value where there is none, or it is infinite."""
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
