"""Scenarios that differ in the scheme only."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from airpath.errors import ScenarioError, TraceError, UnitError, UsageError
from airpath.links import LINKS
from airpath.nearest import suggestion
from airpath.scenario.scenario import Scenario
from airpath.schemes import parse_scheme
from airpath.units import format_duration, parse_duration, parse_rate

START = {"uniform": ["0s", "1s"]}
"""Flows start at random within the first second, so that repetitions differ; equal repetitions of two schemes
start alike.
"""


_ARGUMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "topology.bottleneck.rate.file": "link",
        "topology.bottleneck.rate": "link",
        "topology.bottleneck.queue.limit": "buffer",
        "flows[0].count": "flows",
        "flows[0].scheme": "schemes",
        "flows[0].parameters": "schemes",
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
        Limit of the queue, which is what each scheme needs: drop-tail, or the scheme's router. By default
        that of the named link, else one bandwidth-delay product.
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
    rate, delay = link_rate(link)
    if rtt is not None:
        delay = half_of(rtt)
    bottleneck: dict[str, Any] = {"rate": rate, "delay": delay}
    if buffer is not None:
        bottleneck["queue"] = {"kind": "scheme", "limit": buffer}
    with said_of_arguments(_ARGUMENTS):
        return [
            resolved(
                {
                    "name": f"compare-{_part_of_path(parse_scheme(scheme)[0].id)}",
                    "title": f"{parse_scheme(scheme)[0].title} over {link}",
                    "duration": duration,
                    "seed": seed,
                    "repetitions": repetitions,
                    "record": {"warm_up": warm_up},
                    "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
                    "flows": [{"name": "flow", "scheme": scheme, "count": flows, "start": START}],
                }
            )
            for scheme in schemes
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
        lines = str(error).splitlines()
        raise type(error)("\n".join(_said_of_argument(line, arguments) for line in lines)) from None


def _said_of_argument(line: str, arguments: Mapping[str, str]) -> str:
    line = line.removeprefix("scenario: ")
    for field, argument in arguments.items():
        if said := re.match(rf"{re.escape(field)}(?:\.(\S+))?: ", line):
            return f"{argument}: {f'{said[1]}: ' if said[1] else ''}{line[said.end() :]}"
    return line


def _part_of_path(scheme: str) -> str:
    """Return the id of a scheme without + and :, which names of scenarios do not take."""
    return scheme.replace("+", "-plus").replace(":", "-")


def link_rate(link: str, argument: str = "link") -> tuple[str | dict[str, Any], str]:
    """Return the rate of the link as a scenario writes it, and its one-way delay (by default 20 ms).

    `argument` is what a refusal calls it.
    """
    for named in LINKS:
        if named.name == link:
            return {"kind": "link", "name": link}, named.delay or "20ms"
    if Path(link).is_file():
        return {"kind": "trace", "file": str(Path(link).resolve())}, "20ms"
    try:
        parse_rate(link)
    except UnitError as error:
        if link.lstrip("-")[:1].isdigit():
            raise UsageError(f"{argument}: {error}") from None
        raise UsageError(
            f'{argument}: found "{link}", which is neither a rate, nor a file, nor a shipped link;'
            f" {suggestion(link, (named.name for named in LINKS))}"
        ) from None
    return link, "20ms"


def half_of(rtt: str) -> str:
    """Return half of a round-trip time, as a scenario writes it."""
    try:
        return format_duration(parse_duration(rtt) // 2)
    except UnitError as error:
        raise UsageError(f"rtt: {error}") from None
