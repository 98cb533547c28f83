"""A log of a link, as arrays."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from airpath import _core
from airpath._os.input_file import InputFile, input_file
from airpath.errors import LinkLogError

Column = npt.NDArray[Any]
Events = Mapping[str, Column]
"""Columns of one kind of event: `time_ns`, `bytes`, and others; those in nanoseconds int64, others uint32."""


@dataclass(frozen=True)
class LinkLog:
    """One log.

    Times are nanoseconds since the base timestamp of a log of `mm-link`, since the first event of others.

    Attributes
    ----------
    path
        The file; `stdin` for standard input.
    sha256
        The hash of its bytes, in hexadecimal digits.
    kind
        ``mm-link`` if the log states a base timestamp, else ``tunnel``; it selects the definitions of the
        measures.
    opportunities
        Delivery opportunities of the link: `time_ns`, `bytes`.
    arrivals
        Packets that reached the queue or entered the tunnel: `time_ns`, `bytes`, `flow`.
    departures
        Packets that left: `time_ns`, `bytes`, `flow`, `delay_ns`, which can be negative if two clocks differ.
    drops
        Packets that were dropped: `time_ns`, `packets`, `bytes`.
    names_flows
        Whether it names flows; otherwise every event belongs to flow 0.
    ended_early
        Where and why reading stopped early; empty if the file was read to its end.
    """

    path: Path
    sha256: str
    kind: Literal["mm-link", "tunnel"]
    opportunities: Events
    arrivals: Events
    departures: Events
    drops: Events
    names_flows: bool
    ended_early: str

    @cached_property
    def span_ns(self) -> tuple[int, int]:
        """Times of the first and the last event."""
        times = [
            events["time_ns"]
            for events in (self.opportunities, self.arrivals, self.departures, self.drops)
            if len(events["time_ns"])
        ]
        return min(int(time.min()) for time in times), max(int(time.max()) for time in times)

    @cached_property
    def flows(self) -> list[int]:
        """The numbers of its flows, in ascending order."""
        return [int(flow) for flow in np.union1d(self.arrivals["flow"], self.departures["flow"])]

    @cached_property
    def of_flow(self) -> Mapping[int, tuple[Events, Events]]:
        """Arrivals and departures of each flow."""
        arrivals, departures = by_flow(self.arrivals), by_flow(self.departures)
        none_arrived = {name: column[:0] for name, column in self.arrivals.items()}
        none_left = {name: column[:0] for name, column in self.departures.items()}
        return {
            flow: (arrivals.get(flow, none_arrived), departures.get(flow, none_left)) for flow in self.flows
        }


def by_flow(events: Events) -> Mapping[int, Events]:
    """Return the events of each flow, in their order."""
    order = np.argsort(events["flow"], kind="stable")
    flows, starts = np.unique(events["flow"][order], return_index=True)
    rows = np.split(order, starts[1:]) if len(flows) else []
    return {
        int(flow): {name: column[mine] for name, column in events.items()}
        for flow, mine in zip(flows, rows, strict=True)
    }


def read_link_log(
    path: str | Path | InputFile, on_progress: Callable[[float], None] | None = None
) -> LinkLog:
    """Read a log of `mm-link` or of a Pantheon tunnel.

    Parameters
    ----------
    path
        The log, plain or compressed by gzip; a pipe, which is read to its end first; or `-` for standard
        input.
    on_progress
        Called from time to time with the share of the file that has been read, 0 to 1.

    Raises
    ------
    LinkLogError
        If there is no such file, a line is not part of a log, or the log has more than `MOST_FLOWS` flows.
    """
    with input_file(path, LinkLogError) as log:
        size = log.path.stat().st_size
        on_bytes = None if on_progress is None else lambda read: on_progress(read / size)
        try:
            said = _core.read_link_log(str(log.path), on_bytes)
            with log.path.open("rb") as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise LinkLogError(f"{log}: cannot be read: {error}") from None
        except _core.LinkLogFormatError as error:
            raise LinkLogError(f"{log}: {error}") from None
        name = log.name
    ended_early = ""
    if said["stopped_because"]:
        ended_early = f"reading ended at line {said['stopped_at_line']}: {said['stopped_because']}"
    found = LinkLog(
        path=Path(name),
        sha256=sha256,
        kind="tunnel" if said["base_ns"] is None else "mm-link",
        opportunities=_columns(said["opportunities"]),
        arrivals=_columns(said["arrivals"]),
        departures=_columns(said["departures"]),
        drops=_columns(said["drops"]),
        names_flows=said["names_flows"],
        ended_early=ended_early,
    )
    if len(found.flows) > MOST_FLOWS:
        raise LinkLogError(f"{name}: found {len(found.flows)} flows; accepted: at most {MOST_FLOWS}")
    return found


MOST_FLOWS = 1000
"""Limit of the number of flows: each has a row and a series."""


def _columns(said: dict[str, Any]) -> Events:
    return {
        name: np.frombuffer(column, dtype="<i8" if name.endswith("_ns") else "<u4")
        for name, column in said.items()
    }
