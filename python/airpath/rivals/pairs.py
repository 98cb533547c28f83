"""Two schemes on one link as a scenario."""

from typing import Final, TypedDict

from airpath.scenario import Scenario
from airpath.scenario.bottleneck import bottleneck, long_flows
from airpath.scenario.compare import ARGUMENTS, part_of_path, resolved, said_of_arguments
from airpath.schemes import parse_scheme

FIRST: Final = "first"
"""The entry of flows of the first scheme."""
SECOND: Final = "second"
"""That of the second."""


class PairOptions(TypedDict):
    """What all pairs have in common, as for `airpath.rivals.rivals`."""

    rtt: str | None
    buffer: str | None
    queue: str | None
    ecn: bool
    flows: int
    duration: str
    warm_up: str
    seed: int
    repetitions: int


def pair_scenario(number: int, schemes: tuple[str, str], link: str, options: PairOptions) -> Scenario:
    """Return long-lived flows of two schemes over one link; the scenario's name has `number` in it.

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
                "title": f"{chosen[0].title} and {chosen[1].title} over {link}",
                "duration": options["duration"],
                "seed": options["seed"],
                "repetitions": options["repetitions"],
                "record": {"warm_up": options["warm_up"]},
                "topology": {
                    "kind": "dumbbell",
                    "bottleneck": bottleneck(
                        link, chosen, rtt=options["rtt"], buffer=options["buffer"], queue=options["queue"]
                    ),
                },
                "flows": [
                    long_flows(name, scheme, found, options["flows"], ecn=options["ecn"])
                    for name, scheme, found in zip((FIRST, SECOND), schemes, chosen, strict=True)
                ],
            }
        )
