"""A bottleneck that is described by arguments of a command or function, not in a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from airpath.errors import UnitError, UsageError
from airpath.links import LINKS
from airpath.nearest import suggestion
from airpath.schemes import Scheme
from airpath.schemes.options import split_options
from airpath.units import format_duration, parse_duration, parse_rate

START: Final = {"uniform": ["0s", "1s"]}
"""Flows start at random within the first second, so that repetitions differ; equal repetitions of two schemes
start alike.
"""
HOLD_MUCH: Final = ("fq-codel", "dual-pi2")
"""Queues that have a limit of their own, since they keep their delay short whatever it is."""


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


def queue_of(text: str, link: str, buffer: str | None) -> dict[str, Any]:
    """Return a queue as a scenario writes it.

    Parameters
    ----------
    text
        The queue discipline, with options if wanted: `codel:target=10ms,ecn=false`.
    link
        The link that it stands before, as written.
    buffer
        Its limit. By default that of the named link, else the queue's own, else one bandwidth-delay product.

    Raises
    ------
    UsageError
        If an option is not of the form `name=value`, or the limit is given twice.
    """
    try:
        kind, options = split_options(text)
    except UsageError as error:
        raise UsageError(f"queue: {error}") from None
    if buffer is not None and "limit" in options:
        raise UsageError(
            f'buffer: found "{buffer}" and limit={options["limit"]} of the queue; accepted: one of them'
        )
    named = next((named for named in LINKS if named.name == link), None)
    limit = buffer or (named and named.buffer) or (None if kind in HOLD_MUCH else "1bdp")
    return {**({} if limit is None else {"limit": limit}), **options, "kind": kind}


def bottleneck(
    link: str, schemes: Sequence[Scheme], *, rtt: str | None, buffer: str | None, queue: str | None
) -> dict[str, Any]:
    """Return the bottleneck of a dumbbell as a scenario writes it.

    Parameters
    ----------
    link
        A rate, the name of a link that is shipped, or the path of a trace.
    schemes
        Those whose flows cross it. If one has a router of its own, that is its queue.
    rtt, buffer, queue
        As for `airpath.compare`.
    """
    rate, delay = link_rate(link)
    tables: dict[str, Any] = {"rate": rate, "delay": delay if rtt is None else half_of(rtt)}
    if queue is not None and all(scheme.router is None for scheme in schemes):
        tables["queue"] = queue_of(queue, link, buffer)
    elif buffer is not None:
        tables["queue"] = {"kind": "scheme", "limit": buffer}
    return tables


def long_flows(name: str, text: str, scheme: Scheme, count: int, *, ecn: bool) -> dict[str, Any]:
    """Return an entry of long-lived flows as a scenario writes it.

    Parameters
    ----------
    name
        What the entry is called.
    text, scheme
        The scheme as written, and what it stands for.
    count
        How many flows.
    ecn
        Whether they ask for marks, where they would not in their own way.
    """
    marks = ecn and scheme.router is None and "ecn" not in scheme.transport
    flows = {"name": name, "scheme": text, "count": count, "start": START}
    return {**flows, "transport": {"ecn": True}} if marks else flows


def refuse_for_routers_only(schemes: Sequence[Scheme], *, queue: str | None, ecn: bool) -> None:
    """Refuse what would change nothing, because all schemes have routers of their own.

    Raises
    ------
    UsageError
        If a queue or marks are asked for.
    """
    if any(scheme.router is None for scheme in schemes):
        return
    names = ", ".join(scheme.id for scheme in schemes)
    for argument, found in (("queue", queue), ("ecn", "true" if ecn else None)):
        if found is not None:
            raise UsageError(
                f'{argument}: found "{found}", which has no effect: {names} have routers of their own'
            )
