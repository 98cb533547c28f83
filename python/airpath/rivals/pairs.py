"""Two schemes on one link as a scenario."""

from typing import Final

from airpath.scenario import Scenario
from airpath.scenario.bottleneck import bottleneck, long_flows
from airpath.scenario.compare import ARGUMENTS, part_of_path, resolved, said_of_arguments
from airpath.schemes import parse_scheme

FIRST: Final = "first"
"""The entry of flows of the first scheme."""
SECOND: Final = "second"
"""That of the second."""


def pair_scenario(
    number: int,
    schemes: tuple[str, str],
    link: str,
    *,
    rtt: str | None,
    buffer: str | None,
    queue: str | None,
    ecn: bool,
    flows: int,
    duration: str,
    warm_up: str,
    seed: int,
    repetitions: int,
) -> Scenario:
    """Return long-lived flows of two schemes over one link.

    The scenario's name has `number` in it; other arguments are those of `airpath.rivals.rivals`.

    Raises
    ------
    UsageError, ScenarioError, TraceError
        If something is wrong, or the two cannot share a link.
    """
    chosen = [parse_scheme(scheme)[0] for scheme in schemes]
    with said_of_arguments(ARGUMENTS):
        return resolved(
            {
                "name": f"rivals-{number}-{'-'.join(part_of_path(found.id) for found in chosen)}",
                "title": f"{chosen[0].title} beside {chosen[1].title} over {link}",
                "duration": duration,
                "seed": seed,
                "repetitions": repetitions,
                "record": {"warm_up": warm_up},
                "topology": {
                    "kind": "dumbbell",
                    "bottleneck": bottleneck(link, chosen, rtt=rtt, buffer=buffer, queue=queue),
                },
                "flows": [
                    long_flows(name, scheme, found, flows, ecn=ecn)
                    for name, scheme, found in zip((FIRST, SECOND), schemes, chosen, strict=True)
                ],
            }
        )
