"""Conversion of the links of a scenario to drafts of the links of a plan, in both directions."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter

from airpath import _core
from airpath._declared.messages import FieldError
from airpath._declared.quantities import Constant, Draw
from airpath._declared.tables import Values, plan_values
from airpath.errors import TraceError, UsageError
from airpath.links import find_link
from airpath.scenario.queues import AnyQueue, DropTailQueue, SchemeQueue
from airpath.scenario.rates import AnyRate, NamedRate, RateProcess, TraceRate
from airpath.scenario.topology import Link, Reverse
from airpath.scenario.traces import TraceInput, TraceList, mean_rate, read_trace
from airpath.units import parse_buffer, parse_duration

NO_LIMIT = DropTailQueue(kind="drop-tail", limit=parse_buffer("unlimited"))
"""The queue of a link without queueing."""


@dataclass(frozen=True)
class LinkDraft:
    """One directed link of a plan without the limit of its queue, which depends on the round-trip time."""

    name: str
    path: str
    """Its path in the scenario, for messages."""
    rate: dict[str, Any]
    """The rate as in the plan."""
    mean_bps: float | None
    """Mean rate in bits per second; `None` if it is not known before the run."""
    delay: Draw
    jitter: Draw | None
    loss: float | Values
    arq: Values | None
    """Link-layer retransmission of corrupted packets; `None` for none."""
    queue: AnyQueue
    record: bool

    @property
    def unlimited(self) -> bool:
        """Whether transmission takes no time."""
        return bool(self.rate["kind"] == "unlimited")


@dataclass(frozen=True)
class _Rate:
    """A resolved rate process, with the properties of a named link."""

    plan: dict[str, Any]
    mean_bps: float | None
    delay: Draw | None = None
    buffer: str | None = None

    @property
    def unlimited(self) -> bool:
        return bool(self.plan["kind"] == "unlimited")

    @property
    def default_queue(self) -> AnyQueue:
        return (
            NO_LIMIT
            if self.unlimited
            else SchemeQueue(kind="scheme", limit=parse_buffer(self.buffer or "1bdp"))
        )


class ChannelResolver:
    """Converts links to drafts; collects the traces that they name."""

    def __init__(self, folder: Path, duration: int) -> None:
        self.folder = folder
        self.duration = duration
        self.traces = TraceList()

    def forward(self, name: str, link: Link, path: str) -> LinkDraft:
        """Return the forward direction of a link."""
        rate = self._rate(link.rate, name, f"{path}.rate")
        return LinkDraft(
            name=name,
            path=path,
            rate=rate.plan,
            mean_bps=rate.mean_bps,
            delay=link.delay or rate.delay or Constant(0),
            jitter=link.jitter,
            loss=link.loss,
            arq=link.arq,
            queue=link.queue or rate.default_queue,
            record=(not rate.unlimited) if link.record is None else link.record,
        )

    def backward(self, name: str, link: Link, forward: LinkDraft, reverse: Reverse, path: str) -> LinkDraft:
        """Return the opposite direction: the settings of `reverse`, others as in the forward direction."""
        rate_path = f"{path}.rate"
        if reverse.rate is not None:
            rate = self._rate(reverse.rate, name, rate_path)
        elif isinstance(link.rate, NamedRate) and (paired := find_link(link.rate.name).reverse) is not None:
            rate = self._rate(link.rate.model_copy(update={"name": paired}), name, rate_path)
        else:
            # The same random stream, so that both directions change together.
            rate = _Rate(forward.rate, forward.mean_bps)
        return LinkDraft(
            name=name,
            path=path,
            rate=rate.plan,
            mean_bps=rate.mean_bps,
            delay=reverse.delay or forward.delay,
            jitter=reverse.jitter or forward.jitter,
            loss=forward.loss if reverse.loss is None else reverse.loss,
            arq=reverse.arq or forward.arq,
            queue=reverse.queue
            or (rate.default_queue if rate.unlimited != forward.unlimited else forward.queue),
            record=next(
                (record for record in (reverse.record, link.record) if record is not None), not rate.unlimited
            ),
        )

    def _rate(self, rate: AnyRate, name: str, path: str) -> _Rate:
        match rate:
            case TraceRate():
                return self._trace(rate, path)
            case NamedRate():
                return self._named(rate, name, path)
        stream = {"stream": rate["stream"] or name} if "stream" in rate else {}
        plan = plan_values(rate, {}, resolved=stream)
        return _Rate(plan, _core.mean_rate(json.dumps(plan), self.duration))

    def _trace(self, rate: TraceRate, path: str) -> _Rate:
        trace = TraceInput(self.folder / rate.file, rate.format, rate.direction)
        try:
            mean = mean_rate(trace)
        except TraceError as error:
            raise TraceError(f"{path}.file: {error}") from None
        kind = "opportunities" if read_trace(trace).kind == "opportunities" else "rate-log"
        return _Rate({"kind": kind, "trace": self.traces.index(trace), "once": rate.mode == "once"}, mean)

    def _named(self, rate: NamedRate, name: str, path: str) -> _Rate:
        try:
            link = find_link(rate.name)
        except UsageError as error:
            raise FieldError(f"{path}.name", str(error)) from None
        process = _RATE_PROCESS.validate_python(dict(link.rate))
        if isinstance(process, TraceRate):
            process = process.model_copy(update={"mode": rate.mode})
        resolved = self._rate(process, name, path)
        delay = None if link.delay is None else Constant(parse_duration(link.delay))
        return _Rate(resolved.plan, resolved.mean_bps, delay, link.buffer)


_RATE_PROCESS: TypeAdapter[AnyRate] = TypeAdapter(RateProcess, config=ConfigDict(defer_build=True))
