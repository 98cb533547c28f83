"""Scenarios that differ only in the scheme."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final, Unpack

from airpath.errors import ScenarioError, TraceError, UsageError
from airpath.links.options import CompareOptions, Comparison
from airpath.scenario.bottleneck import dumbbell, long_flows, refuse_for_routers_only
from airpath.scenario.scenario import Scenario
from airpath.schemes import Scheme, parse_scheme, short_name

ARGUMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "topology.bottleneck.rate.file": "link",
        "topology.bottleneck.rate": "link",
        "topology.reverse.rate.file": "up",
        "topology.reverse.rate": "up",
        "topology.bottleneck.loss": "loss",
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
"""The argument from which a field of these scenarios was made; others have the name of their field."""


def compare_scenario(
    schemes: Sequence[str], link: str | None = None, **given: Unpack[CompareOptions]
) -> list[Scenario]:
    """Return one scenario for each scheme: long-lived flows over one link, everything else equal.

    Parameters
    ----------
    schemes
        Schemes, optionally with options (`cubic:beta=0.8`). Schemes with their own routers keep these, and
        use their own marking or none.
    link
        A rate ("12mbps"), the name of a shipped link ("lte.down"), or the path of a trace; the network's if
        absent.
    **given
        `airpath.links.options.CompareOptions`.

    Returns
    -------
    list of Scenario
        In the order of `schemes`. Each seed samples its base round-trip time near the given one.

    Raises
    ------
    UsageError
        If there is no such scheme, link or option.
    ScenarioError
        If another value is wrong.
    """
    if not schemes:
        raise UsageError("no scheme was given; name at least one")
    comparison = Comparison.of(link, given)
    chosen = [parse_scheme(scheme)[0] for scheme in schemes]
    refuse_for_routers_only(chosen, comparison)
    with said_of_arguments(ARGUMENTS):
        return [
            over_link(
                f"compare-{part_of_path(short_name(scheme) or found.id)}",
                found.title,
                comparison,
                {"flow": (scheme, found)},
            )
            for scheme, found in zip(schemes, chosen, strict=True)
        ]


def over_link(
    name: str, title: str, comparison: Comparison, schemes: Mapping[str, tuple[str, Scheme]]
) -> Scenario:
    """Return long-lived flows over one link.

    Parameters
    ----------
    name, title
        Name and title of the scenario; "over" and the link are added to the title.
    comparison
        The link, its flows and the runs.
    schemes
        Scheme by name of the entry of flows, as written and as found.
    """
    found = [scheme for _, scheme in schemes.values()]
    return resolved(
        {
            "name": name,
            "title": f"{title} over {comparison.name}",
            "duration": comparison.duration,
            "seed": comparison.seed,
            "repetitions": comparison.repetitions,
            "record": {"warm_up": comparison.warm_up},
            "topology": dumbbell(comparison, found, draw_rtt=True),
            "flows": [
                long_flows(entry, text, scheme, comparison) for entry, (text, scheme) in schemes.items()
            ],
        }
    )


def resolved(tables: Mapping[str, Any]) -> Scenario:
    """Return a scenario of these tables that can be resolved.

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
    """Report faults of a generated scenario as faults of the arguments from which it was made.

    Parameters
    ----------
    arguments
        Names of arguments by field or table of the scenario; others have the name of the field.
    """
    try:
        yield
    except (ScenarioError, TraceError) as error:
        lines = (_said_of_argument(line, arguments) for line in str(error).splitlines())
        # An argument that sets several fields is reported once.
        raise type(error)("\n".join(dict.fromkeys(lines))) from None


def _said_of_argument(line: str, arguments: Mapping[str, str]) -> str:
    line = line.removeprefix("scenario: ")
    for field, argument in arguments.items():
        if said := re.match(rf"{re.escape(field)}(?:\.(\S+))?: ", line):
            return f"{argument}: {f'{said[1]}: ' if said[1] else ''}{line[said.end() :]}"
    return line


def part_of_path(scheme: str) -> str:
    """Return the id of a scheme with only the characters allowed in the name of a scenario."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", scheme.replace("+", "-plus"))
