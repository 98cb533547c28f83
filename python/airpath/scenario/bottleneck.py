"""A bottleneck that is described by arguments of a command or function, not in a file."""

from pathlib import Path
from typing import Any, Final

from airpath.errors import UnitError, UsageError
from airpath.links import LINKS
from airpath.nearest import suggestion
from airpath.schemes.options import split_options
from airpath.units import format_duration, parse_duration, parse_rate

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
            f'buffer: found "{buffer}" beside limit={options["limit"]} of the queue; accepted: one of them'
        )
    named = next((named for named in LINKS if named.name == link), None)
    limit = buffer or (named and named.buffer) or (None if kind in HOLD_MUCH else "1bdp")
    return {**({} if limit is None else {"limit": limit}), **options, "kind": kind}
