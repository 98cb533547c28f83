"""A scenario for emulation, made of a link on the command line."""

from typing import Final, Unpack

from airpath.errors import UsageError
from airpath.links.options import LinkOptions, OneLink
from airpath.plugins.specs import kinds_of_code
from airpath.scenario import Scenario
from airpath.scenario.bottleneck import dumbbell
from airpath.scenario.compare import ARGUMENTS, resolved, said_of_arguments
from airpath.scenario.link_values import Rtt

LONGEST: Final = "1h"
"""Default limit of an emulation's duration."""


def emulated_scenario(
    link: str | None = None,
    *,
    duration: str | None = None,
    seed: int = 1,
    **given: Unpack[LinkOptions],
) -> Scenario:
    """Return a scenario of one link between two hosts.

    Parameters
    ----------
    link
        From the command's host to the server's: a rate ("12mbps"), the name of a shipped link ("lte.up"), or
        the path of a trace; the network's if absent.
    duration
        Limit of the duration; an hour by default.
    seed
        Seed of the random streams.
    **given
        `airpath.links.options.LinkOptions`. The round-trip time is exact.

    Raises
    ------
    UsageError
        If there is no such link or option, or the round-trip time is a range.
    ScenarioError
        If another value is wrong.
    """
    one = OneLink.of(link, given)
    if one.rtt is not None:
        Rtt.parse_one(one.rtt)
    with said_of_arguments(ARGUMENTS):
        scenario = resolved(
            {
                "name": "emulate",
                "title": f"a command over {one.name}",
                "duration": LONGEST if duration is None else duration,
                "seed": seed,
                "topology": dumbbell(one, []),
                # The traffic of this flow is not used; only the path of its packets matters.
                "flows": [{"name": "command", "traffic": {"kind": "constant-bit-rate", "rate": "1mbps"}}],
            }
        )
    if code := kinds_of_code(scenario.plan()):
        raise UsageError(f'queue: found "{min(code)}"; code in files runs in the simulator only')
    return scenario
