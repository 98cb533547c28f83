"""The measures of a log, as defined by the tools that wrote it."""

import math
from dataclasses import dataclass

from airpath.link_logs.log import Column, Events, LinkLog
from airpath.metrics.formulas import nearest_rank
from airpath.metrics.signal_delay import signal_delay


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of a log or a flow.

    Attributes
    ----------
    name
        Column name, ending in the unit if it has one.
    title
        Human-readable name.
    unit
        The unit; empty for a plain number.
    definition
        The formula in words.
    """

    name: str
    title: str
    unit: str
    definition: str


_SPAN = "from the first event to the last (mm-link); from its own first to its own last event (tunnel)"

_OF_LINK = (
    Measure(
        "capacity_mbps", "capacity", "Mbit/s", f"bits of all delivery opportunities over the time {_SPAN}"
    ),
    Measure("utilisation", "utilisation", "", "throughput divided by capacity"),
    Measure("dropped_packets", "dropped", "packets", "packets of drop events"),
    Measure("dropped_bytes", "dropped", "B", "their bytes"),
)
_OF_TRAFFIC = (
    Measure("ingress_mbps", "ingress", "Mbit/s", f"bits that arrived over the time {_SPAN}"),
    Measure("throughput_mbps", "throughput", "Mbit/s", f"bits that left over the time {_SPAN}"),
    Measure(
        "delay_mean_ms",
        "mean delay",
        "ms",
        "mean over packets that left of the time since their arrival: in the queue (mm-link), one way "
        "(tunnel)",
    ),
    Measure("delay_p95_ms", "p95 delay", "ms", "95th percentile over the same packets, nearest rank"),
    Measure(
        "signal_delay_p95_ms",
        "p95 signal delay",
        "ms",
        "95th percentile, nearest rank, over each millisecond from the first to the last arrival of a packet "
        "that left, of the least time for a message made then to leave",
    ),
    Measure("loss_rate", "loss rate", "", "1 - bytes that left / bytes that arrived"),
    Measure("arrived_packets", "arrived", "packets", "packets that arrived"),
    Measure("departed_packets", "left", "packets", "packets that left"),
)

MEASURES = {measure.name: measure for measure in (*_OF_LINK, *_OF_TRAFFIC)}
"""Every measure, by name."""


def log_measures(log: LinkLog) -> dict[str, float]:
    """Return the measures of a whole log; NaN if there is no data for one."""
    traffic = _traffic(log, log.arrivals, log.departures)
    capacity = _rate(log, log.opportunities)
    return {
        "capacity_mbps": capacity,
        "utilisation": traffic["throughput_mbps"] / capacity if capacity > 0 else math.nan,
        "dropped_packets": float(log.drops["packets"].sum()),
        "dropped_bytes": float(log.drops["bytes"].sum()),
        **traffic,
    }


def flow_measures(log: LinkLog, flow: int) -> dict[str, float]:
    """Return the measures of one flow: those of its traffic."""
    return _traffic(log, *log.of_flow[flow])


def _traffic(log: LinkLog, arrivals: Events, departures: Events) -> dict[str, float]:
    arrived, left = int(arrivals["bytes"].sum()), int(departures["bytes"].sum())
    delay_ns: Column = departures["delay_ns"]
    received_ns = departures["time_ns"]
    return {
        "ingress_mbps": _rate(log, arrivals),
        "throughput_mbps": _rate(log, departures),
        "delay_mean_ms": float(delay_ns.mean()) / 1e6 if len(delay_ns) else math.nan,
        "delay_p95_ms": nearest_rank(delay_ns, 95) / 1e6,
        "signal_delay_p95_ms": signal_delay(received_ns - delay_ns, received_ns) * 1e3,
        "loss_rate": 1 - left / arrived if arrived else math.nan,
        "arrived_packets": float(len(arrivals["bytes"])),
        "departed_packets": float(len(received_ns)),
    }


def _rate(log: LinkLog, events: Events) -> float:
    """Return the mean rate of events in Mbit/s, as mm-throughput-graph or tunnel_graph.py define it."""
    times = events["time_ns"]
    if log.kind == "mm-link":
        first, last = log.span_ns
    elif len(times):
        first, last = int(times.min()), int(times.max())
    else:
        return math.nan
    return int(events["bytes"].sum()) * 8e3 / (last - first) if last > first else math.nan
