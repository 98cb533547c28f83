"""Scenarios that differ in the scheme only."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Final

from airpath.errors import ScenarioError, TraceError, UsageError
from airpath.scenario.bottleneck import half_of, link_rate, queue_of
from airpath.scenario.scenario import Scenario
from airpath.schemes import Scheme, parse_scheme

START = {"uniform": ["0s", "1s"]}
"""Flows start at random within the first second, so that repetitions differ; equal repetitions of two schemes
start alike.
"""


_ARGUMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "topology.bottleneck.rate.file": "link",
        "topology.bottleneck.rate": "link",
        "topology.bottleneck.queue.limit": "buffer",
        "topology.bottleneck.queue.kind": "queue",
        "topology.bottleneck.queue": "queue",
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
    chosen_schemes = [parse_scheme(scheme)[0] for scheme in schemes]
    _refuse_for_routers_only(chosen_schemes, queue=queue, ecn=ecn)
    rate, delay = link_rate(link)
    if rtt is not None:
        delay = half_of(rtt)
    with said_of_arguments(_ARGUMENTS):
        return [
            resolved(
                {
                    "name": f"compare-{_part_of_path(chosen.id)}",
                    "title": f"{chosen.title} over {link}",
                    "duration": duration,
                    "seed": seed,
                    "repetitions": repetitions,
                    "record": {"warm_up": warm_up},
                    "topology": {
                        "kind": "dumbbell",
                        "bottleneck": {"rate": rate, "delay": delay, **_queue(chosen, link, queue, buffer)},
                    },
                    "flows": [
                        {
                            "name": "flow",
                            "scheme": scheme,
                            "count": flows,
                            "start": START,
                            **({"transport": {"ecn": True}} if ecn and _can_ask_for_marks(chosen) else {}),
                        }
                    ],
                }
            )
            for scheme, chosen in zip(schemes, chosen_schemes, strict=True)
        ]


def _queue(scheme: Scheme, link: str, queue: str | None, buffer: str | None) -> dict[str, Any]:
    """Return the queue of the bottleneck under its key; nothing where everything is left to defaults."""
    if queue is not None and scheme.router is None:
        return {"queue": queue_of(queue, link, buffer)}
    return {} if buffer is None else {"queue": {"kind": "scheme", "limit": buffer}}


def _refuse_for_routers_only(schemes: Sequence[Scheme], *, queue: str | None, ecn: bool) -> None:
    """Refuse what would change nothing, because all schemes have routers of their own."""
    if any(scheme.router is None for scheme in schemes):
        return
    names = ", ".join(scheme.id for scheme in schemes)
    for argument, found in (("queue", queue), ("ecn", "true" if ecn else None)):
        if found is not None:
            raise UsageError(
                f'{argument}: found "{found}", which changes nothing: {names} bring routers of their own'
            )


def _can_ask_for_marks(scheme: Scheme) -> bool:
    return scheme.router is None and "ecn" not in scheme.transport


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
