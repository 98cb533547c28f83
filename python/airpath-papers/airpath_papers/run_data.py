"""The stored data of one run: series of its links and long flows, estimates, transfers, metrics.

A run's tables are tens of times larger; thousands of runs must fit on a disk and be readable in seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from airpath.metrics.run import columns, flows_under_test, link_under_test, long_lived, rows_with
from airpath.results import RunResult
from airpath_papers.array_file import packed, unpacked
from airpath_papers.diagnosis_data import DiagnosisData, diagnosis, facts_of
from airpath_papers.estimate_data import PARTS, EstimateData, estimates

Numbers = npt.NDArray[np.float64]

LINK_COLUMNS: Final = (
    "time_s",
    "offered_bytes",
    "arrived_bytes",
    "departed_bytes",
    "dropped_packets",
    "queue_mean_bytes",
    "queue_max_bytes",
    "queue_bytes",
)
"""The stored columns of `link_series`."""

QUANTITIES: Final = ("capacity_estimate_bps", "load_factor", "maintainer_on", "persistent_queue_bytes")
"""The stored quantities of `link_observations`."""

FLOW_QUANTITIES: Final = ("losses_dismissed", "losses_answered")
"""The stored quantities of `flow_observations`."""


@dataclass(frozen=True)
class LinkData:
    """One recorded link."""

    buffer_bytes: float
    """Limit of its queue; NaN if it has none in bytes."""
    drops: float
    """Packets lost at it in the whole run."""
    series: Mapping[str, Numbers] = field(repr=False)
    """The columns `LINK_COLUMNS`, one row for each interval."""
    observations: Mapping[str, Numbers] = field(repr=False)
    """For each of `QUANTITIES` that its queue reported: rows of time in seconds and value."""


@dataclass(frozen=True)
class RunData:
    """The stored data of one run."""

    duration_s: float
    """Length of the run."""
    link_under_test: str
    """Name of the link under test (`airpath.metrics.SCOPE`)."""
    metrics: Mapping[str, float]
    """Every metric of the run; NaN for missing values."""
    links: Mapping[str, LinkData]
    """The recorded links, by name."""
    window_time_s: Numbers = field(repr=False)
    """Times at which the windows were sampled."""
    windows_packets: Numbers = field(repr=False)
    """Congestion windows of the long flows: flows by times; NaN while a flow is inactive.

    The long flows are the long-lived ones under test; if estimators run alongside controllers, those of them
    with estimators.
    """
    ssthresh_packets: Numbers = field(repr=False)
    """Slow-start thresholds of the long flows: flows by times; NaN without a threshold."""
    departed_bytes: Numbers = field(repr=False)
    """Bytes on the wire of the long flows that left their measuring link: flows by times."""
    min_rtt_s: Numbers = field(repr=False)
    """Smallest RTT sample of each long flow."""
    timeouts: Numbers = field(repr=False)
    """Retransmission timeouts of each long flow."""
    estimates: Mapping[str, EstimateData] = field(repr=False)
    """Data of the ACK-rate estimators of the long flows, by name."""
    completion_group: tuple[str, ...] = field(repr=False)
    """Group of the flow of each finished transfer."""
    completion_start_s: Numbers = field(repr=False)
    """Time at which each finished transfer sent its first packet."""
    completion_end_s: Numbers = field(repr=False)
    """Time at which its last byte was acknowledged."""
    flow_group: tuple[str, ...] = field(repr=False)
    """Group of each flow."""
    flow_goodput_bytes: Numbers = field(repr=False)
    """New payload that each flow's application received in the measured span."""
    groups: tuple[str, ...] = field(repr=False)
    """The groups of flows, long or short, in the order of the scenario."""
    group_time_s: Numbers = field(repr=False)
    """Ends of the intervals of `group_departed_bytes`."""
    group_departed_bytes: Numbers = field(repr=False)
    """Bytes on the wire of each group that left the measuring links of its flows: groups by times."""
    flow_reports: Mapping[str, Numbers] = field(repr=False)
    """For each of `FLOW_QUANTITIES` that a controller reported: the last value of each flow, else NaN."""
    diagnosis: DiagnosisData | None = None
    """The diagnosis of the first flow, if packets were captured."""
    cpu_s: float = field(default=0.0, compare=False)
    """Processor time of the run, including its extraction, in seconds."""
    problems: tuple[str, ...] = ()
    """Reasons not to trust a run in real time; empty if it can be trusted, and for simulated runs."""


def extract(run: RunResult) -> RunData:
    """Return the stored data of a run."""
    plan = run.record.plan
    completions, flows = columns(run.completions), columns(run.flows)
    kept = flows["flow"][_long_flows(run.record.plan, flows)]
    time_s, (windows, thresholds, departed) = _series(
        run, kept, ("cwnd_bytes", "ssthresh_bytes", "departed_bytes")
    )
    segments = _segments(run.record.plan, flows["source"][kept])[:, np.newaxis]
    groups, group_time_s, group_departed = _groups(run, flows)
    return RunData(
        duration_s=plan["duration_ns"] / 1e9,
        link_under_test=str(plan["links"][link_under_test(plan)]["name"]),
        metrics=run.metrics,
        links=_links(run),
        window_time_s=time_s,
        windows_packets=windows / segments,
        ssthresh_packets=thresholds / segments,
        departed_bytes=departed,
        min_rtt_s=flows["min_rtt_s"][kept].astype(np.float64),
        timeouts=flows["timeouts"][kept].astype(np.float64),
        estimates=estimates(run, kept, time_s),
        completion_group=tuple(map(str, completions["group"])),
        completion_start_s=completions["start_s"].astype(np.float64),
        completion_end_s=completions["end_s"].astype(np.float64),
        flow_group=tuple(map(str, flows["group"])),
        flow_goodput_bytes=flows["goodput_bytes"].astype(np.float64),
        groups=groups,
        group_time_s=group_time_s,
        group_departed_bytes=group_departed,
        flow_reports=_reports(run, len(flows["flow"])),
        diagnosis=diagnosis(run),
        problems=tuple((run.record.validity or {}).get("problems", ())),
    )


def to_bytes(data: RunData) -> bytes:
    """Return an Arrow file with a checksum; numbers are preserved exactly."""
    arrays: dict[str, npt.NDArray[Any]] = {
        "window_time_s": data.window_time_s,
        "windows_packets": data.windows_packets,
        "ssthresh_packets": data.ssthresh_packets,
        "departed_bytes": data.departed_bytes,
        "min_rtt_s": data.min_rtt_s,
        "timeouts": data.timeouts,
        "completion_start_s": data.completion_start_s,
        "completion_end_s": data.completion_end_s,
        "flow_goodput_bytes": data.flow_goodput_bytes,
        "group_time_s": data.group_time_s,
        "group_departed_bytes": data.group_departed_bytes,
    }
    arrays |= {f"report.{quantity}": values for quantity, values in data.flow_reports.items()}
    links = {}
    for number, (name, link) in enumerate(data.links.items()):
        links[name] = {"buffer_bytes": link.buffer_bytes, "drops": link.drops}
        arrays |= {f"link{number}.{column}": values for column, values in link.series.items()}
        arrays |= {f"observed{number}.{quantity}": rows for quantity, rows in link.observations.items()}
    for number, one in enumerate(data.estimates.values()):
        arrays |= {f"estimate{number}.{part}": getattr(one, part) for part in PARTS}
    facts: dict[str, Any] = {
        "duration_s": data.duration_s,
        "cpu_s": data.cpu_s,
        "link_under_test": data.link_under_test,
        "metrics": dict(data.metrics),
        "links": links,
        "estimators": list(data.estimates),
        "completion_group": data.completion_group,
        "flow_group": data.flow_group,
        "groups": data.groups,
    }
    if data.problems:
        facts["problems"] = data.problems
    if data.diagnosis is not None:
        facts["diagnosis"] = facts_of(data.diagnosis)
        arrays |= {f"window.{name}": column for name, column in data.diagnosis.windows.items()}
        arrays |= {f"bin.{name}": column for name, column in data.diagnosis.bins.items()}
    return packed(arrays, facts)


def from_bytes(content: bytes) -> RunData:
    """Read the output of `to_bytes`.

    Raises
    ------
    ValueError, KeyError, OSError
        If the content is something else, truncated or damaged.
    """
    arrays, facts = unpacked(content)
    links = {
        name: LinkData(
            buffer_bytes=link["buffer_bytes"],
            drops=link["drops"],
            series=_part(arrays, f"link{number}."),
            observations=_part(arrays, f"observed{number}."),
        )
        for number, (name, link) in enumerate(facts["links"].items())
    }
    return RunData(
        duration_s=facts["duration_s"],
        link_under_test=facts["link_under_test"],
        metrics=facts["metrics"],
        links=links,
        window_time_s=arrays["window_time_s"],
        windows_packets=arrays["windows_packets"],
        ssthresh_packets=arrays["ssthresh_packets"],
        departed_bytes=arrays["departed_bytes"],
        min_rtt_s=arrays["min_rtt_s"],
        timeouts=arrays["timeouts"],
        estimates={
            name: EstimateData(**_part(arrays, f"estimate{number}."))
            for number, name in enumerate(facts["estimators"])
        },
        completion_group=tuple(facts["completion_group"]),
        completion_start_s=arrays["completion_start_s"],
        completion_end_s=arrays["completion_end_s"],
        flow_group=tuple(facts["flow_group"]),
        flow_goodput_bytes=arrays["flow_goodput_bytes"],
        groups=tuple(facts["groups"]),
        group_time_s=arrays["group_time_s"],
        group_departed_bytes=arrays["group_departed_bytes"],
        flow_reports=_part(arrays, "report."),
        diagnosis=_diagnosis(arrays, facts.get("diagnosis")),
        cpu_s=facts["cpu_s"],
        problems=tuple(facts.get("problems", ())),
    )


def _diagnosis(arrays: dict[str, npt.NDArray[Any]], facts: Mapping[str, Any] | None) -> DiagnosisData | None:
    if facts is None:
        return None
    return DiagnosisData(
        labels=tuple(facts["labels"]),
        windows=_part(arrays, "window."),
        bins=_part(arrays, "bin."),
        headline=facts["headline"],
        policers=facts["policers"],
        payload_share=facts["payload_share"],
    )


def _part(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, Numbers]:
    return {name.removeprefix(prefix): values for name, values in arrays.items() if name.startswith(prefix)}


def _links(run: RunResult) -> dict[str, LinkData]:
    plan = run.record.plan
    series, totals = columns(run.link_series), columns(run.links)
    observations = run.table("link_observations")
    observed = columns(observations)
    of_quantity = {quantity: rows_with(observations, "quantity", quantity) for quantity in QUANTITIES}
    links = {}
    for index, drops in zip(totals["link"], totals["dropped_packets_total"], strict=True):
        rows = series["link"] == index
        mine = observed["link"] == index
        limit = plan["links"][index]["queue"].get("limit_bytes")
        links[str(plan["links"][index]["name"])] = LinkData(
            buffer_bytes=float("nan") if limit is None else float(limit),
            drops=float(drops),
            series={column: series[column][rows].astype(np.float64) for column in LINK_COLUMNS},
            observations={
                quantity: np.stack([observed["time_s"][here], observed["value"][here]])
                for quantity in QUANTITIES
                if (here := mine & of_quantity[quantity]).any()
            },
        )
    return links


def _long_flows(plan: Mapping[str, Any], flows: Mapping[str, npt.NDArray[Any]]) -> npt.NDArray[np.bool_]:
    observed = np.array([bool(flow.get("estimators")) for flow in plan["flows"]], dtype=bool)[flows["source"]]
    tested = observed if observed.any() else flows_under_test(plan, flows)
    long: npt.NDArray[np.bool_] = tested & long_lived(plan, flows)
    return long


def _series(
    run: RunResult, kept: npt.NDArray[np.int64], names: tuple[str, ...]
) -> tuple[Numbers, list[Numbers]]:
    """Return columns of `flow_series` as flows by times; NaN while a flow is inactive."""
    series = columns(run.flow_series)
    rows = np.isin(series["flow"], kept)
    time_s, at = np.unique(series["time_s"][rows], return_inverse=True)
    flow = np.searchsorted(kept, series["flow"][rows])
    grids = []
    for name in names:
        grid = np.full((len(kept), len(time_s)), np.nan)
        grid[flow, at] = series[name][rows]
        grids.append(grid)
    return time_s.astype(np.float64), grids


def _groups(
    run: RunResult, flows: Mapping[str, npt.NDArray[Any]]
) -> tuple[tuple[str, ...], Numbers, Numbers]:
    """Return groups, times, and departed bytes of each group in each interval."""
    series = columns(run.flow_series)
    groups = tuple(dict.fromkeys(map(str, flows["group"])))
    number = {name: index for index, name in enumerate(groups)}
    of_flow = np.array([number[str(name)] for name in flows["group"]], dtype=np.int64)
    time_s, at = np.unique(series["time_s"], return_inverse=True)
    cell = of_flow[series["flow"]] * len(time_s) + at
    sums = np.bincount(cell, np.nan_to_num(series["departed_bytes"]), len(groups) * len(time_s))
    departed = sums.astype(np.float64).reshape(len(groups), len(time_s))
    return groups, time_s.astype(np.float64), departed


def _reports(run: RunResult, flows: int) -> dict[str, Numbers]:
    """Return the last value of each quantity that each flow reported."""
    observations = run.table("flow_observations")
    observed = columns(observations)
    reports = {}
    for quantity in FLOW_QUANTITIES:
        rows = rows_with(observations, "quantity", quantity)
        if rows.any():
            last = np.full(flows, np.nan)
            last[observed["flow"][rows]] = observed["value"][rows]  # in the order of time
            reports[quantity] = last
    return reports


def _segments(plan: Mapping[str, Any], sources: npt.NDArray[np.int64]) -> Numbers:
    """Return the payload of a full segment of each flow, in bytes."""
    return np.array(
        [float((plan["flows"][source].get("transport") or {}).get("mss_bytes", np.nan)) for source in sources]
    )
