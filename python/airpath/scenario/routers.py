"""The router at each link: as written in the scenario, or as needed by the schemes of the flows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airpath._declared.messages import FieldError
from airpath._declared.tables import TableError, Values
from airpath.errors import UsageError
from airpath.scenario.channels import LinkDraft
from airpath.scenario.queues import RouterQueue, SchemeQueue
from airpath.schemes import LinkFacts, Scheme, parse_scheme
from airpath.schemes.protocols import protocol_plan, source_plan


@dataclass(frozen=True)
class Speaker:
    """A group of flows that one scheme controls, and the links that it crosses."""

    path: str
    """The path of the group in the scenario."""
    scheme: Scheme
    parameters: Values
    controller: Mapping[str, Any]
    """Its controller as in the plan."""
    data: tuple[str, ...]
    """Links from sender to receiver."""
    acks: tuple[str, ...]
    """Links of the reverse path."""


def checked_parameters(scheme: Scheme, given: Mapping[str, Any], path: str) -> tuple[Scheme, Values]:
    """Return a scheme with its parameters, checked; `path` is their path in the scenario."""
    try:
        return scheme, scheme.parameters.read(given, path)
    except TableError as error:
        first = error.faults[0]
        raise FieldError(first.path, f'{first.message} (scheme "{scheme.id}")') from None


@dataclass(frozen=True)
class Router:
    """The router at a link."""

    plan: dict[str, Any]
    """`protocol` and `source` as in the plan."""
    path: str | None = None
    """The path of their parameters in the scenario, if not in the queue of the link."""


def router_of(draft: LinkDraft, speakers: Sequence[Speaker], packet_bytes: int) -> Router | None:
    """Return the router at a link; `None` for a plain queue.

    Parameters
    ----------
    draft
        The link.
    speakers
        All controlled flows of the scenario.
    packet_bytes
        The largest packet that any flow sends.
    """
    facts = LinkFacts(draft.mean_bps, packet_bytes)
    path = f"{draft.path}.queue"
    queue = draft.queue
    if isinstance(queue, RouterQueue):
        return _of_queue(queue, facts, path)
    if not isinstance(queue, SchemeQueue):
        return None
    if queue.scheme is None:
        return _needed(draft, speakers, facts)
    try:
        named, options = parse_scheme(queue.scheme)
    except UsageError as error:
        raise FieldError(f"{path}.scheme", str(error)) from None
    scheme, parameters = checked_parameters(named, options, f"{path}.scheme")
    plan = _of_scheme(scheme, parameters, facts, f"{path}.scheme")
    return None if plan is None else Router(plan, f"{path}.scheme")


def _of_queue(queue: RouterQueue, facts: LinkFacts, path: str) -> Router:
    """Return the router of a queue with an explicit protocol and source."""
    name = queue.protocol["kind"]
    table = "protocol"
    try:
        protocol = protocol_plan(name, queue.protocol)
        table = "source"
        source = source_plan(queue.source["kind"], name, facts, queue.source)
    except UsageError as error:
        raise FieldError(f"{path}.{table}", str(error)) from None
    return Router({"protocol": protocol, "source": source})


def refuse_deaf_routers(speakers: Iterable[Speaker], queues: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse flows whose scheme needs routers that are not on their path.

    Parameters
    ----------
    speakers
        All controlled flows of the scenario.
    queues
        Queue of each link as in the plan, by name.

    Raises
    ------
    FieldError
        If a router on the forward path uses another protocol, or none uses the scheme's.
    """
    for speaker in speakers:
        if speaker.scheme.router is None:
            continue
        protocol, name = speaker.scheme.router.protocol, speaker.scheme.id
        path = f"{speaker.path}.scheme"
        routers = [link for link in speaker.data if queues[link]["kind"] == "router"]
        for link in routers:
            spoken = queues[link]["protocol"]
            if spoken["kind"] != protocol:
                raise FieldError(
                    path,
                    f'"{name}" needs routers of {protocol}, and that of link "{link}" is {spoken["kind"]}',
                )
        if not routers:
            raise FieldError(
                path,
                f'"{name}" needs a router of {protocol} on its path, and there is none; give the bottleneck'
                ' queue = {kind = "scheme", limit = "…"}',
            )


def _needed(draft: LinkDraft, speakers: Sequence[Speaker], facts: LinkFacts) -> Router | None:
    """Return the router that flows across a link need; flows with data there precede those with ACKs only."""
    for crosses in (lambda s: draft.name in s.data, lambda s: draft.name in s.acks):
        first: tuple[Speaker, dict[str, Any]] | None = None
        for speaker in filter(crosses, speakers):
            plan = _of_scheme(speaker.scheme, speaker.parameters, facts, f"{speaker.path}.parameters")
            if plan is None:
                continue
            first = first or (speaker, plan)
            if plan != first[1]:
                raise _different_routers(draft, first[0], speaker)
        if first:
            return Router(first[1], f"{first[0].path}.parameters")
    return None


def _different_routers(draft: LinkDraft, one: Speaker, other: Speaker) -> FieldError:
    parameters = " with other parameters" if one.scheme.id == other.scheme.id else ""
    return FieldError(
        f"{draft.path}.queue.scheme",
        f'required: flows of different routers cross link "{draft.name}", which can have one only'
        f" ({one.scheme.id} of {one.path}, {other.scheme.id} of {other.path}{parameters})",
    )


def _of_scheme(scheme: Scheme, parameters: Values, facts: LinkFacts, path: str) -> dict[str, Any] | None:
    if scheme.router is None:
        return None
    try:
        return scheme.router.plan(parameters, facts)
    except UsageError as error:
        raise FieldError(path, f'{error} (scheme "{scheme.id}")') from None
