"""From a scenario to a plan: integers in fixed units, links and flows by index, as the engine reads it.

The base round-trip time of a link, which turns bandwidth-delay products into bytes, is the largest
propagation delay of the round trip of any flow whose data or acknowledgments cross the link. The extra RTT of
single flows is not included, and random delays count with their mean. A link that no flow crosses has twice
its own delay. The mean rate of a link is that of its process: of a schedule or a trace over one period (over
the run, if it does not repeat), of uniform random rates the middle of the range.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from airpath._declared.messages import FieldError, scenario_error
from airpath._declared.quantities import Draw, Even, Spread, draw_plan, largest, mean, smallest
from airpath._declared.tables import Values, plan_values
from airpath._nearest import suggestion
from airpath.errors import TraceError, UsageError
from airpath.plugins.specs import split_label
from airpath.scenario.amounts import LinkFigures
from airpath.scenario.channels import ChannelResolver, LinkDraft
from airpath.scenario.flows import DATAGRAMS, Flow, Transport
from airpath.scenario.losses import loss_plan
from airpath.scenario.management import management_plan
from airpath.scenario.model import ScenarioDocument
from airpath.scenario.network import Network, extra_rtt_of
from airpath.scenario.queues import DropTailQueue
from airpath.scenario.refusals import LinkPlace, Places
from airpath.scenario.routers import Speaker, checked_parameters, refuse_deaf_routers, router_of
from airpath.scenario.traces import TraceInput
from airpath.scenario.transport import packet_bytes, transport_plan
from airpath.schemes import Scheme, equal_labels, estimator_plan, parse_scheme, short_name
from airpath.units import AmountUnit, format_duration

PLAN_FORMAT: Final = 2
"""Version of the plan's format that this version writes; the engine rejects every other version."""

Plan: TypeAlias = dict[str, Any]
"""A plan: the input of the engine, ready for JSON."""


@dataclass(frozen=True)
class BufferSize:
    """One buffer in all four units; `None` if a unit does not apply."""

    bytes: int | None
    """Bytes; `None` without a limit."""
    packets: float | None
    """Full packets."""
    seconds: float | None
    """Time to drain at the mean rate."""
    bdp: float | None
    """Bandwidth-delay products: mean rate times base RTT."""


@dataclass(frozen=True)
class Resolved:
    """A resolved scenario."""

    plan: Plan
    """The plan."""
    traces: tuple[TraceInput, ...]
    """Its inputs; a plan refers to them by number."""
    buffers: dict[str, BufferSize]
    """Buffer of each link, in all four units."""
    base_rtt_ns: dict[str, float]
    """Base round-trip time of each link in nanoseconds."""
    mean_rate_bps: dict[str, float | None]
    """Mean rate of each link in bits per second; `None` if unlimited, or not known before the run."""
    packet_bytes: int
    """Size of the largest packet that any flow sends."""
    schemes: tuple[str | None, ...]
    """Scheme of each flow of the plan; `None` for datagrams."""
    labels: tuple[str | None, ...]
    """Short name of each of these schemes, if it was given or the scheme is code of the user."""
    groups: tuple[str, ...]
    """Name of the entry in the scenario to which each flow of the plan belongs."""
    places: Places
    """Positions of the links and flows of the plan in the scenario."""


def resolve(document: ScenarioDocument, source: str, folder: Path) -> Resolved:
    """Resolve a scenario.

    Parameters
    ----------
    document
        The scenario.
    source
        Its name in messages: the file, or "scenario".
    folder
        Base of relative paths of trace files.

    Raises
    ------
    ScenarioError
        If the scenario is inconsistent.
    TraceError
        If a trace cannot be read.
    """
    try:
        return _Resolution(document, folder).run()
    except FieldError as error:
        raise scenario_error(source, [error.fault]) from None
    except TraceError as error:
        raise TraceError(f"{source}: {error}") from None


@dataclass(frozen=True)
class _Control:
    """Controller and transport of one entry."""

    scheme: Scheme
    label: str | None
    parameters: Values
    controller: dict[str, Any]
    transport: dict[str, Any]

    def speaker(self, path: str, data: tuple[str, ...], acks: tuple[str, ...]) -> Speaker:
        """Return the entry as routers see it, on one of its routes."""
        return Speaker(path, self.scheme, self.parameters, self.controller, data, acks)


class _Resolution:
    """The state of resolving one scenario."""

    def __init__(self, document: ScenarioDocument, folder: Path) -> None:
        self.document = document
        self.channels = ChannelResolver(folder, document.duration)
        self.network = Network(document.topology, self.channels)
        self.base_rtt: dict[str, float] = {}
        self.largest_packet = 0
        self.flow_entries: list[str] = []
        self.speakers: list[Speaker] = []
        self.labelled: dict[str, str] = {}
        self.estimators: dict[str, dict[str, Any]] = {}
        self.places = Places()

    def run(self) -> Resolved:
        flows = [
            flow
            for index, entry in enumerate(self.document.flows)
            for flow in self._flows(entry, f"flows[{index}]")
        ]
        for name, count in Counter(flow["name"] for flow, _, _ in flows).items():
            if count > 1:
                raise FieldError(
                    "flows", f'there is more than one flow "{name}"; give the entries different names'
                )
        for name, draft in self.network.links.items():
            self.base_rtt.setdefault(name, 2 * mean(draft.delay))
        self.flow_entries = [entry for _, _, entry in flows]
        links, buffers = self._links()
        indices = {name: index for index, name in enumerate(self.network.links)}
        for flow, _, _ in flows:
            flow["path"] = [indices[name] for name in flow["path"]]
            flow["reverse_path"] = [indices[name] for name in flow["reverse_path"]]
            flow["measured_at"] = indices[flow["measured_at"]]
        record = self.document.record
        plan = {
            "format": PLAN_FORMAT,
            "duration_ns": self.document.duration,
            "record": {
                "measure_from_ns": self.document.warm_up,
                "interval_ns": record.interval,
                "packets": record.packets,
                "estimate_samples": record.estimate_samples,
                "drops": record.drops,
                "flow_limits": record.flow_limits,
                "capture": [
                    indices[self._link_name(name, f"record.capture[{index}]", indices)]
                    for index, name in enumerate(record.capture)
                ],
                "qlog": record.qlog,
            },
            "estimators": [
                {"name": name, "estimator": estimator} for name, estimator in self.estimators.items()
            ],
            "links": links,
            "flows": [flow for flow, _, _ in flows],
        }
        return Resolved(
            plan=plan,
            traces=tuple(self.channels.traces.inputs),
            buffers=buffers,
            base_rtt_ns=self.base_rtt,
            mean_rate_bps={name: draft.mean_bps for name, draft in self.network.links.items()},
            packet_bytes=self.largest_packet,
            schemes=tuple(None if control is None else control.scheme.id for _, control, _ in flows),
            labels=tuple(None if control is None else control.label for _, control, _ in flows),
            groups=tuple(group for _, _, group in flows),
            places=self.places,
        )

    def _flows(self, entry: Flow, path: str) -> Iterator[tuple[dict[str, Any], _Control | None, str]]:
        """Return the flows of one entry: the plan of each (links still by name), its control, its group."""
        control = self._control(entry, path)
        controller, transport = (None, None) if control is None else (control.controller, control.transport)
        estimators = self._estimators(entry, path)
        traffic = plan_values(entry.traffic, {})
        for route in self.network.routes(entry, path):
            base_rtt = self.network.base_rtt(route)
            for index in range(entry.count):
                name = f"{route.group}-{index + 1}"
                self.places.flows[name] = path
                start, stop = _span(entry, index, name, path)
                data, acks = self.network.attach(name, route, extra_rtt_of(entry, index))
                self._note_base_rtt((*data, *acks), base_rtt)
                if control is not None and index == 0:  # the others of the group cross the same core links
                    self.speakers.append(control.speaker(path, data, acks))
                flow = {
                    "name": name,
                    "path": data,
                    "reverse_path": acks,
                    "measured_at": self._measured_at(entry, data, path),
                    "start_ns": draw_plan(start),
                    "stop_ns": None if stop is None else draw_plan(stop),
                    "traffic": traffic,
                    "controller": controller,
                    "transport": transport,
                    "estimators": estimators,
                }
                yield flow, control, entry.name

    def _control(self, entry: Flow, path: str) -> "_Control | None":
        """Return scheme, controller and transport of an entry; `None` for datagrams."""
        traffic = entry.traffic
        kind = traffic["kind"]
        if kind in DATAGRAMS:
            for key in ("scheme", "parameters", "transport", "estimators"):
                if key in entry.model_fields_set:
                    raise FieldError(
                        f"{path}.{key}", f'not applicable to traffic of kind "{kind}" (datagrams)'
                    )
            packet = traffic["packet"]
            size = packet if isinstance(packet, int) else int(mean(packet))
            self.largest_packet = max(self.largest_packet, size)
            return None
        if entry.scheme is None:
            raise FieldError(f"{path}.scheme", f'required for traffic of kind "{kind}", but not given')
        scheme, parameters = scheme_of(entry, path)
        layers = (entry.transport, self.document.transport, Transport.model_validate(dict(scheme.transport)))
        transport = transport_plan(layers, f"{path}.transport", scheme.header_bytes)
        self.largest_packet = max(self.largest_packet, packet_bytes(transport))
        try:
            controller = scheme.build(parameters, transport["mss_bytes"])
        except UsageError as error:
            raise FieldError(f"{path}.parameters", f'{error} (scheme "{scheme.id}")') from None
        return _Control(scheme, self._label(entry, scheme, path), parameters, controller, transport)

    def _label(self, entry: Flow, scheme: Scheme, path: str) -> str | None:
        """Return the short name of a scheme, which no other scheme may have."""
        text = entry.scheme or ""
        label = short_name(text)
        if label is not None:
            own = text if split_label(text)[0] is not None else scheme.id
            if (first := self.labelled.setdefault(label, own)) != own:
                raise FieldError(f"{path}.scheme", equal_labels(label, first, own))
        return label

    def _estimators(self, entry: Flow, path: str) -> list[int]:
        """Return the indices of the estimators of an entry; equal texts share an index."""
        for index, text in enumerate(entry.estimators):
            if text not in self.estimators:
                try:
                    self.estimators[text] = estimator_plan(text)
                except UsageError as error:
                    raise FieldError(f"{path}.estimators[{index}]", str(error)) from None
        numbers = {name: number for number, name in enumerate(self.estimators)}
        return [numbers[text] for text in dict.fromkeys(entry.estimators)]

    def _note_base_rtt(self, names: Iterable[str], base_rtt: float) -> None:
        for name in names:
            self.base_rtt[name] = max(self.base_rtt.get(name, 0.0), base_rtt)

    def _measured_at(self, entry: Flow, data: tuple[str, ...], path: str) -> str:
        if entry.measured_at is not None:
            return self._link_name(entry.measured_at, f"{path}.measured_at", data)
        return next((name for name in data if self.network.links[name].record), data[0])

    def _link_name(self, name: str, path: str, known: Any) -> str:
        if name not in known:
            raise FieldError(path, f'unknown link "{name}"; {suggestion(name, known)}')
        return name

    def _links(self) -> tuple[list[dict[str, Any]], dict[str, BufferSize]]:
        plans: list[dict[str, Any]] = []
        buffers: dict[str, BufferSize] = {}
        for draft in self.network.links.values():
            self.places.links[draft.name] = LinkPlace(draft.path, None)
            limit_bytes, limit_packets = self._limit(draft)
            buffers[draft.name] = self._buffer_size(draft, limit_bytes, limit_packets)
            plans.append(
                {
                    "name": draft.name,
                    "rate": draft.rate,
                    "delay_ns": draw_plan(draft.delay),
                    "jitter_ns": None if draft.jitter is None else draw_plan(draft.jitter),
                    **loss_plan(draft.loss),
                    "arq": None if draft.arq is None else plan_values(draft.arq, {}),
                    "queue": self._queue(draft, limit_bytes, limit_packets),
                    "record": draft.record,
                }
            )
        refuse_deaf_routers(self.speakers, {plan["name"]: plan["queue"] for plan in plans})
        return plans, buffers

    def _queue(self, draft: LinkDraft, limit_bytes: int | None, limit_packets: int | None) -> dict[str, Any]:
        limits = {"limit_bytes": limit_bytes, "limit_packets": limit_packets}
        if isinstance(draft.queue, DropTailQueue):  # checked first, because most links are those of hosts
            return {"kind": "drop-tail", **limits}
        if isinstance(draft.queue, Values):
            management = management_plan(draft.queue, self._figures(draft))
            return {"kind": "managed", **limits, "management": management}
        router = router_of(draft, self.speakers, self.largest_packet)
        if router is None:
            return {"kind": "drop-tail", **limits}
        self.places.links[draft.name] = LinkPlace(draft.path, router.path)
        return {"kind": "router", **limits, **router.plan}

    def _figures(self, draft: LinkDraft) -> LinkFigures:
        return LinkFigures(draft, self.base_rtt[draft.name], self.largest_packet, self.flow_entries)

    def _limit(self, draft: LinkDraft) -> tuple[int | None, int | None]:
        """Return the limit of a queue in bytes or in packets."""
        queue, path = draft.queue, f"{draft.path}.queue.limit"
        limit = queue["limit"] if isinstance(queue, Values) else queue.limit
        if limit.unit is AmountUnit.UNLIMITED:
            return None, None
        if limit.unit is AmountUnit.PACKETS:
            if limit.value == 0:
                raise FieldError(path, "found a buffer of 0 packets; it must hold at least one")
            return None, int(limit.value)
        size = self._figures(draft).bytes_of(limit, path)
        # At a rate of zero, every buffer in units of time is empty: report the rate, not the buffer.
        if draft.mean_bps == 0 and limit.unit is not AmountUnit.BYTES:
            raise FieldError(
                f"{draft.path}.rate",
                f'the mean rate of link "{draft.name}" is zero: no packet can ever be sent',
            )
        if size < self.largest_packet:
            raise FieldError(
                path,
                f'the buffer of link "{draft.name}" comes to {size} bytes, less than one packet of'
                f" {self.largest_packet} bytes (base RTT {self.base_rtt[draft.name] / 1e6:g} ms)",
            )
        return size, None

    def _buffer_size(
        self, draft: LinkDraft, limit_bytes: int | None, limit_packets: int | None
    ) -> BufferSize:
        """Return the same buffer in all four units; a packet is the largest that any flow sends."""
        if limit_packets is not None:
            limit_bytes = limit_packets * self.largest_packet
        if limit_bytes is None:
            return BufferSize(None, None, None, None)
        packets = limit_packets if limit_packets is not None else limit_bytes / self.largest_packet
        seconds = limit_bytes * 8 / draft.mean_bps if draft.mean_bps else None
        base_rtt = self.base_rtt[draft.name] * 1e-9
        return BufferSize(
            limit_bytes, packets, seconds, seconds / base_rtt if seconds is not None and base_rtt else None
        )


def scheme_of(entry: Flow, path: str) -> tuple[Scheme, Values]:
    """Return the scheme of an entry and its parameters, checked."""
    try:
        scheme, options = parse_scheme(entry.scheme or "")
    except UsageError as error:
        raise FieldError(f"{path}.scheme", str(error)) from None
    return checked_parameters(scheme, options | entry.parameters, f"{path}.parameters")


def _one_of(spread: Spread, index: int, count: int) -> Draw:
    return spread.at(index, count) if isinstance(spread, Even) else spread


def _span(entry: Flow, index: int, name: str, path: str) -> tuple[Draw, Draw | None]:
    """Return start and stop of the flow with number `index`; refuse a stop that is never after the start."""
    start = _one_of(entry.start, index, entry.count)
    stop = None if entry.stop is None else _one_of(entry.stop, index, entry.count)
    if stop is not None and largest(stop) <= smallest(start):
        raise FieldError(
            f"{path}.stop",
            f'"{name}" never sends: it stops after {format_duration(int(largest(stop)))} at the latest,'
            f" and does not start before {format_duration(smallest(start))}",
        )
    return start, stop
