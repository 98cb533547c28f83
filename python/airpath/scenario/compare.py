"""Scenarios that differ in the scheme only."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from airpath.errors import UnitError, UsageError
from airpath.links import LINKS
from airpath.nearest import suggestion
from airpath.scenario.scenario import Scenario
from airpath.schemes import parse_scheme
from airpath.units import format_duration, parse_duration, parse_rate

START = {"uniform": ["0s", "1s"]}
"""Flows start at random within the first second, so that repetitions differ; equal repetitions of two schemes
start alike.
"""


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
    return [
        Scenario.from_dict(
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


def _part_of_path(scheme: str) -> str:
    """Return the id of a scheme without + and :, which names of scenarios do not take."""
    return scheme.replace("+", "-plus").replace(":", "-")


def link_rate(link: str) -> tuple[str | dict[str, Any], str]:
    """Return the rate of the link as a scenario writes it, and its one-way delay (by default 20 ms)."""
    for named in LINKS:
        if named.name == link:
            return {"kind": "link", "name": link}, named.delay or "20ms"
    if Path(link).is_file():
        return {"kind": "trace", "file": str(Path(link).resolve())}, "20ms"
    try:
        parse_rate(link)
    except UnitError as error:
        if link.lstrip("-")[:1].isdigit():
            raise UsageError(f"link: {error}") from None
        raise UsageError(
            f'link: found "{link}", which is neither a rate, nor a file, nor a shipped link;'
            f" {suggestion(link, (named.name for named in LINKS))}"
        ) from None
    return link, "20ms"


def half_of(rtt: str) -> str:
    """Return half of a round-trip time, as a scenario writes it."""
    try:
        return format_duration(parse_duration(rtt) // 2)
    except UnitError as error:
        raise UsageError(f"rtt: {error}") from None
