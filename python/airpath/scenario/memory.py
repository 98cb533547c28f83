"""Memory needed by the records of a run, so that a run that would exceed it is not started."""

from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from airpath.errors import ScenarioError
from airpath.scenario.resolve import Resolved
from airpath.units import format_size

FLOW_SERIES_COLUMNS: Final = 15
LINK_SERIES_COLUMNS: Final = 13
LINK_OBSERVATION_COLUMNS: Final = 4
ROUTER_QUANTITIES: Final = 20
"""Largest number of quantities that a router reports: those of its protocol and its capacity source."""
FLOW_ESTIMATE_COLUMNS: Final = 7
FLOW_LIMIT_COLUMNS: Final = 7
ESTIMATE_SAMPLE_COLUMNS: Final = 5
PACKET_COLUMNS: Final = 8
COLUMN_BYTES: Final = 8
LOGGED_PACKET_BYTES: Final = 400
"""Memory per data packet in a log, in memory and as text: its departure, and its acknowledgment or loss."""
MOST_LOGGED_PACKETS: Final = 2**20
"""Largest number of logged packets of a run; each has at least two of the 2^21 entries of the engine."""
FLOW_BYTES: Final = 4096
"""Memory of both endpoints of a flow in the engine, including its share of the scoreboard."""


@dataclass(frozen=True)
class MemoryEstimate:
    """Upper estimate of the rows and bytes of the tables of one run that grow with its length."""

    flow_series_rows: int
    """One row for each flow and interval."""
    link_series_rows: int
    """One row for each recorded link and interval."""
    link_observation_rows: int
    """One row for each quantity of a router, recorded link and interval."""
    flow_estimate_rows: int
    """One row for each estimator of a flow, and interval."""
    flow_limit_rows: int
    """One row for each flow and interval; zero if not kept."""
    estimate_sample_rows: int
    """One row for each estimator and data packet that the measuring links can carry; zero if not kept."""
    packet_rows: int
    """One row for each data packet that the measuring links can carry; zero if packets are not kept."""
    logged_packets: int
    """Logged data packets, of those that the measuring links can carry; zero without logs."""
    flows: int
    """Flows, including expected arrivals."""

    @property
    def bytes(self) -> int:
        """Memory for all rows and flows."""
        cells = (
            self.flow_series_rows * FLOW_SERIES_COLUMNS
            + self.link_series_rows * LINK_SERIES_COLUMNS
            + self.link_observation_rows * LINK_OBSERVATION_COLUMNS
            + self.flow_estimate_rows * FLOW_ESTIMATE_COLUMNS
            + self.flow_limit_rows * FLOW_LIMIT_COLUMNS
            + self.estimate_sample_rows * ESTIMATE_SAMPLE_COLUMNS
            + self.packet_rows * PACKET_COLUMNS
        )
        logs = self.logged_packets * LOGGED_PACKET_BYTES
        return cells * COLUMN_BYTES + logs + self.flows * FLOW_BYTES


def estimate_memory(resolved: Resolved) -> MemoryEstimate:
    """Estimate the records of one run of a resolved scenario.

    Flows that arrive at random have the rows of their source plus two for each expected arrival. Packets are
    counted as if every measuring link carried full packets all the time; links without a known rate count as
    zero.
    """
    plan = resolved.plan
    intervals = ceil(plan["duration_ns"] / plan["record"]["interval_ns"])
    arrivals = sum(
        ceil(plan["duration_ns"] / flow["traffic"]["mean_interval"])
        for flow in plan["flows"]
        if flow["traffic"]["kind"] == "arrivals"
    )
    recorded = [link for link in plan["links"] if link["record"]]
    routers = sum(link["queue"]["kind"] != "drop-tail" for link in recorded)
    flow_rows = intervals * len(plan["flows"]) + 2 * arrivals
    return MemoryEstimate(
        flow_series_rows=flow_rows,
        link_series_rows=intervals * len(recorded),
        link_observation_rows=intervals * routers * ROUTER_QUANTITIES,
        flow_estimate_rows=intervals * sum(map(_estimators, plan["flows"])),
        flow_limit_rows=flow_rows if plan["record"]["flow_limits"] else 0,
        estimate_sample_rows=packets(resolved) * max(map(_estimators, plan["flows"]))
        if plan["record"]["estimate_samples"]
        else 0,
        packet_rows=packets(resolved) if plan["record"]["packets"] else 0,
        logged_packets=min(packets(resolved), MOST_LOGGED_PACKETS) if plan["record"]["qlog"] else 0,
        flows=len(plan["flows"]) + arrivals,
    )


def available_memory() -> int:
    """Memory in bytes that a new process could use without swapping."""
    import psutil  # imported here because few commands need it

    return int(psutil.virtual_memory().available)


def refuse_if_too_large(resolved: Resolved, source: str, available: int | None = None) -> None:
    """Refuse a scenario whose records would not fit into `available` bytes (by default: the free memory).

    Raises
    ------
    ScenarioError
        If they would not fit; the text names the largest table and the settings to change.
    """
    free = available_memory() if available is None else available
    estimate = estimate_memory(resolved)
    if estimate.bytes <= free:
        return
    remedies = {
        "fewer flows": estimate.flows * FLOW_BYTES / COLUMN_BYTES,
        "record.qlog = false": estimate.logged_packets * LOGGED_PACKET_BYTES / COLUMN_BYTES,
        "record.packets = false": estimate.packet_rows * PACKET_COLUMNS,
        "record.estimate_samples = false": estimate.estimate_sample_rows * ESTIMATE_SAMPLE_COLUMNS,
        "a larger record.interval": estimate.flow_series_rows * FLOW_SERIES_COLUMNS
        + estimate.link_series_rows * LINK_SERIES_COLUMNS
        + estimate.link_observation_rows * LINK_OBSERVATION_COLUMNS
        + estimate.flow_estimate_rows * FLOW_ESTIMATE_COLUMNS
        + estimate.flow_limit_rows * FLOW_LIMIT_COLUMNS,
    }
    remedy = max(remedies, key=lambda name: remedies[name])
    raise ScenarioError(
        f"{source}: the records of one run would take about {format_size(estimate.bytes, 2)}, and"
        f" {format_size(free, 2)} of memory are free; set {remedy}, or make the run shorter"
    )


def _estimators(flow: dict[str, Any]) -> int:
    """Return the number of estimators of a flow, including that of its controller."""
    own = "estimator" in (flow["controller"] or {})
    return len(flow["estimators"]) + own


def packets(resolved: Resolved) -> int:
    """Return the number of data packets that the measuring links can carry; 0 if a rate is not known."""
    plan: dict[str, Any] = resolved.plan
    names = [link["name"] for link in plan["links"]]
    sizes: dict[str, int] = {}
    for flow in plan["flows"]:
        link = names[flow["measured_at"]]
        transport = flow["transport"]
        size = transport["mss_bytes"] + transport["header_bytes"] if transport else 1500
        sizes[link] = min(size, sizes.get(link, size))
    seconds = plan["duration_ns"] * 1e-9
    return sum(ceil((resolved.mean_rate_bps[link] or 0) * seconds / 8 / size) for link, size in sizes.items())
