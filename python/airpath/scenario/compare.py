"""Scenarios that differ in the scheme only."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from airpath.errors import ScenarioError, TraceError, UsageError
from airpath.scenario.bottleneck import bottleneck, long_flows, refuse_for_routers_only
from airpath.scenario.scenario import Scenario
from airpath.schemes import parse_scheme

ARGUMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "topology.bottleneck.rate.file": "link",
        "topology.bottleneck.rate": "link",
        "topology.bottleneck.queue.limit": "buffer",
        "topology.bottleneck.queue.kind": "queue",
        "topology.bottleneck.queue": "queue",
        "flows[0].count": "flows",
        "flows[0].scheme": "schemes",
        "flows[0].parameters": "schemes",
        "flows[1].count": "flows",
        "flows[1].scheme": "schemes",
        "flows[1].parameters": "schemes",
        "record.warm_up": "warm_up",
    }
)
"""What arguments are called that stand at a field of these scenarios; the others have the field's name."""


def compare_scenario(
    schemes: Sequence[str],
    link: str,
    *,
    rtt: str | None = None,
    buffer: str | None = None,
    queue: str | None = None,
    ecn: bool = False,
    flows: int = 1,
    duration: str = "60s",
    warm_up: str = "0s",
    seed: int = 1,
    repetitions: int = 1,
) -> list[Scenario]:
    """One scenario for each scheme: long-lived flows over one link, everything else equal.

    Parameters
    ----------
    schemes
        Schemes, with options if wanted (`cubic:beta=0.8`).
    link
        A rate ("12mbps"), the name of a link that is shipped ("lte.down"), or the path of a trace.
    rtt
        Base round-trip time; by default that of the named link, else 40 ms.
    buffer
        Limit of the queue. By default that of the named link, else the queue's own, else one bandwidth-delay
        product.
    queue
        The queue discipline, with options if wanted (`codel:target=10ms`); drop-tail by default. Schemes
        with routers of their own keep these.
    ecn
        Whether flows ask for marks instead of drops (RFC 3168). Schemes with routers of their own do not, and
        schemes that ask for marks anyway (`prague`) do so in their way.
    flows
        How many flows.
    duration, warm_up
        Length of a run; summaries count from the end of the warm-up.
    seed, repetitions
        Seed of the random streams, and how many independent runs.

    Returns
    -------
    list of Scenario
        In the order of `schemes`.

    Raises
    ------
    UsageError
        If there is no such scheme or link.
    ScenarioError
        If another value is wrong.
    """
    if not schemes:
        raise UsageError("no scheme was given; name at least one")
    chosen = [parse_scheme(scheme)[0] for scheme in schemes]
    refuse_for_routers_only(chosen, queue=queue, ecn=ecn)
    with said_of_arguments(ARGUMENTS):
        return [
            resolved(
                {
                    "name": f"compare-{part_of_path(found.id)}",
                    "title": f"{found.title} over {link}",
                    "duration": duration,
                    "seed": seed,
                    "repetitions": repetitions,
                    "record": {"warm_up": warm_up},
                    "topology": {
                        "kind": "dumbbell",
                        "bottleneck": bottleneck(link, [found], rtt=rtt, buffer=buffer, queue=queue),
                    },
                    "flows": [long_flows("flow", scheme, found, flows, ecn=ecn)],
                }
            )
            for scheme, found in zip(schemes, chosen, strict=True)
        ]


def resolved(tables: Mapping[str, Any]) -> Scenario:
    """Return a scenario of these tables in which everything fits together.

    Raises
    ------
    ScenarioError
        If something is wrong.
    """
    scenario = Scenario.from_dict(tables)
    scenario.plan()
    return scenario


@contextmanager
def said_of_arguments(arguments: Mapping[str, str]) -> Iterator[None]:
    """Have faults of a scenario that nobody wrote said of the arguments that it was made of.

    Parameters
    ----------
    arguments
        The names of arguments by the fields or tables at which they stand; the others have the field's name.
    """
    try:
        yield
    except (ScenarioError, TraceError) as error:
        lines = (_said_of_argument(line, arguments) for line in str(error).splitlines())
        # An argument of which several fields were made is wrong once.
        raise type(error)("\n".join(dict.fromkeys(lines))) from None


def _said_of_argument(line: str, arguments: Mapping[str, str]) -> str:
    line = line.removeprefix("scenario: ")
    for field, argument in arguments.items():
        if said := re.match(rf"{re.escape(field)}(?:\.(\S+))?: ", line):
            return f"{argument}: {f'{said[1]}: ' if said[1] else ''}{line[said.end() :]}"
    return line


def part_of_path(scheme: str) -> str:
    """Return the id of a scheme without + and :, which names of scenarios do not take."""
    return scheme.replace("+", "-plus").replace(":", "-")
