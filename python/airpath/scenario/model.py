"""The root of a scenario, as written."""

from typing import Annotated, Self

from pydantic import Field, Strict, model_validator

from airpath._declared.messages import ValueOfKeyError
from airpath._declared.quantities import (
    Flag,
    Name,
    PositiveDuration,
    Repetitions,
    Table,
    Text,
    WarmUp,
    largest,
    smallest,
)
from airpath.scenario.flows import Flow, Transport
from airpath.scenario.topology import Topology
from airpath.scenario.warm_up import automatic_warm_up
from airpath.units import format_duration


class Record(Table):
    """The measurements of a run: when they start, their resolution, and the tables to keep."""

    warm_up: WarmUp = 0
    """Start of the measured interval; "auto" is 2 s after the latest start, at most a fifth of the run."""
    interval: PositiveDuration = 100_000_000
    """Width of one row of the time series. Default: 100 ms."""
    packets: Flag = False
    """Keep a row for each data packet that reaches its receiver; memory grows with the rate."""
    estimate_samples: Flag = False
    """Keep a row for each sample of every ACK-rate estimator; memory grows with the rate."""
    drops: Flag = True
    """Keep a row for each lost packet; without it, runs with millions of losses take less time and memory."""
    flow_limits: Flag = False
    """Keep a row for each flow and interval with the shares of time in which the application, the windows,
    pacing and recovery limited the sender; not on the backend `quic`.
    """
    capture: tuple[Text, ...] = ()
    """Names of links at whose entrance packets are captured (pcapng)."""
    qlog: Flag = False
    """Write a log (qlog) of each flow with a controller, at most 64; memory grows with the rate."""


class ScenarioDocument(Table):
    """A scenario: everything that a run needs, except the number of the repetition."""

    name: Name
    """Short name; part of file names."""
    title: Text = ""
    """Title, for reports and figures. Default: the name."""
    description: Text = ""
    """The purpose of the scenario, and the sources of its values."""
    duration: PositiveDuration
    """Duration of a run, in simulated time."""
    seed: Annotated[int, Strict(), Field(ge=0, le=2**63 - 1)] = 1
    """Seed of the random streams."""
    repetitions: Repetitions = 1
    """Number of independent runs."""
    record: Record = Record.model_construct()
    """Measurements and tables to keep."""
    topology: Topology
    """The links and how they are connected."""
    transport: Transport = Transport.model_construct()
    """Settings of the transport for all flows."""
    flows: Annotated[tuple[Flow, ...], Field(min_length=1)]
    """The groups of flows."""

    @property
    def warm_up(self) -> int:
        """Length of the warm-up, in nanoseconds."""
        if not isinstance(self.record.warm_up, str):
            return self.record.warm_up
        latest_start = max(largest(flow.start) for flow in self.flows)
        return automatic_warm_up(latest_start, self.duration, self.record.interval)

    @model_validator(mode="after")
    def _something_is_measured(self) -> Self:
        if self.warm_up >= self.duration:
            raise ValueOfKeyError(
                "record.warm_up",
                f"found {format_duration(self.warm_up)}, which must be shorter than the duration of"
                f" {format_duration(self.duration)}",
            )
        return self

    def remarks(self) -> tuple[str, ...]:
        """Return remarks on settings that may be mistakes: flows that start after the end of the run.

        They are not refused, because a shortened scenario has such flows intentionally.
        """
        return tuple(
            f'flows[{number}].start: "{flow.name}" never sends: it starts after {format_duration(start)},'
            f" and the run lasts {format_duration(self.duration)}"
            for number, flow in enumerate(self.flows)
            if (start := smallest(flow.start)) >= self.duration
        )
