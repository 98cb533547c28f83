"""A link on the command line as a scenario that can be emulated."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from airpath.scenario import Scenario
from airpath.scenario.bottleneck import bottleneck, link_rate
from airpath.scenario.compare import resolved, said_of_arguments

LONGEST = "1h"
"""How long an emulation goes on at most if nobody says."""

_ARGUMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "topology.bottleneck.rate.file": "link",
        "topology.bottleneck.rate": "link",
        "topology.reverse.rate.file": "back",
        "topology.reverse.rate": "back",
        "topology.bottleneck.queue.limit": "buffer",
        "topology.bottleneck.queue.kind": "queue",
        "topology.bottleneck.queue": "queue",
    }
)
"""What the arguments are called that stand at a field of this scenario; the others have the field's name."""


def emulated_scenario(
    link: str,
    *,
    rtt: str | None = None,
    buffer: str | None = None,
    queue: str | None = None,
    back: str | None = None,
    duration: str | None = None,
    seed: int = 1,
) -> Scenario:
    """Return a scenario of one link between two hosts.

    Parameters
    ----------
    link
        From the command's host to the server's: a rate ("12mbps"), the name of a shipped link ("lte.up"), or
        the path of a trace.
    rtt
        Base round-trip time; by default that of the named link, else 40 ms.
    buffer
        Limit of the queue in front of the link; by default that of the named link, else the queue's own, else
        one bandwidth-delay product.
    queue
        The queue discipline, with options if wanted (`codel:target=10ms`); drop-tail by default.
    back
        The way back, written like `link`; by default the opposite of the named link, else one like `link`.
    duration
        How long it goes on at most; an hour by default.
    seed
        Seed of the random streams.

    Raises
    ------
    UsageError
        If there is no such link.
    ScenarioError
        If another value is wrong.
    """
    between = bottleneck(link, [], rtt=rtt, buffer=buffer, queue=queue)
    topology: dict[str, Any] = {"kind": "dumbbell", "bottleneck": between}
    if back is not None:
        topology["reverse"] = {"rate": link_rate(back, "back")[0]}
    with said_of_arguments(_ARGUMENTS):
        return resolved(
            {
                "name": "emulate",
                "title": f"a command over {link}",
                "duration": LONGEST if duration is None else duration,
                "seed": seed,
                "topology": topology,
                # What the command sends is its own business: only the way of its packets counts.
                "flows": [{"name": "command", "traffic": {"kind": "constant-bit-rate", "rate": "1mbps"}}],
            }
        )
